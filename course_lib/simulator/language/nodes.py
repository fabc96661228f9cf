"""The nodes of the typed program's expressions.

An expression has a type, and the reason if that is float64 by accident (:mod:`reasons`). Operators and most functions
apply the code of a row of the tables in :mod:`calls` or :mod:`operators` to operands of the row's types.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import ClassVar, dataclass_transform

import numpy as np

from .reasons import Why
from .types import COMPILE_TIME, DTYPE, NONE, SCALARS, ArrayType, TupleType, Type, TypingError


@dataclass_transform(eq_default=False, kw_only_default=True, frozen_default=True)
class Node:
    """A part of an expression. The fields of a subclass are those of a frozen dataclass, given by name.

    ``acts``: the node itself has an effect, apart from its operands.
    """

    _acts: ClassVar[bool]

    def __init_subclass__(cls, acts: bool = False) -> None:
        dataclass(frozen=True, eq=False, kw_only=True)(cls)
        cls._acts = acts


class Expr(Node):
    """``type`` is a dtype's name, an ArrayType, a TupleType, NONE or COMPILE_TIME."""

    type: Type
    why: Why = None

    @property
    def acts(self) -> bool:
        return self._acts

    @cached_property
    def operands(self) -> tuple[Expr, ...]:
        """The expressions in the node's fields, in order; fields may hold tuples of them."""
        return tuple(_expressions_in(getattr(self, name) for name in self.__dataclass_fields__))

    @cached_property
    def effect(self) -> bool:
        """Whether it must run in program order, under the mask of the lanes that evaluate it."""
        return self.acts or any(operand.effect for operand in self.operands)

    @cached_property
    def does(self) -> bool:
        """Whether it must be evaluated even if its value is not used."""
        return self.acts or any(operand.does for operand in self.operands)

    @property
    def is_scalar(self) -> bool:
        return self.type in SCALARS

    @property
    def array_type(self) -> ArrayType:
        assert isinstance(self.type, ArrayType)
        return self.type

    @property
    def tuple_type(self) -> TupleType:
        assert isinstance(self.type, TupleType)
        return self.type


class Const(Expr):
    """A number known at compile time; ``literal``: numba knows it when it types the kernel."""

    value: np.generic
    literal: bool = True


class Nothing(Expr):
    type: Type = NONE


class Static(Expr):
    """An object that exists only while the kernel is compiled: a module, a function, a type."""

    thing: object
    type: Type = COMPILE_TIME


class Local(Expr):
    """A variable; ``unsure``: some path has not assigned it."""

    name: str
    line: int = 0
    unsure: bool = False

    @property
    def acts(self) -> bool:
        return self.unsure


class LoopValue(Expr):
    """The value that a for loop assigns in an iteration: the iterator's value, or the part of it at ``path``."""

    path: tuple[int, ...]


class Apply(Expr):
    """An operation applied to ``args``; ``text`` is the source of a comparison, for the trace.

    ``code`` is Python: ``{0}``, ``{1}`` are the operands, ``{dtype}`` is that of the result, and ``w`` is the warp. If
    it names ``{mask}``, the lanes that take part, or ``{line}``, it must run in program order, and once. ``sites`` are
    the accesses that it makes, (op, elements a lane); ``{sites}`` in its code.
    """

    code: str
    line: int
    type: Type = NONE
    args: tuple[Expr, ...] = ()
    text: str = ""
    sites: tuple[tuple[str, int], ...] = ()

    @property
    def acts(self) -> bool:
        return "{mask}" in self.code or "{line}" in self.code


class Cast(Expr):
    """``value`` converted to ``type``, item by item if it is a tuple."""

    value: Expr


class Saved(Expr, acts=True):
    """``value``, evaluated once: its first use assigns it to a new name, later uses read that name."""

    value: Expr

    @cached_property
    def does(self) -> bool:
        return self.value.does


class After(Expr):
    """``value``, after ``first`` is evaluated for its effects."""

    first: tuple[Expr, ...]
    value: Expr


class MakeTuple(Expr):
    items: tuple[Expr, ...]


class Item(Expr):
    """Item ``index`` of a tuple; the index is known at compile time."""

    value: Expr
    index: int


class Slice(Node):
    """``start:stop:step`` of one dimension; None where it is left out."""

    start: Expr | None = None
    stop: Expr | None = None
    step: Expr | None = None

    @property
    def bounds(self) -> tuple[Expr | None, Expr | None, Expr | None]:
        return self.start, self.stop, self.step


class MakeView(Expr):
    """A part of an array: an index or a slice for each dimension."""

    array: Expr
    parts: tuple[Expr | Slice, ...]
    line: int


class Load(Expr, acts=True):
    """An element, or a tuple of ``width`` neighbours that are loaded at once.

    ``matrices``: each lane loads a row of one of four matrices in shared memory.
    """

    array: Expr
    index: tuple[Expr, ...]
    line: int
    width: int = 1
    matrices: bool = False


class Atomic(Expr, acts=True):
    """An atomic, whose value is the old element; ``used``: the kernel reads it."""

    operation: str
    array: Expr
    index: tuple[Expr, ...]
    values: tuple[Expr, ...]
    line: int
    used: bool


