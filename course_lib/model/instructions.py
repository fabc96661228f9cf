"""From a traced run to what its warps issue: the statements' loads, stores, multiply-adds and index arithmetic.

What a compiler makes of the source is a model, too, with the rules that the machine code of the course's small
kernels shows (`course_lib.gpu.probes`):
- a loop of constant length is written out, unless it is a long one (:mod:`dataflow`); other loops are
  written out TURNS turns at a time, where no barrier stands in them;
- an index that stays the same in a loop is computed before it, one that moves once a turn;
- four loads of shared memory from neighbouring words, in a loop that is written out, become one of 16 bytes;
- loads are moved up, at most AHEAD of them ahead of what needs them, but never across a barrier.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..simulator.hardware import WARP_SIZE
from ..trace.trace import Trace
from .dataflow import Dataflow, Facts
from .requests import _wide_passes
from .steps import TracedAccess, TracedStep, steps_of, way_of

TURNS = 4
AHEAD = 6


class Instruction(NamedTuple):
    """What a warp issues: `kind`, and the positions in its program of the instructions whose results it needs.

    kind: "multiply-add", "index", "load", "store", "shared load", "shared store", "copy", "wait" or "barrier".
    cycles: of the integer units, for an index; wavefronts: passes through shared memory or the first-level cache;
    sectors: the 32-byte sectors of global memory; arithmetic: the kind of index arithmetic ("signed", …, "").
    bytes: what a lane moves; turn: how many turns of the outermost loop have begun.
    Machine code (`machine_code`) has other kinds beside them, a `pace`: cycles until the warp's next instruction, and
    `reads`: how many operands it takes from the even and from the odd registers.
    """

    kind: str
    line: int
    needs: tuple[int, ...] = ()
    arithmetic: str = ""
    amount: float = 0
    wavefronts: int = 0
    sectors: tuple[tuple[str, int], ...] = ()
    turn: int = 0
    bytes: int = 4
    pace: int = 1
    reads: tuple[int, int] = (0, 0)


def programs(
    kernel: Any, trace: Trace, block: tuple[int, int, int] = (0, 0, 0), pitch: int | None = None
) -> list[list[Instruction]]:
    """Return the programs of all warps of one block.

    pitch: elements from one row of a matrix in global memory to the next, where the traced ones stand for parts of
    larger ones; None for the rows that they have. Raise ValueError where the kernel calls a function of another file
    that multiplies and adds.
    """
    source = Dataflow(kernel)
    lowered: dict[tuple[Any, ...], _Lowering] = {}  # warps that go the same way differ in their sectors
    found = []
    for _, steps in sorted(steps_of(trace, block, pitch).items()):
        way = way_of(steps)
        if way not in lowered:
            lowered[way] = _Lowering(source)
            lowered[way].run(steps)
        found.append(lowered[way].of(steps))
    return found


class _Begun(NamedTuple):
    """A load of shared memory that may become one of 16 bytes: its position, and how many words of them it has."""

    position: int
    first: TracedAccess
    words: int


class _Lowering:
    """Turns the steps of one warp into instructions, region by region, for all warps that go the same way.

    `out` tells of what touches global memory only which access of which step that is.
    """

    def __init__(self, source: Dataflow) -> None:
        self.source = source
        self.wide: dict[int, int] = {}  # pattern -> wavefronts of four words from there on, for each lane
        self.begun: dict[tuple[int, str], _Begun] = {}  # by line and array
        self.out: list[Instruction] = []
        self.touches: list[tuple[int, int]] = []  # the accesses of global memory: (step, place in it)
        self.number = -1  # of the step
        self.region: list[Instruction] = []  # their needs count from the region's beginning, below 0 what came before
        self.made: dict[tuple[str | int, ...], tuple[int, ...]] = {}  # value -> positions in out and region together
        self.moved: set[tuple[str, ...]] = set()  # indices computed in this turn
        self.groups: list[list[int]] = [[]]  # copies of this warp that nothing has waited for, the open group last
        self.turn, self.turns_open = 0, 0
        self.outer: int | None = None

    def of(self, steps: Sequence[TracedStep]) -> list[Instruction]:
        """Return the program of a warp that goes this way."""
        sectors = [steps[step].accesses[place].sectors for step, place in self.touches]
        return [i._replace(sectors=sectors[i.sectors[0][1]]) if i.sectors else i for i in self.out]

    def run(self, steps: Sequence[TracedStep]) -> None:
        """Lower the steps of a warp into `out`."""
        for self.number, step in enumerate(steps):
            facts = self.source.facts(step.line)
            if facts.loop:
                self._header(facts, step)
            elif isinstance(facts.node, ast.If):
                if facts.guards:
                    self.made["if", step.line] = (self._index_of("guard", step, (), facts.guards),)
            else:
                self._simple(facts, step)
            if step.barrier:
                self._flush()
                self._emit(Instruction("barrier", step.line, turn=self.turn))
                self._flush()
        self._flush()

    # --- one statement ---------------------------------------------------------------------------------------

    def _simple(self, facts: Facts, step: TracedStep) -> None:
        """Emit what a statement does: its loads, its multiply-add, its stores."""
        made = self.made
        if facts.hidden:
            raise ValueError(
                f"line {step.line}: {facts.hidden} stands in another file, and a trace shows no line of it; "
                "put it beside the kernel"
            )
        if facts.called and self._copies(facts, step):
            return
        found: set[int] = set()
        for value in facts.values:
            if value in made:
                found.update(made[value])
        stores = False
        for place, access in enumerate(step.accesses):
            if access.op == "load":
                found.update(self._load(facts, step, place))
            else:
                stores = True
        needs = tuple(sorted(found))
        if facts.multiplies and (step.variables or stores):
            needs = (self._emit(Instruction("multiply-add", step.line, needs, turn=self.turn)),)
        if stores:
            for place, access in enumerate(step.accesses):
                if access.op != "load":
                    self._store(facts, step, place, needs)
        if step.variables:
            self._assign(facts, step, needs)
        if isinstance(facts.node, ast.Return):
            made[facts.function.name, "return"] = needs
        for parameter, values in facts.passed:
            made[parameter] = tuple({p for value in values for p in made.get(value, ())})

    def _assign(self, facts: Facts, step: TracedStep, needs: tuple[int, ...]) -> None:
        """Note what the variables that a statement assigns come from."""
        if facts.adds_up and not facts.moving.isdisjoint(step.variables):
            self._index_of("add", step)
        if self.moved:
            self.moved = {key for key in self.moved if set(key).isdisjoint(step.variables)}
        for variable in step.variables:
            self.made[facts.function.name, variable] = needs

    def _copies(self, facts: Facts, step: TracedStep) -> bool:
        """Emit what starts an asynchronous copy, or waits for some; return whether the statement is one of them."""
        name = facts.called
        if name in ("copy_async", "copy4_async"):
            loads = [place for place, access in enumerate(step.accesses) if access.op == "load"]
            if not loads:
                return True
            needs = self._index(facts, step, step.accesses[loads[0]])
            passes = max([1, *(a.wavefronts for a in step.accesses if a.op == "store")])
            passes = max(passes, step.accesses[loads[0]].wavefronts)
            sectors = self._touched(loads[0])
            copy = Instruction("copy", step.line, needs, "", 0, passes, sectors, self.turn)
            self.groups[-1].append(self._emit(copy))
        elif name == "commit_copies":
            self.groups.append([])
        elif name == "wait_copies":
            pending = self.source.value(facts.function, facts.node.value.args[0])  # type: ignore[attr-defined]
            done = self.groups[: len(self.groups) - 1 - pending]
            self._flush()
            places = [position for group in done for position in group]
            self._emit(Instruction("wait", step.line, tuple(places), turn=self.turn))
            self._flush()
            del self.groups[: len(done)]
        else:
            return False
        return True

    def _header(self, facts: Facts, step: TracedStep) -> None:
        """Begin a turn of a loop that is not written out."""
        if facts.written_out:
            return
        if self.outer is None:
            self.outer = step.line
        if step.line == self.outer:
            self.turn += 1
        self.turns_open += 1
        if facts.ends_region or self.turns_open >= TURNS:
            self._flush()
            self.turns_open = 0
        self.moved.clear()
        self._index_of("loop", step)

    def _load(self, facts: Facts, step: TracedStep, place: int) -> tuple[int, ...]:
        """Emit a load with its index arithmetic; return what the value comes from."""
        access = step.accesses[place]
        if access.space == "local":
            return self.made.get(access.place, ())
        needs = self._index(facts, step, access)
        if access.space == "shared" and (merged := self._merge(step.line, access)) is not None:
            return (merged,)
        return (self._emit(self._moves("load", step, place, needs)),)

    def _store(self, facts: Facts, step: TracedStep, place: int, needs: tuple[int, ...]) -> None:
        access = step.accesses[place]
        if access.space == "local":
            self.made[access.place] = needs
        else:
            needs = (*needs, *self._index(facts, step, access))
            self._emit(self._moves("store", step, place, needs))

    def _moves(self, kind: str, step: TracedStep, place: int, needs: tuple[int, ...]) -> Instruction:
        """Return a load or a store."""
        access, sectors = step.accesses[place], tuple[tuple[str, int], ...]()
        if access.space == "shared":
            kind = f"shared {kind}"
        else:
            sectors = self._touched(place)
        size = access.width * access.itemsize
        return Instruction(kind, step.line, needs, "", 0, access.wavefronts, sectors, self.turn, size)

    def _touched(self, place: int) -> tuple[tuple[str, int], ...]:
        """Note an access of global memory by the step; return what stands for its sectors in `out`."""
        self.touches.append((self.number, place))
        return (("", len(self.touches) - 1),)

    def _index(self, facts: Facts, step: TracedStep, access: TracedAccess) -> tuple[int, ...]:
        """Emit the arithmetic of an index that moves, once a turn; return what the access needs of it."""
        if not facts.moving:
            return ()
        met = self.made.get(("if", facts.condition), ())
        index, shared = facts.index(access.array), access.space == "shared"
        if not index.moved:
            return met
        key = (access.space, "" if shared else access.array, *index.moved)
        if key in self.moved and shared:
            return met
        self.moved.add(key)
        if index.adds:
            self._index_of("add", step, (), index.adds)
        if index.guards:
            met = (self._index_of("guard", step, met, len(index.moved)),)
        return (self._index_of("shared" if shared else index.arithmetic, step, met),)

    def _index_of(self, arithmetic: str, step: TracedStep, needs: tuple[int, ...] = (), amount: int = 1) -> int:
        """Emit index arithmetic of one kind."""
        return self._emit(Instruction("index", step.line, needs, arithmetic, amount, turn=self.turn))

    # --- order ------------------------------------------------------------------------------------------------

    def _emit(self, instruction: Instruction) -> int:
        """Append to the region; return the position."""
        self.region.append(instruction)
        return len(self.out) + len(self.region) - 1

    def _merge(self, line: int, access: TracedAccess) -> int | None:
        """Return the position of a load of 16 bytes that this load is a part of, or None; note it as a beginning."""
        if access.width > 1 or access.lanes < WARP_SIZE:
            return None
        base, begun = len(self.out), self.begun.get((line, access.array))
        if begun is not None:
            position, first, words = begun
            if words < 4 and (access.words == first.words + words).all():
                if words == 1:  # all lanes 16 bytes further, it takes as many wavefronts
                    if first.pattern not in self.wide:
                        self.wide[first.pattern] = _wide_passes(first.words)
                    wide = self.region[position - base]._replace(wavefronts=self.wide[first.pattern], bytes=16)
                    self.region[position - base] = wide
                self.begun[line, access.array] = _Begun(position, first, words + 1)
                return position
        if access.aligned:
            self.begun[line, access.array] = _Begun(base + len(self.region), access, 1)
        return None

    def _flush(self) -> None:
        """Put the region in order: loads ahead of what does not need them, at most AHEAD of them unused."""
        base, region = len(self.out), self.region
        last_use = {p: i for i, instruction in enumerate(region) for p in instruction.needs}
        early = {i for i, ins in enumerate(region) if ins.kind in ("load", "shared load", "copy")}
        for i in reversed(range(len(region))):  # the arithmetic of their indices goes with them
            if i in early:
                needed = (p - base for p in region[i].needs if p >= base)
                early |= {p for p in needed if region[p].kind == "index"}
        loads = deque(i for i in range(len(region)) if i in early)
        others = deque(i for i in range(len(region)) if i not in early)
        place: dict[int, int] = {}  # from the position before to that after; in the order of these
        waiting: set[int] = set()  # loads whose last use is still to come
        needed_last = {i: last_use[base + i] for i in early if region[i].kind != "index" and base + i in last_use}
        ends: dict[int, list[int]] = {}  # the loads whose last use an instruction is
        for i, use in needed_last.items():
            ends.setdefault(use, []).append(i)

        def ready(i: int) -> bool:
            return all(p < base or p in place for p in region[i].needs)

        while loads or others:
            take_load = loads and ready(loads[0]) and (len(waiting) < AHEAD or not others or not ready(others[0]))
            i = loads.popleft() if take_load or not others else others.popleft()
            place[base + i] = base + len(place)
            if i in needed_last and base + needed_last[i] not in place:
                waiting.add(i)
            waiting.difference_update(ends.get(i, ()))
        for old in place:
            instruction = region[old - base]
            needs = instruction.needs
            if needs and (len(needs) > 1 or needs[0] >= base):
                needs = tuple(sorted({place.get(p, p) for p in needs}))
                if needs != instruction.needs:
                    instruction = Instruction._make((*instruction[:2], needs, *instruction[3:]))
            self.out.append(instruction)
        for key, positions in self.made.items():
            if any(p >= base for p in positions):
                self.made[key] = tuple(place.get(p, p) for p in positions)
        for group in self.groups:
            group[:] = [place.get(p, p) for p in group]
        self.region = []
        self.begun.clear()
