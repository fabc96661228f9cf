"""From a traced run to what its warps issue: the statements' loads, stores, multiply-adds and index arithmetic.

What a compiler makes of the source is a model, too, with the rules that recorded machine code shows, of the course's
small kernels (`course_lib.gpu.probes`) and of the ladder:
- a loop of constant length is written out, unless it is a long one (:mod:`dataflow`); other loops are
  written out TURNS turns at a time, where no barrier stands in them;
- an index that stays the same in a loop is computed before it, one that moves once a turn; a sum that is both compared
  and an index is made once;
- loads of shared memory from neighbouring elements of 16 bytes, in a loop that is written out, become one;
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
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from ..simulator.hardware import WARP_SIZE, WORD_BYTES
from ..simulator.language.source import python_function
from ..trace.trace import Trace
from . import idioms
from .arithmetic import Needs
from .dataflow import VARIED, Dataflow, Facts, GuardComparison, Sum, names_bound
from .idioms import IdiomPart
from .requests import wide_wavefronts
from .scheduling import Instruction as Instruction
from .scheduling import Schedule
from .steps import WIDE_BYTES, TracedAccess, TracedStep, steps_of, way_of

TURNS = 4
#: What was loaded for the loop that is about to begin.
AHEAD_OF_LOOP = ("ahead of a loop",)
Group = TypeVar("Group")


def programs(
    kernel: Any, trace: Trace, block: tuple[int, int, int] = (0, 0, 0), pitch: int | None = None
) -> list[list[Instruction]]:
    """Return the programs of all warps of one block.

    pitch: elements from one row of a matrix in global memory to the next, where the traced ones stand for parts of
    larger ones; None for the rows that they have. Raise ValueError where a warp comes to a line that does what the
    model does not know, and where the trace is not of a launch of this kernel.
    """
    plain = python_function(kernel)
    if trace.program is None:
        raise ValueError(f"this trace of {trace.kernel_name} was made by hand; take that of simulate(..., trace=True)")
    if trace.program.source.function.__code__ != plain.__code__:
        raise ValueError(f"this trace is not of {plain.__name__} but of {trace.kernel_name}; trace the kernel first")
    source = Dataflow(trace.program)
    lowered: dict[tuple[Any, ...], _Lowering] = {}  # warps that go the same way differ in their sectors
    found = []
    for _, steps in sorted(steps_of(trace, block, pitch).items()):
        way = way_of(steps)
        if way not in lowered:
            lowered[way] = _Lowering(source)
            lowered[way].run(steps)
        found.append(lowered[way].of(steps))
    return found


def groups_arrived(groups: Sequence[Group], pending: int) -> Sequence[Group]:
    """Return the groups of copies for which a warp waits that goes on when all but the last `pending` have arrived.

    groups: those that it has begun, in their order, with the open one last, which nothing waits for.
    """
    return groups[: max(len(groups) - 1 - pending, 0)]


@dataclass
class _Statement:
    """A statement that is being lowered, while the functions that it calls run: what its loads and operations are."""

    facts: Facts
    step: TracedStep
    loads: list[tuple[int, ...]] = field(default_factory=list)  # of each, where its value comes from
    operations: dict[int, int] = field(default_factory=dict)  # of each that has been emitted, the position
    head: bool = False  # of an `if` or a loop, which compares by itself
    within: Any = None  # the function that it has called
    needs: tuple[int, ...] | None = None  # what its values come from, once it has computed them

    def move(self, moved: Mapping[int, int]) -> None:
        """Note where positions have moved to."""
        self.loads = [tuple(moved.get(p, p) for p in positions) for positions in self.loads]
        self.operations = {number: moved.get(p, p) for number, p in self.operations.items()}
        if self.needs is not None:
            self.needs = tuple(moved.get(p, p) for p in self.needs)


class _Begun(NamedTuple):
    """A load of shared memory that may become one of 16 bytes: its position, and how many elements of them it has."""

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
        self.made: dict[tuple[Any, ...], tuple[int, ...]] = {}  # value -> positions in out and region together
        self.moved: dict[tuple[Any, ...], frozenset[str]] = {}  # indices computed in this turn, by the names in them
        self.before: Facts | None = None  # of the step before
        self.open: list[_Statement] = []  # in whose functions the warp is
        self.groups: list[list[int]] = [[]]  # copies of this warp that nothing has waited for, the open group last
        self.turn, self.turns_open = 0, 0
        self.outer: int | None = None
        self.turns_inner = 0
        self.branches: list[tuple[Any, int, int]] = []  # that are open: function, line, position
        self.met: tuple[int, ...] = ()  # where the ways of the last one met
        self.under_predicate: set[int] = set()  # lines of `if`s that became no branch
        self.on_values: set[int] = set()  # lines of `if`s that decide by what was loaded or computed

    def of(self, steps: Sequence[TracedStep]) -> list[Instruction]:
        """Return the program of a warp that goes this way."""
        sectors = [steps[step].accesses[place].sectors for step, place in self.touches]
        return [i._replace(sectors=sectors[i.sectors[0][1]]) if i.sectors else i for i in self.out]

    def run(self, steps: Sequence[TracedStep]) -> None:
        """Lower the steps of a warp into `out`."""
        for self.number, step in enumerate(steps):
            facts = self.source.facts(step.line)
            if facts.unknown:
                raise ValueError(f"line {step.line}: {facts.unknown}")
            if self.open:
                self._return(facts, step)
            self._leave(facts, step)
            if facts.loop:
                self._header(facts, step)
            elif isinstance(facts.node, ast.If):
                self._guard(facts, step)
            else:
                self._simple(facts, step)
            self.before = facts
            if step.barrier:
                self._flush()
                self._emit(Instruction("barrier", step.line, turn=self.turn))
                self._flush()
        while self.open:
            self._finish(self.open.pop())
        self._flush(whole=True)

    # --- one statement ---------------------------------------------------------------------------------------

    def _simple(self, facts: Facts, step: TracedStep) -> None:
        """Emit what a statement does: its loads, its arithmetic and its stores, after the functions that it calls."""
        if facts.called and self._copies(facts, step):
            return
        if step.resumed and self.open and self.open[-1].facts is facts:
            statement = self.open.pop()
            statement.step, statement.within = step, None
        else:
            statement = _Statement(facts, step)
            for _ in facts.passes_sums if self.source.meets else ():
                self._beside(idioms.UNIFORM_SUM, step)
        stores = self._loads(statement)
        if step.variables or stores or not facts.calls:
            self._finish(statement)
        else:
            self.open.append(statement)

    def _return(self, facts: Facts, step: TracedStep) -> None:
        """Finish the statements whose functions the warp has left; give a function its arguments where it begins."""
        while self.open:
            statement = self.open[-1]
            if statement.facts is facts and step.resumed:
                return
            if facts.function in statement.facts.calls:
                if statement.within is not facts.function:
                    statement.within = facts.function
                    self._pass(statement)
                return
            self._finish(self.open.pop())

    def _pass(self, statement: _Statement) -> None:
        """Note what the parameters of a function come from, and that it has returned nothing yet."""
        called = statement.within
        given: dict[Any, set[int]] = {}
        for function, name, needs in statement.facts.computation.passed:
            if function is called.source.function:
                given.setdefault((called, name), set()).update(self._sources(statement, needs))
        self.made.update((parameter, tuple(sorted(found))) for parameter, found in given.items())
        self.made.pop((called, "return"), None)

    def _loads(self, statement: _Statement) -> bool:
        """Emit the loads of a statement; return whether it stores, too."""
        stores = False
        for place, access in enumerate(statement.step.accesses):
            if access.op == "load":
                statement.loads.append(self._load(statement, place))
            else:
                stores = True
        known = statement.facts.computation.loads
        if known is not None and len(statement.loads) > len(known) and not statement.head:
            more = statement.loads[len(known) :]
            self.made[AHEAD_OF_LOOP] = tuple(sorted({p for positions in more for p in positions}))
            del statement.loads[len(known) :]
        return stores

    def _finish(self, statement: _Statement) -> None:
        """Emit the arithmetic of a statement and its stores, and note what its values come from."""
        facts, step = statement.facts, statement.step
        if statement.needs is None:
            statement.needs = self._computed(statement)
        needs = statement.needs
        for place, access in enumerate(step.accesses):
            if access.op != "load":
                self._store(facts, step, place, needs)
        if step.variables or facts.targets:
            self._assign(facts, step, needs)
        if isinstance(facts.node, ast.Return):
            key = facts.function, "return"
            self.made[key] = tuple(sorted({*self.made.get(key, ()), *needs}))

    def _computed(self, statement: _Statement) -> tuple[int, ...]:
        """Emit the arithmetic of a statement; return what its values come from."""
        needs = self._summed(statement)
        for _ in range(0 if statement.head else statement.facts.computation.choices):
            needs = (self._idiom(idioms.COMPARE_VALUE, statement.step, needs),)
        return needs

    def _summed(self, statement: _Statement) -> tuple[int, ...]:
        """Emit the operations of the float pipe; return what the statement's values come from."""
        computation = statement.facts.computation
        for number in range(len(computation.operations)):
            self._operation(statement, number)
        return tuple(sorted(self._sources(statement, computation.result)))

    def _operation(self, statement: _Statement, number: int) -> int:
        """Emit an operation of a statement, after those that it needs, unless it has been; return its position."""
        if number not in statement.operations:
            needs = self._sources(statement, statement.facts.computation.operations[number])
            statement.operations[number] = self._float(statement.step, tuple(sorted(needs)))
        return statement.operations[number]

    def _sources(self, statement: _Statement, needs: Needs) -> set[int]:
        """Where a value of a statement comes from: its operations, which are emitted, its loads and what it reads."""
        return {self._operation(statement, number) for number in needs.operations} | self._values(statement, needs)

    def _values(self, statement: _Statement, needs: Needs) -> set[int]:
        """Where a value comes from, but for the statement's own operations, and what was loaded that decides on it."""
        facts, made = statement.facts, self.made
        found = set(self._decided_by_values(facts))
        found.update(*(made.get((facts.function, name), ()) for name in needs.names))
        if needs.calls:
            found.update(*(made.get(value, ()) for value in facts.returned(needs.calls)))
        loads = facts.computation.loads
        if needs.loads and loads is not None and len(loads) == len(statement.loads):
            found.update(*(statement.loads[number] for number in needs.loads))
        elif needs.loads:
            found.update(*statement.loads)
        return found

    def _float(self, step: TracedStep, needs: tuple[int, ...]) -> int:
        """Emit an instruction of the float pipe: all of them take as long."""
        position = self._emit(Instruction("multiply-add", step.line, needs, turn=self.turn))
        self.schedule.latency[position] = idioms.MULTIPLY_ADD
        return position

    def _assign(self, facts: Facts, step: TracedStep, needs: tuple[int, ...]) -> None:
        """Note what the variables that a statement assigns come from."""
        if facts.adds_up and not facts.moving.isdisjoint(step.variables):
            if needs:
                needs = (
                    self._idiom(idioms.SUM, step, needs) if self.source.meets else self._index_of("add", step, needs),
                )
            elif self.source.meets:
                self._beside(idioms.UNIFORM_SUM, step)
            else:
                self._index_of("add", step)
        variables = {*step.variables, *facts.targets}
        if self.moved:
            self.moved = {key: names for key, names in self.moved.items() if names.isdisjoint(variables)}
        for variable in variables:
            self.made[facts.function, variable] = needs

    def _copies(self, facts: Facts, step: TracedStep) -> bool:
        """Emit what starts an asynchronous copy, or waits for some; return whether the statement is one of them."""
        name = facts.called
        if name == "copy":
            loads = [place for place, access in enumerate(step.accesses) if access.op == "load"]
            if not loads:
                return True
            needs = self._index(facts, step, step.accesses[loads[0]])
            passes = max([1, *(a.wavefronts for a in step.accesses if a.op == "store")])
            passes = max(passes, step.accesses[loads[0]].wavefronts)
            sectors = self._touched(loads[0])
            needs = (*needs, self._idiom(idioms.BEFORE_COPY, step, needs))
            size = step.accesses[loads[0]].bytes
            copy = Instruction("copy", step.line, needs, "", 0, passes, sectors, self.turn, size)
            self.groups[-1].append(self._emit(copy))
        elif name == "commit":
            self.groups.append([])
            self._emit(Instruction("commit", step.line, turn=self.turn))
        elif name == "wait":
            done = groups_arrived(self.groups, facts.computation.pending or 0)
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
        if isinstance(facts.node, ast.While):
            values = self._tested(facts, step)
        else:
            values = self._ranges(facts, step)
        if values:
            self._compare_values(facts, step, values)
            self._flush()

    def _ranges(self, facts: Facts, step: TracedStep) -> tuple[int, ...]:
        """Emit what the head of a for loop loads; return what its length comes from, where it begins.

        What it loads before its first turn a trace shows with the statement before it.
        """
        statement = _Statement(facts, step, head=True)
        begins, before = self._begins(facts), self.made.pop(AHEAD_OF_LOOP, ())
        self._loads(statement)
        loaded = {p for positions in statement.loads for p in positions}
        if begins:
            loaded.update(before)
            if facts.computation.loads and not loaded:
                raise ValueError(
                    f"line {step.line}: no trace shows what the head of this loop loads; assign it to a name before"
                )
        for name in names_bound(facts.node) if begins or loaded else ():
            self.made[facts.function, name] = tuple(sorted(loaded))
        return tuple(sorted({*before, *self._computed(statement)})) if begins else ()

    def _begins(self, facts: Facts) -> bool:
        """Whether a loop begins, and is no turn further."""
        before = self.before
        return before is None or (before.function is facts.function and facts.node not in before.within)

    def _tested(self, facts: Facts, step: TracedStep) -> tuple[int, ...]:
        """Emit what the head of a statement loads and computes; return what it decides by."""
        statement = _Statement(facts, step, head=True)
        self._loads(statement)
        return self._computed(statement)

    def _compare_values(self, facts: Facts, step: TracedStep, values: tuple[int, ...]) -> int:
        """Emit what compares values that were loaded or computed, and branches; return the position of its last."""
        values = tuple(sorted({*values, *self._outer(facts)}))
        if self.source.meets:
            return self._idiom(idioms.JUMP, step, (self._idiom(idioms.COMPARE_VALUE, step, values),))
        return self._index_of("guard", step, values, max(facts.guards, 1))

    def _load(self, statement: _Statement, place: int) -> tuple[int, ...]:
        """Emit a load with its index arithmetic; return what the value comes from."""
        facts, step = statement.facts, statement.step
        access = step.accesses[place]
        if access.space == "local":
            return self.made.get(access.place, ())
        needs = self._index(facts, step, access)
        if values := self._index_values(statement):
            needs = tuple(sorted({*needs, *values}))
        if access.space == "shared" and (merged := self._merge(step.line, access)) is not None:
            return (merged,)
        position = self._emit(self._moves("load", step, place, needs))
        if self.source.meets and access.space == "global" and facts.moving and facts.index(access.array).guards:
            self.met = (self._idiom(idioms.MEET, step, (position, *needs)[1:]),)
        return (position,)

    def _index_values(self, statement: _Statement) -> set[int]:
        """What the index of a statement's next load comes from, and what decides on it, where that was loaded."""
        facts, loads = statement.facts, statement.facts.computation.loads
        found = set(self._decided_by_values(facts))
        if loads is not None and len(statement.loads) < len(loads):
            index = loads[len(statement.loads)]
            found.update(*(self.made.get((facts.function, name), ()) for name in index.names))
            found.update(*(statement.loads[number] for number in index.loads if number < len(statement.loads)))
        return found

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
        return Instruction(kind, step.line, needs, "", 0, access.wavefronts, sectors, self.turn, access.bytes)

    def _touched(self, place: int) -> tuple[tuple[str, int], ...]:
        """Note an access of global memory by the step; return what stands for its sectors in `out`."""
        self.touches.append((self.number, place))
        return (("", len(self.touches) - 1),)

    # --- index arithmetic -------------------------------------------------------------------------------------

    def _guard(self, facts: Facts, step: TracedStep) -> None:
        """Emit what decides on an `if`; what is guarded needs it."""
        if values := self._tested(facts, step):
            self.made["if", step.line] = (self._compare_values(facts, step, values),)
            self.on_values.add(step.line)
            if facts.condition.goes_far:
                self._flush()
            return
        if not facts.guards:
            return
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
        self.branches.append((facts.function, step.line, made))

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

    def _sum(self, step: TracedStep, sums: Iterable[Sum], needs: tuple[int, ...]) -> tuple[int, ...]:
        """Emit sums of 64 bits, each once a turn; return where they are."""
        for each in sums:
            if each == VARIED or ("sum", each) not in self.moved:
                self.moved["sum", each] = each.names
                self.made["sum", each] = (self._idiom(idioms.SUM, step, needs),)
            needs = (*needs, *self.made["sum", each])
        return needs

    def _new(self, sums: Iterable[Sum]) -> bool:
        """Whether a sum has still to be made in this turn."""
        return any(("sum", each) not in self.moved for each in sums)

    def _outer(self, facts: Facts) -> tuple[int, ...]:
        """What decides on the innermost `if` around a statement, and where the last branch before it ended."""
        return (*self._decided(facts), *self.met)

    def _decided(self, facts: Facts) -> tuple[int, ...]:
        """What decides on the innermost `if` around a statement."""
        return next((self.made["if", line] for line in facts.conditions if ("if", line) in self.made), ())

    def _decided_by_values(self, facts: Facts) -> tuple[int, ...]:
        """What decides on the `if`s around a statement that compare what was loaded or computed."""
        if not self.on_values:
            return ()
        return tuple(p for line in facts.conditions if line in self.on_values for p in self.made.get(("if", line), ()))

    def _leave(self, facts: Facts, step: TracedStep) -> None:
        """Emit the ends of the branches that a step is no longer in."""
        while self.branches:
            function, line, position = self.branches[-1]
            if facts.function is not function or line in facts.conditions:
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
        self.moved[key] = frozenset(index.moved)
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
            self.moved[key] = frozenset(index.moved)
            self.made[key] = (self._address(facts, step, access, met),)
        if shared and access.op == "load" and self.turns_inner == 0 and (*key, access.array) not in self.moved:
            self.moved[*key, access.array] = frozenset(index.moved)
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
            self.moved["window",] = frozenset()
            return self._idiom(idioms.SHARED if window else idioms.SHARED_AGAIN, step, met)
        if facts.called == "copy":
            self._beside(idioms.ADVANCED, step)
            self.schedule.kept.add(access.array)
            window = ("window",) not in self.moved
            self.moved["window",] = frozenset()
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
        each = WIDE_BYTES // access.itemsize  # elements of 16 bytes
        if access.width > 1 or access.lanes < WARP_SIZE or access.itemsize not in (WORD_BYTES, 2 * WORD_BYTES):
            return None
        base, begun = len(self.out), self.begun.get((line, access.array))
        if begun is not None:
            position, first, words = begun
            if words < each and (access.words == first.words + words).all():
                if words == 1:  # all lanes 16 bytes further, it takes as many wavefronts
                    if first.pattern not in self.wide:
                        self.wide[first.pattern] = wide_wavefronts(first.places)
                    wide = self.region[position - base]._replace(wavefronts=self.wide[first.pattern], bytes=WIDE_BYTES)
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
        for statement in self.open:
            statement.move(moved)
        for group in self.groups:
            group[:] = [moved.get(p, p) for p in group]
        self.begun.clear()
