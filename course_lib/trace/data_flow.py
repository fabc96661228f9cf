"""Which numbers each statement of a traced kernel carries from place to place, and which it uses in arithmetic.

The animation counts with it how often a number that was loaded from global memory is used: the trace says which lanes
execute a statement and which elements they load and store, the source which variables it reads, and whether it only
copies them.
A number that is copied to shared memory or to a register is still the same number; the result of arithmetic is another.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ..simulator.language.source.tree import nodes
from .kernel_structure import functions
from .trace import Trace

#: Functions that compute with their arguments; any other one, a cast or a vector load, passes on what it gets or loads.
COMPUTING = {"min", "max", "abs", "pow", "round", "divmod", "fma", "fmaf", "fma_rn", "fmaf_rn"}
MODULES = {"math", "np", "numpy", "libdevice", "atomic"}
CASTS = ("float", "int", "uint", "complex", "bool", "bfloat")
#: The place of what a device function returns, after its name and a dot.
RETURNED = "return"


@dataclass
class Flow:
    """Where the numbers that an expression reads go.

    ``carried`` and ``used`` are names of variables, once for each time that they are read; ``loads``: whether elements
    of arrays that it loads are carried on; ``computes``: whether they are used.
    """

    carried: list[str] = field(default_factory=list)
    used: list[str] = field(default_factory=list)
    loads: bool = False
    computes: bool = False

    def __add__(self, other: "Flow") -> "Flow":
        loads, computes = self.loads or other.loads, self.computes or other.computes
        return Flow(self.carried + other.carried, self.used + other.used, loads, computes)

    @property
    def spent(self) -> "Flow":
        """The same as operands of an operation, whose result is another number."""
        return Flow([], self.used + self.carried, False, self.computes or self.loads)


@dataclass(frozen=True)
class Statement:
    """What a statement does with numbers, as `Flow`; names in a device function are ``function.name``.

    ``into``: the variables to which it assigns what it carries; ``given``: of each parameter of a device function that
    it calls, what it carries there; ``products``: the products that it adds to what it assigns.
    """

    line: int
    flow: Flow
    into: tuple[str, ...]
    given: tuple[tuple[str, Flow], ...]
    products: int


def statements(trace: Trace) -> tuple[Statement, ...]:
    """Return the statements of the traced functions, by their first lines; of a compound statement, its head."""
    defined = {function.name: function for function, _ in functions(trace)}
    found = {}
    for function, shift in functions(trace):
        prefix = "" if function.name == trace.kernel_name else f"{function.name}."
        reader = _Reader(prefix, defined)
        for node in nodes(function):
            if isinstance(node, ast.stmt) and node is not function:
                statement = reader.statement(node, node.lineno + shift)
                found[statement.line] = statement
    return tuple(found[line] for line in sorted(found))


class _Reader:
    """Reads the statements of one function; ``defined`` are the traced functions by name."""

    def __init__(self, prefix: str, defined: dict[str, ast.FunctionDef]):
        self.prefix, self.defined = prefix, defined

    def statement(self, node: ast.stmt, line: int) -> Statement:
        """Return what a statement does with numbers; of a compound one, what its head does."""
        flow, into = Flow(), list[str]()
        match node:
            case ast.Assign(targets=targets, value=value):
                flow, into = self.flow(value), [name for target in targets for name in self.names(target)]
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                flow, into = self.flow(value), [*self.names(target)]
            case ast.AugAssign(target=target, value=value):
                flow, into = (self.flow(value) + self.flow(target)).spent, [*self.names(target)]
            case ast.Return(value=ast.expr() as value):
                flow, into = self.flow(value), [self.prefix + RETURNED]
            case ast.Expr(value=value):
                flow = self.flow(value)
            case ast.If(test=test) | ast.While(test=test):
                flow = self.flow(test).spent
        return Statement(line, flow, tuple(into), tuple(self.given(_own_parts(node))), products(node))

    def names(self, target: ast.expr) -> Iterator[str]:
        """Yield the variables of a target, prefixed; an element of an array is none."""
        if isinstance(target, ast.Name):
            yield self.prefix + target.id
        elif isinstance(target, ast.Tuple | ast.List):
            for each in target.elts:
                yield from self.names(each)

    def given(self, heads: Iterable[ast.AST]) -> Iterator[tuple[str, Flow]]:
        """Yield the parameters of the traced functions that are called, with what they get."""
        for head in heads:
            for node in nodes(head):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in self.defined:
                    function = self.defined[node.func.id]
                    for parameter, value in zip(function.args.args, node.args, strict=False):
                        yield f"{function.name}.{parameter.arg}", self.flow(value)

    def flow(self, node: ast.expr) -> Flow:
        """Return where the numbers of an expression go."""
        match node:
            case ast.Name(id=name):
                return Flow([self.prefix + name])
            case ast.Subscript(value=ast.Attribute(attr="shape" | "strides")):
                return Flow()
            case ast.Subscript(value=value):  # an element of an array, or of a tuple; an index is no number of a matrix
                return self.flow(value) + Flow(loads=True)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.flow(test).spent + self.flow(body) + self.flow(orelse)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return sum(map(self.flow, parts), Flow())
            case ast.BinOp() | ast.UnaryOp() | ast.BoolOp() | ast.Compare():
                parts = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
                return sum(map(self.flow, parts), Flow()).spent
            case ast.Call(func=func, args=args):
                return self.call(_dotted(func), sum(map(self.flow, args), Flow()))
        return Flow()

    def call(self, name: tuple[str, ...], given: Flow) -> Flow:
        """Return where the arguments of a call go; what they load may be loaded by the function."""
        if name[-1] in self.defined and len(name) == 1:  # its own statements say what it does with them
            return Flow([f"{name[-1]}.{RETURNED}"], given.used, False, given.computes)
        computes = name[-1] in COMPUTING or (not MODULES.isdisjoint(name[:-1]) and not name[-1].startswith(CASTS))
        return (given + Flow(loads=True)).spent if computes else given + Flow(loads=True)


def _own_parts(node: ast.stmt) -> list[ast.AST]:
    """Return what a statement itself evaluates: of an ``if`` or ``while`` the test, of another compound one nothing."""
    if isinstance(node, ast.If | ast.While):
        return [node.test]
    return [] if hasattr(node, "body") else [node]


def _dotted(node: ast.expr) -> tuple[str, ...]:
    """Return the names of ``cuda.atomic.add``; of another expression an empty one."""
    if isinstance(node, ast.Attribute):
        return (*_dotted(node.value), node.attr)
    return (node.id,) if isinstance(node, ast.Name) else ("",)


def products(node: ast.stmt) -> int:
    """Count the products that a statement adds to what it assigns: 2 of ``acc += a * b + c * d`` or ``acc -= …``."""
    if isinstance(node, ast.AugAssign) and isinstance(node.op, ast.Add | ast.Sub):
        return _products([*_terms(node.value)])
    if isinstance(node, ast.Assign) and len(node.targets) == 1:
        target, terms = ast.unparse(node.targets[0]), [*_terms(node.value)]
        if target in map(ast.unparse, terms):
            return _products(terms)
        if isinstance(node.value, ast.Call) and _dotted(node.value.func)[-1].startswith("fma"):
            return int(target == ast.unparse(node.value.args[-1]))
    return 0


def _terms(node: ast.expr) -> Iterator[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        yield from _terms(node.left)
        yield from _terms(node.right)
    else:
        yield node


def _products(terms: Iterable[ast.expr]) -> int:
    return sum(isinstance(term, ast.BinOp) and isinstance(term.op, ast.Mult) for term in terms)
