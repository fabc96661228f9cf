"""Lowering of loads and stores: with the arithmetic of indices, and neighbouring loads of shared memory joined."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...simulator.hardware import WARP_SIZE, WORD_BYTES
from . import idioms
from .addresses import Addresses
from .dataflow import Dataflow, Facts
from .scheduling import Instruction
from .steps import WIDE_BYTES, TracedAccess, TracedStep


@dataclass
class Statement:
    """A statement that is being lowered, while the functions that it calls run: its loads and operations so far."""

    facts: Facts
    step: TracedStep
    loads: list[tuple[int, ...]] = field(default_factory=list)  # each as the instructions that its value comes from
    operations: dict[int, int] = field(default_factory=dict)  # those emitted: which operation -> its instruction
    head: bool = False  # whether it is the head of an `if` or a loop, which makes its comparison separately
    within: Any = None  # the function that it has called and that has not returned
    arrays: list[str] = field(default_factory=list)  # that it has loaded from, thread-private arrays excluded
    needs: tuple[int, ...] | None = None  # what its values depend on, once they have been computed

    @property
    def executed(self) -> frozenset[int] | None:
        """The operations that its warp executes, by number, deduced from its loads; None if these do not tell."""
        every, ways = frozenset(range(len(self.facts.computation.operations))), self.facts.computation.ways
        if ways is None:
            return every
        named = [way for way in ways if way.loads == tuple(self.arrays)]
        found = {way.operations for way in named or ways if len(way.loads) == len(self.arrays)}
        return next(iter(found)) if len(found) == 1 else None


class _Begun(NamedTuple):
    """A load of shared memory that may be widened to 16 bytes: its number, and how many elements it covers so far."""

    number: int
    first: TracedAccess
    words: int


class Accesses(Addresses):
    """Lowers the accesses of statements. In `out`, one to global memory is only a reference to the traced access."""

    def __init__(self, source: Dataflow) -> None:
        super().__init__(source)
        self.wide: dict[tuple[str, int], int] = {}  # where a 16-byte load begins -> its wavefronts
        self.begun: dict[tuple[int, str], _Begun] = {}  # by line and array
        self.stored: dict[str, int] = {}  # array -> the latest store to it; "" for all of global memory
        self.touches: list[tuple[int, int]] = []  # the accesses to global memory: (step, place among its accesses)

    def flush(self, whole: bool = False) -> None:
        """Put the region in order; no load of it can be widened any more."""
        super().flush(whole)
        self.begun.clear()

    def load(self, statement: Statement, place: int) -> tuple[int, ...]:
        """Emit a load with its index arithmetic; return the instructions that its value comes from."""
        facts, step = statement.facts, statement.step
        access = step.accesses[place]
        if access.space == "local":
            _check_register(facts, step)
            return self.made.get(access.place, ())
        statement.arrays.append(access.array)
        needs = self.index(facts, step, access)
        if values := self._index_values(statement):
            needs = tuple(sorted({*needs, *values}))
        if access.space == "shared" and (merged := self._merge(step.line, access)) is not None:
            return (merged,)
        number = self.stay_after(self.emit(self._moves("load", step, place, needs)), access)
        if self.source.meets and access.space == "global" and facts.moving and facts.index(access.array).guards:
            self.met = (self.idiom(idioms.MEET, step, needs),)
        return (number,)

    def _index_values(self, statement: Statement) -> set[int]:
        """Return the instructions that the index of a statement's next load, or a guard of it, depends on."""
        facts, loads = statement.facts, statement.facts.computation.loads
        found = set(self.decided_by_values(facts))
        if loads is not None and len(statement.loads) < len(loads):
            index = loads[len(statement.loads)]
            found.update(*(self.made.get((facts.function, name), ()) for name in index.names))
            found.update(*(statement.loads[number] for number in index.loads if number < len(statement.loads)))
        return found

    def store(self, facts: Facts, step: TracedStep, place: int, needs: tuple[int, ...]) -> None:
        access = step.accesses[place]
        if access.space == "local":
            _check_register(facts, step)
            self.made[access.place] = needs
        else:
            needs = (*needs, *self.index(facts, step, access))
            self.stored[_memory(access)] = self.emit(self._moves("store", step, place, needs))
            for key in [key for key in self.begun if key[1] == access.array]:
                del self.begun[key]  # later loads may read what this stores

    def stay_after(self, number: int, access: TracedAccess) -> int:
        """Keep a load after the latest store that may be to the same elements; return the load's number.

        Two arrays in global memory may overlap, whatever their names; two arrays in shared memory never do.
        """
        if _memory(access) in self.stored:
            self.schedule.after[number] = (self.stored[_memory(access)],)
        return number

    def _moves(self, kind: str, step: TracedStep, place: int, needs: tuple[int, ...]) -> Instruction:
        """Return the load or store instruction of one access."""
        access, sectors = step.accesses[place], tuple[tuple[str, int], ...]()
        if access.space == "shared":
            kind = f"shared {kind}"
        else:
            sectors = self.touched(place)
        return Instruction(kind, step.line, needs, "", 0, access.wavefronts, sectors, self.iteration, access.bytes)

    def touched(self, place: int) -> tuple[tuple[str, int], ...]:
        """Note an access of the step to global memory; return its reference, which represents its sectors in `out`."""
        self.touches.append((self.number, place))
        return (("", len(self.touches) - 1),)

    def _merge(self, line: int, access: TracedAccess) -> int | None:
        """Return the number of the 16-byte load that this is a part of, or None; note a load that may begin one."""
        each = WIDE_BYTES // access.itemsize  # elements in 16 bytes
        if access.width > 1 or access.lanes < WARP_SIZE or access.itemsize not in (WORD_BYTES, 2 * WORD_BYTES):
            return None
        begun = self.begun.get((line, access.array))
        if begun is not None:
            number, first, words = begun
            if words < each and (access.words == first.words + words).all():
                if words == 1:  # every lane reads the next element: one load of 16 bytes
                    pattern = first.array, first.pattern
                    passes = self.wide.get(pattern) or first.wide_wavefronts()
                    self.wide[pattern] = passes
                    self.region[number] = self.region[number]._replace(wavefronts=passes, bytes=WIDE_BYTES)
                self.begun[line, access.array] = _Begun(number, first, words + 1)
                return number
        if access.aligned:
            self.begun[line, access.array] = _Begun(self.emitted, access, 1)
        return None


def _memory(access: TracedAccess) -> str:
    """Return the memory that may overlap the one accessed: a shared array by name, or "" for all of global memory."""
    return access.array if access.space == "shared" else ""


def _check_register(facts: Facts, step: TracedStep) -> None:
    """Raise ValueError if the compiler cannot know which element of a local array a statement accesses."""
    if not facts.registers:
        raise ValueError(
            f"line {step.line}: the model of waiting keeps local arrays in registers, and which element this is is "
            "known only to the threads; index it with constants, or in loops of constant length"
        )
