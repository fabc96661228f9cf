"""Intrinsics that are defined outside the simulator and describe themselves.

README.md in this folder says what each kind means.
"""

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from . import tuples
from .conditions import truth
from .context import Context
from .nodes import Apply, CallWarp, Expr, Static, listed, literal_integer, load, store
from .refusals import at_most, check_arguments, refuse
from .types import ArrayType, TupleType, Type, describe_type


def declared(thing: object) -> tuple[Any, ...] | None:
    """The description that an intrinsic carries; None for other objects."""
    kind = getattr(thing, "__simulated_as__", None)
    return kind if isinstance(kind, tuple) else None


def call(x: Context, node: ast.Call, thing: object) -> Expr:
    """Translate the call ``node`` of an intrinsic."""
    kind, *details = declared(thing) or ("",)
    if kind not in KINDS:
        refuse(
            node,
            f"{ast.unparse(node.func)} declares the kind {kind!r}, which the simulator does not know; "
            f"it knows {', '.join(KINDS)}",
        )
    return KINDS[kind](x, node, *details)


def _place(x: Context, node: ast.Call, width: int, values: int) -> tuple[Expr, ArrayType, list[Expr], list[Expr]]:
    """Translate the arguments of an access: the array, its type, the indices, and ``values`` more arguments."""
    what = ast.unparse(node.func)
    array = x.expr(node.args[0]) if node.args else None
    if array is None or not isinstance(array.type, ArrayType):
        refuse(node, f"{what} takes an array as its first argument; pass the array, then the indices")
    if array.type.view:
        refuse(node, f"{what} takes a whole array, and {ast.unparse(node.args[0])} is a part of one; pass the array")
    parts = node.args[1 : 1 + array.type.ndim]
    rest = node.args[1 + array.type.ndim :]
    indices = "1 index" if array.type.ndim == 1 else f"{array.type.ndim} indices"
    takes = f"the array, {indices} and a tuple of {width} values" if values else f"the array and {indices}"
    check_arguments(node, takes, 1 + array.type.ndim + values)
    found = [x.integer_index(node, part, x.scalar(part)) for part in parts]
    return array, array.type, found, [x.expr(part) for part in rest]


def _load(x: Context, node: ast.Call, width: int) -> Expr:
    array, kind, index, _ = _place(x, node, width, 0)
    return load(array, tuple(index), TupleType((kind.dtype,) * width), node.lineno, width)


def _store(x: Context, node: ast.Call, width: int) -> Expr:
    array, kind, index, (values,) = _place(x, node, width, 1)
    if values.type != TupleType((kind.dtype,) * width):
        refuse(
            node,
            f"{ast.unparse(node.func)} stores a tuple of {width} values of {kind.dtype}, and "
            f"{ast.unparse(node.args[-1])} is {describe_type(values.type)}; "
            + (
                "convert each item"
                if isinstance(values.type, TupleType)
                else f"write out its {width} items in parentheses"
            ),
        )
    return store(array, tuple(index), values, node.lineno, width)


Dtypes = str | tuple[str, ...]
#: Bytes of a row of the matrices that ldmatrix loads.
MATRIX_ROW_BYTES = 16


def _warp(
    x: Context,
    node: ast.Call,
    function: Callable[..., Any],
    result: Dtypes | Callable[..., Dtypes],
) -> CallWarp:
    what = ast.unparse(node.func)
    check_arguments(node, "numbers and tuples of numbers")
    values = [x.expr(a) for a in node.args]
    for value, part in zip(values, node.args, strict=True):
        flat = tuples.items(value) if isinstance(value.type, TupleType) else (value,)
        if not all(v.is_scalar for v in flat):
            refuse(
                part,
                f"{what} takes numbers and tuples of numbers, and {ast.unparse(part)} is "
                f"{describe_type(value.type)}; pass its elements",
            )
    if callable(result):
        try:
            result = result(*(_names(v.type) for v in values))
        except TypeError as error:
            refuse(node, f"{what}: {error}")
    kind: Type = TupleType(result) if isinstance(result, tuple) else result
    return CallWarp(function=function, name=what, args=tuple(values), type=kind, line=node.lineno)


