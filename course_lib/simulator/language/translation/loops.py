"""Loops: translated again and again, until the types at the begin and the end of an iteration agree, as in numba.

The types of the variables at the begin of an iteration are the header. A pass translates the body with one header, and
gives the types with which lanes come back to the begin: at the end of the body and at each continue. If these differ
from the header, the next pass takes both, merged, as its header.
"""

import ast
from abc import abstractmethod
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import NamedTuple

from ...findings import UnsupportedKernelError
from ..program.nodes import Expr
from ..program.statement_nodes import Body, Break, Continue, Convert, Evaluate, Loop, Mark, Stmt
from ..source.errors import refuse
from ..source.function import Source
from ..types.float64_reasons import Promotion, TypedOperand
from ..types.unification import unify_types
from ..types.value_types import COMPILE_TIME, CONFLICT, NONE, Type
from ..types.variables import Variables, merge, merge_all
from . import conditions, iterables
from .expressions import Expressions
from .translation import ProgramFacts

#: Limit for the passes over a loop.
MOST_PASSES = 12


@dataclass(frozen=True)
class LoopSource:
    """A loop in the source; ``before`` are the variables before it, ``assigned`` the names that it assigns."""

    node: ast.For | ast.While
    iterated: iterables.Iterated | None  # of a for loop
    before: Variables
    assigned: frozenset[str]


@dataclass
class OpenLoop:
    """A loop in one pass over it. Each dict holds the variables at one point of it, by name."""

    header: Variables  # at the begin of an iteration
    after: Variables | None = None  # after the loop, where all lanes meet
    edges: list[Variables] = field(default_factory=list)  # before the loop, at an iteration's end, at each continue
    breaks: list[Variables] = field(default_factory=list)  # at each break

    def merged_edges(self) -> Variables:
        """Merge the variables of all edges; one assigned only in an iteration may be unassigned."""
        merged = dict(self.edges[0])
        for edge in self.edges[1:]:
            for name, variable in edge.items():
                merged[name] = merge(merged.get(name), variable)
        return merged


class LoopEnd(NamedTuple):
    """The end of a loop: the ``variables`` there, None if no lane reaches it.

    ``final``: the breaks were translated with these types.
    """

    variables: Variables | None
    final: bool


@dataclass(frozen=True)
class PassState:
    """What is known of a function before a pass over a loop; it is restored if another pass follows."""

    promotions: dict[tuple[int, str], Promotion]
    maybe_unassigned: set[str]
    barriers: bool
    calls: bool
    results: int


