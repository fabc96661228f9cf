"""Lowering: from a traced run to the instructions that its warps issue: loads, stores, arithmetic and indices.

The compiler is modelled, too, by rules that recorded machine code shows, of the course's small kernels
(`course_lib.machine.waiting.probes.kernels`) and of the ladder:
- a loop of constant length is unrolled, unless it is long (:mod:`dataflow`); other loops are unrolled by ITERATIONS
  iterations, if they contain no barrier;
- an index that is constant in a loop is computed before it, one that varies once an iteration; a sum that is both
  compared and an index is computed once;
- loads of neighbouring elements of shared memory, 16 bytes of them, become one in an unrolled loop;
- those comparisons of a guard are made together that need no new sum; before one that does, what is known before
  the loop decides by a branch of its own. A single comparison reads its bound from the kernel's arguments;
- a guard with an else branch becomes no branch: its loads are predicated, and read the array's length and address from
  the kernel's arguments. Any other guard is a branch around what it guards;
- a guard or a loop whose condition was loaded or computed compares that, and waits for it; no load passes such a
  branch;
- where copies are started, pointers and compared sums are updated from iteration to iteration;
- :mod:`scheduling` says in which order all this is issued, and what waits for what; loads never pass a barrier, nor a
  store to the same shared array, nor, in global memory, any store.

The typed program tells what lines compute (:mod:`computations`): each +, - and * of floats is an instruction, together
with the product that it adds; in conditional expressions and after `and` or `or`, only those on the paths that a
warp's loads show. An operation without a measured rate is refused.

Where threads meet at barriers, indices and guards become the machine instructions that numba's code has
(:mod:`idioms`). Iterations of loops without barriers overlap, so none can be seen by itself: the cost of an index there
is what the small kernels, which are such loops, have measured (:class:`.machine.Machine`).
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from itertools import chain
from types import FunctionType
from typing import Any, TypeVar

from ...simulator.language.source import python_function
from ...trace.trace import Trace
from . import idioms
from .accesses import Accesses, Statement
from .computations import Needs
from .dataflow import Dataflow, Facts
from .scheduling import Instruction as Instruction
from .steps import TracedStep, lowering_key_of, steps_of
from .syntax import names_bound, other_values

ITERATIONS = 4
#: Key of the loads for the head of a loop that is about to begin.
AHEAD_OF_LOOP = ("ahead of a loop",)
Group = TypeVar("Group")


def programs(
    kernel: Any, trace: Trace | None, block: tuple[int, int, int] = (0, 0, 0), pitch: int | None = None
) -> list[list[Instruction]]:
    """Return the programs of all warps of one block.

    pitch: elements from one row of a matrix in global memory to the next, where the traced matrices represent parts of
    larger ones; None: the rows that they have. Raise ValueError if a warp executes a line that the model does not know,
    and if the trace is not of a launch of this kernel.
    """
    plain = python_function(kernel)
    if not isinstance(trace, Trace):
        raise TypeError(
            f"programs take the trace of a run, not {type(trace).__name__}: "
            "simulate(kernel, trace=True)[grid, block](...).trace"
        )
    if trace.program is None:
        raise ValueError(f"this trace of {trace.kernel_name} was made by hand; take that of simulate(..., trace=True)")
    _check_kernel(plain, trace.program.source.function)
    source = Dataflow(trace.program)
    lowered: dict[tuple[Any, ...], _Lowering] = {}  # warps on the same path differ in their sectors
    found = []
    for _, steps in sorted(steps_of(trace, block, pitch).items()):
        key = lowering_key_of(steps)
        if key not in lowered:
            lowered[key] = _Lowering(source)
            lowered[key].run(steps)
        found.append(lowered[key].of(steps))
    return found


def _check_kernel(plain: FunctionType, traced: FunctionType) -> None:
    """Raise ValueError if another kernel was traced, or this one with other values in its closure."""
    name = plain.__name__
    if traced.__name__ != name:
        raise ValueError(f"this trace is not of {name} but of {traced.__name__}; trace the kernel first")
    if traced.__code__ != plain.__code__:
        raise ValueError(f"{name} has changed since this trace; trace it again")
    if others := other_values(plain, traced):
        raise ValueError(f"this trace is of {name} with another {' and '.join(others)}; trace this one")


def groups_arrived(groups: Sequence[Group], pending: int) -> Sequence[Group]:
    """Return the groups of copies for which a warp waits that continues when at most the last `pending` are in flight.

    groups: those that it has begun, in order; the last one is still open, and nothing waits for it.
    """
    return groups[: max(len(groups) - 1 - pending, 0)]


class _Lowering(Accesses):
    """Lowers the steps of one warp, region by region, for all warps that take the same path."""

    def __init__(self, source: Dataflow) -> None:
        super().__init__(source)
        self.before: Facts | None = None  # of the previous step
        self.open: list[Statement] = []  # those whose functions the warp is in
        self.groups: list[list[int]] = [[]]  # copies that this warp has not waited for, the open group last
        self.iterations_open = 0
        self.outer: int | None = None

    def of(self, steps: Sequence[TracedStep]) -> list[Instruction]:
        """Return the program of a warp with these steps."""
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
            self.leave(facts, step)
            if facts.loop:
                self._header(facts, step)
            elif isinstance(facts.node, ast.If):
                self._test(facts, step)
            else:
                self._simple(facts, step)
            self.before = facts
            if step.barrier:
                self.flush()
                self.emit(Instruction("barrier", step.line, iteration=self.iteration))
                self.flush()
        while self.open:
            self._finish(self.open.pop())
        self.flush(whole=True)

    def _simple(self, facts: Facts, step: TracedStep) -> None:
        """Emit the loads, arithmetic and stores of a statement, after the functions that it calls."""
        if facts.called and self._copies(facts, step):
            return
        if step.resumed and self.open and self.open[-1].facts is facts:
            statement = self.open.pop()
            statement.step, statement.within = step, None
        else:
            statement = Statement(facts, step)
            for _ in facts.passes_sums if self.source.meets else ():
                self.beside(idioms.UNIFORM_SUM, step)
        stores = self._loads(statement)
        if step.variables or stores or not facts.calls:
            self._finish(statement)
        else:
            self.open.append(statement)

    def _return(self, facts: Facts, step: TracedStep) -> None:
        """Finish the statements whose functions have returned; pass the arguments of a function that begins."""
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

    def _pass(self, statement: Statement) -> None:
        """Note what the parameters of a called function depend on, and that it has returned nothing yet."""
        called = statement.within
        given: dict[Any, set[int]] = {}
        for function, name, needs in statement.facts.computation.passed:
            if function is called.source.function:
                given.setdefault((called, name), set()).update(self._sources(statement, needs))
        self.made.update((parameter, tuple(sorted(found))) for parameter, found in given.items())
        self.made.pop((called, "return"), None)

    def _loads(self, statement: Statement) -> bool:
        """Emit the loads of a statement; return whether it also stores."""
        stores = False
        for place, access in enumerate(statement.step.accesses):
            if access.op == "load":
                statement.loads.append(self.load(statement, place))
            else:
                stores = True
        known = statement.facts.computation.loads
        if known is not None and len(statement.loads) > len(known) and not statement.head:
            more = statement.loads[len(known) :]
            self.made[AHEAD_OF_LOOP] = tuple(sorted(set(chain(*more))))
            del statement.loads[len(known) :]
        return stores

    def _finish(self, statement: Statement) -> None:
        """Emit the arithmetic of a statement and its stores, and note what its values depend on."""
        facts, step = statement.facts, statement.step
        if statement.needs is None:
            statement.needs = self._computed(statement)
        needs = statement.needs
        for place, access in enumerate(step.accesses):
            if access.op != "load":
                self.store(facts, step, place, needs)
        if step.variables or facts.targets:
            self._assign(statement, needs)
        if isinstance(facts.node, ast.Return):
            key = facts.function, "return"
            self.made[key] = tuple(sorted({*self.made.get(key, ()), *needs}))

    def _computed(self, statement: Statement) -> tuple[int, ...]:
        """Emit the arithmetic of a statement; return the instructions that its values depend on."""
        needs = self._summed(statement)
        for _ in range(0 if statement.head else statement.facts.computation.choices):
            needs = (self.idiom(idioms.COMPARE_VALUE, statement.step, needs),)
        return needs

    def _summed(self, statement: Statement) -> tuple[int, ...]:
        """Emit the float instructions; return the instructions that the statement's values depend on."""
        computation, executed = statement.facts.computation, statement.executed
        if executed is None:
            raise ValueError(
                f"line {statement.step.line}: the loads of this line do not tell which of its arithmetic a warp comes "
                "to; write an if statement"
            )
        for number in sorted(executed):
            self._operation(statement, number)
        return tuple(sorted(self._sources(statement, computation.result)))

    def _operation(self, statement: Statement, number: int) -> int:
        """Emit an operation of a statement after its operands, unless it has been emitted; return its instruction."""
        if number not in statement.operations:
            needs = self._sources(statement, statement.facts.computation.operations[number])
            statement.operations[number] = self._float(statement.step, tuple(sorted(needs)))
        return statement.operations[number]

    def _sources(self, statement: Statement, needs: Needs) -> set[int]:
        """Return the instructions that a value of a statement depends on: operations, loads, variables."""
        numbers = statement.executed if statement.facts.computation.ways else None
        executed = sorted(needs.operations if numbers is None else numbers & needs.operations)
        return {self._operation(statement, number) for number in executed} | self._values(statement, needs)

    def _values(self, statement: Statement, needs: Needs) -> set[int]:
        """Return what a value depends on, without the operations of the statement, but with its guards."""
        facts, made = statement.facts, self.made
        found = set(self.decided_by_values(facts))
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
        """Emit a float instruction; all of them have the same latency."""
        number = self.emit(Instruction("multiply-add", step.line, needs, iteration=self.iteration))
        self.schedule.latency[number] = idioms.MULTIPLY_ADD
        return number

    def _assign(self, statement: Statement, needs: tuple[int, ...]) -> None:
        """Note what the variables that a statement assigns depend on."""
        facts, step = statement.facts, statement.step
        variables = {*step.variables, *facts.targets}
        if facts.adds_up and not facts.moving.isdisjoint(step.variables):
            needs = self._added(step, needs)
        if self.moved:
            self.moved = {key: names for key, names in self.moved.items() if names.isdisjoint(variables)}
        known = facts.computation.assigned if len(variables) > 1 and not facts.computation.choices else {}
        sources = {name: tuple(sorted(self._sources(statement, known[name]))) for name in variables if name in known}
        for variable in variables:
            self.made[facts.function, variable] = sources.get(variable, needs)

    def _added(self, step: TracedStep, needs: tuple[int, ...]) -> tuple[int, ...]:
        """Emit an integer addition; return the instructions that the sum depends on."""
        meets = self.source.meets
        if needs:
            return (self.idiom(idioms.SUM, step, needs) if meets else self.index_of("add", step, needs),)
        if meets:
            self.beside(idioms.UNIFORM_SUM, step)
        else:
            self.index_of("add", step)
        return ()

    def _copies(self, facts: Facts, step: TracedStep) -> bool:
        """Emit the start of an asynchronous copy, or a wait for copies; return whether the statement is one of them."""
        name = facts.called
        if name == "copy":
            self._copy(facts, step)
        elif name == "commit":
            self.groups.append([])
            self.emit(Instruction("commit", step.line, iteration=self.iteration))
        elif name == "wait":
            done = groups_arrived(self.groups, facts.computation.pending or 0)
            self.flush()
            self.emit(Instruction("wait", step.line, tuple(chain(*done)), iteration=self.iteration))
            self.flush()
            del self.groups[: len(done)]
        else:
            return False
        return True

    def _copy(self, facts: Facts, step: TracedStep) -> None:
        """Emit the start of a copy, after the loads of its indices; nothing where no lane copies."""
        loads = [place for place, access in enumerate(step.accesses) if access.op == "load"]
        statement, before = Statement(facts, step), len(facts.computation.loads or ())
        for place in loads[:before]:
            statement.loads.append(self.load(statement, place))
        for place in loads[before:]:
            access = step.accesses[place]
            needs = self.index(facts, step, access)
            needs = (*needs, *sorted(self._values(statement, facts.computation.result) - {*needs}))
            passes = max([1, access.wavefronts, *(a.wavefronts for a in step.accesses if a.op == "store")])
            sectors = self.touched(place)
            needs = (*needs, self.idiom(idioms.BEFORE_COPY, step, needs))
            copy = Instruction("copy", step.line, needs, "", 0, passes, sectors, self.iteration, access.bytes)
            self.groups[-1].append(self.stay_after(self.emit(copy), access))

    def _header(self, facts: Facts, step: TracedStep) -> None:
        """Begin an iteration of a loop that is not unrolled."""
        if facts.written_out:
            for name in names_bound(facts.node):
                self.made.pop((facts.function, name), None)
            return
        if self.outer is None:
            self.outer = step.line
        if step.line == self.outer:
            self.iteration += 1
        self.iterations_open += 1
        if facts.ends_region or self.iterations_open >= ITERATIONS:
            self.flush(whole=True)
            self.iterations_open = 0
        self.moved.clear()
        if self.source.meets:
            self.iterations_inner = 0 if step.line == self.outer else 1
            self.beside(idioms.ITERATION, step)
        else:
            self.index_of("loop", step)
        if isinstance(facts.node, ast.While):
            values = self._tested(facts, step)
        else:
            values = self._ranges(facts, step)
        if values:
            self.compare_values(facts, step, values)
            self.flush()

    def _ranges(self, facts: Facts, step: TracedStep) -> tuple[int, ...]:
        """Emit the loads in the head of a for loop; return what its length depends on, in the first iteration.

        The trace shows loads before the first iteration as those of the statement before.
        """
        statement = Statement(facts, step, head=True)
        begins, before = self._begins(facts), self.made.pop(AHEAD_OF_LOOP, ())
        self._loads(statement)
        loaded = set(chain(*statement.loads))
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
        """Whether a loop begins, rather than continues with another iteration."""
        before = self.before
        return before is None or (before.function is facts.function and facts.node not in before.within)

    def _tested(self, facts: Facts, step: TracedStep) -> tuple[int, ...]:
        """Emit the loads and the arithmetic in the head of a statement; return the instructions of its condition."""
        statement = Statement(facts, step, head=True)
        self._loads(statement)
        return self._computed(statement)

    def _test(self, facts: Facts, step: TracedStep) -> None:
        """Emit the condition of an `if`: a comparison of loaded or computed values, or of indices."""
        values = self._tested(facts, step)
        if not values:
            if facts.guards:
                self.guard(facts, step)
            return
        self.made["if", step.line] = (self.compare_values(facts, step, values),)
        self.on_values.add(step.line)
        if facts.condition.goes_far:
            self.flush()