def _matrices(
    x: Context, node: ast.Call, function: Callable[..., Any], result: Callable[[tuple[str, ...]], Dtypes]
) -> Expr:
    array, kind, index, _ = _place(x, node, 1, 0)
    what = ast.unparse(node.func)
    width = max(1, MATRIX_ROW_BYTES // np.dtype(kind.dtype).itemsize)
    row = (kind.dtype,) * width
    try:
        loaded = result(row)
    except TypeError as error:
        refuse(node, f"{what}: {error}")
    rows = load(array, tuple(index), TupleType(row), node.lineno, width, "matrices")
    return CallWarp(function=function, name=what, args=(rows,), type=TupleType(tuple(loaded)), line=node.lineno)


def _copy(x: Context, node: ast.Call, width: int) -> Expr:
    what, rest = ast.unparse(node.func), [*node.args]
    takes = f"{what} takes a shared array, its indices, a global array and its indices, without names"
    found: list[tuple[Expr, tuple[Expr, ...]]] = []
    for _ in range(2):
        array = x.expr(rest.pop(0)) if rest and not node.keywords else None
        if array is None or not isinstance(array.type, ArrayType) or len(rest) < array.type.ndim:
            refuse(node, takes)
        parts, rest = rest[: array.type.ndim], rest[array.type.ndim :]
        found.append((array, tuple(x.integer_index(node, part, x.scalar(part)) for part in parts)))
    (target, place), (array, index) = found
    if len(rest) > (width > 1):
        refuse(node, takes)
    if array.array_type.dtype != target.array_type.dtype:
        refuse(
            node,
            f"{what} copies bytes as they are, from {array.array_type.dtype} to {target.array_type.dtype}; use arrays "
            "of one type",
        )
    x.analysis.copies = True
    inside = [truth(x, x.scalar(part), node.lineno) for part in rest]  # lanes in which it is false copy zeros
    first = 2 + len(place)
    to, of = f"{{0}}, {listed(1, len(place))}", f"{{{first - 1}}}, {listed(first, len(index))}"
    more = f", inside={{{first + len(index)}}}" if inside else ""
    code = f"w.copy({{sites}}, {to}, {of}, mask={{mask}}{more})"
    sites = ("load", width), ("store", width)
    args = (target, *place, array, *index, *inside)
    return Apply(code=code, args=args, line=node.lineno, sites=sites, stores=target)


def _wait(x: Context, node: ast.Call) -> Expr:
    values = [x.expr(part) for part in node.args]
    pending = literal_integer(values[0]) if len(values) == 1 and not node.keywords else None
    if pending is None or pending < 0:
        refuse(node, f"{ast.unparse(node.func)} takes the number of groups not to wait for: a literal, 0 or more")
    return Apply(code="w.copies.wait({0}, {mask})", args=tuple(values), line=node.lineno)


def _instruction(code: str) -> Callable[..., Expr]:
    """Return the translation of a call without arguments."""

    def call_of(x: Context, node: ast.Call) -> Expr:
        at_most(node, 0)
        return Apply(code=code, line=node.lineno)

    return call_of


def _descriptor(x: Context, node: ast.Call, codes: dict[int, int]) -> Expr:
    what = ast.unparse(node.func)
    check_arguments(node, "a shared array, a place in it, two distances in bytes and a swizzle", 5)
    array, *numbers = (x.expr(part) for part in node.args)
    if not isinstance(array.type, ArrayType) or array.type.ndim != 1 or array.type.view:
        refuse(node, f"{what} takes a whole shared array of one dimension first; declare it so")
    swizzle = literal_integer(numbers.pop())
    if swizzle is None or swizzle not in codes:
        refuse(node, f"the swizzle of {what} is one of the literal numbers {', '.join(map(str, codes))}")
    fields = [x.integer_index(node, part, number) for part, number in zip(node.args[1:4], numbers, strict=True)]
    code = x.number(codes[swizzle])
    made = "w.descriptor({0}, {1}, {2}, {3}, {4}, {line})"
    return Apply(code=made, args=(array, *fields, code), type="uint64", line=node.lineno)


def _product(x: Context, node: ast.Call, spec: Any) -> Expr:
    what = ast.unparse(node.func)
    check_arguments(node, "the results, A, B and whether to add", 4)
    results, a, b, add = (x.expr(part) for part in node.args)
    wanted: Type = TupleType(("float32",) * 4) if spec.registers else "uint64"
    if results.type != ArrayType("float32", 1):
        refuse(node, f"{what} takes a local array of float32 for its results; declare it with cuda.local.array")
    for name, value, kind in (("A", a, wanted), ("B", b, "uint64")):
        if value.type != kind:
            refuse(node, f"{what} takes {describe_type(kind)} for {name}, not {describe_type(value.type)}")
    x.analysis.products = True
    sites = (("load", 1), ("matrices", MATRIX_ROW_BYTES // np.dtype(spec.dtype).itemsize))
    args = (results, a, b, add, Static(thing=spec))
    code = "w.products.start(({sites}), {4}, {0}, {1}, {2}, {3}, mask={mask}, line={line})"
    return Apply(code=code, args=args, line=node.lineno, sites=sites)


def _wait_products(x: Context, node: ast.Call) -> Expr:
    values = [x.expr(part) for part in node.args]
    if len(values) != 2 or node.keywords or literal_integer(values[1]) is None:
        refuse(node, f"{ast.unparse(node.func)} takes the results and the number of groups not to wait for, a literal")
    return Apply(code="w.products.wait({1}, {mask})", args=tuple(values), line=node.lineno)


INIT_BARRIER, EXPECT_BYTES = (
    f"w.mbarriers.{call}(w, {{0}}, {{1}}, {{2}}, {{mask}}, {{line}})" for call in ("init", "expect")
)
WAIT_BARRIER = "while pause := w.mbarriers.unfinished(w, {0}, {1}, {2}, {mask}, {line}): yield pause"


def _barrier(x: Context, node: ast.Call, part: ast.expr) -> Expr:
    """Translate the argument that holds the barriers: a shared array of uint64."""
    array = x.expr(part)
    if array.type != ArrayType("uint64", 1):
        refuse(node, f"{ast.unparse(node.func)} takes barriers, a shared array of uint64: cuda.shared.array(n, uint64)")
    return array


def _on_barrier(code: str) -> Callable[..., Expr]:
    """Return the translation of f(barriers, i, number) to ``code``."""

    def call_of(x: Context, node: ast.Call) -> Expr:
        check_arguments(node, "barriers, the index of one and a number", 3)
        barriers = _barrier(x, node, node.args[0])
        index, number = (x.integer_index(node, part, x.scalar(part)) for part in node.args[1:])
        x.analysis.fences = x.analysis.copies = True
        x.made.barriers |= code is WAIT_BARRIER
        return Apply(code=code, args=(barriers, index, number), line=node.lineno)

    return call_of


def _tile_copy(x: Context, node: ast.Call, rows: int, columns: int) -> Expr:
    what = ast.unparse(node.func)
    check_arguments(node, "a tile, a place, a matrix, a row, a column, barriers and an index", 7)
    tile, matrix = x.expr(node.args[0]), x.expr(node.args[2])
    if not isinstance(tile.type, ArrayType) or tile.type.ndim != 1 or tile.type.view:
        refuse(node, f"{what} takes a whole shared array of one dimension as its tile; declare it so")
    if not isinstance(matrix.type, ArrayType) or matrix.type.ndim != 2 or matrix.type.view:
        refuse(node, f"{what} copies from a matrix that the kernel was given; pass it whole")
    if matrix.type.dtype != tile.type.dtype:
        refuse(node, f"{what} copies bytes as they are, from {matrix.type.dtype} to {tile.type.dtype}; use one type")
    place, row, column, index = (x.integer_index(node, node.args[i], x.scalar(node.args[i])) for i in (1, 3, 4, 6))
    barriers = _barrier(x, node, node.args[5])
    x.analysis.fences = x.analysis.copies = True
    more = f"index={{6}}, box={(rows, columns)}, mask={{mask}}, line={{line}}"
    code = f"w.mbarriers.copy(w, {{0}}, {{1}}, {{2}}, ({{3}}, {{4}}), {{5}}, {more})"
    return Apply(code=code, args=(tile, place, matrix, row, column, barriers, index), line=node.lineno)


def _names(kind: Type) -> Any:
    return tuple(map(_names, kind.items)) if isinstance(kind, TupleType) else kind


#: For each kind, the function that translates a call, given the rest of the declaration.
KINDS: dict[str, Callable[..., Expr]] = {
    "load": _load,
    "store": _store,
    "copy": _copy,
    "commit": _instruction("w.copies.commit({mask})"),
    "wait": _wait,
    "warp": _warp,
    "lane": lambda *given: replace(_warp(*given), together=False),
    "matrices": _matrices,
    "descriptor": _descriptor,
    "product": _product,
    "wait products": _wait_products,
    "commit products": _instruction("w.products.commit({mask})"),
    "init barrier": _on_barrier(INIT_BARRIER),
    "expect bytes": _on_barrier(EXPECT_BYTES),
    "wait barrier": _on_barrier(WAIT_BARRIER),
    "tile copy": _tile_copy,
    "fence proxy": _instruction("w.tell('proxy_fence', {mask})"),
    "fence registers": _instruction("w.tell('register_fence', {mask})"),
}
