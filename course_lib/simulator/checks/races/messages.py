"""The races as data, and the sentences in which findings tell them: who did what, and what orders the two."""

import ast
from dataclasses import dataclass
from functools import lru_cache

from ...compile.compiled_kernel import CompiledKernel
from ...findings import Thread
from ...launch_shape import LaunchShape
from ...runtime.memory import GlobalArray, SharedArray
from .accesses import READ, PastAccess, WarpPath

VERBS = ("reads", "writes", "updates")


@dataclass(frozen=True)
class Race:
    """Two accesses that race; ``first`` is that of the smaller line, whichever ran first.

    ``threads``: the coordinates of the thread of each. ``between_warps``: they are of two warps, perhaps of two blocks.
    ``same_value``: both wrote the same. ``paths``: the two lines, in the order in which warps ran them.
    """

    array: SharedArray | GlobalArray
    index: tuple[int, ...]
    first: PastAccess
    second: PastAccess
    threads: tuple[Thread, Thread]
    between_warps: bool
    same_value: bool
    paths: list[WarpPath]

    @property
    def in_one_line(self) -> bool:
        return self.first.line == self.second.line

    @property
    def between_blocks(self) -> bool:
        return self.threads[0][0] != self.threads[1][0]

    @property
    def between_writes(self) -> bool:
        """Whether both write, or update atomically."""
        return READ not in (self.first.kind, self.second.kind)

    @property
    def verbs(self) -> tuple[str, str]:
        """What each of the threads does."""
        return VERBS[self.first.kind], VERBS[self.second.kind]

    @property
    def needs_barrier(self) -> bool:
        """Whether a barrier between two lines orders the accesses."""
        return not self.between_blocks and not self.in_one_line

    @property
    def needs_block_barrier(self) -> bool:
        """Whether that must be one of the block, since a syncwarp is not enough."""
        return self.needs_barrier and self.between_warps


class Messages:
    """The sentences about the races of a launch."""

    def __init__(self, launch: LaunchShape, compiled: CompiledKernel) -> None:
        self.launch, self.compiled = launch, compiled

    def sentence(self, race: Race, block_barrier: bool = False) -> str:
        """What the two threads do, and what would order them; ``block_barrier``: do not offer a syncwarp for that."""
        one, other = map(self.launch.format_thread, race.threads)
        does, does_too = race.verbs
        element = race.array.element_name(race.index)
        if isinstance(race.array, GlobalArray) and len(race.array.names) > 1:
            element += f" ({' and '.join(race.array.names)} are in one allocation)"
        note = " (the same value, this time)" if race.same_value else ""
        return (
            f"{one} {does} {element} in line {race.first.line} and {other} {does_too} it in "
            f"line {race.second.line}{note}, and nothing orders the two; {self._advice(race, block_barrier)}"
        )

    def _advice(self, race: Race, block_barrier: bool) -> str:
        line = race.first.line
        if race.in_one_line and race.between_writes:
            part = self.compiled.filled_parts.get(line, "")
            if part.startswith(f"{race.array.name}["):  # a line may store to another array, too
                return (
                    f"{part} names a part of {race.array.name}, so each thread stores to all elements of it; "
                    f"give {race.array.ndim} indices to store to one element"
                )
        if race.between_blocks and self.compiled.fences:
            return (
                "threadfence() orders them only if it is between the first and an atomic on a word that the other "
                "thread updates too, before the second; threadfence_block() orders the threads of one block only"
            )
        if race.between_blocks:
            return "a block cannot wait for one that has not started: give each its own elements, or use cuda.atomic"
        if race.in_one_line and race.between_writes:
            return "let one thread write it, or use cuda.atomic"
        if race.in_one_line:
            return self._advice_on_one_line(line, race.array.name)
        syncwarp = "" if race.needs_block_barrier or block_barrier else "cuda.syncwarp() or "
        return f"put {syncwarp}cuda.syncthreads() {self._where(line, race.second.line, race.paths)}"

    def _advice_on_one_line(self, line: int, array: str) -> str:
        """Say what orders a read and a write of an array in one line."""
        sources = self.compiled.sources
        read: set[str] = set()
        for source in sources:
            read |= {*others_read(source.tree, line, array)}
        apart = "read into a variable, put a barrier, and write then"
        if end := self._end_of_loop(line, line):
            apart = f"between two iterations, put a barrier {end}; within one, {apart}"
        atomic = "if several threads are to update one element, use cuda.atomic, as cuda.atomic.add"
        if read:
            return f"one writes what the other reads as {' or '.join(sorted(read))}: {apart}"
        if any(updates_one(source.tree, line, array) for source in sources):
            return atomic
        return f"{atomic}; else {apart}"

    def _where(self, first: int, second: int, paths: list[WarpPath]) -> str:
        """Say where a barrier is missing between these lines: in a loop, the second may come before the first."""
        end = self._end_of_loop(first, second)
        if (second, first) in paths:
            return end or f"after line {second}, before line {first}"
        if end and not paths:
            return f"between the two, and {end}"
        return "between the two"

    def _end_of_loop(self, first: int, second: int) -> str:
        """Where the body of the innermost loop around these lines ends, in words; empty without a loop."""
        around: list[tuple[int, int]] = []
        for source in self.compiled.sources:
            around += [loop for loop in loops_of(source.tree) if loop[0] <= first <= second <= loop[1]]
        start, end = max(around, default=(0, 0))
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
    others: dict[str, None] = {}  # in their order, each once
    for stored, read in _stores_of(tree, line, array):
        others |= dict.fromkeys(each for each in read if each != stored)
    return tuple(others)


@lru_cache(maxsize=256)
def updates_one(tree: ast.AST, line: int, array: str) -> bool:
    """Whether a line stores to an element of an array that it reads, as ``counts[k] += 1``."""
    return any(stored in read for stored, read in _stores_of(tree, line, array))


@lru_cache(maxsize=256)
def loops_of(tree: ast.AST) -> tuple[tuple[int, int], ...]:
    """Return the first and the last line of each loop."""
    loops = [node for node in ast.walk(tree) if isinstance(node, (ast.For, ast.While))]
    return tuple((loop.lineno, loop.end_lineno or 0) for loop in loops)
