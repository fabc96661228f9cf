"""What the syntax trees of a kernel and its device functions say of a statement: what it reads, what moves in its loop.

A loop of constant length counts as written out by the compiler, unless it holds more than WRITTEN_OUT multiply-adds.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

WRITTEN_OUT = 256
#: Functions that start an asynchronous copy.
COPIES = {"copy_async", "copy4_async"}
#: A sum that is another one in each of the turns that are written out.
VARIED = ""
#: What lowering knows a value by: the function, and the name in it or "return".
Value = tuple[str, str]


@dataclass
class _Function:
    """One function of the kernel's file: its statements by line, its loops, and the functions that it calls."""

    name: str
    tree: ast.FunctionDef
    constants: dict[str, Any]
    parameters: list[str]
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)


class Index(NamedTuple):
    """How a statement indexes an array: names in it that move, additions of such, whether a function guards it.

    down: whether it is the row that moves, and with it what is multiplied by the length of one. sums: the additions.
    """

    arithmetic: str  # "signed" or "unsigned"
    moved: tuple[str, ...]
    adds: int
    guards: bool
    down: bool
    sums: tuple[str, ...]


class GuardComparison(NamedTuple):
    """A comparison of an `if`: the names in it that move, sums of them, whether with what is known when compiling."""

    moved: tuple[str, ...]
    sums: tuple[str, ...]
    constant: bool


@dataclass(frozen=True)
class Guard:
    """What an `if` compares, in order, and what it decides on.

    otherwise: whether its other way does something, too; copies: whether it starts asynchronous copies; chooses:
    whether it only chooses values, without an access or a call.
    """

    comparisons: tuple[GuardComparison, ...]
    otherwise: bool
    copies: bool
    chooses: bool


@dataclass
class Facts:
    """What the syntax tree says of one statement."""

    function: _Function
    node: ast.AST
    moving: frozenset[str]
    varied: frozenset[str]  # names of loops around it that are written out
    values: tuple[Value, ...]  # that it reads; what the functions return that it calls
    passed: tuple[tuple[Value, tuple[Value, ...]], ...]  # (a parameter of one of those, what its argument reads)
    targets: tuple[str, ...]  # the names that it assigns: a trace names no tuple
    passes_sums: tuple[str, ...]  # that it passes to those functions
    hidden: str  # a function of another file that it calls, and that multiplies: a trace has no line of it
    called: str  # the function, where the whole statement is a call
    multiplies: bool
    guards: int  # comparisons with what moves, of an `if`
    condition: Guard  # of an `if`
    adds_up: bool
    loop: bool
    written_out: bool
    ends_region: bool
    chooses: bool  # whether a condition stands in it
    ends_with: bool  # whether an `if` is the last statement of another
    conditions: tuple[int, ...]  # the lines of the `if`s around it, innermost first
    indices: dict[str, Index] = field(default_factory=dict)

    def index(self, array: str) -> Index:
        """Return how the statement indexes an array."""
        if array not in self.indices:
            arithmetic, parts, guards = _subscript(self.node, array)
            moved = sorted(set().union(*map(names_of, parts)) & self.moving) if parts else []
            sums = [sum_ for part in parts for sum_ in _sums(part, self.moving, self.varied)]
            down = any(names_of(part) & self.moving for part in parts[:-1])
            self.indices[array] = Index(arithmetic, tuple(moved), len(sums), guards, down, tuple(sums))
        return self.indices[array]


