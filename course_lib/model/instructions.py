"""From a traced run to what its warps issue: the statements' loads, stores, multiply-adds and index arithmetic.

What a compiler makes of the source is a model, too, with the rules that recorded machine code shows, of the course's
small kernels (`course_lib.gpu.probes`) and of the ladder:
- a loop of constant length is written out, unless it is a long one (:mod:`dataflow`); other loops are
  written out TURNS turns at a time, where no barrier stands in them;
- an index that stays the same in a loop is computed before it, one that moves once a turn; a sum that is both compared
  and an index is made once;
- four loads of shared memory from neighbouring words, in a loop that is written out, become one of 16 bytes;
- of the comparisons of a guard those are made together that need no new sum; before one that does, what is known before
  the loop decides by a branch of its own. A comparison that stands alone reads its bound from the kernel's arguments;
- a guard whose other way does something, too, becomes no branch: what it guards is loaded under a predicate, and reads
  the array's length and place from the kernel's arguments. Any other is a branch around what it guards;
- where copies are started, pointers and the sums that are compared move on from turn to turn;
- in which order all this stands, and what waits for what, :mod:`scheduling` says; loads never pass a barrier.

Where threads meet at barriers, indices and guards are the machine instructions that numba's become (:mod:`idioms`).
Loops without barriers are mixed with their neighbouring turns, so that none of these can be seen by itself: what an
index costs there is what the small kernels, which are such loops, have measured (:class:`.machine.Machine`).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any, NamedTuple

from ..simulator.hardware import WARP_SIZE
from ..trace.trace import Trace
from . import idioms
from .dataflow import COPIES, VARIED, Dataflow, Facts, GuardComparison
from .idioms import IdiomPart
from .requests import wide_wavefronts
from .scheduling import Instruction as Instruction
from .scheduling import Schedule
from .steps import TracedAccess, TracedStep, steps_of, way_of

TURNS = 4


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
        self.schedule = Schedule()
        self.out = self.schedule.out
        self.touches: list[tuple[int, int]] = []  # the accesses of global memory: (step, place in it)
        self.number = -1  # of the step
        self.region: list[Instruction] = []  # their needs count from the region's beginning, below 0 what came before
        self.made: dict[tuple[str | int, ...], tuple[int, ...]] = {}  # value -> positions in out and region together
        self.moved: set[tuple[str, ...]] = set()  # indices computed in this turn
        self.groups: list[list[int]] = [[]]  # copies of this warp that nothing has waited for, the open group last
        self.turn, self.turns_open = 0, 0
        self.outer: int | None = None
        self.turns_inner = 0
        self.branches: list[tuple[str, int, int]] = []  # that are open: function, line, position
        self.met: tuple[int, ...] = ()  # where the ways of the last one met
        self.under_predicate: set[int] = set()  # lines of `if`s that became no branch

    def of(self, steps: Sequence[TracedStep]) -> list[Instruction]:
        """Return the program of a warp that goes this way."""
        sectors = [steps[step].accesses[place].sectors for step, place in self.touches]
        return [i._replace(sectors=sectors[i.sectors[0][1]]) if i.sectors else i for i in self.out]

    def run(self, steps: Sequence[TracedStep]) -> None:
        """Lower the steps of a warp into `out`."""
        for self.number, step in enumerate(steps):
            facts = self.source.facts(step.line)
            self._leave(facts, step)
            if facts.loop:
                self._header(facts, step)
            elif isinstance(facts.node, ast.If):
                if facts.guards:
                    self._guard(facts, step)
            else:
                self._simple(facts, step)
            if step.barrier:
                self._flush()
                self._emit(Instruction("barrier", step.line, turn=self.turn))
                self._flush()
        self._flush(whole=True)

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
            self.schedule.latency[needs[0]] = idioms.MULTIPLY_ADD
        if stores:
            for place, access in enumerate(step.accesses):
                if access.op != "load":
                    self._store(facts, step, place, needs)
        if step.variables or facts.targets:
            self._assign(facts, step, needs)
        if isinstance(facts.node, ast.Return):
            made[facts.function.name, "return"] = needs
        for _ in facts.passes_sums if self.source.meets else ():
            self._beside(idioms.UNIFORM_SUM, step)
        for parameter, values in facts.passed:
            made[parameter] = tuple({p for value in values for p in made.get(value, ())})

    def _assign(self, facts: Facts, step: TracedStep, needs: tuple[int, ...]) -> None:
        """Note what the variables that a statement assigns come from."""
        if facts.adds_up and not facts.moving.isdisjoint(step.variables):
            if self.source.meets:
                self._beside(idioms.UNIFORM_SUM, step)
            else:
                self._index_of("add", step)
        if self.moved:
            self.moved = {key for key in self.moved if set(key).isdisjoint(step.variables)}
        for variable in {*step.variables, *facts.targets}:
            self.made[facts.function.name, variable] = needs

    def _copies(self, facts: Facts, step: TracedStep) -> bool:
        """Emit what starts an asynchronous copy, or waits for some; return whether the statement is one of them."""
        name = facts.called
        if name in COPIES:
            loads = [place for place, access in enumerate(step.accesses) if access.op == "load"]
            if not loads:
                return True
            needs = self._index(facts, step, step.accesses[loads[0]])
            passes = max([1, *(a.wavefronts for a in step.accesses if a.op == "store")])
            passes = max(passes, step.accesses[loads[0]].wavefronts)
            sectors = self._touched(loads[0])
            needs = (*needs, self._idiom(idioms.BEFORE_COPY, step, needs))
            copy = Instruction("copy", step.line, needs, "", 0, passes, sectors, self.turn)
            self.groups[-1].append(self._emit(copy))
        elif name == "commit_copies":
            self.groups.append([])
            self._emit(Instruction("commit", step.line, turn=self.turn))
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
            self._flush(whole=True)
            self.turns_open = 0
        self.moved.clear()
        if self.source.meets:
            self.turns_inner = 0 if step.line == self.outer else 1
            self._beside(idioms.TURN, step)
        else:
            self._index_of("loop", step)

    def _load(self, facts: Facts, step: TracedStep, place: int) -> tuple[int, ...]:
        """Emit a load with its index arithmetic; return what the value comes from."""
        access = step.accesses[place]
        if access.space == "local":
            return self.made.get(access.place, ())
        needs = self._index(facts, step, access)
        if access.space == "shared" and (merged := self._merge(step.line, access)) is not None:
            return (merged,)
        position = self._emit(self._moves("load", step, place, needs))
        if self.source.meets and access.space == "global" and facts.moving and facts.index(access.array).guards:
            self.met = (self._idiom(idioms.MEET, step, (position, *needs)[1:]),)
        return (position,)

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

    # --- index arithmetic -------------------------------------------------------------------------------------

    def _guard(self, facts: Facts, step: TracedStep) -> None:
        """Emit what decides on an `if`; what is guarded needs it."""
        if not self.source.meets:
            self.made["if", step.line] = (self._index_of("guard", step, (), facts.guards),)
            return
        condition = facts.condition
        comparisons = list(condition.comparisons)
        if condition.chooses:  # between values that are there: no branch
            self._idiom(idioms.UNIFORM_CHOICE, step)
            return
        first = comparisons[0]
        outer = self._outer(facts)
        if len(comparisons) == 1 and first.constant and not first.sums:
            decided = self._idiom(idioms.COMPARE_UNIFORM, step, outer)
            self.made["if", step.line] = (self._idiom(idioms.JUMP, step, (decided,)),)
            return
        branch = self._idiom(idioms.ZERO, step, outer) if not condition.copies else -1
        later = [c for c in comparisons if c.sums and not condition.copies and self._new(c.sums)]
        if later and not first.moved:  # what is known before the loop decides first
            branch = self._idiom(idioms.BRANCH, step, outer)
            outer = (branch,)
            comparisons = [c for c in comparisons if c.moved]
        decided = self._compare(step, comparisons, outer, condition.copies)
        if condition.otherwise and not condition.copies and not outer == (branch,):
            self.under_predicate.add(step.line)
            self.made["if", step.line] = (decided,)
            return
        joins = outer == (branch,) or facts.ends_with
        made = self._idiom(idioms.JUMP if joins else idioms.BRANCH, step, (decided,))
        self.made["if", step.line] = (made,)
        if facts.ends_with:
            return
        self.branches.append((facts.function.name, step.line, made))

    def _compare(
        self, step: TracedStep, comparisons: list[GuardComparison], needs: tuple[int, ...], copies: bool
    ) -> int:
        """Emit comparisons, with the sums that they are of; return the position of what decides."""
        decided: list[int] = []
        for comparison in comparisons:
            value = needs
            if comparison.sums and not copies:
                value = self._sum(step, comparison.sums, needs)
            elif comparison.sums:
                self._beside(idioms.ADVANCED_SUM, step)
            alone = len(comparisons) == 1 and not comparison.constant
            decided.append(self._idiom(idioms.COMPARE_ARGUMENT if alone else idioms.COMPARE, step, value))
        self.schedule.latency.update((position, 4) for position in decided[:-1])  # to the next comparison
        position = decided[-1]
        at = position - len(self.out)
        self.region[at] = self.region[at]._replace(needs=(*self.region[at].needs, *decided[:-1]))
        return position

    def _sum(self, step: TracedStep, sums: tuple[str, ...], needs: tuple[int, ...]) -> tuple[int, ...]:
        """Emit sums of 64 bits, each once a turn; return where they are."""
        for each in sums:
            if each == VARIED or ("sum", each) not in self.moved:
                self.moved.add(("sum", each))
                self.made["sum", each] = (self._idiom(idioms.SUM, step, needs),)
            needs = (*needs, *self.made["sum", each])
        return needs

    def _new(self, sums: tuple[str, ...]) -> bool:
        """Whether a sum has still to be made in this turn."""
        return any(("sum", each) not in self.moved for each in sums)

    def _outer(self, facts: Facts) -> tuple[int, ...]:
        """What decides on the innermost `if` around a statement, and where the last branch before it ended."""
        return (*self._decided(facts), *self.met)

    def _decided(self, facts: Facts) -> tuple[int, ...]:
        """What decides on the innermost `if` around a statement."""
        return next((self.made["if", line] for line in facts.conditions if ("if", line) in self.made), ())

    def _leave(self, facts: Facts, step: TracedStep) -> None:
        """Emit the ends of the branches that a step is no longer in."""
        while self.branches:
            function, line, position = self.branches[-1]
            if facts.function.name != function or line in facts.conditions:
                return
            self.branches.pop()
            self.met = (self._idiom(idioms.MEET, step, (position,)),)

    def _beside(self, parts: Sequence[IdiomPart], step: TracedStep) -> None:
        """Emit an idiom that nothing else in this turn needs: the compiler fills gaps with it."""
        last = self._idiom(parts, step)
        self.schedule.fills.update(range(last + 1 - len(parts), last + 1))

    def _idiom(self, parts: Sequence[IdiomPart], step: TracedStep, needs: tuple[int, ...] = ()) -> int:
        """Emit an idiom whose first instructions have these needs; return the position of its last."""
        base = len(self.out) + len(self.region)
        for number, part in enumerate(parts):
            found: set[int] = set()
            for need in part.needs:
                found.update((base + need,) if need >= 0 else needs)
            position = self._emit(Instruction(part.kind, step.line, tuple(sorted(found)), turn=self.turn))
            if part.latency:
                self.schedule.latency[position] = part.latency
            if part.holds > 1:
                self.schedule.holds[position] = part.holds
            assert position == base + number
        return base + len(parts) - 1

    def _index(self, facts: Facts, step: TracedStep, access: TracedAccess) -> tuple[int, ...]:
        """Emit the arithmetic of an index that moves, once a turn; return what the access needs of it."""
        if not facts.moving:
            return ()
        if self.source.meets:
            return self._place(facts, step, access)
        met = self._decided(facts)
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

    def _place(self, facts: Facts, step: TracedStep, access: TracedAccess) -> tuple[int, ...]:
        """Emit what makes an address that moves, once a turn; return what the access needs of it."""
        met = self._outer(facts)
        index, shared = facts.index(access.array), access.space == "shared"
        if not index.moved:
            return met
        key = (access.op if shared else "global", "" if shared else access.array, *index.moved)
        if key not in self.moved or not shared:
            self.moved.add(key)
            self.made[key] = (self._address(facts, step, access, met),)
        if shared and access.op == "load" and self.turns_inner == 0 and (*key, access.array) not in self.moved:
            self.moved.add((*key, access.array))
            if sum(k[: len(key)] == key for k in self.moved) > 2:  # the second array and those after it
                self.made[key] = (self._idiom(idioms.SHARED_ALSO, step, self.made[key]),)
        return (*met, *self.made[key])

    def _address(self, facts: Facts, step: TracedStep, access: TracedAccess, met: tuple[int, ...]) -> int:
        """Emit what makes an address; return the position of its last instruction."""
        index = facts.index(access.array)
        if access.space == "shared":
            if access.op == "store":
                return self._idiom(idioms.STORED, step, met)
            window = ("window",) not in self.moved and self.turns_inner == 0
            self.moved.add(("window",))
            return self._idiom(idioms.SHARED if window else idioms.SHARED_AGAIN, step, met)
        if facts.called in COPIES:
            self._beside(idioms.ADVANCED, step)
            self.schedule.kept.add(access.array)
            window = ("window",) not in self.moved
            self.moved.add(("window",))
            return self._idiom(idioms.COPIED if window else idioms.COPIED_AGAIN, step, met)
        if index.guards:
            met = self._sum(step, index.sums, met)
            met = (self._idiom(idioms.GUARDED, step, met),)
        elif index.adds:
            met = self._sum(step, index.sums, met)
        if index.arithmetic == "unsigned":
            return self._idiom(idioms.UNSIGNED, step, met)
        if facts.chooses or any(line in self.under_predicate for line in facts.conditions):
            return self._idiom(idioms.COLUMN_IF if index.down else idioms.ROW_IF, step, met)
        return self._idiom(idioms.ALONG_COLUMN if index.down else idioms.ALONG_ROW, step, met)

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
                        self.wide[first.pattern] = wide_wavefronts(first.words)
                    wide = self.region[position - base]._replace(wavefronts=self.wide[first.pattern], bytes=16)
                    self.region[position - base] = wide
                self.begun[line, access.array] = _Begun(position, first, words + 1)
                return position
        if access.aligned:
            self.begun[line, access.array] = _Begun(base + len(self.region), access, 1)
        return None

    def _flush(self, whole: bool = False) -> None:
        """Put the region in order; what only fills gaps may be left for the next, unless the whole of it is wanted."""
        self.region, moved = self.schedule.put(self.region, whole)
        self.branches = [(function, line, moved.get(p, p)) for function, line, p in self.branches]
        self.met = tuple(moved.get(p, p) for p in self.met)
        for key, positions in self.made.items():
            if any(p in moved for p in positions):
                self.made[key] = tuple(moved.get(p, p) for p in positions)
        for group in self.groups:
            group[:] = [moved.get(p, p) for p in group]
        self.begun.clear()