class Select(Expr):
    """``yes if test else no``; each side is evaluated only in its own lanes."""

    test: Expr
    yes: Expr
    no: Expr
    line: int

    @cached_property
    def effect(self) -> bool:
        return self.type not in SCALARS or any(o.effect for o in self.operands)


class Logical(Expr):
    """``and`` or ``or`` of conditions; each is evaluated only in lanes that the earlier ones do not decide."""

    conjunction: bool
    parts: tuple[Expr, ...]


class Allocate(Expr, acts=True):
    space: str
    name: str
    shape: tuple[int, ...]
    line: int
    dynamic: bool = False  # its size is given by the launch
    alignment: int = 0  # bytes, as the kernel asks for them
    record: tuple[int, int, int, int] | None = None  # a field: number, byte in a record, its bytes, their dimensions

    @property
    def bytes(self) -> int:
        return prod(self.shape) * DTYPE[self.array_type.dtype].itemsize


class Frozen(Expr):
    """A global array of the program, or a field of its records, as it was when the kernel was compiled."""

    name: str
    array: np.ndarray
    field: str = ""


class CallWarp(Expr, acts=True):
    """``function`` applied to the lanes' values (:mod:`intrinsics`).

    ``together``: all lanes of the warp must arrive, because a lane's result depends on the others' values.
    """

    function: Callable[..., object]
    name: str
    args: tuple[Expr, ...]
    line: int
    together: bool = True


class StartCopy(Expr, acts=True):
    """Start to copy ``width`` neighbouring elements from one array to another, without using registers."""

    target: Expr
    place: tuple[Expr, ...]
    array: Expr
    index: tuple[Expr, ...]
    line: int
    width: int
    inside: Expr | None = None  # lanes in which it is false copy zeros
    type: Type = NONE


class Store(Expr, acts=True):
    """Store an element, or a tuple of ``width`` neighbours at once."""

    array: Expr
    index: tuple[Expr, ...]
    value: Expr
    line: int
    width: int = 1
    type: Type = NONE


class Elementwise(Expr, acts=True):
    """Store ``function(*inputs)`` to every element of an array; inputs are numbers, or arrays by element.

    ``whole``: an input is copied as it is in memory, so it must have the array's shape, and no gaps.
    """

    array: Expr
    function: Callable[..., object]
    inputs: tuple[Expr, ...]
    line: int
    whole: bool = False
    type: Type = NONE


class Meet(Expr, acts=True):
    """A barrier of the block; ``reduction`` names the function that reduces ``predicate`` there, if any.

    ``grid``: it is one of the whole grid.
    """

    line: int
    grid: bool = False
    reduction: str = ""
    predicate: Expr | None = None
    type: Type = NONE


class Given(ast.Name):
    """A value in a place of Python's syntax tree: an item of a tuple that a star unpacks."""

    def __init__(self, value: Expr, place: ast.expr) -> None:
        super().__init__(ast.unparse(place), ast.Load())
        ast.copy_location(self, place)
        self.value = value


def once(value: Expr) -> Expr:
    """Make ``value`` usable several times in one statement: its first use evaluates it."""
    if isinstance(value, (Const, Nothing, Static, Saved, LoopValue)) or (isinstance(value, Local) and not value.unsure):
        return value
    return Saved(value=value, type=value.type, why=value.why)


def compile_time(value: Expr) -> tuple[object] | None:
    """(object,) if ``value`` is an object, or a tuple of them, that exists only at compile time; else None."""
    if isinstance(value, Static):
        return (value.thing,)
    if isinstance(value, MakeTuple) and value.items:
        things = [thing for item in value.items if (thing := compile_time(item)) is not None]
        return (tuple(thing for (thing,) in things),) if len(things) == len(value.items) else None
    return None


def after(first: Iterable[Expr], value: Expr) -> Expr:
    """``value``, after the effects of ``first``, if it has any."""
    doing = tuple(part for part in first if part.does)
    if doing and value.type == COMPILE_TIME:
        raise TypingError(
            "a call is next to a value that is known when the kernel is compiled; assign the call to a name first"
        )
    return After(first=doing, value=value, type=value.type, why=value.why) if doing else value


def settled(value: Expr) -> Expr:
    """Make ``value``, and each item of a tuple, usable several times but evaluated once."""
    if isinstance(value, MakeTuple):
        return replace(value, items=tuple(map(settled, value.items)))
    return once(value)


def tuple_of(values: tuple[Expr, ...], fields: tuple[str, ...] = ()) -> MakeTuple:
    """A tuple of these values; ``fields`` are the names of a named tuple's items."""
    reasons = tuple(v.why for v in values)
    kind = TupleType(tuple(v.type for v in values), fields)
    return MakeTuple(items=values, type=kind, why=reasons if any(reasons) else None)


def _expressions_in(values: Iterable[object]) -> Iterator[Expr]:
    for value in values:
        if isinstance(value, Expr):
            yield value
        elif isinstance(value, tuple):
            yield from _expressions_in(value)
        elif isinstance(value, Slice):
            yield from _expressions_in(vars(value).values())
