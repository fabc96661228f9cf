"""The typed program: what a kernel does, decided, before any code is written.

An expression knows its type, and why that is float64 where nobody asked for it (:mod:`why`). Operators and most
functions are an :class:`Operation`, a row of :mod:`calls`' or :mod:`operators`' tables, applied to operands that
have the types the row asks for: :func:`verify` holds every node to that. Each statement names the line that it
stands on; the types of a variable are in its name's version.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import numpy as np

from .constants import Constants
from .source import Source
from .types import (
    COMPILE_TIME,
    CONFLICT,
    DTYPE,
    NONE,
    SCALARS,
    ArrayType,
    TupleType,
    Type,
    is_complex,
    is_int,
    unify_types,
)
from .why import Promotion, Why


@dataclass(frozen=True)
class Operation:
    """What the machine computes of operands.

    ``code`` is its text: ``{0}``, ``{1}`` stand for the operands, ``{mask}`` for the lanes that take part and
    ``{line}`` for the line; ``w`` is the warp. ``effect``: it must run in its place, and once. ``holds`` says of the
    types of operands and the type of the result whether they are right.
    """

    name: str
    code: str
    holds: Callable[[tuple[Type, ...], Type], bool]
    effect: bool = False


# --- expressions -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, kw_only=True)
class Expr:
    """``type`` is a dtype's name, an ArrayType, a TupleType, NONE or COMPILE_TIME."""

    type: Type
    why: Why = None

    @property
    def operands(self) -> tuple[Expr, ...]:
        return ()

    @property
    def effect(self) -> bool:
        """Must it run in its place, under the mask of the lanes that evaluate it?"""
        return any(operand.effect for operand in self.operands)

    @property
    def is_scalar(self) -> bool:
        return self.type in SCALARS


@dataclass(frozen=True, eq=False, kw_only=True)
class Const(Expr):
    """A number that is known now; ``literal``: numba, too, knows it when it types the kernel."""

    value: np.generic
    literal: bool = True


@dataclass(frozen=True, eq=False, kw_only=True)
class Nothing(Expr):
    """None."""

    type: Type = NONE


@dataclass(frozen=True, eq=False, kw_only=True)
class Static(Expr):
    """An object that exists only while the kernel is compiled: a module, a function, a type."""

    thing: object
    type: Type = COMPILE_TIME


@dataclass(frozen=True, eq=False, kw_only=True)
class Local(Expr):
    """A variable; ``unsure``: some path has not assigned it."""

    name: str
    line: int = 0
    unsure: bool = False

    @property
    def effect(self) -> bool:
        return self.unsure


@dataclass(frozen=True, eq=False, kw_only=True)
class Apply(Expr):
    """An operation applied to ``args``; ``text`` is a comparison as it stands in the source, for the trace."""

    operation: Operation
    args: tuple[Expr, ...]
    line: int
    text: str = ""

    @property
    def operands(self) -> tuple[Expr, ...]:
        return self.args

    @property
    def effect(self) -> bool:
        return self.operation.effect or any(a.effect for a in self.args)


@dataclass(frozen=True, eq=False, kw_only=True)
class Cast(Expr):
    """``value`` converted to ``type``, item by item if it is a tuple."""

    value: Expr

    @property
    def operands(self) -> tuple[Expr, ...]:
        return (self.value,)


@dataclass(frozen=True, eq=False, kw_only=True)
class Saved(Expr):
    """``value`` under a name of its own: wherever this node stands again, that name is meant."""

    value: Expr

    @property
    def operands(self) -> tuple[Expr, ...]:
        return (self.value,)

    @property
    def effect(self) -> bool:
        return True


@dataclass(frozen=True, eq=False, kw_only=True)
class MakeTuple(Expr):
    items: tuple[Expr, ...]

    @property
    def operands(self) -> tuple[Expr, ...]:
        return self.items


@dataclass(frozen=True, eq=False, kw_only=True)
class Item(Expr):
    """Item ``index`` of a tuple, known now."""

    value: Expr
    index: int

    @property
    def operands(self) -> tuple[Expr, ...]:
        return (self.value,)


