"""The arithmetic of each line of a kernel, from its typed program: float instructions, and operations of unknown cost.

Every +, - and * of float32 is one instruction. A product that is added is one instruction with the sum, in one
expression or through a name that is assigned once and read once, with no branch between. Integer arithmetic is that of
indices, which :mod:`instructions` derives from the syntax tree. No rate has been measured for anything else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from itertools import chain
from types import FunctionType

import numpy as np

from ...simulator.language.intrinsics import COMMIT, WAIT
from ...simulator.language.nodes import (
    Allocate,
    Apply,
    Atomic,
    CallWarp,
    Cast,
    Const,
    Elementwise,
    Expr,
    Frozen,
    Item,
    Load,
    Local,
    Logical,
    LoopValue,
    MakeTuple,
    MakeView,
    Meet,
    Saved,
    Select,
    StartCopy,
    StartProduct,
    Static,
    Store,
)
from ...simulator.language.operators import COMPARISONS
from ...simulator.language.program import (
    Assign,
    Block,
    CallDevice,
    Convert,
    Function,
    If,
    Loop,
    Mark,
    Range,
    Return,
    Stmt,
    expressions,
    inner,
    own_expressions,
    statements,
    subexpressions,
)
from ...simulator.language.types import SCALARS, ArrayType, Type, is_complex, is_float

#: The floating-point type whose rate is measured.
KNOWN = "float32"
#: Its operations that are one instruction each, and those that cost nothing: a sign is part of the next instruction.
INSTRUCTIONS, FREE = ("+", "-", "*"), ("-x", "cuda.selp")
#: The most paths through a line that are compared with a trace; with more, the path counts as unknown.
MOST_WAYS = 64
_COMPARISONS = {operation.name for operation in COMPARISONS.values()}


@dataclass(frozen=True)
class Needs:
    """The dependences of a value: float instructions and loads of its line (by number), names, and called functions."""

    operations: frozenset[int] = frozenset()
    loads: frozenset[int] = frozenset()
    names: frozenset[str] = frozenset()
    calls: frozenset[FunctionType] = frozenset()

    def __or__(self, other: Needs) -> Needs:
        return Needs(*(getattr(self, each.name) | getattr(other, each.name) for each in fields(self)))


@dataclass(frozen=True)
class Way:
    """A path through a line: the arrays that it loads from, in order, and its operations, by number."""

    loads: tuple[str, ...] = ()
    operations: frozenset[int] = frozenset()

    def then(self, other: Way) -> Way:
        """Return this path continued by another."""
        return Way(self.loads + other.loads, self.operations | other.operations)


@dataclass
class Computation:
    """The arithmetic of one line, and the part of it that the model does not know (`unknown`, empty if none).

    operations: the float instructions, each as what it depends on. result: what the values depend on that the line
    assigns, stores, returns or tests; assigned: the same for each assigned name. choices: number of float comparisons
    and of selections by them. loads: what each load's index depends on, in order; None where a function of another file
    loads, too. calls: the called functions of the kernel's file; passed: (function, parameter, what the argument
    depends on). hidden: a function of another file that does more than load and store. mixed: whether the computation
    differs between argument types. meets: whether threads meet at a barrier here. pending: how many groups of copies it
    leaves in flight. chosen_by: names in the indices of thread-private arrays, "" if unknown at compile time. ways: the
    possible paths, if a warp may skip operations; None if it executes all, empty if no trace can tell. factors: whether
    it is a product that is one instruction with the sum of a later line.
    """

    operations: list[Needs] = field(default_factory=list)
    result: Needs = Needs()
    assigned: dict[str, Needs] = field(default_factory=dict)
    choices: int = 0
    loads: list[Needs] | None = field(default_factory=list)
    calls: set[FunctionType] = field(default_factory=set)
    unknown: str = ""
    hidden: str = ""
    mixed: bool = False
    passed: list[tuple[FunctionType, str, Needs]] = field(default_factory=list)
    meets: bool = False
    pending: int | None = None
    chosen_by: set[str] = field(default_factory=set)
    ways: list[Way] | None = None
    factors: bool = False


def name_of_unknown(node: Atomic | CallWarp | Elementwise | Frozen | StartProduct) -> str:
    """Return the name of an operation whose instructions the model does not know."""
    match node:
        case Atomic():
            return f"cuda.atomic.{node.operation}"
        case CallWarp():
            return node.name
        case StartProduct():
            return "products of warpgroups"
        case Elementwise():
            return "assignments to all elements of an array at once"
    return f"arrays that are constants of the kernel, such as {node.name}"


def computations(kernel: Function) -> dict[int, Computation]:
    """Return what each line of a kernel, and of the functions of its file, computes; keys are line numbers."""
    found: dict[int, Computation] = {}
    everything = functions(kernel)
    added, own = _added_up(everything), _own_arrays(everything)
    for function in everything:
        of_elements, later = _of_elements(function), _added_later(function, added)
        for line, begun in _by_line(function):
            made = _Line(of_elements, own[function], added, later, function in added).read(begun)
            if line in found and found[line] != made:
                made.mixed = True
            found[line] = made
    return found


def functions(kernel: Function) -> list[Function]:
    """Return the kernel and the functions of its file that it calls, one entry for each set of argument types."""
    found, seen = [kernel], {id(kernel)}
    for function in found:
        for node in expressions(function.body.body):
            if isinstance(node, CallDevice) and not node.function.foreign and id(node.function) not in seen:
                seen.add(id(node.function))
                found.append(node.function)
    return found


def _by_line(function: Function) -> Iterator[tuple[int, list[Stmt]]]:
    """Group the statements of a function by the line where each begins; a loop's head has a group of its own."""
    lines: dict[int, list[Stmt]] = {}
    line = function.source.tree.lineno

    def walk(body: list[Stmt]) -> None:
        nonlocal line
        for statement in body:
            if isinstance(statement, Mark):
                line = statement.line
            elif isinstance(statement, Loop):
                lines.setdefault(statement.line, []).append(statement)
            else:
                lines.setdefault(line, []).append(statement)
            for part in inner(statement):
                walk(part)

    walk(function.body.body)
    yield from lines.items()


