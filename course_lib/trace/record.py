"""The recording of a launch, statement by statement: accesses, assignments, tests, and accesses outside of arrays.

While the kernel runs, only references are kept; a chunk of blocks is converted into columns when it has ended
(:mod:`column_builder`), so that tracing costs little more than the launch.
"""

from collections import defaultdict
from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from itertools import chain, combinations
from math import prod
from typing import Any

import numpy as np

from ..simulator.compile.compiled_kernel import CompiledKernel
from ..simulator.findings import Finding, KernelError, LaunchError
from ..simulator.launch.engine import Engine
from ..simulator.observer import Figures, Observer, Recorder
from ..simulator.runtime.arrays import ATOMIC
from .column_builder import ChunkRecording, ColumnBuilder
from .columns import BARRIER, ITERATION, NEGATIVE, RESUMED
from .kernel_structure import Listing
from .trace import Fragment, MatrixOperation, Pieces, RecordedSteps, Trace, TraceArray

#: A trace with more steps is refused: the recording, and the page that shows it, would be too large.
MAX_STEPS = 200_000
#: After so many recorded statements, or an eighth of MAX_STEPS, the steps of the whole launch are counted: that takes a
#: fifth of the time.
COUNT_AFTER = 5_000


@lru_cache(8)
def listing(compiled: CompiledKernel) -> Listing:
    """Return the listing of a compiled kernel, whose launches have all the same."""
    return Listing(compiled.sources)


class StepCounter(Observer):
    """Counts the steps of a launch on the lines of ``shown``; raises LaunchError beyond ``MAX_STEPS`` of them."""

    def __init__(self, shown: Container[int]):
        super().__init__()
        self._shown = shown
        self.steps = 0

    def statement(self, vector: Any, line: int, mask: Any, head: bool) -> None:
        if line in self._shown:
            self.count(vector, mask)

    def count(self, vector: Any, mask: Any) -> None:
        """Count a statement of a warp: a step in each block of the chunk in which lanes execute it."""
        self.steps += vector.chunk.count if mask is True else vector.warps_active(mask)
        if self.steps > MAX_STEPS:
            raise LaunchError(
                f"this launch has more than {MAX_STEPS:,} steps, too many to trace: a loop may never end; else trace "
                "fewer blocks, a smaller matrix, or K (the sum's length) of one or two tiles: all others do the same"
            )


