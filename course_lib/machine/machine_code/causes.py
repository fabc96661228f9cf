"""Why a line's accesses as compiled differ from those as written: words, and how they follow from the counts.

They follow from the bytes that the lanes move, the width of the instructions, and whether these are inside of a loop.
"""

import ast
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ...simulator.language.source.reading import read
from .identity import functions_of
from .instructions import MachineCode
from .source_counts import SourceCounts
from .traffic import InstructionTraffic

#: What a compiler does to accesses, in a word, and what it means.
CAUSES = {
    "joined": "one access takes the place of several of the source",
    "widened": "one access moves neighbouring elements",
    "hoisted": "made before the loop, not in each iteration",
    "split": "the lanes of a warp make it at different times",
    "in parts": "one access of the source is several",
    "moved": "the compiler names another line for it",
    "ahead": "made before it is known whether it is needed",
    "retried": "the update is a loop of loads and compare-and-swaps",
    "repeated": "lanes on one word are served one after another",
    "no lane": "the instruction counts also for warps of which no lane takes part",
}
#: The instructions of a line, an array, a space and an operation, by their places in the code.
Instructions = dict[int, InstructionTraffic]


def bytes_of(instructions: Instructions) -> int:
    """Return the bytes that the lanes of all these instructions move."""
    return sum(each.lanes * each.bytes for each in instructions.values())


@dataclass(frozen=True)
class KernelText:
    """What the text of a kernel and its device functions says: lines in loops, and how often a line has an array."""

    loops: frozenset[int]
    loads: Counter[tuple[int, str]]

    @classmethod
    def of(cls, plain: Any) -> "KernelText":
        """Read the text of a kernel, a plain function, and of the device functions that it calls."""
        loops = set[int]()
        loads = Counter[tuple[int, str]]()
        for function in functions_of(plain).values():
            for node in ast.walk(read(function).tree):
                if isinstance(node, ast.For | ast.While):
                    first = node.body[0].lineno if isinstance(node, ast.For) else node.lineno
                    last = node.end_lineno or first
                    loops |= {*range(first, last + 1)}
                if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
                    loads[node.lineno, node.value.id] += isinstance(node.ctx, ast.Load)
                if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Subscript):
                    loads[node.lineno, ast.unparse(node.target.value)] += 1
        return cls(frozenset(loops), loads)

    def sites(self, line: int, array: str) -> int:
        """Return how often a line loads from an array; from any, if that is not known."""
        return sum(count for (place, name), count in self.loads.items() if place == line and array in ("", name))


@dataclass(frozen=True)
class Difference:
    """A line's accesses of one kind: what the source asks for, and the instructions that do it.

    Attributes:
        line, array, op: the accesses.
        source: what the source asks for.
        instructions: those that do it.
        bytes_beyond: the bytes that all instructions of this kind move more than all lines ask for.
        fewer_requests: whether they make fewer requests than these lines.
        retried: whether the line updates memory in a loop of compare-and-swaps.
    """

    line: int
    array: str
    op: str
    source: SourceCounts
    instructions: Instructions
    bytes_beyond: int
    fewer_requests: bool
    retried: bool

    def causes(self, text: KernelText, code: MachineCode) -> Iterator[str]:
        """Yield the words of `CAUSES` that say why the counts differ."""
        if self.retried:
            yield "retried"
        elif self.op == "atomic":
            yield from self._of_atomics()
        else:
            yield from self._of_loads_and_stores(text, code)
        if self._has_warps_without_lanes():
            yield "no lane"

    def _has_warps_without_lanes(self) -> bool:
        return any(each.counted > each.requests for each in self.instructions.values())

    def _of_atomics(self) -> Iterator[str]:
        """Yield the words of atomics. That one lane updates a word for its warp is none: in the source's counts the
        lanes on one word are together, too."""
        if sum(each.requests for each in self.instructions.values()) > self.source.counts.requests:
            yield "split"
        yield "repeated"

    def _of_loads_and_stores(self, text: KernelText, code: MachineCode) -> Iterator[str]:
        """Yield the words of loads and stores: first of their width, then of how many bytes and requests there are."""
        source = self.source
        active = {place: each for place, each in self.instructions.items() if each.requests}
        moved = bytes_of(active)
        requests = sum(each.requests for each in active.values())
        wide = any(each.bytes > source.itemsize for each in active.values())
        if wide and source.accesses:
            yield "widened"
        if active and all(each.bytes < source.itemsize for each in active.values()):
            yield "in parts"
        elif moved > source.bytes:
            yield "moved" if self.bytes_beyond <= 0 else "ahead"
        elif moved < source.bytes:
            if self.bytes_beyond == 0 and not self.fewer_requests:
                yield "moved"
            else:
                yield "hoisted" if self._is_out_of_a_loop(text, code) else "joined"
        elif requests < source.counts.requests:
            if not wide:
                yield "joined"
        elif not wide and (requests > source.counts.requests or not self._has_warps_without_lanes()):
            yield "split"

    def _is_out_of_a_loop(self, text: KernelText, code: MachineCode) -> bool:
        """Return whether instructions for a line in a loop are outside of every loop of the machine code, which was not
        unrolled: it has no more of them than the line has loads."""
        outside = [
            place for place in self.instructions if not any(first <= place <= last for first, last in code.loops)
        ]
        few = len(outside) <= max(1, text.sites(self.line, self.array))
        return bool(outside) and self.line in text.loops and few