def _added_up(everything: list[Function]) -> set[Function]:
    """Return the functions whose result is a product that every caller adds: one instruction, in the caller."""
    results = {f: [s.value for s in statements(f.body.body) if isinstance(s, Return)] for f in everything}
    products = {f for f, values in results.items() if len(values) == 1 and _is_product(values[0])}
    nodes = [node for f in everything for node in expressions(f.body.body)]
    added = {id(product) for node in nodes if isinstance(node, Apply) and (product := _product(node, products))}
    return products - {node.function for node in nodes if isinstance(node, CallDevice) and id(node) not in added}


def _is_product(value: Expr) -> bool:
    return isinstance(value, Apply) and value.operation.name == "*" and value.type == KNOWN


def _added_later(function: Function, added: set[Function]) -> set[str]:
    """Return the variables that hold a product which a later statement adds: one instruction with that sum."""
    everything = list(statements(function.body.body))
    given = Counter(s.name for s in everything if isinstance(s, (Assign, Convert)))
    read = Counter(node.name for node in expressions(function.body.body) if isinstance(node, Local))
    names = {s.name for s in everything if isinstance(s, Assign) and _is_product(s.value)}
    names = {name for name in names if given[name] == read[name] == 1}
    found = set()
    for body in _bodies(function.body.body):
        open_names: set[str] = set()  # of this stretch without branches
        for statement in body:
            sums = (node for node in subexpressions(own_expressions(statement)) if isinstance(node, Apply))
            products = [product for node in sums if (product := _product(node, added, open_names))]
            found |= {product.name for product in products if isinstance(product, Local)}
            if isinstance(statement, (If, Loop, Block)):
                open_names.clear()
            elif isinstance(statement, Assign) and statement.name in names:
                open_names.add(statement.name)
    return found


def _bodies(body: list[Stmt]) -> Iterator[list[Stmt]]:
    """Return a list of statements, and all lists nested in it."""
    yield body
    for statement in body:
        for part in inner(statement):
            yield from _bodies(part)


def _product(node: Apply, added: set[Function], names: set[str] | frozenset[str] = frozenset()) -> Expr | None:
    """Return the product that is one instruction with the sum `node`, if there is one.

    A call of a function in `added`, or a variable in `names`, counts as a product.
    """
    if node.operation.name not in ("+", "-") or node.type != KNOWN:
        return None
    calls = (arg for arg in node.args if isinstance(arg, CallDevice) and arg.function in added)
    variables = (arg for arg in node.args if isinstance(arg, Local) and arg.name in names)
    return next(chain(filter(_is_product, node.args), calls, variables), None)