class Dataflow:
    """The kernel and the device functions of its file, by line: what a statement reads, and what moves in its loop."""

    def __init__(self, kernel: Any) -> None:
        self.functions: dict[str, _Function] = {}
        self.statements: dict[int, tuple[_Function, ast.stmt]] = {}
        self.hidden: set[str] = set()  # functions of other files that multiply
        plain = getattr(kernel, "py_func", kernel)
        self._read(plain, inspect.getsourcefile(plain))
        self.kernel = plain.__name__
        self.moving_parameters: dict[str, set[str]] = {name: set() for name in self.functions}
        self.constant_parameters: dict[str, set[str]] = {n: set(f.parameters) for n, f in self.functions.items()}
        self._facts: dict[int, Facts] = {}
        #: Whether threads meet at barriers: loops without any are made one with their neighbouring turns.
        self.meets = any("syncthreads" in ast.dump(function.tree) for function in self.functions.values())
        for _ in self.functions:  # as deep as calls can nest
            self._pass_on()

    def _read(self, plain: Callable[..., Any], file: str | None) -> None:
        lines, first = inspect.getsourcelines(plain)
        module = ast.parse(textwrap.dedent("".join(lines)))
        ast.increment_lineno(module, first - 1)
        tree = next(node for node in ast.walk(module) if isinstance(node, ast.FunctionDef))
        closure = inspect.getclosurevars(plain)
        constants = {**closure.globals, **closure.nonlocals}
        function = _Function(plain.__name__, tree, constants, [a.arg for a in tree.args.args])
        self.functions[plain.__name__] = function
        for node in ast.walk(tree):
            for child in ast.iter_child_nodes(node):
                function.parents[child] = node
            if isinstance(node, ast.stmt) and node is not tree:
                self.statements[node.lineno] = function, node
        for name, value in constants.items():
            inner = getattr(value, "py_func", None)
            if inner is None or inner.__name__ in self.functions:
                continue
            if inspect.getsourcefile(inner) == file:
                self._read(inner, file)
            elif _multiplies_within(inner):
                self.hidden.add(name)

    def facts(self, line: int) -> Facts:
        """What there is to know of the statement at a line; of a line outside the functions, nothing."""
        if line not in self._facts:
            function, node = self.statements.get(line, (self.functions[self.kernel], ast.Pass()))
            self._facts[line] = self._facts_of(function, node)
        return self._facts[line]

    def _facts_of(self, function: _Function, node: ast.AST) -> Facts:
        moving = frozenset(self.moving(function, node))
        varied = frozenset(loop.target.id for loop in self.loops(function, node) if self.written_out(function, loop))
        compound = isinstance(node, (ast.If, ast.For, ast.While))
        reads = set() if compound else names_of(node)
        if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            reads.add(node.target.id)
        calls = [] if compound else [n for n in ast.walk(node) if isinstance(n, ast.Call)]
        named = [(getattr(call.func, "id", ""), call) for call in calls]
        passed = tuple(
            ((name, parameter), tuple((function.name, read) for read in names_of(argument)))
            for name, call in named
            if name in self.functions
            for parameter, argument in zip(self.functions[name].parameters, call.args, strict=False)
        )
        constant = isinstance(node, ast.For) and all(
            self.is_constant(function, bound) for bound in getattr(node.iter, "args", [])
        )
        test = node.test if isinstance(node, ast.If) else ast.Pass()
        whole = node.value if isinstance(node, ast.Expr) else None
        return Facts(
            function,
            node,
            moving,
            varied,
            (*((function.name, read) for read in reads), *((name, "return") for name, _ in named)),
            passed,
            tuple(n.id for n in getattr(node, "targets", ()) if isinstance(n, ast.Name)),
            tuple(
                s for name, call in named if name in self.functions for a in call.args for s in _sums(a, moving, varied)
            ),
            min(self.hidden.intersection(name for name, _ in named), default=""),
            getattr(whole.func, "id", "") if isinstance(whole, ast.Call) else "",
            _multiplies(node),
            sum(bool(names_of(c) & moving) for c in ast.walk(test) if isinstance(c, ast.Compare)),
            self._condition(function, node, moving, varied),
            not _multiplies(node)
            and (isinstance(getattr(node, "value", None), ast.BinOp) or self._steps(function, node)),
            isinstance(node, (ast.For, ast.While)),
            isinstance(node, ast.For) and self.written_out(function, node),
            constant or "syncthreads" in ast.dump(node),
            not compound and any(isinstance(n, ast.IfExp) for n in ast.walk(node)),
            isinstance(parent := function.parents.get(node), ast.If) and parent.body[-1] is node,
            tuple(self._conditions(function, node)),
        )

    def _steps(self, function: _Function, node: ast.AST) -> bool:
        """Whether a statement adds a constant to a variable."""
        return isinstance(node, ast.AugAssign) and self.is_constant(function, node.value)

    def _condition(self, function: _Function, node: ast.AST, moving: frozenset[str], varied: frozenset[str]) -> Guard:
        """What an `if` decides on; of any other statement, nothing."""
        if not isinstance(node, ast.If):
            return Guard((), False, False, False)
        terms = node.test.values if isinstance(node.test, ast.BoolOp) else [node.test]
        comparisons = []
        for term in terms:
            bounds = term.comparators if isinstance(term, ast.Compare) else []
            constant = bool(bounds) and all(self.is_constant(function, bound) for bound in bounds)
            comparisons.append(
                GuardComparison(tuple(sorted(names_of(term) & moving)), _sums(term, moving, varied), constant)
            )
        within = [n for statement in node.body for n in ast.walk(statement)]
        called = {getattr(n.func, "id", "") for n in within if isinstance(n, ast.Call)}
        chooses = not any(isinstance(n, (ast.Call, ast.Subscript, ast.For)) for n in within)
        return Guard(tuple(comparisons), bool(node.orelse), bool(called & COPIES), chooses)

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
            for call in (node for node in ast.walk(function.tree) if isinstance(node, ast.Call)):
                called = self.functions.get(getattr(call.func, "id", ""))
                if called is None:
                    continue
                moving = self.moving(function, call)
                for name, argument in zip(called.parameters, call.args, strict=False):
                    if names_of(argument) & moving:
                        self.moving_parameters[called.name].add(name)
                    if not self.is_constant(function, argument):
                        self.constant_parameters[called.name].discard(name)

    def is_constant(self, function: _Function, node: ast.AST) -> bool:
        """Whether the compiler knows the value: numbers, constants of the module, loops that are written out."""
        known = {name for name, value in function.constants.items() if isinstance(value, int)}
        known |= {loop.target.id for loop in self.loops(function, node) if self.written_out(function, loop)}
        if function.name != self.kernel:
            known |= self.constant_parameters[function.name]
        return not any(isinstance(n, (ast.Call, ast.Attribute, ast.Subscript)) for n in ast.walk(node)) and (
            names_of(node) <= known
        )

    def loops(self, function: _Function, node: ast.AST) -> Iterator[Any]:
        """The for-loops around a statement, innermost first; a loop's header is not in it."""
        child = node
        while (parent := function.parents.get(child)) is not None:
            if isinstance(parent, ast.For) and child in parent.body and isinstance(parent.target, ast.Name):
                yield parent
            child = parent

    def written_out(self, function: _Function, loop: ast.For) -> bool:
        """Whether a loop is of constant length and short."""
        arguments = getattr(loop.iter, "args", [])
        if not all(self.is_constant(function, argument) for argument in arguments):
            return False
        return self._weight(function, loop) <= WRITTEN_OUT

    def _weight(self, function: _Function, loop: ast.For) -> int:
        """Multiply-adds in all turns of a loop of constant length."""
        return self._turns(function, loop) * sum(self._weight_of(function, statement) for statement in loop.body)

    def _weight_of(self, function: _Function, node: ast.stmt) -> int:
        if isinstance(node, ast.For):
            return self._weight(function, node)
        if isinstance(node, (ast.If, ast.While)):
            return sum(self._weight_of(function, inner) for inner in node.body)
        total = int(isinstance(node, ast.AugAssign) and isinstance(node.value, ast.BinOp))
        for call in (n for n in ast.walk(node) if isinstance(n, ast.Call)):
            called = self.functions.get(getattr(call.func, "id", ""))
            if called is not None and called is not function:
                total += sum(self._weight_of(called, inner) for inner in called.tree.body)
        return total

    def value(self, function: _Function, node: ast.expr) -> int:
        """The value of a constant expression; ValueError if the compiler does not know it."""
        known = {name: value for name, value in function.constants.items() if isinstance(value, int)}
        try:
            return int(eval(compile(ast.Expression(node), "", "eval"), {}, known))
        except Exception:
            raise ValueError(f"line {node.lineno}: {ast.unparse(node)} is no constant") from None

    def _turns(self, function: _Function, loop: ast.For) -> int:
        try:
            bounds = [self.value(function, argument) for argument in getattr(loop.iter, "args", [])]
        except ValueError:
            return 1
        return len(range(*bounds))

    def moving(self, function: _Function, node: ast.AST) -> set[str]:
        """The names whose values change from turn to turn of the innermost loop that is not written out."""
        changing: set[str] = set(self.moving_parameters[function.name])
        for loop in self.loops(function, node):
            if not self.written_out(function, loop):
                changing |= {loop.target.id}
                changing |= {n.id for n in ast.walk(loop) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        return changing - {loop.target.id for loop in self.loops(function, node) if self.written_out(function, loop)}


def names_of(node: ast.AST) -> set[str]:
    """The names that an expression reads."""
    return {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}


def _sums(node: ast.AST, moving: frozenset[str], varied: frozenset[str]) -> tuple[str, ...]:
    """The additions in an expression that have a part in what moves, as source; VARIED for one with `varied` names."""
    found = [n for n in ast.walk(node) if isinstance(n, ast.BinOp) and names_of(n) & moving]
    return tuple(VARIED if names_of(n) & varied else ast.unparse(n) for n in found)


def _multiplies(node: ast.AST) -> bool:
    """Whether a statement is a multiply-add: it adds a product up."""
    return isinstance(node, ast.AugAssign) and any(isinstance(n, ast.Mult) for n in ast.walk(node.value))


def _multiplies_within(plain: Callable[..., Any]) -> bool:
    """Whether a function, or one that it calls, has a multiply-add."""
    closure = inspect.getclosurevars(plain)
    called = (getattr(value, "py_func", None) for value in (*closure.globals.values(), *closure.nonlocals.values()))
    tree = ast.parse(textwrap.dedent(inspect.getsource(plain)))
    return any(map(_multiplies, ast.walk(tree))) or any(_multiplies_within(f) for f in called if f not in (None, plain))


def _subscript(node: ast.AST, array: str) -> tuple[str, list[ast.expr], bool]:
    """Return how a statement indexes an array, "signed" or "unsigned", by what, and whether a function guards it."""
    for part in ast.walk(node):
        if isinstance(part, ast.Subscript) and isinstance(part.value, ast.Name):
            if part.value.id == array:
                parts = part.slice.elts if isinstance(part.slice, ast.Tuple) else [part.slice]
                return ("unsigned" if "uint" in ast.dump(part.slice) else "signed"), parts, False
    for part in ast.walk(node):
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and len(part.args) >= 3:
            guards = part.func.id not in ("load4", "store4", *COPIES)
            return "unsigned", part.args[1:3], guards and "shared" not in array
    return "signed", [n for n in ast.walk(node) if isinstance(n, ast.Name)], False
