"""What the syntax trees of a kernel and its device functions say of a statement: what it reads, what moves in its loop.

A loop of constant length counts as written out by the compiler, unless it holds more than WRITTEN_OUT instructions of
the float pipe.
"""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, NamedTuple

from ..simulator.language.intrinsics import declared
from ..simulator.language.program import Function
from ..simulator.language.source import Source, python_function
from .arithmetic import Computation, computations, functions

WRITTEN_OUT = 256


@dataclass(eq=False)
class _Function:
    """One function of the kernel's file: its loops, what its names stand for, and its calls."""

    source: Source
    constants: dict[str, Any]
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)
    calls: list[ast.Call] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.source.name

    def stands_for(self, node: ast.expr) -> Any:
        """The object that an expression of names and attributes stands for; None if it is known only to the threads."""
        if isinstance(node, ast.Attribute):
            return getattr(self.stands_for(node.value), node.attr, None)
        if not isinstance(node, ast.Name):
            return None
        if node.id in self.source.locals:
            assigned = [n for n in ast.walk(self.source.tree) if isinstance(n, ast.Assign)]
            given = [n.value for n in assigned if _is_name(n.targets, node.id)]
            return self.stands_for(given[0]) if len(given) == 1 else None
        try:
            return self.source.lookup(node.id)
        except (KeyError, ValueError):
            return None


def _is_name(targets: Sequence[ast.expr], name: str) -> bool:
    return len(targets) == 1 and isinstance(targets[0], ast.Name) and targets[0].id == name


#: What lowering knows a value by: the function, and the name in it or "return".
Value = tuple[_Function, str]


class Sum(NamedTuple):
    """An addition of what moves, as source, and the names in it; VARIED is another one in each turn written out."""

    text: str
    names: frozenset[str]


VARIED = Sum("", frozenset())


class Index(NamedTuple):
    """How a statement indexes an array: names in it that move, additions of such, whether a function guards it.

    down: whether it is the row that moves, and with it what is multiplied by the length of one. sums: the additions.
    """

    arithmetic: str  # "signed" or "unsigned"
    moved: tuple[str, ...]
    adds: int
    guards: bool
    down: bool
    sums: tuple[Sum, ...]


class GuardComparison(NamedTuple):
    """A comparison of an `if`: the names in it that move, sums of them, whether with what is known when compiling."""

    moved: tuple[str, ...]
    sums: tuple[Sum, ...]
    constant: bool


@dataclass(frozen=True)
class Guard:
    """What an `if` compares, in order, and what it decides on.

    otherwise: whether its other way does something, too; copies: whether it starts asynchronous copies; chooses:
    whether both ways only choose values, without an access, a call, a loop, a jump or arithmetic of floats.
    """

    comparisons: tuple[GuardComparison, ...]
    otherwise: bool
    copies: bool
    goes_far: bool
    chooses: bool


@dataclass
class Facts:
    """What is to know of one statement."""

    function: _Function
    node: ast.AST
    computation: Computation
    moving: frozenset[str]
    varied: frozenset[str]  # names of loops around it that are written out
    calls: frozenset[_Function]
    targets: tuple[str, ...]  # the names that it assigns: a trace names no tuple
    passes_sums: tuple[Sum, ...]  # that it passes to those functions
    called: str  # what the function is declared as, where the whole statement calls an intrinsic: "copy", "wait", …
    guards: int  # comparisons with what moves, of an `if` or a while loop
    condition: Guard  # of an `if`
    adds_up: bool  # integers
    loop: bool
    written_out: bool
    ends_region: bool
    chooses: bool  # whether a condition stands in it
    ends_with: bool  # whether an `if` is the last statement of another
    conditions: tuple[int, ...]  # the lines of the `if`s around it, innermost first
    within: frozenset[ast.AST]  # the loops around it, and itself
    unknown: str  # why it cannot be lowered: the end of a message that begins with its line
    indices: dict[str, Index] = field(default_factory=dict)

    def index(self, array: str) -> Index:
        """Return how the statement indexes an array."""
        if array not in self.indices:
            arithmetic, parts, guards = _subscript(self.function, self.node, array)
            moved = sorted(set().union(*map(names_of, parts)) & self.moving) if parts else []
            sums = [sum_ for part in parts for sum_ in _sums(part, self.moving, self.varied)]
            down = any(names_of(part) & self.moving for part in parts[:-1])
            self.indices[array] = Index(arithmetic, tuple(moved), len(sums), guards, down, tuple(sums))
        return self.indices[array]

    def returned(self, functions: Iterable[FunctionType]) -> Iterator[Value]:
        """What those of the functions that it calls return."""
        return ((called, "return") for called in self.calls if called.source.function in functions)


