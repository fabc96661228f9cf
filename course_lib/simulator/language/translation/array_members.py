"""Attributes and methods of arrays: ``A.fill(x)``, and forms of the same memory, such as ``A.reshape(...)``."""

import ast
from collections.abc import Callable

from ..program.builders import after, cast, listed, reusable, tuple_of
from ..program.nodes import Apply, CompileTimeObject, Expr
from ..source.errors import refuse
from ..types.types_of_objects import dtype_name
from ..types.value_types import DTYPE, SIGNED, UNSIGNED, ArrayType, TupleType, TypingError, is_int
from . import tuples
from .translation import Translation


def transposed(translation: Translation, node: ast.expr, array: Expr) -> Expr:
    kind = ArrayType(array.array_type.dtype, array.array_type.ndim, view=True)
    return Apply(code="transposed({0})", args=(array,), type=kind, line=node.lineno)


def transpose(translation: Translation, node: ast.Call, array: Expr) -> Expr:
    if node.args or node.keywords:
        refuse(
            node, f"numba compiles no order of the dimensions in {ast.unparse(node)}; write .T, and swap the indices"
        )
    return transposed(translation, node, array)


def strides(translation: Translation, node: ast.expr, array: Expr) -> Expr:
    """The bytes from one element to the next in each dimension."""
    array = reusable(array)
    codes = (f"stride({{0}}, {axis})" for axis in range(array.array_type.ndim))
    sizes = (Apply(code=code, args=(array,), type="int64", line=node.lineno) for code in codes)
    return after((array,), tuple_of(tuple(sizes)))


def shape(translation: Translation, node: ast.expr, array: Expr) -> Expr:
    array = reusable(array) if array.must_be_evaluated else array
    sizes = (translation.dimension(node, array, axis) for axis in range(array.array_type.ndim))
    return after((array,), tuple_of(tuple(sizes)))


def ndim(translation: Translation, node: ast.expr, array: Expr) -> Expr:
    return after((array,), translation.number(array.array_type.ndim))


def itemsize(translation: Translation, node: ast.expr, array: Expr) -> Expr:
    return after((array,), translation.number(DTYPE[array.array_type.dtype].itemsize, literal=False))


def dtype(translation: Translation, node: ast.expr, array: Expr) -> Expr:
    return after((array,), CompileTimeObject(obj=DTYPE[array.array_type.dtype]))


def size(translation: Translation, node: ast.expr, array: Expr) -> Expr:
    return Apply(code="np.int64({0}.size)", args=(array,), type="int64", line=node.lineno)


def nbytes(translation: Translation, node: ast.expr, array: Expr) -> Expr:
    code = "np.int64({0}.size * {0}.dtype.itemsize)"
    return Apply(code=code, args=(reusable(array),), type="int64", line=node.lineno)


def reshape(translation: Translation, node: ast.Call, array: Expr) -> Expr:
    """``array.reshape(shape)``; one of the sizes may be -1."""
    if not node.args or node.keywords:
        refuse(node, "reshape() takes the sizes without names, or a tuple of them")
    values = [translation.expr(part) for part in node.args]
    if len(values) == 1 and isinstance(values[0].type, TupleType):
        values = list(tuples.items(values[0]))
    for value in values:
        if not (isinstance(value.type, str) and is_int(value.type)):
            refuse(node, f"the sizes in {ast.unparse(node)} must be integers; convert them with int()")
    code = f"reshaped({{0}}, {listed(1, len(values))}, warp.full, {{mask}}, {{line}})"
    kind = ArrayType(array.array_type.dtype, len(values), view=True)
    operands = (array, *(cast(size, "int64") for size in values))
    return Apply(code=code, args=operands, type=kind, line=node.lineno)


def flat(translation: Translation, node: ast.expr, array: Expr) -> Expr:
    """``array.flat``: all elements in one dimension."""
    kind = ArrayType(array.array_type.dtype, 1, view=True)
    return Apply(code="flattened({0})", args=(array,), type=kind, line=node.lineno)


def fill(translation: Translation, node: ast.Call, array: Expr) -> Expr:
    (value,) = translation.arguments(node, (1,), ast.unparse(node.func), real=False)
    return translation.filled(node.func, array, value)


def asked_type(translation: Translation, node: ast.Call) -> str | None:
    """The type that is the only argument of a call; None if it is something else."""
    asked = translation.expr(node.args[0]) if len(node.args) == 1 and not node.keywords else None
    return dtype_name(asked.obj) if isinstance(asked, CompileTimeObject) else None


def view(translation: Translation, node: ast.Call, array: Expr) -> Expr:
    """``array.view(dtype)``, of elements of the same size."""
    name = asked_type(translation, node)
    if name is None:
        refuse(node, f"{ast.unparse(node.func)}() takes one type, such as np.int32")
    have = array.array_type.dtype
    if DTYPE[name].itemsize != DTYPE[have].itemsize or "bool" in (have, name):
        refuse(
            node,
            f"the simulator views an array as a type of the same size, and {have} has "
            f"{DTYPE[have].itemsize} bytes, {name} {DTYPE[name].itemsize}; pass the array in the other type",
        )
    return retyped(array, name, node.lineno)


def retyped(array: Expr, name: str, line: int) -> Expr:
    """The same memory as elements of another type of their size."""
    kind = ArrayType(name, array.array_type.ndim, view=True)
    return Apply(code=f"retyped({{0}}, {name!r})", args=(array,), type=kind, line=line)


def number_as(translation: Translation, node: ast.Call, value: Expr) -> Expr:
    """``x.view(dtype)`` of a number: the same bits."""
    name, have = asked_type(translation, node), str(value.type)
    if name is None or DTYPE[name].itemsize != DTYPE[have].itemsize or "bool" in (have, name):
        raise TypingError(
            f"{ast.unparse(node.func)}() takes a type of the size of {have}, such as np.int32 for float32"
        )
    return Apply(code="{0}.view({dtype})", args=(value,), type=name, line=node.lineno)


def total(translation: Translation, node: ast.Call, array: Expr) -> Expr:
    """``array.sum()``, which each thread computes by itself, in the type in which numba adds."""
    kind = array.array_type.dtype
    if node.args or node.keywords:
        refuse(
            node, f"{ast.unparse(node.func)}() takes no arguments in a kernel; write a loop over what is to be added"
        )
    if kind == "float16":
        refuse(node, f"numba adds no float16 in {ast.unparse(node)}; write a loop")
    if kind == "bool" or kind in SIGNED:
        kind = "int64"
    elif kind in UNSIGNED:
        kind = "uint64"
    code = "summed(warp.budget, {sites}, {0}, {dtype}, {mask}, {line})"
    return Apply(code=code, args=(array,), type=kind, line=node.lineno, sites=(("load", 1),))


#: Attributes and methods of arrays.
ATTRIBUTES: dict[str, Callable[[Translation, ast.expr, Expr], Expr]] = {
    "shape": shape,
    "size": size,
    "ndim": ndim,
    "itemsize": itemsize,
    "dtype": dtype,
    "T": transposed,
    "strides": strides,
    "nbytes": nbytes,
    "flat": flat,
}
METHODS: dict[str, Callable[[Translation, ast.Call, Expr], Expr]] = {
    "fill": fill,
    "reshape": reshape,
    "sum": total,
    "transpose": transpose,
    "view": view,
}
