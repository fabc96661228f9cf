"""The engine: runs the blocks of a launch in chunks, their warps from barrier to barrier, and feeds the observers."""

import random
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ..findings import LaunchError
from ..language.program.writer import SiteDeclaration
from ..launch_shape import Chunk
from ..observer import Hooks, Observer
from ..runtime.access import CACHED_ELEMENTS, MatrixSite, Site, WideSite
from ..runtime.barrier import AtGrid, Barrier, Pause
from ..runtime.engine_interface import EngineInterface
from ..runtime.loops import IterationBudget, LoopWatch, PartOfGrid, WaitsForOthers
from ..runtime.masks import Mask
from ..runtime.mbarriers import Mbarriers
from ..runtime.memory import SharedArray
from ..runtime.printed import Printed
from ..runtime.warp import WarpVector
from .prepare import Prepared
from .waiting_blocks import StartedBlocks

#: Limit of the shared and local memory of the blocks that run together.
MAX_BYTES = 256 * 1024 * 1024
#: If some started blocks wait and still change variables, the next block starts after this many rounds.
MOVING_ROUNDS = 64
#: Estimate of what observers store for an element of a shared array: its last writer and readers, and when.
WATCHING_BYTES = 40
#: The hooks that :meth:`Engine.report` calls; ``start`` and ``watch`` are called on every observer.
HOOKS = {name: hook for name, hook in vars(Hooks).items() if not name.startswith("_")}


def order(schedule: str | int) -> Callable[[Sequence[int]], list[int]]:
    """Return a function that puts the warps that can run into their order.

    ``schedule`` is "in-order", "reversed", "shuffled", or a whole number (the seed of a shuffle).
    """
    if schedule == "in-order":
        return sorted
    if schedule == "reversed":
        return lambda warps: sorted(warps, reverse=True)
    if schedule == "shuffled":
        schedule = 0
    if isinstance(schedule, bool) or not isinstance(schedule, (int, np.integer)):
        raise LaunchError(f"schedule is {schedule!r}; use 'in-order', 'reversed', 'shuffled' or a whole number")
    generator = random.Random(int(schedule))

    def shuffled(warps: Sequence[int]) -> list[int]:
        warps = sorted(warps)
        generator.shuffle(warps)
        return warps

    return shuffled


