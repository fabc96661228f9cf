"""Expressions of the typed program that are made in several places of a translation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from ...runtime import arithmetic
from ..types.float64_reasons import Why
from ..types.value_types import (
    COMPILE_TIME,
    COMPLEX,
    DTYPE,
    FLOATS,
    SCALARS,
    ArrayType,
    TupleType,
    Type,
    TypingError,
    describe_type,
    is_int,
)
from .nodes import (
    After,
    Apply,
    Cast,
    CompileTimeObject,
    Const,
    Expr,
    Local,
    LoopValue,
    MakeTuple,
    Nothing,
    Temporary,
)
from .writer import tuple_code


def temporary(value: Expr, name: str = "value") -> Temporary:
    """``value`` in a temporary variable, even if it is a variable already, which may be assigned before it is used."""
    return Temporary(value=value, name=name, type=value.type, why=value.why)


def reusable(value: Expr) -> Expr:
    """Make ``value`` usable several times in one statement: in a temporary variable, unless it is a name already."""
    if isinstance(value, (Const, Nothing, CompileTimeObject, Temporary, LoopValue)):
        return value
    if isinstance(value, Local) and not value.maybe_unassigned:
        return value
    return temporary(value)


def literal_integer(value: Expr | None) -> int | None:
    """The integer, which numba knows when it types the kernel; None if ``value`` is something else."""
    if isinstance(value, Const) and value.literal and is_int(str(value.type)):
        return int(value.value)
    return None


def compile_time(value: Expr) -> tuple[object] | None:
    """(object,) if ``value`` is an object, or a tuple of them, that exists only at compile time; else None."""
    if isinstance(value, CompileTimeObject):
        return (value.obj,)
    if isinstance(value, MakeTuple) and value.items:
        items: list[object] = []
        for item in value.items:
            known = compile_time(item)
            if known is None:
                return None
            items.append(known[0])
        return (tuple(items),)
    return None


def after(first: Iterable[Expr], value: Expr) -> Expr:
    """``value``, after the effects of ``first``, if it has any."""
    doing = tuple(part for part in first if part.must_be_evaluated)
    if doing and value.type == COMPILE_TIME:
        raise TypingError(
            "a call is next to a value that is known when the kernel is compiled; assign the call to a name first"
        )
    return After(first=doing, value=value, type=value.type, why=value.why) if doing else value


def reusable_items(value: Expr) -> Expr:
    """Make ``value``, and each item of a tuple, usable several times in one statement: its effects happen once."""
    if isinstance(value, MakeTuple):
        return replace(value, items=tuple(map(reusable_items, value.items)))
    return reusable(value) if value.must_be_evaluated else value


def tuple_of(values: tuple[Expr, ...], fields: tuple[str, ...] = ()) -> MakeTuple:
    """A tuple of these values; ``fields`` are the names of a named tuple's items."""
    reasons = tuple(value.why for value in values)
    kind = TupleType(tuple(value.type for value in values), fields)
    return MakeTuple(items=values, type=kind, why=reasons if any(reasons) else None)


def listed(first: int, count: int) -> str:
    """Code of the tuple of ``count`` operands of an `Apply`, from number ``first`` on."""
    return tuple_code([f"{{{i}}}" for i in range(first, first + count)])


def load(array: Expr, index: tuple[Expr, ...], kind: Type, line: int, width: int = 1, op: str = "load") -> Apply:
    """An element, or a tuple of ``width`` neighbours that are loaded at once.

    ``op`` is "matrices" if each lane loads a row of one of four matrices in shared memory.
    """
    code = _access(array, "load", f"{{0}}, {listed(1, len(index))}, {{mask}}")
    return Apply(code=code, args=(array, *index), type=kind, line=line, sites=((op, width),), variable=_variable(array))


def store(array: Expr, index: tuple[Expr, ...], value: Expr, line: int, width: int = 1) -> Apply:
    """Store an element, or a tuple of ``width`` neighbours at once."""
    code = _access(array, "store", f"{{1}}, {listed(2, len(index))}, {{0}}, {{mask}}")
    sites, variable = (("store", width),), _variable(array)
    return Apply(code=code, args=(value, array, *index), line=line, sites=sites, stores=array, variable=variable)


