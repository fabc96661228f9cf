"""Check the types of the typed program, so that an error of the compiler cannot lead to wrong values."""

from collections.abc import Callable

from . import nodes, types
from .program import CallDevice, Function, If, Loop, expressions, statements


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


def _element(array: nodes.Expr, index: tuple[nodes.Expr, ...]) -> bool:
    return (
        isinstance(array.type, types.ArrayType)
        and len(index) == array.type.ndim
        and all(isinstance(i.type, str) and types.is_int(i.type) for i in index)
    )


def _loads(node: nodes.Load) -> bool:
    if not (_element(node.array, node.index) and isinstance(node.array.type, types.ArrayType)):
        return False
    element = node.array.type.dtype
    return node.type == (element if node.width == 1 else types.TupleType((element,) * node.width))


def _stores(element: str, width: int, value: types.Type) -> bool:
    if width > 1:
        return value == types.TupleType((element,) * width)
    return (
        isinstance(value, str) and value in types.SCALARS and (types.is_complex(element) or not types.is_complex(value))
    )


def _views(node: nodes.MakeView) -> bool:
    kept = sum(isinstance(part, (nodes.Slice, nodes.Nothing)) for part in node.parts)
    array = node.array.type
    return (
        isinstance(array, types.ArrayType)
        and sum(not isinstance(part, nodes.Nothing) for part in node.parts) == array.ndim
        and node.type == types.ArrayType(array.dtype, kept, view=True)
        and all(isinstance(o.type, str) and (types.is_int(o.type) or o.type == types.NONE) for o in node.operands[1:])
    )


def _casts(node: nodes.Cast) -> bool:
    if isinstance(node.type, types.ArrayType):
        return types.unify_types(node.value.type, node.type) == node.type and node.type.view
    if isinstance(node.type, types.TupleType):
        return isinstance(node.value.type, types.TupleType) and len(node.value.type.items) == len(node.type.items)
    have, want = node.value.type, node.type
    return (
        isinstance(have, str)
        and isinstance(want, str)
        and have in types.SCALARS
        and want in types.SCALARS
        and (types.is_complex(want) or not types.is_complex(have))
    )


#: The rule of each kind of node.
RULES: dict[type[nodes.Expr], Callable[..., bool]] = {
    nodes.Const: lambda n: n.value.dtype == types.DTYPE[n.type],
    nodes.Nothing: lambda n: n.type == types.NONE,
    nodes.Static: lambda n: n.type == types.COMPILE_TIME,
    nodes.Local: lambda n: n.type not in (types.COMPILE_TIME, types.CONFLICT),
    nodes.LoopValue: lambda n: n.type not in (types.COMPILE_TIME, types.CONFLICT),
    nodes.Apply: lambda n: n.operation.holds(tuple(a.type for a in n.args), n.type),
    nodes.Cast: _casts,
    nodes.Saved: lambda n: n.type == n.value.type,
    nodes.After: lambda n: n.type == n.value.type != types.COMPILE_TIME,
    nodes.MakeTuple: lambda n: n.type.items == tuple(i.type for i in n.items),
    nodes.Item: lambda n: (
        isinstance(n.value.type, (types.TupleType, types.RecordsType)) and n.type == n.value.type.items[n.index]
    ),
    nodes.Load: _loads,
    nodes.MakeView: _views,
    nodes.Atomic: lambda n: (
        _element(n.array, n.index) and {n.type, *(v.type for v in n.values)} == {n.array.type.dtype}
    ),
    nodes.Store: lambda n: _element(n.array, n.index) and _stores(n.array.type.dtype, n.width, n.value.type),
    nodes.Elementwise: lambda n: (
        isinstance(n.array.type, types.ArrayType)
        and all(isinstance(i.type, types.ArrayType) or i.is_scalar for i in n.inputs)
    ),
    nodes.StartCopy: lambda n: (
        _element(n.target, n.place) and _element(n.array, n.index) and n.target.type.dtype == n.array.type.dtype
    ),
    nodes.CallWarp: lambda n: n.type != types.COMPILE_TIME,
    nodes.Select: lambda n: n.test.type == "bool" and n.type == n.yes.type == n.no.type,
    nodes.Logical: lambda n: {n.type, *(p.type for p in n.parts)} == {"bool"},
    nodes.Allocate: lambda n: isinstance(n.type, types.ArrayType) and len(n.shape) == n.type.ndim,
    nodes.Frozen: lambda n: (
        n.type
        == (
            dict(zip(n.array.dtype.names, types.type_of_records(n.array).items, strict=True))[n.field]
            if n.field
            else types.ArrayType(n.array.dtype.name, n.array.ndim)
        )
    ),
    CallDevice: lambda n: (
        n.type == n.function.result and [a.type for a in n.args] == [kind for _, kind in n.function.parameters]
    ),
    nodes.Meet: lambda n: (
        (n.predicate is None) == (n.reduction == "") and n.type == ("int32" if n.reduction else types.NONE)
    ),
}