@dataclass(frozen=True, eq=False, kw_only=True)
class ItemAt(Expr):
    """The item of a tuple that the threads work out; ``text`` is the source's."""

    value: Expr
    index: Expr
    line: int
    text: str

    @property
    def operands(self) -> tuple[Expr, ...]:
        return self.value, self.index

    @property
    def effect(self) -> bool:
        return True


@dataclass(frozen=True, eq=False, kw_only=True)
class Slice:
    """``start:stop:step`` of one dimension; None where it is left out."""

    start: Expr | None = None
    stop: Expr | None = None
    step: Expr | None = None

    @property
    def bounds(self) -> tuple[Expr | None, Expr | None, Expr | None]:
        return self.start, self.stop, self.step


@dataclass(frozen=True, eq=False, kw_only=True)
class View(Expr):
    """A part of an array: an index or a slice for each dimension."""

    array: Expr
    parts: tuple[Expr | Slice, ...]
    line: int

    @property
    def operands(self) -> tuple[Expr, ...]:
        found: list[Expr] = [self.array]
        for part in self.parts:
            found += [b for b in part.bounds if b is not None] if isinstance(part, Slice) else [part]
        return tuple(found)


@dataclass(frozen=True, eq=False, kw_only=True)
class Load(Expr):
    """An element, or a tuple of ``width`` neighbours that are loaded at once."""

    array: Expr
    index: tuple[Expr, ...]
    line: int
    width: int = 1

    @property
    def operands(self) -> tuple[Expr, ...]:
        return (self.array, *self.index)

    @property
    def effect(self) -> bool:
        return True


@dataclass(frozen=True, eq=False, kw_only=True)
class Atomic(Expr):
    """The old value of an element; ``used`` if the kernel looks at it."""

    operation: str
    array: Expr
    index: tuple[Expr, ...]
    values: tuple[Expr, ...]
    line: int
    used: bool

    @property
    def operands(self) -> tuple[Expr, ...]:
        return (self.array, *self.index, *self.values)

    @property
    def effect(self) -> bool:
        return True


@dataclass(frozen=True, eq=False, kw_only=True)
class Select(Expr):
    """``yes if test else no``: each side is evaluated in its own lanes."""

    test: Expr
    yes: Expr
    no: Expr
    line: int

    @property
    def operands(self) -> tuple[Expr, ...]:
        return self.test, self.yes, self.no

    @property
    def effect(self) -> bool:
        return self.type not in SCALARS or any(o.effect for o in self.operands)


@dataclass(frozen=True, eq=False, kw_only=True)
class Logical(Expr):
    """``and`` or ``or`` of conditions: each is evaluated in the lanes that those before it leave open."""

    conjunction: bool
    parts: tuple[Expr, ...]

    @property
    def operands(self) -> tuple[Expr, ...]:
        return self.parts