class Engine(EngineInterface):
    """Runs a prepared launch; :meth:`run` reports its events to ``observers``."""

    def __init__(
        self,
        prepared: Prepared,
        observers: Sequence[Observer] = (),
        schedule: str | int = "in-order",
        max_steps: int | None = None,
    ) -> None:
        self.prepared, self.launch, self.compiled = prepared, prepared.launch, prepared.compiled
        self.observers = observers
        self.order = order(schedule)
        is_whole = isinstance(max_steps, (int, np.integer)) and not isinstance(max_steps, bool)
        if max_steps is not None and (not is_whole or max_steps < 1):
            raise LaunchError(f"max_steps is {max_steps!r}; give a whole number of at least 1")
        self.budget = IterationBudget(None if max_steps is None else int(max_steps))
        self.printed, self.raised = Printed(), None
        self.arrays = prepared.may_write
        self.updates = any(site.op == "atomic" for site in self.compiled.sites)
        self.listeners: dict[str, list[Callable[..., None]]] = {}
        for name, hook in HOOKS.items():
            overriding = [observer for observer in observers if getattr(type(observer), name) is not hook]
            self.listeners[name] = [getattr(observer, name) for observer in overriding]

    def run(self) -> None:
        for observer in self.observers:
            observer.start(self.prepared)
        self.report("warnings", self.compiled)
        for array in (*self.prepared.arrays, *self.compiled.constant_arrays):
            self.watch(array)
        with np.errstate(all="ignore"):
            if self.prepared.interleaved or self.compiled.cooperative:
                started = StartedBlocks()
                try:
                    self._run_interleaved(started)
                finally:
                    started.close()
                return
            sites = self._sites()
            kernels = [self.compiled.make(s) for s in sites]
            for chunk in self.launch.chunks(self._blocks_in_memory()):
                for _ in self._run_chunk(chunk, kernels, sites):
                    pass

    def _run_interleaved(self, started: StartedBlocks) -> None:
        """Run blocks that wait for each other; while the started ones wait, start the next one.

        If all blocks wait, each runs one more iteration: memory may have changed in a way that no watcher sees.
        """
        blocks = self.launch.chunks(1 if self.prepared.interleaved else self._blocks_in_memory())
        rounds = 0
        all_resumed = False
        for array in self.prepared.arrays:
            array.watchers = (*array.watchers, started.watch(array))
        while True:
            rounds += 1
            moved = any([started.step(block) for block in [*started.running]])
            all_resumed = all_resumed and not moved
            others_move = moved and started.running
            if others_move and rounds % MOVING_ROUNDS:
                continue
            chunk = next(blocks, None)
            if chunk is not None:
                sites = self._sites()
                started.start(self._run_chunk(chunk, [self.compiled.make(s) for s in sites], sites))
            elif started.running:
                continue
            elif started.waiting:
                if all_resumed:
                    raise WaitsForOthers(next(block.pause.line for block in started.waiting if block.pause))
                started.resume(started.waiting)
                all_resumed = True
            elif started.at_grid:
                self._meet_in_grid(started)
            else:
                return

    def _meet_in_grid(self, started: StartedBlocks) -> None:
        """Complete a barrier of the grid, at which all blocks wait that have not ended."""
        if started.ended:
            if not self.prepared.interleaved:
                raise PartOfGrid("", 0)
            arrived = next(iter(started.at_grid)).pause
            assert isinstance(arrived, AtGrid)
            first = self.launch.format_thread(arrived.first)
            raise PartOfGrid(
                f"{first} waits at this_grid().sync() for all threads of the grid, but {started.ended} of "
                f"{self.launch.blocks} blocks ended without it, and on a GPU such a launch never ends; let every block "
                "reach it",
                arrived.line,
            )
        self.report("grid_barrier")
        started.pass_grid_barrier()

    def _sites(self) -> list[list[Site]]:
        """Return the sites of each warp."""
        cache_limit = CACHED_ELEMENTS // max(1, len(self.compiled.sites) * len(self.launch.warps))
        declared = self.compiled.sites
        seen_by_all_warps: list[dict[Any, Any]] = [{} for _ in declared]
        sites = []
        for _ in self.launch.warps:
            pairs = zip(declared, seen_by_all_warps, strict=True)
            sites.append([self._site(site, cache_limit, seen) for site, seen in pairs])
        return sites

    def _blocks_in_memory(self) -> int:
        """Return how many blocks can run together without exceeding MAX_BYTES of shared and local arrays."""
        arrays = self.compiled.static_shared.values()
        shared = sum(array.bytes + WATCHING_BYTES * array.elements for array in arrays)
        local = self.compiled.local_bytes * self.launch.threads_per_block
        return max(1, MAX_BYTES // max(1, shared + local))

    def _site(self, declared: SiteDeclaration, cache_limit: int, seen_by_all_warps: dict[Any, Any]) -> Site:
        kind, op = Site if declared.width == 1 else WideSite, declared.op
        if op == "matrices":
            kind, op = MatrixSite, "load"
        site = kind(declared.line, op, self, cache_limit, declared.width, seen_by_all_warps)
        site.variable = declared.variable
        return site

    def _run_chunk(
        self, chunk: Chunk, kernels: list[Any], sites: list[list[Site]]
    ) -> Generator[Pause | AtGrid, None, None]:
        """Run the warps of a chunk, each up to its next barrier, until all have ended.

        If warps wait at different barriers, the first one in program order is completed first. Warps that pause in a
        waiting loop are resumed before that. If one pauses again, its pause is yielded so that other blocks can run;
        ``unchanged`` says that no warp made progress.
        """
        shared: dict[int, SharedArray] = {}
        loops, mbarriers = LoopWatch(), Mbarriers()
        vectors = [WarpVector(self, lanes, chunk, loops, shared, mbarriers) for lanes in self.launch.warps]
        runs = []
        for vector, kernel, own in zip(vectors, kernels, sites, strict=True):
            for site in own:
                site.vector = vector
            runs.append(kernel(vector, True, (), *self.prepared.values))
        reached: dict[int, Barrier | Pause] = {}  # by the numbers of the warps that have not ended
        paused_before: set[int] = set()  # numbers of warps that paused since other blocks went on

        def advance(numbers: Sequence[int], replies: dict[int, Any]) -> None:
            loops.next_round(numbers)
            for number in self.order(numbers):
                reached.pop(number, None)
                with suppress(StopIteration):
                    reached[number] = runs[number].send(replies.get(number))

        try:
            advance(range(len(runs)), {})
            while reached:
                if paused := {number: at for number, at in reached.items() if isinstance(at, Pause)}:
                    again = [*paused]
                    if paused_before.intersection(again):
                        yield self._paused_again(paused, paused_before == {*again}, vectors)
                        paused_before.clear()
                    paused_before.update(again)
                    advance(again, {})
                    continue
                waiting = {number: at for number, at in reached.items() if isinstance(at, Barrier)}
                first = min(barrier.program_point for barrier in waiting.values())
                group = [number for number, barrier in waiting.items() if barrier.program_point == first]
                barrier = waiting[group[0]]
                replies = self._meet(vectors, waiting, group)
                if barrier.grid:
                    yield self._arrived_in_grid(barrier, [(vectors[number], waiting[number].mask) for number in group])
                advance(group, replies)
        finally:
            for own in sites:
                for site in own:
                    site.flush()
            self.report("end_of_chunk", vectors)
            for vector in vectors:
                vector.forget()

    def _paused_again(self, paused: dict[int, Pause], all_paused_before: bool, vectors: list[WarpVector]) -> Pause:
        """Return the pause of a chunk some of whose warps pause again."""
        unchanged = all_paused_before and all(pause.unchanged for pause in paused.values())
        if unchanged and all(pause.phase for pause in paused.values()):  # nobody else of the block arrives
            vectors[0].mbarriers.given_up.update(vectors[number] for number in paused)
        return Pause(next(iter(paused.values())).line, unchanged)

    def _arrived_in_grid(self, barrier: Barrier, arrivals: list[tuple[WarpVector, Mask]]) -> AtGrid:
        """Return what a chunk yields when its blocks reach a barrier of the grid. Raises PartOfGrid if some do not."""
        arrived = np.any([vector.full(mask).any(axis=(0, 1)) for vector, mask in arrivals], axis=0)  # in each block
        if not arrived.all():
            raise PartOfGrid("", barrier.line)
        return AtGrid(barrier.line, min(vector.first_thread(mask) for vector, mask in arrivals if mask is not False))

    def _meet(self, vectors: list[WarpVector], waiting: dict[int, Barrier], group: list[int]) -> dict[int, Any]:
        """Complete a barrier: check that whole blocks arrived, tell the observers, return each warp's reduction."""
        arrivals = [(vectors[number], waiting[number].mask) for number in group]
        complete = len(group) == len(vectors) and all(mask is True for _, mask in arrivals)
        if not complete:
            chunk = vectors[0].chunk
            arrived = np.zeros(chunk.shape, np.int64)
            for vector, mask in arrivals:
                arrived += vector.full(mask).sum(axis=(0, 1))
            partial = (arrived > 0) & (arrived < self.launch.threads_per_block)
            if partial.any():
                mask_of = {vector.warp_number: mask for vector, mask in arrivals}
                missing = {
                    vector.warp_number: ~vector.full(mask_of.get(vector.warp_number, False)) & partial
                    for vector in vectors
                }
                self.report("divergence", waiting[group[0]].program_point, vectors, missing, waiting)
        self.report("barrier", arrivals, complete)
        return self._reduce(arrivals, waiting, group)

    def _reduce(
        self, arrivals: list[tuple[WarpVector, Mask]], waiting: dict[int, Barrier], group: list[int]
    ) -> dict[int, Any]:
        """Return each warp's result of ``syncthreads_count``, ``_and`` or ``_or``; empty for a plain barrier."""
        if (first := waiting[group[0]].reduction) is None:
            return {}
        lanes = {vector: vector.full(mask) for vector, mask in arrivals}
        given = {vector: waiting[vector.warp_number].reduction or first for vector in lanes}
        arrived = sum(each.sum(axis=(0, 1)) for each in lanes.values())
        count: Any = 0
        for vector, each in lanes.items():
            _, condition = given[vector]
            count = count + (vector.full(condition) & each).sum(axis=(0, 1))
        if first[0] != "syncthreads_count":
            count = count == arrived if first[0] == "syncthreads_and" else count > 0
        reply = count.astype(np.int32)[None, None]
        return dict.fromkeys(group, reply)
