"""Writes a program region by region: positions of what is emitted, and where they are once it is in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from .idioms import IdiomPart
from .scheduling import Instruction, Schedule
from .steps import TracedStep


class Emission:
    """The program of a warp while it is written: `out` is in order, `region` follows it and is not yet.

    Positions count through both. `made` says where values come from, by what lowering knows them by.
    """

    def __init__(self) -> None:
        self.schedule = Schedule()
        self.out = self.schedule.out
        self.region: list[Instruction] = []  # their needs count from the region's beginning, below 0 what came before
        self.made: dict[tuple[Any, ...], tuple[int, ...]] = {}
        self.turn = 0  # of the outermost loop

    def emit(self, instruction: Instruction) -> int:
        """Append to the region; return the position."""
        self.region.append(instruction)
        return len(self.out) + len(self.region) - 1

    def index_of(self, arithmetic: str, step: TracedStep, needs: tuple[int, ...] = (), amount: int = 1) -> int:
        """Emit index arithmetic of one kind."""
        return self.emit(Instruction("index", step.line, needs, arithmetic, amount, turn=self.turn))

    def beside(self, parts: Sequence[IdiomPart], step: TracedStep) -> None:
        """Emit an idiom that nothing else in this turn needs: the compiler fills gaps with it."""
        last = self.idiom(parts, step)
        self.schedule.fills.update(range(last + 1 - len(parts), last + 1))

    def idiom(self, parts: Sequence[IdiomPart], step: TracedStep, needs: tuple[int, ...] = ()) -> int:
        """Emit an idiom whose first instructions have these needs; return the position of its last."""
        base = len(self.out) + len(self.region)
        for number, part in enumerate(parts):
            found: set[int] = set()
            for need in part.needs:
                found.update((base + need,) if need >= 0 else needs)
            position = self.emit(Instruction(part.kind, step.line, tuple(sorted(found)), turn=self.turn))
            if part.latency:
                self.schedule.latency[position] = part.latency
            if part.holds > 1:
                self.schedule.holds[position] = part.holds
            assert position == base + number
        return base + len(parts) - 1

    def flush(self, whole: bool = False) -> None:
        """Put the region in order; what only fills gaps may be left for the next, unless the whole of it is wanted."""
        self.region, moved = self.schedule.put(self.region, whole)
        self.move(moved)

    def move(self, moved: Mapping[int, int]) -> None:
        """Note where positions have moved to, of all that is known by them."""
        for key, positions in self.made.items():
            if any(p in moved for p in positions):
                self.made[key] = tuple(moved.get(p, p) for p in positions)
