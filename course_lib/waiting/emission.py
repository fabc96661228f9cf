"""Building a program region by region: the positions of emitted instructions, before and after reordering."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .idioms import IdiomPart
from .scheduling import Instruction, Schedule
from .steps import TracedStep


class Emission:
    """The program of a warp under construction: `out` is in its final order, `region` follows it and is not.

    Positions count through both. `made` maps a value's key to the positions that it comes from.
    """

    def __init__(self) -> None:
        self.schedule = Schedule()
        self.out = self.schedule.out
        self.region: list[Instruction] = []  # needs count from the region's beginning; below 0: earlier instructions
        self.made: dict[tuple[Any, ...], tuple[int, ...]] = {}
        self.iteration = 0  # iterations of the outermost loop begun so far
        self.number = -1  # of the current step

    def emit(self, instruction: Instruction) -> int:
        """Append an instruction to the region; return its position."""
        self.region.append(instruction._replace(step=self.number))
        return len(self.out) + len(self.region) - 1

    def index_of(self, arithmetic: str, step: TracedStep, needs: tuple[int, ...] = (), amount: int = 1) -> int:
        """Emit index arithmetic of one kind; return its position."""
        return self.emit(Instruction("index", step.line, needs, arithmetic, amount, turn=self.iteration))

    def beside(self, parts: Sequence[IdiomPart], step: TracedStep) -> None:
        """Emit an idiom that nothing else in this iteration needs: the compiler fills gaps with it."""
        last = self.idiom(parts, step)
        self.schedule.fills.update(range(last + 1 - len(parts), last + 1))

    def idiom(self, parts: Sequence[IdiomPart], step: TracedStep, needs: tuple[int, ...] = ()) -> int:
        """Emit an idiom whose first instructions depend on `needs`; return the position of its last one."""
        base = len(self.out) + len(self.region)
        for number, part in enumerate(parts):
            found: set[int] = set()
            for need in part.needs:
                found.update((base + need,) if need >= 0 else needs)
            position = self.emit(Instruction(part.kind, step.line, tuple(sorted(found)), turn=self.iteration))
            if part.latency:
                self.schedule.latency[position] = part.latency
            if part.holds > 1:
                self.schedule.holds[position] = part.holds
            assert position == base + number
        return base + len(parts) - 1

    def flush(self, whole: bool = False) -> None:
        """Put the region in order. What only fills gaps may stay for the next region, unless `whole` is set."""
        self.region, moved = self.schedule.put(self.region, whole)
        self.move(moved)

    def move(self, moved: Mapping[int, int]) -> None:
        """Update all recorded positions after a reordering: `moved` maps old positions to new ones."""
        for key, positions in self.made.items():
            if any(p in moved for p in positions):
                self.made[key] = tuple(moved.get(p, p) for p in positions)