@dataclass(frozen=True, eq=False, kw_only=True)
class Alternative:
    """A value that ``and`` and ``or`` test. ``truth`` is the condition, ``certain`` its value if that is known.

    ``wanted``: with which outcomes (True, False) this value can be the result of the whole.
    """

    value: Expr
    truth: Expr
    certain: bool | None
    wanted: tuple[bool, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Alternatives:
    """``and`` or ``or`` of values, in which the lanes go their ways."""

    conjunction: bool
    parts: tuple[Alternative | Alternatives, ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Choice(Expr):
    """The value with which ``and`` and ``or`` of values end, converted to ``type``."""

    root: Alternatives

    @property
    def operands(self) -> tuple[Expr, ...]:
        def leaves(node: Alternative | Alternatives) -> Iterator[Expr]:
            if isinstance(node, Alternatives):
                for part in node.parts:
                    yield from leaves(part)
            else:
                yield from (node.value, node.truth)

        return tuple(leaves(self.root))

    @property
    def effect(self) -> bool:
        return True


@dataclass(frozen=True, eq=False, kw_only=True)
class Allocate(Expr):
    """A shared or local array."""

    space: str
    name: str
    shape: tuple[int, ...]
    line: int
    dynamic: bool = False  # of the size that the launch gives

    @property
    def effect(self) -> bool:
        return True


@dataclass(frozen=True, eq=False, kw_only=True)
class Frozen(Expr):
    """An array from outside the kernel, as it was when the kernel was compiled."""

    name: str
    array: np.ndarray


@dataclass(frozen=True, eq=False, kw_only=True)
class CallDevice(Expr):
    """A call; the arguments are evaluated in the order ``written``."""

    function: Function
    args: tuple[Expr, ...]
    written: tuple[int, ...]
    used: bool
    line: int

    @property
    def operands(self) -> tuple[Expr, ...]:
        return self.args

    @property
    def effect(self) -> bool:
        return True


@dataclass(frozen=True, eq=False, kw_only=True)
class CallWarp(Expr):
    """What ``function`` gives the lanes of a warp, which all arrive, of what they bring (:mod:`intrinsics`)."""

    function: Callable[..., object]
    name: str
    args: tuple[Expr, ...]
    line: int

    @property
    def operands(self) -> tuple[Expr, ...]:
        return self.args

    @property
    def effect(self) -> bool:
        return True


@dataclass(frozen=True, eq=False, kw_only=True)
class Copy(Expr):
    """Start to copy ``width`` neighbouring elements from one array to another, past the registers."""

    target: Expr
    place: tuple[Expr, ...]
    array: Expr
    index: tuple[Expr, ...]
    line: int
    width: int
    type: Type = NONE

    @property
    def operands(self) -> tuple[Expr, ...]:
        return (self.target, *self.place, self.array, *self.index)

    @property
    def effect(self) -> bool:
        return True


@dataclass(frozen=True, eq=False, kw_only=True)
class Store(Expr):
    """Store an element, or a tuple of ``width`` neighbours at once."""

    array: Expr
    index: tuple[Expr, ...]
    value: Expr
    line: int
    width: int = 1
    type: Type = NONE

    @property
    def operands(self) -> tuple[Expr, ...]:
        return (self.array, *self.index, self.value)

    @property
    def effect(self) -> bool:
        return True


@dataclass(frozen=True, eq=False, kw_only=True)
class Meet(Expr):
    """A barrier of the block; ``reduction`` says what is worked out of ``predicate`` there, if anything."""

    line: int
    reduction: str = ""
    predicate: Expr | None = None
    type: Type = NONE

    @property
    def operands(self) -> tuple[Expr, ...]:
        return () if self.predicate is None else (self.predicate,)

    @property
    def effect(self) -> bool:
        return True


def once(value: Expr) -> Expr:
    """``value``, which is to stand in several places of one statement and to be evaluated in the first."""
    if isinstance(value, (Const, Nothing, Static, Saved, Bound)) or (isinstance(value, Local) and not value.unsure):
        return value
    return Saved(value=value, type=value.type, why=value.why)


# --- statements ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Block:
    """Statements; ``region`` is the number of the statement list in the source that they are (:mod:`regions`)."""

    region: int
    body: list[Stmt]
    ends: bool = False  # no lane reaches its end


@dataclass(frozen=True, eq=False)
class Convert:
    """Bring a variable from the type ``have`` to the type ``want``, where control flow merges."""

    name: str
    have: Type
    want: Type
    line: int


@dataclass(frozen=True, eq=False)
class Mark:
    """A statement begins, for the trace."""

    line: int


@dataclass(frozen=True, eq=False)
class Assign:
    name: str
    value: Expr
    line: int
    region: int | None  # outside which the variable is not read


@dataclass(frozen=True, eq=False)
class Evaluate:
    """An expression for its effect alone."""

    value: Expr


@dataclass(frozen=True, eq=False)
class If:
    test: Expr
    body: Block
    orelse: Block
    line: int


@dataclass(frozen=True, eq=False)
class Range:
    """``range(start, stop, step)`` in one integer type."""

    start: Expr
    stop: Expr
    step: Expr
    line: int


@dataclass(frozen=True, eq=False)
class Each:
    """The items of a tuple."""

    value: Expr
    line: int


@dataclass(frozen=True, eq=False)
class Numbered:
    inner: Iterable
    start: Expr


@dataclass(frozen=True, eq=False)
class Together:
    parts: tuple[Iterable, ...]


Iterable = Range | Each | Numbered | Together


@dataclass(frozen=True, eq=False, kw_only=True)
class Bound(Expr):
    """What a for loop binds in an iteration: the value of its iterator, or the part of it at ``path``."""

    path: tuple[int, ...]


@dataclass(eq=False)
class Loop:
    """A for loop (``iterable``) or a while loop (``test``).

    ``entry`` converts what stands before the loop to what an iteration begins with. ``first`` is what an iteration of
    a for loop does before the body. ``watched`` are the variables that a while loop without barriers assigns: it
    stands still if they do. ``endless``: what follows is reached from its breaks only.
    """

    line: int
    entry: list[Stmt]
    iterable: Iterable | None
    test: Expr | None
    first: list[Stmt]
    body: Block
    orelse: Block | None
    endless: bool
    watched: tuple[tuple[str, Type], ...] | None


@dataclass(frozen=True, eq=False)
class Break:
    pass


@dataclass(frozen=True, eq=False)
class Continue:
    pass


@dataclass(frozen=True, eq=False)
class Return:
    value: Expr
    line: int


Stmt = (
    Convert | Mark | Assign | Evaluate | If | Loop | Break | Continue | Return | Block
)  # a Block in a Block: a branch that is known to be taken


# --- functions -----------------------------------------------------------------------------------------------------


@dataclass(eq=False)
class Function:
    """A kernel or a device function, for given types of its arguments.

    ``foreign``: its lines mean nothing in the kernel's file, so all that it does belongs to the line of its call.
    ``partial``: some paths return nothing, so that a lane may not have the result.
    ``unsure`` are the variables that are read where some path has not assigned them.
    """

    name: str
    source: Source
    kernel: bool
    foreign: bool
    parameters: list[tuple[str, Type]]
    constants: Constants
    body: Block = field(default_factory=lambda: Block(0, []))
    result: Type = NONE
    partial: bool = False
    result_why: Why = None
    barriers: bool = False
    unsure: set[str] = field(default_factory=set)
    promotions: dict[tuple[int, str], Promotion] = field(default_factory=dict)


# --- verification --------------------------------------------------------------------------------------------------


class ProgramError(AssertionError):
    """The program is not well typed: a fault of the compiler, never of the kernel."""


def expressions(statement: Stmt) -> Iterator[Expr]:
    """The expressions of a statement, without those in the blocks that it holds."""
    match statement:
        case Assign() | Return() | Evaluate():
            yield statement.value
        case If():
            yield statement.test
        case Loop():
            if statement.test is not None:
                yield statement.test
            if statement.iterable is not None:
                yield from iterated(statement.iterable)


def iterated(iterable: Iterable) -> Iterator[Expr]:
    """The expressions that say what a for loop runs through."""
    match iterable:
        case Range():
            yield from (iterable.start, iterable.stop, iterable.step)
        case Each():
            yield iterable.value
        case Numbered():
            yield from iterated(iterable.inner)
            yield iterable.start
        case Together():
            for part in iterable.parts:
                yield from iterated(part)


def inner(statement: Stmt) -> Iterator[list[Stmt]]:
    """The lists of statements that a statement holds."""
    match statement:
        case Block():
            yield statement.body
        case If():
            yield from (statement.body.body, statement.orelse.body)
        case Loop():
            yield from (statement.entry, statement.first, statement.body.body)
            if statement.orelse is not None:
                yield statement.orelse.body


def statements(body: list[Stmt]) -> Iterator[Stmt]:
    """All statements of ``body``, at any depth."""
    for statement in body:
        yield statement
        for part in inner(statement):
            yield from statements(part)


def nodes(body: list[Stmt]) -> Iterator[Expr]:
    """All expressions of ``body``, each once."""
    seen: set[int] = set()

    def walk(node: Expr) -> Iterator[Expr]:
        if id(node) not in seen:
            seen.add(id(node))
            yield node
            for operand in node.operands:
                yield from walk(operand)

    for statement in statements(body):
        for node in expressions(statement):
            yield from walk(node)


def verify(function: Function) -> None:
    """Hold every node of a function to its rule. Raises ProgramError."""
    for node in nodes(function.body.body):
        if not RULES[type(node)](node):
            kinds = ", ".join(str(o.type) for o in node.operands)
            raise ProgramError(f"{function.name}: {type(node).__name__} of ({kinds}) gives {node.type}: {node}")
    for statement in statements(function.body.body):
        if isinstance(statement, (If, Loop)) and statement.test is not None and statement.test.type != "bool":
            raise ProgramError(f"{function.name}: a condition of type {statement.test.type}")


def _element(array: Expr, index: tuple[Expr, ...]) -> bool:
    return (
        isinstance(array.type, ArrayType)
        and len(index) == array.type.ndim
        and all(isinstance(i.type, str) and is_int(i.type) for i in index)
    )


def _loads(node: Load) -> bool:
    if not (_element(node.array, node.index) and isinstance(node.array.type, ArrayType)):
        return False
    element = node.array.type.dtype
    return node.type == (element if node.width == 1 else TupleType((element,) * node.width))


def _stores(element: str, width: int, value: Type) -> bool:
    if width > 1:
        return value == TupleType((element,) * width)
    return isinstance(value, str) and value in SCALARS and (is_complex(element) or not is_complex(value))


def _views(node: View) -> bool:
    kept = sum(isinstance(part, Slice) for part in node.parts)
    array = node.array.type
    return (
        isinstance(array, ArrayType)
        and len(node.parts) == array.ndim
        and node.type == ArrayType(array.dtype, kept, view=True)
        and all(isinstance(o.type, str) and is_int(o.type) for o in node.operands[1:])
    )


def _casts(node: Cast) -> bool:
    if isinstance(node.type, ArrayType):
        return unify_types(node.value.type, node.type) == node.type and node.type.view
    if isinstance(node.type, TupleType):
        return isinstance(node.value.type, TupleType) and len(node.value.type.items) == len(node.type.items)
    have, want = node.value.type, node.type
    return (
        isinstance(have, str)
        and isinstance(want, str)
        and have in SCALARS
        and want in SCALARS
        and (is_complex(want) or not is_complex(have))
    )


#: What makes a node well typed.
RULES: dict[type[Expr], Callable[..., bool]] = {
    Const: lambda n: n.value.dtype == DTYPE[n.type],
    Nothing: lambda n: n.type == NONE,
    Static: lambda n: n.type == COMPILE_TIME,
    Local: lambda n: n.type not in (COMPILE_TIME, CONFLICT),
    Bound: lambda n: n.type not in (COMPILE_TIME, CONFLICT),
    Apply: lambda n: n.operation.holds(tuple(a.type for a in n.args), n.type),
    Cast: _casts,
    Saved: lambda n: n.type == n.value.type,
    MakeTuple: lambda n: n.type.items == tuple(i.type for i in n.items),
    Item: lambda n: isinstance(n.value.type, TupleType) and n.type == n.value.type.items[n.index],
    ItemAt: lambda n: set(n.value.type.items) == {n.type} and is_int(n.index.type),
    Load: _loads,
    View: _views,
    Atomic: lambda n: _element(n.array, n.index) and {n.type, *(v.type for v in n.values)} == {n.array.type.dtype},
    Store: lambda n: _element(n.array, n.index) and _stores(n.array.type.dtype, n.width, n.value.type),
    Copy: lambda n: (
        _element(n.target, n.place) and _element(n.array, n.index) and n.target.type.dtype == n.array.type.dtype
    ),
    CallWarp: lambda n: n.type != COMPILE_TIME,
    Select: lambda n: n.test.type == "bool" and n.type == n.yes.type == n.no.type,
    Logical: lambda n: {n.type, *(p.type for p in n.parts)} == {"bool"},
    Choice: lambda n: n.type in SCALARS,
    Allocate: lambda n: isinstance(n.type, ArrayType) and len(n.shape) == n.type.ndim,
    Frozen: lambda n: n.type == ArrayType(n.array.dtype.name, n.array.ndim),
    CallDevice: lambda n: (
        n.type == n.function.result and [a.type for a in n.args] == [kind for _, kind in n.function.parameters]
    ),
    Meet: lambda n: (n.predicate is None) == (n.reduction == "") and n.type == ("int32" if n.reduction else NONE),
}
