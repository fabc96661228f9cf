"""Check the types of the typed program, so that an error of the compiler cannot lead to wrong values."""

from __future__ import annotations

from collections.abc import Callable

from .nodes import (
    After,
    Allocate,
    Apply,
    Atomic,
    Await,
    CallWarp,
    Cast,
    Choice,
    Const,
    Elementwise,
    Expr,
    Frozen,
    Item,
    ItemAt,
    Load,
    Local,
    Logical,
    LoopValue,
    MakeTuple,
    MakeView,
    Meet,
    Nothing,
    Saved,
    Select,
    Slice,
    StartCopy,
    StartProduct,
    Static,
    Store,
)
from .program import CallDevice, Function, If, Loop, expressions, statements
from .types import (
    COMPILE_TIME,
    CONFLICT,
    DTYPE,
    NONE,
    SCALARS,
    ArrayType,
    RecordsType,
    TupleType,
    Type,
    is_complex,
    is_int,
    type_of_records,
    unify_types,
)


class ProgramError(AssertionError):
    """The program is not well typed: an error of the compiler, never of the kernel."""


def verify(function: Function) -> None:
    """Check every node of a function against its rule. Raises ProgramError."""
    for node in expressions(function.body.body):
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


def _views(node: MakeView) -> bool:
    kept = sum(isinstance(part, (Slice, Nothing)) for part in node.parts)
    array = node.array.type
    return (
        isinstance(array, ArrayType)
        and sum(not isinstance(part, Nothing) for part in node.parts) == array.ndim
        and node.type == ArrayType(array.dtype, kept, view=True)
        and all(isinstance(o.type, str) and (is_int(o.type) or o.type == NONE) for o in node.operands[1:])
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


#: The rule of each kind of node.
RULES: dict[type[Expr], Callable[..., bool]] = {
    Const: lambda n: n.value.dtype == DTYPE[n.type],
    Nothing: lambda n: n.type == NONE,
    Static: lambda n: n.type == COMPILE_TIME,
    Local: lambda n: n.type not in (COMPILE_TIME, CONFLICT),
    LoopValue: lambda n: n.type not in (COMPILE_TIME, CONFLICT),
    Apply: lambda n: n.operation.holds(tuple(a.type for a in n.args), n.type),
    Cast: _casts,
    Saved: lambda n: n.type == n.value.type,
    After: lambda n: n.type == n.value.type != COMPILE_TIME,
    MakeTuple: lambda n: n.type.items == tuple(i.type for i in n.items),
    Item: lambda n: isinstance(n.value.type, (TupleType, RecordsType)) and n.type == n.value.type.items[n.index],
    ItemAt: lambda n: set(n.value.type.items) == {n.type} and is_int(n.index.type),
    Load: _loads,
    MakeView: _views,
    Atomic: lambda n: _element(n.array, n.index) and {n.type, *(v.type for v in n.values)} == {n.array.type.dtype},
    Store: lambda n: _element(n.array, n.index) and _stores(n.array.type.dtype, n.width, n.value.type),
    Elementwise: lambda n: (
        isinstance(n.array.type, ArrayType) and all(isinstance(i.type, ArrayType) or i.is_scalar for i in n.inputs)
    ),
    StartCopy: lambda n: (
        _element(n.target, n.place) and _element(n.array, n.index) and n.target.type.dtype == n.array.type.dtype
    ),
    CallWarp: lambda n: n.type != COMPILE_TIME,
    StartProduct: lambda n: n.results.type == ArrayType("float32", 1) and n.b.type == "uint64",
    Select: lambda n: n.test.type == "bool" and n.type == n.yes.type == n.no.type,
    Logical: lambda n: {n.type, *(p.type for p in n.parts)} == {"bool"},
    Choice: lambda n: n.type in SCALARS,
    Allocate: lambda n: isinstance(n.type, ArrayType) and len(n.shape) == n.type.ndim,
    Frozen: lambda n: (
        n.type
        == (
            dict(zip(n.array.dtype.names, type_of_records(n.array).items, strict=True))[n.field]
            if n.field
            else ArrayType(n.array.dtype.name, n.array.ndim)
        )
    ),
    CallDevice: lambda n: (
        n.type == n.function.result and [a.type for a in n.args] == [kind for _, kind in n.function.parameters]
    ),
    Await: lambda n: n.barriers.type == ArrayType("uint64", 1),
    Meet: lambda n: (n.predicate is None) == (n.reduction == "") and n.type == ("int32" if n.reduction else NONE),
}
