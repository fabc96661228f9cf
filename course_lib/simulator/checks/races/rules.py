"""Find races and report them; the package's docstring states the rules."""

import ast
import copy
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from operator import itemgetter
from typing import Any

import numpy as np

from ...findings import Finding, FindingKey
from ...hardware import WARP_SIZE
from ...launch.prepare import Prepared
from ...runtime.access import Site
from ...runtime.arrays import Array, Ints, Pattern, Watcher
from ...runtime.copies import SourceUse
from ...runtime.masks import Mask
from ...runtime.memory import GlobalArray, SharedArray
from ...runtime.warp import WarpVector
from .acquire_release import Releases
from .log import GlobalLog, SharedLog
from .shadow_memory import READ, Access, PastAccess, Reporter, Shadow, WarpPath

IN_BLOCK, WITHIN_WARP = "; put cuda.syncthreads() ", "; put cuda.syncwarp() or cuda.syncthreads() "
VERBS = ("reads", "writes", "updates")


class RacesObserver(Reporter):
    def start(self, prepared: Prepared) -> None:
        super().start(prepared)
        self.logs: dict[SharedArray, SharedLog] = {}
        self.of_launch: dict[GlobalArray, GlobalLog] = {}
        self.shadows: dict[GlobalArray | SharedArray, Shadow] = {}
        self.epochs = {}
        self.priority: dict[FindingKey, tuple[bool, bool]] = {}
        self.reported = []
        self.compiled = prepared.compiled
        launch = prepared.launch
        self.releases = Releases(launch.blocks, launch.threads_per_block) if prepared.compiled.fences else None
        self.every_thread = prepared.compiled.fences or prepared.compiled.groups

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The races. If one of them needs a barrier of the block, no other one says that a syncwarp is enough."""
        for log in self.of_launch.values():
            log.check()
        return self._found()

    def findings_so_far(self) -> tuple[Finding, ...]:
        """Return the races so far: also those of accesses that are logged and not replayed yet."""
        seen = copy.copy(self)
        seen._findings, seen._counts, seen.priority = self._findings.copy(), self._counts.copy(), self.priority.copy()
        seen.epochs, seen.reported = self.epochs.copy(), []
        logs: list[GlobalLog | SharedLog] = [*self.of_launch.copy().values(), *self.logs.copy().values()]
        for log in logs:
            log.replay_to(seen)
        return seen._found()

    def _found(self) -> tuple[Finding, ...]:
        found = super().findings
        if any(IN_BLOCK in finding.message for finding in found):
            found = tuple(replace(each, message=each.message.replace(WITHIN_WARP, IN_BLOCK)) for each in found)
        return found

    def watch(self, array: Array) -> Watcher | None:
        if isinstance(array, SharedArray) and self.releases is None:
            self.logs[array] = log = SharedLog(self, array)
            return log
        if isinstance(array, GlobalArray) and not self.compiled.may_write(*array.names):
            return None
        if isinstance(array, GlobalArray) and not self.every_thread:
            return self.of_launch.setdefault(array.memory, GlobalLog(self, array.memory))
        if isinstance(array, SharedArray | GlobalArray):
            return self._at_once  # fences and syncwarps of a part of a warp order accesses by their position
        return None

    def copy_started(self, site: Site, pattern: Pattern, base: int, values: tuple[Any, ...]) -> None:
        """Treat the start of an asynchronous copy as a store, since it may arrive at once; so is its arrival."""
        array = pattern.array
        assert isinstance(array, SharedArray)
        watcher = self.logs.get(array, self._at_once)
        for element, value in enumerate(values):
            watcher(site, pattern, base + element, value)

    def source_read(self, use: SourceUse, done: Ints) -> None:
        """Treat the arrival of an asynchronous copy as a read of its source, like its start."""
        vector = use.site.vector
        watcher = self.of_launch.get(use.array.memory, self._at_once)
        for words, lanes in zip(use.words, use.lanes & done, strict=True):
            mask = lanes.reshape(vector.shape)
            if mask.any():
                watcher(use.site, Pattern(use.array, vector, words.reshape(vector.shape), mask), 0, None)

    def _at_once(self, site: Site, pattern: Pattern, base: int, value: Any) -> None:
        array = pattern.array
        assert isinstance(array, (GlobalArray, SharedArray))
        memory = array.memory if isinstance(array, GlobalArray) else array
        shadow = self.shadows.get(memory)
        if shadow is None:
            shadow = self.shadows[memory] = Shadow(self, memory)
        shadow.see(Access.at(site, pattern, base, value), self.epoch_of(site.vector.chunk))

    def fence(self, vector: WarpVector, mask: Mask, block_only: bool) -> None:
        if self.releases is not None:
            lanes = vector.full(mask)
            barriers = np.broadcast_to(self.epoch_of(vector.chunk), vector.shape)
            self.releases.fence(vector.ids[lanes], barriers[lanes], block_only)

    def released(self, vector: WarpVector, pattern: Pattern) -> None:
        if self.releases is not None:
            keys, lanes = pattern.words(0)
            barriers = np.broadcast_to(self.epoch_of(vector.chunk), vector.shape)
            self.releases.update(pattern.array, keys, vector.ids[lanes], barriers[lanes])

    def barrier(self, arrivals: Sequence[tuple[WarpVector, Mask]], complete: bool) -> None:
        chunk = arrivals[0][0].chunk
        for array, log in self.logs.items():
            if array.chunk is chunk:
                log.check(complete)
        met = 1 if complete else np.any([v.full(m).any(axis=(0, 1)) for v, m in arrivals], axis=0)
        self.epochs[chunk] = self.epoch_of(chunk) + met

    def grid_barrier(self) -> None:
        for log in self.of_launch.values():
            log.check()
        self.shadows = {array: shadow for array, shadow in self.shadows.items() if isinstance(array, SharedArray)}

    def end_of_chunk(self, vectors: Sequence[WarpVector]) -> None:
        chunk = vectors[0].chunk
        for array in [array for array in self.logs if array.chunk is chunk]:
            self.logs.pop(array).check(True)
        for array in [array for array in self.shadows if isinstance(array, SharedArray) and array.chunk is chunk]:
            del self.shadows[array]
        self.epochs.pop(chunk, None)

    def report(
        self,
        array: SharedArray | GlobalArray,
        word: int,
        one: PastAccess,
        other: PastAccess,
        same_value: bool,
        paths: list[WarpPath],
    ) -> None:
        """Report two accesses that race, as :class:`Reporter` says."""
        (thread_a, line_a, kind_a), (thread_b, line_b, kind_b) = sorted([one, other], key=itemgetter(1, 0))
        index = array.index_of_key(word)
        place = array.element_name(index)
        threads = self.launch.thread_coordinates(thread_a), self.launch.thread_coordinates(thread_b)
        size, name = self.launch.threads_per_block, self.launch.format_thread
        across = thread_a // size != thread_b // size or thread_a % size // WARP_SIZE != thread_b % size // WARP_SIZE
        if isinstance(array, GlobalArray) and len(array.names) > 1:
            place += f" ({' and '.join(array.names)} are in one allocation)"
        part = self.compiled.parts.get(line_b, "") if line_a == line_b and READ not in (kind_a, kind_b) else ""
        if part.startswith(f"{array.name}["):  # a line may store to another array, too
            cure = (
                f"{part} names a part of {array.name}, so each thread stores to all elements of it; "
                f"give {array.ndim} indices to store to one element"
            )
        elif threads[0][0] != threads[1][0] and self.compiled.fences:
            cure = (
                "threadfence() orders them only if it is between the first and an atomic on a word that the other "
                "thread updates too, before the second; threadfence_block() orders the threads of one block only"
            )
        elif threads[0][0] != threads[1][0]:
            cure = "a block cannot wait for one that has not started: give each its own elements, or use cuda.atomic"
        elif line_a == line_b and READ not in (kind_a, kind_b):
            cure = "let one thread write it, or use cuda.atomic"
        elif line_a == line_b:
            cure = self._of_one_line(line_a, array.name)
        else:
            cure = f"{(IN_BLOCK if across else WITHIN_WARP)[2:]}{self._missing(line_a, line_b, paths)}"
        note = " (the same value, this time)" if same_value else ""
        finding = Finding(
            "race",
            line_b,
            f"{name(threads[0])} {VERBS[kind_a]} {place} in line {line_a} and {name(threads[1])} {VERBS[kind_b]} it in "
            f"line {line_b}{note}, and nothing orders the two; {cure}",
            other_line=line_a,
            array=array.name,
            index=index,
            threads=threads,
            verbs=(VERBS[kind_a], VERBS[kind_b]),
        )
        # of several races of two lines, show one of two warps, which nobody disputes, and in which the values differ
        priority = across, not same_value
        before = self.priority.get(finding.key, priority)
        if priority > before:
            self._findings[finding.key] = finding
        self.priority[finding.key] = priority = max(priority, before)
        self.add(finding)
        self.reported.append((finding.key, priority >= (across, True)))

    def _of_one_line(self, line: int, array: str) -> str:
        """Say what orders a read and a write of an array in one line."""
        sources = self.compiled.sources
        read = {name for source in sources for name in others_read(source.tree, line, array)}
        updates = not read and any(updates_one(source.tree, line, array) for source in sources)
        apart = "read into a variable, put a barrier, and write then"
        if end := self._end_of_loop(line, line):
            apart = f"between two iterations, put a barrier {end}; within one, {apart}"
        atomic = "if several threads are to update one element, use cuda.atomic, as cuda.atomic.add"
        if updates:
            return atomic
        if read:
            return f"one writes what the other reads as {' or '.join(sorted(read))}: {apart}"
        return f"{atomic}; else {apart}"

    def _missing(self, first: int, second: int, paths: list[WarpPath]) -> str:
        """Say where a barrier is missing between these lines: in a loop, the second may come before the first."""
        end = self._end_of_loop(first, second)
        if (second, first) in paths:
            return end or f"after line {second}, before line {first}"
        return "between the two" + f", and {end}" * (bool(end) and not paths)

    def _end_of_loop(self, first: int, second: int) -> str:
        """Where the body of the innermost loop around these lines ends, in words; empty without a loop."""
        loops = (loop for source in self.compiled.sources for loop in loops_of(source.tree))
        start, end = max((loop for loop in loops if loop[0] <= first <= second <= loop[1]), default=(0, 0))
        return f"after line {end}, at the end of the body of the loop in line {start}" if start else ""


def _stores_of(tree: ast.AST, line: int, array: str) -> list[tuple[str, list[str]]]:
    """Return the elements of an array to which a line stores, each with those that the statement reads, as written."""
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Assign | ast.AugAssign) or not node.lineno <= line <= (node.end_lineno or 0):
            continue
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        read = [ast.unparse(each) for each in ast.walk(node.value) if _is_element(each, array)]
        for target in targets:
            if _is_element(target, array):
                own = [ast.unparse(target)] if isinstance(node, ast.AugAssign) else []
                found.append((ast.unparse(target), own + read))
    return found


def _is_element(node: ast.AST, array: str) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == array


@lru_cache(maxsize=256)  # a launch may report thousands of races
def others_read(tree: ast.AST, line: int, array: str) -> tuple[str, ...]:
    """Return the elements that a line reads of an array, as written, if it stores to another one of the same array."""
    stores = _stores_of(tree, line, array)
    return tuple(dict.fromkeys(each for stored, read in stores for each in read if each != stored))


@lru_cache(maxsize=256)
def updates_one(tree: ast.AST, line: int, array: str) -> bool:
    """Whether a line stores to an element of an array that it reads, as ``counts[k] += 1``."""
    return any(stored in read for stored, read in _stores_of(tree, line, array))


@lru_cache(maxsize=256)
def loops_of(tree: ast.AST) -> tuple[tuple[int, int], ...]:
    """Return the first and the last line of each loop."""
    return tuple((n.lineno, n.end_lineno or 0) for n in ast.walk(tree) if isinstance(n, (ast.For, ast.While)))