def _of_elements(function: Function) -> frozenset[str]:
    """Return the integer variables of a function whose values come from array elements."""
    assigned = [s for s in statements(function.body.body) if isinstance(s, Assign) and s.value.type in SCALARS]
    found: set[str] = set()
    for _ in assigned:
        before = len(found)
        found |= {s.name for s in assigned if _is_of_elements(s.value, found)}
        if len(found) == before:
            break
    return frozenset(found)


def _is_of_elements(value: Expr, names: set[str] | frozenset[str]) -> bool:
    """Whether a value is computed from array elements, or from such variables."""
    if isinstance(value, Load):
        return True
    if isinstance(value, Local):
        return value.name in names
    if isinstance(value, Apply) and value.operation.name in _COMPARISONS:
        return False
    return any(_is_of_elements(operand, names) for operand in value.operands)


def _own_arrays(everything: list[Function]) -> dict[Function, set[str]]:
    """Return the names of thread-private arrays, by function."""
    found: dict[Function, set[str]] = {function: set() for function in everything}
    for _ in everything:  # as deep as calls can nest
        for function, names in found.items():
            assigned = (s for s in statements(function.body.body) if isinstance(s, Assign))
            names |= {s.name for s in assigned if _is_own(s.value, names)}
            for node in expressions(function.body.body):
                if isinstance(node, CallDevice) and node.function in found:
                    given = zip(node.function.parameters, node.args, strict=True)
                    found[node.function] |= {name for (name, _), argument in given if _is_own(argument, names)}
    return found


def _is_own(value: Expr, names: set[str]) -> bool:
    """Whether a value is a thread-private array, or a part of one."""
    if isinstance(value, MakeView):
        return _is_own(value.array, names)
    return (isinstance(value, Allocate) and value.space == "local") or (
        isinstance(value, Local) and value.name in names
    )


def _chosen_by(index: Expr) -> set[str]:
    """Return the names in an index; "" for a part that is unknown at compile time."""
    if isinstance(index, Local):
        return {index.name}
    if isinstance(index, (Const, Static)):
        return set()
    if isinstance(index, (Apply, Cast, Item, MakeTuple, Saved)) and index.operands:
        return set().union(*map(_chosen_by, index.operands))
    return {""}