def elementwise(
    array: Expr, function: Callable[..., object], inputs: tuple[Expr, ...], line: int, exact: bool = False
) -> Apply:
    """Store ``function(*inputs)`` to every element of an array; inputs are numbers, or arrays by element.

    ``exact``: an input is copied as it is in memory, so it must have the array's shape, and no gaps.
    """
    count = len(inputs)
    given = f"{{{count}}}, {{{count + 1}}}, {listed(0, count)}, {{mask}}, line={{line}}, exact={exact}"
    sites = (*(("load", 1) for value in inputs if isinstance(value.type, ArrayType)), ("store", 1))
    args = (*inputs, array, CompileTimeObject(obj=function))
    return Apply(
        code=f"elementwise(warp.budget, [{{sites}}], {given})", args=args, line=line, sites=sites, stores=array
    )


def atomic(
    operation: str, array: Expr, index: tuple[Expr, ...], values: tuple[Expr, ...], line: int, used: bool
) -> Apply:
    """An atomic, whose value is the old element; ``used``: the kernel reads it."""
    lists = f"{listed(1, len(index))}, {listed(1 + len(index), len(values))}"
    code = _access(array, "atomic", f"{operation!r}, {{0}}, {lists}, {{mask}}, used={used}")
    kind, sites = array.array_type.dtype, (("atomic", 1),)
    args, variable = (array, *index, *values), _variable(array)
    return Apply(code=code, args=args, type=kind, line=line, sites=sites, stores=array, variable=variable)


def _variable(array: Expr) -> str:
    while isinstance(array, Temporary):
        array = array.value
    return array.name if isinstance(array, Local) else ""


def _access(array: Expr, how: str, arguments: str) -> str:
    return f"{how}_through({{sites}}, {arguments})" if array.array_type.view else f"{{{how}}}{arguments})"


@cache
def function_of(code: str, count: int) -> Callable[..., Any]:
    """Return ``code``, as in a kernel, as a function of ``count`` operands."""
    names = [f"x{i}" for i in range(count)]
    scope = {name: obj for name, obj in vars(arithmetic).items() if not name.startswith("__")}
    result: Callable[..., Any] = eval(f"lambda {', '.join(names)}: {code.format(*names)}", scope)
    return result


def applied(code: str, args: tuple[Expr, ...], kind: str, line: int, why: Why = None) -> Expr:
    """``code`` of ``args``, evaluated at compile time if all of them are constants."""
    made = Apply(code=code, args=args, type=kind, line=line, why=why)
    constants = [a.value for a in args if isinstance(a, Const)]
    if not made.has_own_effect and len(constants) == len(args):
        with np.errstate(all="ignore"):
            value = DTYPE[kind].type(function_of(code, len(args))(*constants))
        return Const(type=kind, value=value, literal=False, why=why)
    return made


def cast(value: Expr, kind: Type) -> Expr:
    """Convert ``value`` to ``kind``; the caller states the reason for the type."""
    if value.type == kind:
        return value
    if isinstance(kind, str):
        if value.type in COMPLEX and kind not in COMPLEX:
            raise TypingError(f"{value.type} does not convert to {kind}; take .real, .imag or abs() of it")
        if isinstance(value, Const):
            with np.errstate(all="ignore"):
                return Const(type=kind, value=arithmetic.cast(value.value, DTYPE[kind]), literal=value.literal)
        if kind not in SCALARS:
            raise TypingError(f"{describe_type(value.type)} does not convert to {describe_type(kind)}")
    if isinstance(value, MakeTuple) and isinstance(kind, TupleType):
        return tuple_of(tuple(map(cast, value.items, kind.items)), kind.fields)
    return Cast(value=value, type=kind)


def cut(value: Expr) -> Expr:
    """An index as numba takes it in a slice and in an atomic operation: it cuts floats."""
    return cast(value, "int64") if value.type in ("bool", *FLOATS) else value