class Loops(Expressions):
    """Translates the loops of one function; :class:`.Statements` translates its other statements."""

    def __init__(
        self, facts: ProgramFacts, source: Source, arguments: Variables, stack: tuple[object, ...], kernel: bool
    ):
        super().__init__(facts, source, arguments, stack, kernel)
        self.out: list[Stmt] = []
        self.loops: list[OpenLoop] = []
        self.headers: dict[int, Variables] = {}  # the last known header of each loop
        self.results: list[TypedOperand] = []
        self.line = source.tree.lineno

    @abstractmethod
    def translate_body(self, body: list[ast.stmt]) -> Body:
        """Translate ``body``, up to a statement after which no lane continues."""

    @abstractmethod
    def assign(self, target: ast.expr, value: Expr, node: ast.Assign | ast.For) -> None:
        """Assign ``value`` to one target of ``node``."""

    def converts(self, have: Variables, want: Variables) -> list[Stmt]:
        """Convert ``have`` to the types in ``want``; where these hold less, the loop is translated again."""
        found: list[Stmt] = []
        for name, variable in have.items():
            if name not in want:
                continue
            old, new = variable.type, want[name].type
            if old != new and new != CONFLICT and unify_types(old, new) == new:
                found.append(Convert(name, old, new, self.line))
        return found

    def append_taken(self, test: Expr, taken: Body) -> bool:
        """Append a branch that all lanes take, after the effects of its test; return True if none reaches its end."""
        if test.must_be_evaluated:
            self.out.append(Evaluate(test))
        self.out.append(taken)
        return taken.ends

    def visit_Break(self, node: ast.Break | ast.Continue) -> bool:
        """End an iteration, and with break the loop."""
        loop = self.loops[-1]
        if isinstance(node, ast.Continue):
            loop.edges.append(self.env)
            self.out += [*self.converts(self.env, loop.header), Continue()]
        else:
            loop.breaks.append(self.env)
            after = loop.header if loop.after is None else loop.after
            self.out += [*self.converts(self.env, after), Break()]
        return True

    visit_Continue = visit_Break

    def visit_For(self, node: ast.For | ast.While) -> bool:
        """Translate a loop; return True if no lane reaches its end."""
        iterated = iterables.iterated(self, node.iter) if isinstance(node, ast.For) else None
        loop = LoopSource(node, iterated, dict(self.env), self.source.assigned_in(node))
        self.env = self._first_header(loop)
        outcome = conditions.decided(self, node.test) if isinstance(node, ast.While) else None
        if isinstance(node, ast.While) and outcome is False:
            test = conditions.condition(self, node.test)
            return self.append_taken(test, self.translate_body(node.orelse))
        return self._repeated(loop, self.env, endless=outcome is True)

    visit_While = visit_For

    def _first_header(self, loop: LoopSource) -> Variables:
        """The variables at the begin of an iteration, as far as they are known before the first pass.

        In an outer loop, an earlier pass over that has found the types that they had then.
        """
        header = {
            name: replace(variable, const=None, outcome=None) if name in loop.assigned else variable
            for name, variable in self.env.items()
        }
        for name, variable in self.headers.get(id(loop.node), {}).items():
            if name in loop.assigned:
                header[name] = merge(header[name], variable) if name in header else variable
        return header

    def _repeated(self, loop: LoopSource, header: Variables, endless: bool) -> bool:
        """Pass over a loop until its types are final; return True if no lane reaches its end."""
        after: Variables | None = None
        none_before_loop: set[str] = set()
        for _ in range(MOST_PASSES):
            state = self._state()
            passed, translated = self._tolerant_pass(loop, header, after)
            merged = passed.merged_edges()
            found = {name for name in header if header[name].type == NONE and merged[name].type != NONE}
            none_before_loop |= found
            self.none_before_loop |= found
            if translated is not None and merged == header:
                after, final = self._end_of_loop(loop, passed, translated)
                if final:
                    if endless:
                        self.none_before_loop -= none_before_loop
                    self.headers[id(loop.node)] = header
                    self.out.append(translated)
                    self.env = header if after is None else after
                    return after is None
            header = merged
            self.possible_promotions |= self.function.promotions
            self._restore(state)
        refuse(
            loop.node,
            "the types of this loop's variables change in every iteration; give each variable the "
            "type that it keeps before the loop, as in x = float32(0)",
        )

    def _state(self) -> PassState:
        """What a pass over a loop adds to."""
        function = self.function
        return PassState(
            dict(function.promotions), set(function.maybe_unassigned), function.barriers, self.calls, len(self.results)
        )

    def _restore(self, state: PassState) -> None:
        self.function.promotions = state.promotions
        self.function.maybe_unassigned = state.maybe_unassigned
        self.function.barriers = state.barriers
        self.calls = state.calls
        del self.results[state.results :]

    def _tolerant_pass(
        self, loop: LoopSource, header: Variables, after: Variables | None
    ) -> tuple[OpenLoop, Loop | None]:
        """Pass over a loop, and again without the statements that are refused, if a variable is still None in it.

        numba infers types from the statements whose types it knows; None meets the variable's other type later. Returns
        the variables at the points of the loop, and the typed loop, None if statements were left out.
        """
        out, calls = self.out, self.calls
        open_loops, skips_refused = len(self.loops), self.skips_refused
        passed = OpenLoop(header, after, [header])
        try:
            return passed, self._pass(loop, passed)
        except UnsupportedKernelError:
            if not any(header[name].type == NONE for name in loop.assigned & header.keys()):
                raise
            self.out, self.calls = out, calls
            del self.loops[open_loops:]
            self.skips_refused = True
            passed = OpenLoop(header, after, [header])
            self._pass(loop, passed)
            if passed.merged_edges() == header:
                raise
            return passed, None
        finally:
            self.skips_refused = skips_refused

    def _pass(self, loop: LoopSource, passed: OpenLoop) -> Loop:
        """Translate a loop once, with the header of ``passed``; add to its edges and breaks."""
        node = loop.node
        outer_out, outer_calls = self.out, self.calls
        entry = self.converts(loop.before, passed.header)
        first: list[Stmt] = []
        self.env = dict(passed.header)
        self.out = first
        self.calls = False
        test = None
        if isinstance(node, ast.While):
            test = conditions.condition(self, node.test)
        elif loop.iterated is not None:
            self.out.append(Mark(node.lineno, head=True))
            self.line = node.lineno
            self.assign(node.target, loop.iterated.item(()), node)
        self.loops.append(passed)
        body = self.translate_body(node.body)
        if not body.ends:
            passed.edges.append(self.env)
            body.statements += self.converts(self.env, passed.header)
        self.loops.pop()
        watched = None
        if isinstance(node, ast.While):
            self.function.waits = True
            watched = self._watched(loop.assigned)
        calls_in_loop = self.calls
        self.out = outer_out
        self.calls = outer_calls or calls_in_loop
        return Loop(
            line=node.lineno,
            entry=entry,
            iterable=None if loop.iterated is None else loop.iterated.iterable,
            test=test,
            first=first,
            body=body,
            orelse=None,
            watched=watched,
            calls=calls_in_loop,
        )

    def _watched(self, assigned: frozenset[str]) -> tuple[tuple[str, Type], ...]:
        """The versions of the variables that a while loop assigns, at the end of an iteration."""
        return tuple(
            (name, variable.type)
            for name, variable in self.env.items()
            if name in assigned and variable.type not in (COMPILE_TIME, NONE)
        )

    def _end_of_loop(self, loop: LoopSource, passed: OpenLoop, translated: Loop) -> LoopEnd:
        """Translate a loop's else, and merge the variables of its lanes with those of the lanes that broke."""
        node = loop.node
        used = passed.header if passed.after is None else passed.after
        ends = list(passed.breaks)  # the variables of all lanes that leave the loop
        self.env = dict(passed.header)
        endless = isinstance(node, ast.While) and conditions.decided(self, node.test)
        if not endless and (passed.breaks or node.orelse):
            translated.orelse = self.translate_body(node.orelse)
            if not translated.orelse.ends:
                ends.append(self.env)
                translated.orelse.statements += self.converts(self.env, used)
        elif not endless:
            ends.append(passed.header)
        if not ends:
            return LoopEnd(None, True)
        after = reduce(merge_all, ends)
        final = True
        for end in ends:
            for name, variable in end.items():
                final = final and used.get(name, variable).type == after[name].type
        return LoopEnd(after, final)