class _Line:
    """Collects what the statements of one line compute."""

    def __init__(
        self, of_elements: frozenset[str], own: set[str], added: set[Function], later: set[str], is_added: bool
    ) -> None:
        self.of_elements, self.own, self.added, self.is_added = of_elements, own, added, is_added
        self.later = later
        self.made = Computation()
        self.known: dict[int, Needs] = {}  # values used in several places
        self.kept: list[Expr] = []  # keeps them alive, so that no id is reused
        self.ways = [Way()]  # through what has been read
        self.parts = False  # whether the paths differ in their operations

    def read(self, statements: list[Stmt]) -> Computation:
        """Return what the statements compute."""
        result = Needs()
        for statement in statements:
            for expression in own_expressions(statement):
                later = isinstance(statement, Assign) and statement.name in self.later
                self.made.factors = self.made.factors or later
                product = later or (isinstance(statement, Return) and self.is_added)
                source = self._factors(expression) if product else self._source(expression)
                result |= source
                if isinstance(statement, Assign):
                    self.made.assigned[statement.name] = source
        self.made.result = result
        if self.parts:
            told = self.made.loads is not None and not any(given.operations for _, _, given in self.made.passed)
            self.made.ways = self.ways if told and len(self.ways) <= MOST_WAYS else []
        return self.made

    def _unknown(self, what: str) -> None:
        self.made.unknown = self.made.unknown or what

    def _source(self, node: Expr) -> Needs:
        """Return what a value depends on, after its instructions have been noted."""
        if id(node) not in self.known:
            self.known[id(node)] = self._new_source(node)
            self.kept.append(node)
        return self.known[id(node)]

    def _new_source(self, node: Expr) -> Needs:
        match node:
            case Const() | LoopValue():
                return Needs()
            case Local():
                return Needs(names=frozenset({node.name}))
            case Load():
                self._choose(node.array, node.index)
                return self._load(node)
            case Apply():
                return self._apply(node)
            case CallDevice():
                return self._call(node)
            case Cast():
                source = self._source(node.value)
                self._unknown(unknown_conversion(node.value, node.type))
                return source
            case MakeView():
                self._choose(node.array, node.operands[1:])
            case Store():
                self._choose(node.array, node.index)
                source = self._together(node.operands)
                if isinstance(node.array.type, ArrayType) and node.value.is_scalar:
                    self._unknown(unknown_conversion(node.value, node.array.type.dtype))
                return source
            case Select():
                before = self.made.choices
                self._source(node.test)
                self.made.choices += self.made.choices > before  # any other is a load under a predicate
                yes, no = self._in_lanes(node.yes), self._in_lanes(node.no)
                self._go(yes, no, [way.then(other) for way in yes for other in no])
            case Logical():
                self._source(node.parts[0])
                self._go([Way()], self._in_turn([(part,) for part in node.parts[1:]]))
            case Atomic() | CallWarp() | Elementwise() | Frozen() | StartProduct():
                self._unknown(name_of_unknown(node))
            case Meet():
                self.made.meets = True
                self._unknown(f"cuda.{node.reduction}" if node.reduction else "this_grid().sync()" if node.grid else "")
        return self._together(node.operands)

    def _in_lanes(self, *nodes: Expr) -> list[Way]:
        """Read what only some lanes evaluate; return the paths through it."""
        before, self.ways = self.ways, [Way()]
        self._together(nodes)
        found, self.ways = self.ways, before
        return found

    def _go(self, *ways: list[Way]) -> None:
        """Continue every path so far with each of ``ways``: a warp takes one of them next."""
        found = [way for each in ways for way in each]
        self.parts = self.parts or len({way.operations for way in found}) > 1
        self.ways = list(dict.fromkeys(way.then(other) for way in self.ways[: MOST_WAYS + 1] for other in found))

    def _in_turn(self, parts: Sequence[tuple[Expr, ...]]) -> list[Way]:
        """Read operands that are evaluated only if those before do not decide the result; return the paths."""
        found = self._in_lanes(*parts[0])
        if len(parts) == 1:
            return found
        later = self._in_turn(parts[1:])
        return [*found, *(way.then(other) for way in found for other in later)]

    def _together(self, nodes: Iterable[Expr]) -> Needs:
        made = Needs()
        for node in nodes:
            made |= self._source(node)
        return made

    def _choose(self, array: Expr, index: Iterable[Expr]) -> None:
        """Note the names in the index of a thread-private array."""
        if _is_own(array, self.own):
            self.made.chosen_by.update(*map(_chosen_by, index))

    def _load(self, node: Load) -> Needs:
        index = self._together(node.index)
        self._together([node.array])
        if self.made.loads is None:
            return Needs(loads=frozenset({-1}))
        self.made.loads.append(index)
        if not _is_own(node.array, self.own):
            array = node.array.name if isinstance(node.array, Local) else ""
            self.ways = [way.then(Way((array,))) for way in self.ways]
        return Needs(loads=frozenset({len(self.made.loads) - 1}))

    def _call(self, node: CallDevice) -> Needs:
        arguments = self._together(node.args[place] for place in node.written)
        function = node.function
        self.made.meets = self.made.meets or function.barriers
        if not function.foreign:
            self.made.calls.add(function.source.function)
            for (name, _), argument in zip(function.parameters, node.args, strict=True):
                self.made.passed.append((function.source.function, name, self._source(argument)))
            return Needs(calls=frozenset({function.source.function}))
        if _does_more(function):
            self.made.hidden = self.made.hidden or function.name
        self.made.loads = None
        return arguments | Needs(loads=frozenset({-1}))

    def _apply(self, node: Apply) -> Needs:
        name, kind = node.operation.name, node.type
        operands = Needs() if kind == KNOWN and name in ("+", "-") else self._together(node.args)
        if node.operation is WAIT and isinstance(node.args[0], Const):
            self.made.pending = int(node.args[0].value)
        unknown = unknown_operation(node)
        if name in _COMPARISONS and any(arg.type == KNOWN for arg in node.args):
            self.made.choices += 1
        if unknown:
            self._unknown(unknown)
        elif name == "*" and any(_is_of_elements(arg, self.of_elements) for arg in node.args):
            if kind != KNOWN:
                self._unknown(f"products of {kind} elements")
        if kind != KNOWN or unknown or name not in (*INSTRUCTIONS, "cuda.fma"):
            return operands
        return self._instruction(node)

    def _factors(self, product: Expr) -> Needs:
        """Return what the factors of a product depend on, where the product is no instruction of its own."""
        self._unknown(unknown_operation(product) if isinstance(product, Apply) else "")
        return self._together(product.operands)

    def _instruction(self, node: Apply) -> Needs:
        """Note a float instruction, together with the product that it adds."""
        product = _product(node, self.added, self.later)
        operands = Needs()
        for arg in node.args:
            fused = arg is product and isinstance(arg, Apply)
            operands |= self._factors(arg) if fused else self._source(arg)
        self.made.operations.append(operands)
        self.ways = [way.then(Way((), frozenset({len(self.made.operations) - 1}))) for way in self.ways]
        return Needs(operations=frozenset({len(self.made.operations) - 1}))


