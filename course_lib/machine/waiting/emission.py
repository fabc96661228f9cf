"""Building a program region by region: instructions are emitted, then put in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .idioms import IdiomPart
from .scheduling import Instruction, Schedule
from .steps import TracedStep


class Emission:
    """The program of a warp under construction: `out` is in its final order, `region` follows it and is not.

    Whatever refers to an instruction before the end holds its number, in the order of emission, which no reordering
    changes; so do the `needs` of the region. `made` maps a value's key to the instructions that it comes from.
    """

    def __init__(self) -> None:
        self.schedule = Schedule()
        self.out = self.schedule.out
        self.region: dict[int, Instruction] = {}
        self.emitted = 0
        self.made: dict[tuple[Any, ...], tuple[int, ...]] = {}
        self.iteration = 0  # iterations of the outermost loop begun so far
        self.number = -1  # of the current step

    def emit(self, instruction: Instruction) -> int:
        """Append an instruction to the region; return its number."""
        self.region[self.emitted] = instruction._replace(step=self.number)
        self.emitted += 1
        return self.emitted - 1

    def index_of(self, arithmetic: str, step: TracedStep, needs: tuple[int, ...] = (), amount: int = 1) -> int:
        """Emit index arithmetic of one kind; return its number."""
        return self.emit(Instruction("index", step.line, needs, arithmetic, amount, iteration=self.iteration))

    def beside(self, parts: Sequence[IdiomPart], step: TracedStep) -> None:
        """Emit an idiom that nothing else in this iteration needs: the compiler fills gaps with it."""
        last = self.idiom(parts, step)
        self.schedule.fills.update(range(last + 1 - len(parts), last + 1))

    def idiom(self, parts: Sequence[IdiomPart], step: TracedStep, needs: tuple[int, ...] = ()) -> int:
        """Emit an idiom whose first instructions depend on `needs`; return the number of its last one."""
        base = self.emitted
        for part in parts:
            found: set[int] = set()
            for need in part.needs:
                found.update((base + need,) if need >= 0 else needs)
            number = self.emit(Instruction(part.kind, step.line, tuple(sorted(found)), iteration=self.iteration))
            if part.latency:
                self.schedule.latency[number] = part.latency
            if part.holds > 1:
                self.schedule.holds[number] = part.holds
        return base + len(parts) - 1

    def flush(self, whole: bool = False) -> None:
        """Put the region in order. What only fills gaps may stay for the next region, unless `whole` is set."""
        self.region = self.schedule.put(self.region, whole)