class Dataflow:
    """The kernel and the device functions of its file, by line: what a statement reads, and what moves in its loop."""

    def __init__(self, kernel: Function) -> None:
        self.computations = computations(kernel)
        self.functions: dict[FunctionType, _Function] = {}
        self.statements: dict[int, tuple[_Function, ast.stmt]] = {}
        self.crowded: dict[int, str] = {}  # lines of several statements: the end of a message
        for function in functions(kernel):
            if function.source.function not in self.functions:
                self._read(function.source)
        self.kernel = self.functions[kernel.source.function]
        everything = self.functions.values()
        self.moving_parameters: dict[_Function, set[str]] = {function: set() for function in everything}
        self.constant_parameters = {function: set(function.source.parameters) for function in everything}
        self._facts: dict[int, Facts] = {}
        #: Whether threads meet at barriers: loops without any are made one with their neighbouring turns.
        self.meets = kernel.barriers
        for _ in self.functions:  # as deep as calls can nest
            self._pass_on()

    def _read(self, source: Source) -> None:
        closure = inspect.getclosurevars(source.function)
        function = _Function(source, {**closure.globals, **closure.nonlocals})
        self.functions[source.function] = function
        for node in ast.walk(source.tree):
            for child in ast.iter_child_nodes(node):
                function.parents[child] = node
            if isinstance(node, ast.Call):
                function.calls.append(node)
            if isinstance(node, ast.stmt) and node is not source.tree:
                self._add(function, node)

    def _add(self, function: _Function, node: ast.stmt) -> None:
        """Note a statement at its line, which is that of no other one."""
        before = self.statements.get(node.lineno)
        if before is not None and before[0] is not function:
            self.crowded[node.lineno] = (
                f"{function.name} is made several times from these lines, and the model of waiting cannot tell one "
                "from the other; define one function for each use"
            )
        elif before is not None:
            self.crowded[node.lineno] = (
                "the model of waiting knows statements by their lines, and several stand here; write each statement on "
                "its own line"
            )
        self.statements[node.lineno] = function, node

    def facts(self, line: int) -> Facts:
        """What there is to know of the statement at a line; of a line outside the functions, nothing."""
        if line not in self._facts:
            function, node = self.statements.get(line, (self.kernel, ast.Pass()))
            self._facts[line] = self._facts_of(function, node, line)
        return self._facts[line]

    def _facts_of(self, function: _Function, node: ast.AST, line: int) -> Facts:
        moving = frozenset(self.moving(function, node))
        varied = frozenset().union(
            *(names_bound(loop) for loop in self.loops(function, node) if self.written_out(function, loop))
        )
        read = head(node)
        calls = [n for n in ast.walk(read) if isinstance(n, ast.Call)]
        known = [(called, call) for call in calls if (called := self.called(function, call)) is not None]
        computation = self.computations.get(line, NOTHING)
        whole = node.value if isinstance(node, ast.Expr) else None
        return Facts(
            function,
            node,
            computation,
            moving,
            varied,
            frozenset(called for called, _ in known),
            _targets(node),
            tuple(s for called, call in known for _, a in self.bound(called, call) for s in _sums(a, moving, varied)),
            _intrinsic(function, whole) if isinstance(whole, ast.Call) else "",
            sum(_comparisons(term, moving) for term in _terms(node)),
            self._condition(function, node, moving, varied),
            not computation.operations
            and (isinstance(node, ast.AugAssign) or isinstance(getattr(node, "value", None), ast.BinOp)),
            isinstance(node, (ast.For, ast.While)),
            isinstance(node, ast.For) and self.written_out(function, node),
            (isinstance(node, ast.For) and self.constant_length(function, node)) or self._meets(node),
            read is node and any(isinstance(n, ast.IfExp) for n in ast.walk(node)),
            isinstance(parent := function.parents.get(node), ast.If) and parent.body[-1] is node,
            tuple(self._conditions(function, node)),
            frozenset((node, *self.loops(function, node))),
            self._unknown(node, line, {called for called, _ in known}),
        )

    def _unknown(self, node: ast.AST, line: int, known: set[_Function]) -> str:
        """Return why a statement cannot be lowered: the end of a message, empty if it can."""
        computation = self.computations.get(line, NOTHING)
        if line in self.crowded:
            return self.crowded[line]
        if computation.hidden:
            hidden = computation.hidden
            return f"{hidden} stands in another file, and a trace shows no line of it; put it beside the kernel"
        if computation.unknown:
            return f"the model of waiting does not know {computation.unknown}; {ADVICE}"
        missing = computation.calls - {called.source.function for called in known}
        if missing:
            name = min(function.__name__ for function in missing)
            return f"the model of waiting cannot tell that {name} is called here; call it by its own name"
        if known and isinstance(node, (ast.If, ast.For, ast.While)):
            name = min(called.name for called in known)
            return (
                f"the model of waiting does not know a call of {name} in the head of a statement; "
                "assign what it returns to a name first"
            )
        return ""

    def called(self, function: _Function, call: ast.Call) -> _Function | None:
        """The function of the kernel's file that a call is of."""
        thing = function.stands_for(call.func)
        inner = getattr(thing, "py_func", None)
        return self.functions.get(python_function(thing)) if isinstance(inner, FunctionType) else None

    def bound(self, called: _Function, call: ast.Call) -> Iterator[tuple[Value, ast.expr]]:
        """The parameters of a function that are given in a call, by place or by name, with their arguments."""
        for parameter, argument in zip(called.source.parameters, call.args, strict=False):
            yield (called, parameter), argument
        for keyword in call.keywords:
            yield (called, str(keyword.arg)), keyword.value

    def _condition(self, function: _Function, node: ast.AST, moving: frozenset[str], varied: frozenset[str]) -> Guard:
        """What an `if` decides on; of any other statement, nothing."""
        if not isinstance(node, ast.If):
            return Guard((), False, False, False, False)
        comparisons = []
        for term in _terms(node):
            bounds = term.comparators if isinstance(term, ast.Compare) else []
            constant = bool(bounds) and all(self.is_constant(function, bound) for bound in bounds)
            comparisons.append(
                GuardComparison(tuple(sorted(names_of(term) & moving)), _sums(term, moving, varied), constant)
            )
        body = [n for statement in node.body for n in ast.walk(statement)]
        copies = any(isinstance(n, ast.Call) and _intrinsic(function, n) == "copy" for n in body)
        goes_far = any(isinstance(n, FAR) for n in _within(node))
        computes = any(isinstance(n, ast.stmt) and self._operations(n.lineno) for n in _within(node))
        return Guard(tuple(comparisons), bool(node.orelse), copies, goes_far, not goes_far and not computes)

    def _conditions(self, function: _Function, node: ast.AST) -> Iterator[int]:
        """The lines of the `if`s around a statement, innermost first."""
        parent = function.parents.get(node)
        while parent is not None:
            if isinstance(parent, ast.If):
                yield parent.lineno
            parent = function.parents.get(parent)

    def _pass_on(self) -> None:
        """Let parameters move, or be constant, as the arguments of their calls do."""
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

    def is_constant(self, function: _Function, node: ast.AST) -> bool:
        """Whether the compiler knows the value: numbers, constants of the module, loops that are written out."""
        known = {name for name, value in function.constants.items() if isinstance(value, int)}
        for loop in self.loops(function, node):
            if self.written_out(function, loop):
                known |= names_bound(loop)
        if function is not self.kernel:
            known |= self.constant_parameters[function]
        return not any(isinstance(n, (ast.Call, ast.Attribute, ast.Subscript)) for n in ast.walk(node)) and (
            names_of(node) <= known
        )

    def loops(self, function: _Function, node: ast.AST) -> Iterator[ast.For | ast.While]:
        """The loops around a statement, innermost first; a loop's header is not in it."""
        child = node
        while (parent := function.parents.get(child)) is not None:
            if isinstance(parent, (ast.For, ast.While)) and child in parent.body:
                yield parent
            child = parent

    def constant_length(self, function: _Function, loop: ast.For) -> bool:
        """Whether the compiler knows how many turns a loop has: of a range of constants, or of a literal tuple."""
        if isinstance(loop.iter, ast.Tuple):
            return all(self.is_constant(function, item) for item in loop.iter.elts)
        bounds = _range(function, loop)
        return bool(bounds) and all(self.is_constant(function, bound) for bound in bounds)

    def written_out(self, function: _Function, loop: ast.For | ast.While) -> bool:
        """Whether a loop is of constant length and short."""
        if isinstance(loop, ast.While) or not self.constant_length(function, loop):
            return False
        return self._weight(function, loop) <= WRITTEN_OUT

    def _meets(self, node: ast.AST) -> bool:
        """Whether threads meet at a barrier in a statement."""
        inner = (n for n in ast.walk(node) if isinstance(n, ast.stmt))
        return any(self.computations.get(statement.lineno, NOTHING).meets for statement in inner)

    def _operations(self, line: int) -> int:
        """Instructions of the float pipe in the statement at a line."""
        return len(self.computations.get(line, NOTHING).operations)

    def _weight(self, function: _Function, loop: ast.For) -> int:
        """Instructions of the float pipe in all turns of a loop of constant length."""
        return self._turns(function, loop) * sum(self._weight_of(function, statement) for statement in loop.body)

    def _weight_of(self, function: _Function, node: ast.stmt) -> int:
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

    def value(self, function: _Function, node: ast.expr) -> int:
        """The value of a constant expression; ValueError if the compiler does not know it."""
        known = {name: value for name, value in function.constants.items() if isinstance(value, int)}
        try:
            return int(eval(compile(ast.Expression(node), "", "eval"), {}, known))
        except Exception:
            raise ValueError(f"line {node.lineno}: {ast.unparse(node)} is no constant") from None

    def _turns(self, function: _Function, loop: ast.For) -> int:
        """The turns of a loop, 1 where they are not known."""
        if isinstance(loop.iter, ast.Tuple):
            return len(loop.iter.elts)
        try:
            bounds = [self.value(function, argument) for argument in _range(function, loop)]
        except ValueError:
            return 1
        return len(range(*bounds)) if bounds else 1

    def moving(self, function: _Function, node: ast.AST) -> set[str]:
        """The names whose values change from turn to turn of the innermost loop that is not written out."""
        changing: set[str] = set(self.moving_parameters[function])
        fixed: set[str] = set()
        for loop in self.loops(function, node):
            if self.written_out(function, loop):
                fixed |= names_bound(loop)
            else:
                changing |= {n.id for n in ast.walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        return changing - fixed


#: What the model of waiting knows of a line that computes nothing.
NOTHING = Computation()
ADVICE = "it knows +, - and * of float32, loads, stores, copies and barriers"


#: What no compiler puts under a predicate, or what makes more of a guard than a choice between values.
FAR = (ast.Call, ast.Subscript, ast.For, ast.While, ast.Break, ast.Continue, ast.Return)


def _within(node: ast.If) -> Iterator[ast.AST]:
    """All that stands in both ways of an `if`."""
    for statement in (*node.body, *node.orelse):
        yield from ast.walk(statement)


def names_of(node: ast.AST) -> set[str]:
    """The names that an expression reads."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def names_bound(loop: ast.AST) -> set[str]:
    """The names that the header of a loop assigns."""
    return {n.id for n in ast.walk(loop.target) if isinstance(n, ast.Name)} if isinstance(loop, ast.For) else set()


def _targets(node: ast.AST) -> tuple[str, ...]:
    """The names that an assignment assigns."""
    parts = [n for target in getattr(node, "targets", ()) for n in ast.walk(target)]
    return tuple(n.id for n in parts if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))


def head(node: ast.AST) -> ast.AST:
    """What a statement itself evaluates: of a compound one its test, or what it runs through."""
    if isinstance(node, (ast.If, ast.While)):
        return node.test
    return node.iter if isinstance(node, ast.For) else node


def _terms(node: ast.AST) -> list[ast.expr]:
    """The parts of the test of an `if` or a while loop, between `and` or `or`."""
    if not isinstance(node, (ast.If, ast.While)):
        return []
    return node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]


def _comparisons(term: ast.expr, moving: frozenset[str]) -> int:
    """How many comparisons a part of a test makes of what moves; a variable that is tested is one."""
    compared = sum(bool(names_of(n) & moving) for n in ast.walk(term) if isinstance(n, ast.Compare))
    return compared or int(bool(names_of(term) & moving))


def _sums(node: ast.AST, moving: frozenset[str], varied: frozenset[str]) -> tuple[Sum, ...]:
    """The additions in an expression that have a part in what moves; VARIED for one with `varied` names."""
    found = [(n, names_of(n)) for n in ast.walk(node) if isinstance(n, ast.BinOp)]
    return tuple(
        VARIED if names & varied else Sum(ast.unparse(n), frozenset(names)) for n, names in found if names & moving
    )


def _intrinsic(function: _Function, call: ast.Call) -> str:
    """What kind of intrinsic a call is of, as it is declared; empty for any other function."""
    kind = declared(function.stands_for(call.func))
    return str(kind[0]) if kind else ""


def _range(function: _Function, loop: ast.For) -> list[ast.expr]:
    """The arguments of the range that a loop runs through; none of anything else."""
    if isinstance(loop.iter, ast.Call) and function.stands_for(loop.iter.func) is range:
        return loop.iter.args
    return []


def _subscript(function: _Function, node: ast.AST, array: str) -> tuple[str, list[ast.expr], bool]:
    """Return how a statement indexes an array, "signed" or "unsigned", by what, and whether a function guards it."""
    node = head(node)
    for part in ast.walk(node):
        if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name):
            if part.value.id == array:
                parts = part.slice.elts if isinstance(part.slice, ast.Tuple) else [part.slice]
                return ("unsigned" if "uint" in ast.dump(part.slice) else "signed"), parts, False
    calls = [n for n in ast.walk(node) if isinstance(n, ast.Call)]
    accesses = [(call, _arguments(function, call)) for call in calls]
    accesses.sort(key=lambda access: not any(_is_name([argument], array) for argument in access[1]))
    for call, arguments in accesses:
        if len(arguments) >= 3:
            guards = not _intrinsic(function, call)
            return "unsigned", arguments[1:3], guards and "shared" not in array
    return "signed", [n for n in ast.walk(node) if isinstance(n, ast.Name)], False


def _arguments(function: _Function, call: ast.Call) -> list[ast.expr]:
    """The arguments of a call of a function that takes an array, in the order of its parameters."""
    thing = function.stands_for(call.func)
    inner = getattr(thing, "py_func", None)
    if not isinstance(inner, FunctionType) or not call.keywords:
        return call.args if thing is not None and (inner is not None or declared(thing)) else []
    parameters = list(inspect.signature(inner).parameters)
    given = {str(keyword.arg): keyword.value for keyword in call.keywords}
    return [*call.args, *(given[name] for name in parameters[len(call.args) :] if name in given)]