def _does_more(function: Function) -> bool:
    """Whether a function of another file does more than load, compare, compute indices and store.

    A loop counts as more, unless the compiler unrolls it.
    """
    for node in expressions(function.body.body):
        if isinstance(node, (Atomic, CallWarp, Elementwise, Frozen, Meet, StartCopy, StartProduct)):
            return True
        if isinstance(node, Apply):
            arithmetic = node.type == KNOWN and node.operation.name not in FREE
            if arithmetic or node.operation in (COMMIT, WAIT) or unknown_operation(node):
                return True
        if isinstance(node, Cast) and unknown_conversion(node.value, node.type):
            return True
        if isinstance(node, CallDevice) and _does_more(node.function):
            return True
    return any(isinstance(each, Loop) and not _written_out(each) for each in statements(function.body.body))


def _written_out(loop: Loop) -> bool:
    """Whether the number of iterations of a loop is known at compile time."""
    bounds = loop.iterable
    return isinstance(bounds, Range) and all(isinstance(n, Const) for n in (bounds.start, bounds.stop, bounds.step))


def unknown_operation(node: Apply) -> str:
    """Return the name of an operation whose rate is unknown, or ""."""
    name = node.operation.name
    if name in _COMPARISONS and any(arg.type == KNOWN for arg in node.args):
        node = replace(node, args=tuple(map(_narrowed, node.args)))
    kinds = [node.type, *(arg.type for arg in node.args)]
    floats = [kind for kind in kinds if isinstance(kind, str) and (is_float(kind) or is_complex(kind))]
    if node.operation in (COMMIT, WAIT):
        return ""
    if node.operation.effect:
        return _named(name)
    if not floats:
        return ""
    other = next((kind for kind in floats if kind != KNOWN), None)
    if name in (*INSTRUCTIONS, *FREE, *_COMPARISONS, "cuda.fma"):
        if other is not None:
            return f"{name.removesuffix('x')} of {other}"
        numbers = node.args[1:] if name == "cuda.selp" else node.args
        return next(filter(None, (unknown_conversion(arg, KNOWN) for arg in numbers)), "")
    return f"{_named(name)} of {floats[0]}"


def _narrowed(value: Expr) -> Expr:
    """Return a constant as float32 if that is exact: compilers compare in float32 then, whatever its type."""
    if isinstance(value, Const) and not is_complex(str(value.type)):
        with np.errstate(over="ignore"):
            narrowed = np.float32(value.value)
        if float(narrowed) == value.value:
            return Const(type=KNOWN, value=narrowed)
    return value


def _named(name: str) -> str:
    """Return an operation's name as in the source."""
    words = {"failed-assertion": "assert", "raised-exception": "raise", "** literal": "**", "complex *": "*"}
    cuda = ("syncwarp", "threadfence", "threadfence_block")
    return f"cuda.{name}" if name in cuda else words.get(name, name)


def unknown_conversion(value: Expr, kind: Type) -> str:
    """Return a description of a conversion whose cost is unknown, or ""."""
    have = value.type
    if isinstance(value, Const) or have == kind or not (isinstance(have, str) and isinstance(kind, str)):
        return ""
    if any(is_float(each) or is_complex(each) for each in (have, kind)):
        return f"the conversion of {have} to {kind}"
    return ""