class TraceObserver(Recorder):
    """Records a :class:`Trace` of a whole launch.

    Raises LaunchError beyond ``MAX_STEPS`` steps, with what to trace instead.
    """

    def __init__(self, figures: Figures):
        super().__init__(figures)
        self._counter = StepCounter(())
        self._builder = ColumnBuilder(figures)
        self._arrays: dict[str, TraceArray] = {}
        self._recorded = 0
        self._counted = self._refused = False

    def start(self, prepared: Any) -> None:
        """Note the arrays as they are before the launch; raise LaunchError for two arguments that are one array."""
        super().start(prepared)
        self.prepared = prepared
        for array, other in combinations(prepared.arrays, 2):
            if array.memory is other.memory and np.may_share_memory(array.host, other.host):
                raise LaunchError(
                    f"the arguments {array.name!r} and {other.name!r} are one array on the GPU, and a trace has the "
                    "values of each array by itself; pass two arrays to trace the launch"
                )
        self._program = listing(prepared.compiled)
        self._before = [(array, array.flat.copy()) for array in prepared.may_write if array.flat.flags.writeable]
        #: arrays by name, and fields of records, which become arrays of the trace when the kernel first accesses them
        parts = chain.from_iterable(each if isinstance(each, tuple) else [each] for each in prepared.values)
        self._hosts = {part.name: part.host for part in parts if hasattr(part, "host")}
        self._initial = {name: host.copy() for name, host in self._hosts.items()}
        for value in prepared.values:
            if hasattr(value, "host"):
                self._add(value)
        if prod(prepared.launch.grid) > 1:
            changed = {array.name for array in prepared.may_write}
            known = ((array.name, array.initial) for array in self._arrays.values() if array.name in changed)
            self._builder.shared_by_blocks = {
                name: initial.reshape(-1) for name, initial in known if initial is not None
            }
        #: what is recorded of each chunk of blocks that runs: one, unless blocks wait for each other; and of the latest
        self._running: defaultdict[Any, ChunkRecording] = defaultdict(ChunkRecording)
        self._chunk = ChunkRecording()
        self._group_products: dict[int, Any] = {}  # by their lines

    def watch(self, array: Any) -> Callable[..., None] | None:
        if array.name not in self._arrays:
            self._add(array)
        return self._access

    def _add(self, array: Any) -> None:
        about = array.name, array.space, array.dtype.name, array.shape, tuple(array.strides)
        self._arrays[array.name] = TraceArray(*about, self._initial.get(array.name))

    # --- what happens, in order ------------------------------------------------------------------------------

    def statement(self, vector: Any, line: int, mask: Any, head: bool) -> None:
        if line in self._program.prefix:
            self._chunk = self._running[vector.chunk]
            self._open(vector, line, mask, ITERATION if head else 0)

    def _open(self, vector: Any, line: int, mask: Any, flags: int) -> int:
        chunk, warp = self._chunk, vector.warp_number
        event = len(chunk.lines)
        chunk.lines.append(line)
        chunk.warps.append(warp)
        chunk.masks.append(mask)
        chunk.flags.append(flags)
        chunk.now[warp] = chunk.latest[warp, line] = event
        self._counter.count(vector, mask)
        self._recorded += 1
        if not self._counted and (self._recorded >= COUNT_AFTER or self._counter.steps > MAX_STEPS // 8):
            self._counted = True
            self._count_all()
        return event

    def _count_all(self) -> None:
        """Run the launch from its start, unrecorded, and restore its arrays; raise LaunchError if it is too long."""
        arrays = (*self.prepared.arrays, *self.prepared.compiled.constant_arrays)
        watchers, now = [array.watchers for array in arrays], [array.flat.copy() for array, _ in self._before]
        for array, values in self._before:
            array.flat[...] = values
        try:
            with suppress(KernelError):  # the launch that is recorded reports it
                Engine(self.prepared, [StepCounter(self._program.prefix)]).run()
        except LaunchError:
            self._refused = True
            raise
        finally:
            for array, watched in zip(arrays, watchers, strict=True):
                array.watchers = watched
            for (array, _), values in zip(self._before, now, strict=True):
                array.flat[...] = values

    def _event(self, vector: Any, line: int | None = None) -> int | None:
        """Return the event of a line of the running statement; without a line, the one that is being recorded.

        A device function that the statement calls has events of its own; the statement's event continues after it.
        """
        self._chunk = chunk = self._running[vector.chunk]
        event = chunk.now.get(vector.warp_number)
        if event is None or line is None:
            return event
        first = self._program.first.get(line, line)
        if chunk.lines[event] == first:
            return event
        before = chunk.latest.get((vector.warp_number, first))
        return event if before is None else self._open(vector, first, chunk.masks[before], RESUMED)

    def _access(self, site: Any, pattern: Any, base: int, value: Any) -> None:
        """Record an access of a warp; elements that are reported one by one, of one wide access, become one row."""
        event = self._event(site.vector, site.line)
        if event is None:
            return
        accesses = self._chunk.accesses
        if pattern.width > 1:
            values = value if isinstance(value, tuple) else (value,)
            if accesses and len(values) < pattern.width:  # reported element by element, but one access
                last = accesses[-1]
                if last[0] == event and last[2] is pattern and last[3] + len(last[4]) == base < last[3] + pattern.width:
                    last[4].extend(values)
                    return
            accesses.append((event, site.op, pattern, base, list(values), None))
        elif site.op != "atomic":  # see :meth:`updated`
            accesses.append((event, site.op, pattern, base, value, None))

    def updated(self, site: Any, pattern: Any, base: int, operation: str, values: tuple[Any, ...], old: Any) -> None:
        event = self._event(site.vector, site.line)
        if event is not None:
            held, new = (
                np.asarray(value).view(pattern.array.dtype) for value in (old, ATOMIC[operation](old, *values))
            )
            self._chunk.accesses.append((event, site.op, pattern, base, new, (operation, held, values)))

    def assigned(self, vector: Any, line: int, name: str, value: Any, mask: Any) -> None:
        event = self._event(vector, line)
        if event is not None:
            self._chunk.variables.append((event, self._program.prefix[line] + name, value, self._chunk.masks[event]))

    def tested(self, vector: Any, line: int, text: str, sides: tuple[Any, Any], truth: Any, mask: Any) -> None:
        """Record a condition evaluated in the lanes of ``mask``, with the sides of a plain comparison (else None)."""
        event = self._event(vector, line)
        if event is not None:
            self._chunk.tests.append((event, text, *sides, truth, mask))

    def out_of_bounds(self, site: Any, array: Any, index: tuple[Any, ...], dimension: int, lanes: np.ndarray) -> None:
        event = self._event(site.vector, site.line)
        if event is not None:
            at = tuple(np.asarray(each).astype(np.int64) for each in array.of_array(index))
            self._chunk.outside.append((event, site.op, at, array.name, lanes))

    def negative_index(self, site: Any, array: Any, index: tuple[Any, ...], dimension: int, lanes: np.ndarray) -> None:
        event = self._event(site.vector, site.line)
        if event is not None:
            self._chunk.flags[event] |= NEGATIVE

    def exchanged(self, vector: Any, line: int, name: str, exchange: tuple[Any, Any, Any], mask: Any) -> None:
        event = self._event(vector, line)
        if event is not None:
            self._chunk.exchanges.append((event, name, *exchange, mask))

    def barrier(self, arrivals: Sequence[tuple[Any, Any]], complete: bool) -> None:
        for vector, mask in arrivals:
            event = self._event(vector)
            if event is None:
                continue
            if mask is True:
                self._chunk.flags[event] |= BARRIER
            else:
                self._chunk.arrivals.append((event, mask))

    def product_started(self, site: Any, vector: Any, product: Any) -> None:
        event = self._event(vector, site.line)
        if event is not None:
            self._chunk.products.append((event, product, []))
            first = self._program.first.get(site.line, site.line)
            self._group_products.setdefault(first, product.spec)

    def product_finished(self, vector: Any, product: Any, lanes: np.ndarray) -> None:
        event = self._event(vector)
        if event is not None:
            for _, started, ends in self._chunk.products:
                if started is product:
                    ends.append((event, lanes.copy()))

    def results_arrived(self, vector: Any, pattern: Any, values: Sequence[np.ndarray]) -> None:
        event = self._event(vector)
        if event is not None:
            self._chunk.accesses.append((event, "result", pattern, 0, list(values), None))

    def end_of_chunk(self, vectors: Sequence[Any]) -> None:
        recorded = self._running.pop(vectors[0].chunk, ChunkRecording())
        if not self._refused:
            self._builder.add(recorded, vectors, self._arrays)

    # --- the result ----------------------------------------------------------------------------------------------

    def trace(self, findings: Sequence[Finding] = (), traffic: Sequence[Any] = ()) -> Trace:
        """Return the trace of the launch, with these findings and counts."""
        launch, source = self.prepared.launch, self.prepared.source
        columns = self._builder.build(launch, list(self._arrays))
        for name, host in self._hosts.items():
            if name in self._arrays:
                self._arrays[name] = replace(self._arrays[name], final=host.copy())
        steps = RecordedSteps(columns, self._arrays)
        return Trace(
            source.name,
            launch.grid,
            launch.block,
            self.prepared.lines,
            self._arrays,
            steps,
            tuple(findings),
            tuple(traffic),
            self._matrices(),
            self.prepared.compiled.program,
            {
                name: value
                for (name, _), value in zip(
                    self.prepared.compiled.program.parameters, self.prepared.values, strict=True
                )
                if isinstance(value, (np.generic, int, float, complex))
            },
        )

    def _matrices(self) -> tuple[MatrixOperation, ...]:
        """Return the operations for which it is known which lane holds which element of the matrices."""
        found = {}
        for (line, name), function in sorted(self.prepared.compiled.warp_functions.items(), key=lambda item: item[0]):
            fragments = getattr(getattr(function, "__self__", function), "fragments", None)
            if fragments:
                line = self._program.first.get(line, line)
                found[line, name] = MatrixOperation(line, name, tuple(_fragment(*each) for each in fragments))
        for line, spec in self._group_products.items():
            pieces = tuple(
                Pieces(name, shape[0], shape[1], tuple(np.ravel_multi_index((row, column), shape).tolist()))
                for name, shape, row, column in spec.pieces
            )
            fragments = tuple(_fragment(*each) for each in spec.fragments)
            found[line, "wgmma"] = MatrixOperation(line, "wgmma", fragments, pieces)
        return tuple(found[key] for key in sorted(found))


def _fragment(name: str, shape: tuple[int, int], places: tuple[np.ndarray, np.ndarray]) -> Fragment:
    elements = np.ravel_multi_index(places, shape)
    return Fragment(name, *shape, tuple(map(tuple, elements.T.tolist())))
