"""Facts about each statement from the syntax trees of a kernel and its device functions: what it reads, what varies.

"Varies" (`moving`) means: changes between iterations of the innermost loop that is not unrolled. A loop of constant
length counts as unrolled by the compiler, unless it holds more than WRITTEN_OUT float instructions.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from types import FunctionType

from ...simulator.language.program import Function
from ...simulator.language.source import Source
from .computations import Computation, computations, functions
from .syntax import (
    FAR,
    Sum,
    TracedFunction,
    Value,
    comparisons_in,
    head,
    intrinsic,
    names_bound,
    names_of,
    range_of,
    same_function,
    subscript,
    sums_in,
    targets,
    terms,
    within,
)

WRITTEN_OUT = 256
#: Nodes that no constant expression contains.
OPAQUE = (ast.Call, ast.Attribute, ast.Subscript)


@dataclass(frozen=True)
class Index:
    """The index of an access: the varying names, the number of sums of them, whether a function guards the access.

    down: whether the row index varies, so that it is multiplied by the length of a row; sums: the sums themselves.
    """

    arithmetic: str  # "signed" or "unsigned"
    moved: tuple[str, ...]
    adds: int
    guards: bool
    down: bool
    sums: tuple[Sum, ...]


@dataclass(frozen=True)
class GuardComparison:
    """A comparison of an `if`: the varying names in it, sums of them, and whether one side is a constant."""

    moved: tuple[str, ...]
    sums: tuple[Sum, ...]
    constant: bool


@dataclass(frozen=True)
class Guard:
    """The condition of an `if`, as comparisons in order, and the kind of its branches.

    otherwise: whether it has an else branch; copies: whether it starts asynchronous copies; chooses: whether both
    branches only select values, without an access, a call, a loop, a jump or float arithmetic.
    """

    comparisons: tuple[GuardComparison, ...]
    otherwise: bool
    copies: bool
    goes_far: bool
    chooses: bool


@dataclass
class Facts:
    """All that lowering needs to know about one statement."""

    function: TracedFunction
    node: ast.AST
    computation: Computation
    moving: frozenset[str]
    varied: frozenset[str]  # loop variables of unrolled loops around it
    calls: frozenset[TracedFunction]
    targets: tuple[str, ...]  # the names that it assigns: a trace does not name tuples
    passes_sums: tuple[Sum, ...]  # to the functions that it calls
    called: str  # the declared kind, where the whole statement is a call of an intrinsic: "copy", "wait", …
    guards: int  # comparisons with varying values, of an `if` or a while loop
    condition: Guard  # of an `if`
    registers: bool  # whether it indexes thread-private arrays by values known at compile time
    adds_up: bool  # integers
    loop: bool
    written_out: bool
    ends_region: bool
    chooses: bool  # whether it contains a condition
    ends_with: bool  # whether an `if` is the last statement of another
    conditions: tuple[int, ...]  # the lines of each `if` around it, innermost first
    within: frozenset[ast.AST]  # the loops around it, and itself
    unknown: str  # why it cannot be lowered: the end of a message that begins with its line
    indices: dict[str, Index] = field(default_factory=dict)

    def index(self, array: str) -> Index:
        """Return how the statement indexes an array."""
        if array not in self.indices:
            arithmetic, parts, guards = subscript(self.function, self.node, array)
            moved = sorted(set().union(*map(names_of, parts)) & self.moving) if parts else []
            sums = [sum_ for part in parts for sum_ in sums_in(part, self.moving, self.varied)]
            down = any(names_of(part) & self.moving for part in parts[:-1])
            self.indices[array] = Index(arithmetic, tuple(moved), len(sums), guards, down, tuple(sums))
        return self.indices[array]

    def returned(self, functions: Iterable[FunctionType]) -> Iterator[Value]:
        """Return the return values of those `functions` that the statement calls."""
        return ((called, "return") for called in self.calls if called.source.function in functions)


class Dataflow:
    """Facts about the lines of a kernel and its device functions: what each reads, and what varies in its loop."""

    def __init__(self, kernel: Function) -> None:
        self.computations = computations(kernel)
        self.functions: dict[FunctionType, TracedFunction] = {}
        self.statements: dict[int, tuple[TracedFunction, ast.stmt]] = {}
        self.crowded: dict[int, str] = {}  # lines of several statements: the end of a message
        for function in functions(kernel):
            if function.source.function not in self.functions:
                self._read(function.source)
        self.kernel = self.functions[kernel.source.function]
        everything = self.functions.values()
        self.moving_parameters: dict[TracedFunction, set[str]] = {function: set() for function in everything}
        self.constant_parameters = {function: set(function.source.parameters) for function in everything}
        self._facts: dict[int, Facts] = {}
        #: Whether threads meet at barriers. The compiler interleaves the iterations of loops without barriers.
        self.meets = kernel.barriers
        for _ in self.functions:  # as deep as calls can nest
            self._pass_on()

    def _read(self, source: Source) -> None:
        closure = inspect.getclosurevars(source.function)
        function = TracedFunction(source, {**closure.globals, **closure.nonlocals})
        self.functions[source.function] = function
        for node in ast.walk(source.tree):
            for child in ast.iter_child_nodes(node):
                function.parents[child] = node
            if isinstance(node, ast.Call):
                function.calls.append(node)
            if isinstance(node, ast.stmt) and node is not source.tree:
                self._add(function, node)

    def _add(self, function: TracedFunction, node: ast.stmt) -> None:
        """Note a statement at its line, which must hold no other statement."""
        before = self.statements.get(node.lineno)
        if before is not None and before[0] is not function:
            self.crowded[node.lineno] = (
                f"{function.name} is made several times from these lines, and the model of waiting cannot tell one "
                "from the other; define one function for each use"
            )
        elif before is not None:
            self.crowded[node.lineno] = (
                "the model of waiting identifies statements by their lines, and this line has several; write each "
                "statement on its own line"
            )
        self.statements[node.lineno] = function, node

    def facts(self, line: int) -> Facts:
        """Return the facts about the statement at a line; none for a line outside the functions."""
        if line not in self._facts:
            function, node = self.statements.get(line, (self.kernel, ast.Pass()))
            self._facts[line] = self._facts_of(function, node, line)
        return self._facts[line]

    def _facts_of(self, function: TracedFunction, node: ast.AST, line: int) -> Facts:
        moving = frozenset(self.moving(function, node))
        varied = frozenset().union(
            *(names_bound(loop) for loop in self.loops(function, node) if self.written_out(function, loop))
        )
        read = head(node)
        calls = [n for n in ast.walk(read) if isinstance(n, ast.Call)]
        known = [(called, call) for call in calls if (called := self.called(function, call)) is not None]
        computation = self.computations.get(line, NOTHING)
        passed = [argument for called, call in known for _, argument in self.bound(called, call)]
        whole = node.value if isinstance(node, ast.Expr) else None
        parent = function.parents.get(node)
        return Facts(
            function=function,
            node=node,
            computation=computation,
            moving=moving,
            varied=varied,
            calls=frozenset(called for called, _ in known),
            targets=targets(node),
            passes_sums=tuple(s for argument in passed for s in sums_in(argument, moving, varied)),
            called=intrinsic(function, whole) if isinstance(whole, ast.Call) else "",
            guards=sum(comparisons_in(term, moving) for term in terms(node)),
            condition=self._condition(function, node, moving, varied),
            registers=all(self._is_known(function, node, name) for name in computation.chosen_by),
            adds_up=not (computation.operations or computation.factors)
            and (isinstance(node, ast.AugAssign) or isinstance(getattr(node, "value", None), ast.BinOp)),
            loop=isinstance(node, (ast.For, ast.While)),
            written_out=isinstance(node, ast.For) and self.written_out(function, node),
            ends_region=(isinstance(node, ast.For) and self.constant_length(function, node)) or self._meets(node),
            chooses=read is node and any(isinstance(n, ast.IfExp) for n in ast.walk(node)),
            ends_with=isinstance(parent, ast.If) and parent.body[-1] is node,
            conditions=tuple(self._conditions(function, node)),
            within=frozenset((node, *self.loops(function, node))),
            unknown=self._unknown(function, node, line, {called for called, _ in known}),
        )

    def _unknown(self, function: TracedFunction, node: ast.AST, line: int, known: set[TracedFunction]) -> str:
        """Return why a statement cannot be lowered: the end of a message, or ""."""
        computation = self.computations.get(line, NOTHING)
        if line in self.crowded:
            return self.crowded[line]
        if computation.hidden:
            hidden = computation.hidden
            return (
                f"{hidden} is in another file or cell, whose lines a trace does not show; define it beside the kernel"
            )
        if computation.mixed:
            return (
                f"{function.name} is called with arguments of several types, which the model of waiting cannot tell "
                "apart; define one function for each"
            )
        if computation.unknown:
            return f"the model of waiting does not know {computation.unknown}; {ADVICE}"
        missing = computation.calls - {called.source.function for called in known}
        if missing:
            name = min(function.__name__ for function in missing)
            if name in self._names_called(function, node):
                return f"{name} has been defined again since this trace; trace the kernel again"
            return f"the model of waiting cannot tell that {name} is called here; call it by its own name"
        if known and isinstance(node, (ast.If, ast.For, ast.While)):
            name = min(called.name for called in known)
            return (
                f"the model of waiting does not know a call of {name} in the head of a statement; "
                "assign what it returns to a name first"
            )
        return ""

    def called(self, function: TracedFunction, call: ast.Call) -> TracedFunction | None:
        """Return the function of the kernel's file that a call calls."""
        thing = function.stands_for(call.func)
        inner = getattr(thing, "py_func", None)
        if not isinstance(inner, FunctionType):
            return None
        alike = (traced for plain, traced in self.functions.items() if same_function(plain, inner))
        return self.functions.get(inner) or next(alike, None)  # the cell that defines it may have been run again

    def _names_called(self, function: TracedFunction, node: ast.AST) -> set[str]:
        """Return the names of the functions that a statement calls, as bound now."""
        things = (function.stands_for(call.func) for call in ast.walk(head(node)) if isinstance(call, ast.Call))
        inner = (getattr(thing, "py_func", None) for thing in things)
        return {each.__name__ for each in inner if isinstance(each, FunctionType)}

    def bound(self, called: TracedFunction, call: ast.Call) -> Iterator[tuple[Value, ast.expr]]:
        """Return the parameters of `called` that a call passes, by position or by keyword, with their arguments."""
        for parameter, argument in zip(called.source.parameters, call.args, strict=False):
            yield (called, parameter), argument
        for keyword in call.keywords:
            yield (called, str(keyword.arg)), keyword.value

    def _condition(
        self, function: TracedFunction, node: ast.AST, moving: frozenset[str], varied: frozenset[str]
    ) -> Guard:
        """Return the condition of an `if`; an empty one for any other statement."""
        if not isinstance(node, ast.If):
            return Guard((), False, False, False, False)
        comparisons = []
        for term in terms(node):
            bounds = term.comparators if isinstance(term, ast.Compare) else []
            constant = bool(bounds) and all(self.is_constant(function, bound) for bound in bounds)
            comparisons.append(
                GuardComparison(tuple(sorted(names_of(term) & moving)), sums_in(term, moving, varied), constant)
            )
        body = [n for statement in node.body for n in ast.walk(statement)]
        copies = any(isinstance(n, ast.Call) and intrinsic(function, n) == "copy" for n in body)
        goes_far = any(isinstance(n, FAR) for n in within(node))
        computes = any(isinstance(n, ast.stmt) and self._operations(n.lineno) for n in within(node))
        return Guard(tuple(comparisons), bool(node.orelse), copies, goes_far, not goes_far and not computes)

    def _conditions(self, function: TracedFunction, node: ast.AST) -> Iterator[int]:
        """Return the lines of each `if` around a statement, innermost first."""
        parent = function.parents.get(node)
        while parent is not None:
            if isinstance(parent, ast.If):
                yield parent.lineno
            parent = function.parents.get(parent)

    def _pass_on(self) -> None:
        """Mark parameters as varying, or as constant, according to the arguments of their calls."""
        for function in self.functions.values():
            for call in function.calls:
                called = self.called(function, call)
                if called is None:
                    continue
                moving = self.moving(function, call)
                for (_, name), argument in self.bound(called, call):
                    if names_of(argument) & moving:
                        self.moving_parameters[called].add(name)
                    if not self.is_constant(function, argument):
                        self.constant_parameters[called].discard(name)

    def is_constant(self, function: TracedFunction, node: ast.AST) -> bool:
        """Whether the compiler knows the value: numbers, constants of the module, variables of unrolled loops."""
        known = {name for name, value in function.constants.items() if isinstance(value, int)}
        for loop in self.loops(function, node):
            if self.written_out(function, loop):
                known |= names_bound(loop)
        if function is not self.kernel:
            known |= self.constant_parameters[function]
        return not any(isinstance(n, OPAQUE) for n in ast.walk(node)) and names_of(node) <= known

    def _is_known(self, function: TracedFunction, node: ast.AST, name: str) -> bool:
        """Whether the compiler knows a variable: that of an unrolled loop, or one assigned once from known values."""
        if any(self.written_out(function, loop) and name in names_bound(loop) for loop in self.loops(function, node)):
            return True
        if name in function.source.parameters:
            return function is not self.kernel and name in self.constant_parameters[function]
        named = [n for n in ast.walk(function.source.tree) if isinstance(n, ast.Name) and n.id == name]
        given = [n for n in named if isinstance(n.ctx, ast.Store)]
        by = function.parents[given[0]] if len(given) == 1 else None
        if not isinstance(by, ast.Assign) or any(isinstance(n, OPAQUE) for n in ast.walk(by.value)):
            return False
        names = names_of(by.value)
        return name not in names and all(
            self._is_known(function, by, each) if each in function.source.locals else each in function.constants
            for each in names
        )

    def loops(self, function: TracedFunction, node: ast.AST) -> Iterator[ast.For | ast.While]:
        """Return the loops around a statement, innermost first; a loop's header is not inside it."""
        child = node
        while (parent := function.parents.get(child)) is not None:
            if isinstance(parent, (ast.For, ast.While)) and child in parent.body:
                yield parent
            child = parent

    def constant_length(self, function: TracedFunction, loop: ast.For) -> bool:
        """Whether the length of a loop is known at compile time: a range of constants, or a literal tuple."""
        if isinstance(loop.iter, ast.Tuple):
            return all(self.is_constant(function, item) for item in loop.iter.elts)
        bounds = range_of(function, loop)
        return bool(bounds) and all(self.is_constant(function, bound) for bound in bounds)

    def written_out(self, function: TracedFunction, loop: ast.For | ast.While) -> bool:
        """Whether a loop is unrolled: of constant length, and short."""
        if isinstance(loop, ast.While) or not self.constant_length(function, loop):
            return False
        return self._weight(function, loop) <= WRITTEN_OUT

    def _meets(self, node: ast.AST) -> bool:
        """Whether threads meet at a barrier in a statement."""
        inner = (n for n in ast.walk(node) if isinstance(n, ast.stmt))
        return any(self.computations.get(statement.lineno, NOTHING).meets for statement in inner)

    def _operations(self, line: int) -> int:
        """Return the number of float instructions in the statement at a line."""
        return len(self.computations.get(line, NOTHING).operations)

    def _weight(self, function: TracedFunction, loop: ast.For) -> int:
        """Return the number of float instructions in all iterations of a loop of constant length."""
        return self._iterations(function, loop) * sum(self._weight_of(function, statement) for statement in loop.body)

    def _weight_of(self, function: TracedFunction, node: ast.stmt) -> int:
        if isinstance(node, ast.For):
            return self._weight(function, node)
        if isinstance(node, (ast.If, ast.While)):
            return sum(self._weight_of(function, inner) for inner in (*node.body, *node.orelse))
        total = self._operations(node.lineno)
        for call in (n for n in ast.walk(node) if isinstance(n, ast.Call)):
            called = self.called(function, call)
            if called is not None and called is not function:
                total += sum(self._weight_of(called, inner) for inner in called.source.tree.body)
        return total

    def value(self, function: TracedFunction, node: ast.expr) -> int:
        """Return the value of a constant expression; raise ValueError if it is unknown at compile time."""
        known = {name: value for name, value in function.constants.items() if isinstance(value, int)}
        try:
            return int(eval(compile(ast.Expression(node), "", "eval"), {"__builtins__": {}}, known))
        except (ArithmeticError, AttributeError, LookupError, NameError, TypeError, ValueError):
            raise ValueError(f"line {node.lineno}: {ast.unparse(node)} is no constant") from None

    def _iterations(self, function: TracedFunction, loop: ast.For) -> int:
        """Return the number of iterations of a loop, 1 if unknown."""
        if isinstance(loop.iter, ast.Tuple):
            return len(loop.iter.elts)
        try:
            bounds = [self.value(function, argument) for argument in range_of(function, loop)]
        except ValueError:
            return 1
        return len(range(*bounds)) if bounds else 1

    def moving(self, function: TracedFunction, node: ast.AST) -> set[str]:
        """Return the names whose values change between iterations of the innermost loop that is not unrolled."""
        changing: set[str] = set(self.moving_parameters[function])
        fixed: set[str] = set()
        for loop in self.loops(function, node):
            if self.written_out(function, loop):
                fixed |= names_bound(loop)
            else:
                changing |= {n.id for n in ast.walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        return changing - fixed


NOTHING = Computation()
ADVICE = "write it with what is measured: +, - and * of float32, loads, stores, copies and barriers"
