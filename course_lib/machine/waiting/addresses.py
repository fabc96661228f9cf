"""Lowering of indices and guards: the address arithmetic that each iteration repeats, and the conditions of an `if`."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from . import idioms
from .dataflow import Dataflow, Facts, GuardComparison
from .emission import Emission
from .steps import TracedAccess, TracedStep
from .syntax import VARIED, Sum


class Addresses(Emission):
    """Emits the instructions of indices and guards, each at its first use in an iteration."""

    def __init__(self, source: Dataflow) -> None:
        super().__init__()
        self.source = source
        self.moved: dict[tuple[Any, ...], frozenset[str]] = {}  # indices of this iteration -> names in them
        self.iterations_inner = 0
        self.branches: list[tuple[Any, int, int]] = []  # open ones: function, line, number
        self.met: tuple[int, ...] = ()  # where the paths of the last branch joined
        self.under_predicate: set[int] = set()  # lines of each `if` that became predicates, not a branch
        self.on_values: set[int] = set()  # lines of each `if` whose condition was loaded or computed

    def guard(self, facts: Facts, step: TracedStep) -> None:
        """Emit the condition of an `if`; the guarded instructions depend on it."""
        if not self.source.meets:
            self.made["if", step.line] = (self.index_of("guard", step, (), facts.guards),)
            return
        condition = facts.condition
        comparisons = list(condition.comparisons)
        if condition.chooses:  # between values that are available: no branch
            self.idiom(idioms.UNIFORM_CHOICE, step)
            return
        first = comparisons[0]
        outer = self.around(facts)
        if len(comparisons) == 1 and first.constant and not first.sums:
            decided = self.idiom(idioms.COMPARE_UNIFORM, step, outer)
            self.made["if", step.line] = (self.idiom(idioms.JUMP, step, (decided,)),)
            return
        branch = self.idiom(idioms.ZERO, step, outer) if not condition.copies else -1
        later = [c for c in comparisons if c.sums and not condition.copies and self._new(c.sums)]
        if later and not first.moved:  # what is known before the loop is tested first
            branch = self.idiom(idioms.BRANCH, step, outer)
            outer = (branch,)
            comparisons = [c for c in comparisons if c.moved]
        decided = self._compare(step, comparisons, outer, condition.copies)
        if condition.otherwise and not condition.copies and not outer == (branch,):
            self.under_predicate.add(step.line)
            self.made["if", step.line] = (decided,)
            return
        joins = outer == (branch,) or facts.ends_with
        made = self.idiom(idioms.JUMP if joins else idioms.BRANCH, step, (decided,))
        self.made["if", step.line] = (made,)
        if facts.ends_with:
            return
        self.branches.append((facts.function, step.line, made))

    def _compare(
        self, step: TracedStep, comparisons: list[GuardComparison], needs: tuple[int, ...], copies: bool
    ) -> int:
        """Emit comparisons, with the sums that they compare; return the number of the last one."""
        decided: list[int] = []
        for comparison in comparisons:
            value = needs
            if comparison.sums and not copies:
                value = self._sum(step, comparison.sums, needs)
            elif comparison.sums:
                self.beside(idioms.ADVANCED_SUM, step)
            alone = len(comparisons) == 1 and not comparison.constant
            decided.append(self.idiom(idioms.COMPARE_ARGUMENT if alone else idioms.COMPARE, step, value))
        *before, last = decided
        self.schedule.latency.update(dict.fromkeys(before, 4))  # until the next comparison
        self.region[last] = self.region[last]._replace(needs=(*self.region[last].needs, *before))
        return last

    def compare_values(self, facts: Facts, step: TracedStep, values: tuple[int, ...]) -> int:
        """Emit a comparison of loaded or computed values, and its branch; return the number of the last one."""
        values = tuple(sorted({*values, *self.around(facts)}))
        if self.source.meets:
            return self.idiom(idioms.JUMP, step, (self.idiom(idioms.COMPARE_VALUE, step, values),))
        return self.index_of("guard", step, values, max(facts.guards, 1))

    def _sum(self, step: TracedStep, sums: Iterable[Sum], needs: tuple[int, ...]) -> tuple[int, ...]:
        """Emit 64-bit sums, each once an iteration; return `needs` and their numbers."""
        for each in sums:
            if each == VARIED or ("sum", each) not in self.moved:
                self.moved["sum", each] = each.names
                self.made["sum", each] = (self.idiom(idioms.SUM, step, needs),)
            needs = (*needs, *self.made["sum", each])
        return needs

    def _new(self, sums: Iterable[Sum]) -> bool:
        """Whether a sum has not been computed in this iteration yet."""
        return any(("sum", each) not in self.moved for each in sums)

    def around(self, facts: Facts) -> tuple[int, ...]:
        """The condition of the innermost `if` around a statement, and the branch ended before it."""
        return (*self._decided(facts), *self.met)

    def _decided(self, facts: Facts) -> tuple[int, ...]:
        """The condition of the innermost `if` around a statement."""
        return next((self.made["if", line] for line in facts.conditions if ("if", line) in self.made), ())

    def decided_by_values(self, facts: Facts) -> tuple[int, ...]:
        """The conditions around a statement that compare loaded or computed values."""
        if not self.on_values:
            return ()
        return tuple(p for line in facts.conditions if line in self.on_values for p in self.made.get(("if", line), ()))

    def leave(self, facts: Facts, step: TracedStep) -> None:
        """Emit the ends of the branches that a step has left."""
        while self.branches:
            function, line, branch = self.branches[-1]
            if facts.function is not function or line in facts.conditions:
                return
            self.branches.pop()
            self.met = (self.idiom(idioms.MEET, step, (branch,)),)

    def index(self, facts: Facts, step: TracedStep, access: TracedAccess) -> tuple[int, ...]:
        """Emit the arithmetic of an index that varies, once an iteration; return what an access needs."""
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
            self.index_of("add", step, (), index.adds)
        if index.guards:
            met = (self.index_of("guard", step, met, len(index.moved)),)
        return (self.index_of("shared" if shared else index.arithmetic, step, met),)

    def _place(self, facts: Facts, step: TracedStep, access: TracedAccess) -> tuple[int, ...]:
        """Emit an address that varies, once an iteration; return the instructions that the access needs."""
        met = self.around(facts)
        index, shared = facts.index(access.array), access.space == "shared"
        if not index.moved:
            return met
        key = (access.op if shared else "global", "" if shared else access.array, *index.moved)
        if key not in self.moved or not shared:
            self.moved[key] = frozenset(index.moved)
            self.made[key] = (self._address(facts, step, access, met),)
        if shared and access.op == "load" and self.iterations_inner == 0 and (*key, access.array) not in self.moved:
            self.moved[*key, access.array] = frozenset(index.moved)
            if sum(k[: len(key)] == key for k in self.moved) > 2:  # the second array and later ones
                self.made[key] = (self.idiom(idioms.SHARED_ALSO, step, self.made[key]),)
        return (*met, *self.made[key])

    def _address(self, facts: Facts, step: TracedStep, access: TracedAccess, met: tuple[int, ...]) -> int:
        """Emit the instructions of an address; return the number of the last one."""
        index = facts.index(access.array)
        if access.space == "shared":
            if access.op == "store":
                return self.idiom(idioms.STORED, step, met)
            window = ("window",) not in self.moved and self.iterations_inner == 0
            self.moved["window",] = frozenset()
            return self.idiom(idioms.SHARED if window else idioms.SHARED_AGAIN, step, met)
        if facts.called == "copy":
            self.beside(idioms.ADVANCED, step)
            self.schedule.kept.add(access.array)
            window = ("window",) not in self.moved
            self.moved["window",] = frozenset()
            return self.idiom(idioms.COPIED if window else idioms.COPIED_AGAIN, step, met)
        if index.guards:
            met = self._sum(step, index.sums, met)
            met = (self.idiom(idioms.GUARDED, step, met),)
        elif index.adds:
            met = self._sum(step, index.sums, met)
        if index.arithmetic == "unsigned":
            return self.idiom(idioms.UNSIGNED, step, met)
        if facts.chooses or any(line in self.under_predicate for line in facts.conditions):
            return self.idiom(idioms.COLUMN_IF if index.down else idioms.ROW_IF, step, met)
        return self.idiom(idioms.ALONG_COLUMN if index.down else idioms.ALONG_ROW, step, met)
