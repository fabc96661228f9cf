"""Intrinsics that are defined outside the simulator and describe themselves.

README.md of :mod:`language` says what each kind means.
"""

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ...formatting import plural
from ..program.builders import listed, literal_integer, load, store
from ..program.nodes import Apply, CallWarp, CompileTimeObject, Expr
from ..source.errors import refuse
from ..types.value_types import ArrayType, TupleType, Type, describe_type
from . import tuples
from .conditions import truth
from .refusals import check_arguments, mistyped
from .translation import Translation


def declared(obj: object) -> tuple[Any, ...] | None:
    """The description that an intrinsic carries; None for other objects."""
    kind = getattr(obj, "__simulated_as__", None)
    return kind if isinstance(kind, tuple) else None


def call(translation: Translation, node: ast.Call, obj: object) -> Expr:
    """Translate the call ``node`` of an intrinsic."""
    kind, *details = declared(obj) or ("",)
    if kind not in KINDS:
        refuse(
            node,
            f"{ast.unparse(node.func)} declares the kind {kind!r}, which the simulator does not know; "
            f"it knows {', '.join(KINDS)}",
        )
    return KINDS[kind](translation, node, *details)


#: The arrays that an argument may be: how a message names them, and whether it is one.
_ARRAYS: dict[str, tuple[str, Callable[[ArrayType], bool]]] = {
    "element": ("a whole array", lambda kind: not kind.view),  # its indices follow
    "tile": ("a whole shared array of one dimension", lambda kind: kind.ndim == 1 and not kind.view),
    "matrix": ("a matrix that the kernel was given, as a whole", lambda kind: kind.ndim == 2 and not kind.view),
    "results": ("a local array of float32 for its results", lambda kind: kind == ArrayType("float32", 1)),
    "barriers": ("barriers, a shared array of uint64", lambda kind: kind == ArrayType("uint64", 1)),
}


def _taken(translation: Translation, node: ast.Call, takes: str, *wanted: str) -> list[Any]:
    """Translate the arguments: each is one of ``_ARRAYS``, a "number", a "literal" of 0 or more, or any "value".

    ``takes`` says so in a message. A "value?" may be left out.
    """
    what = ast.unparse(node.func)
    rest = list(node.args)
    found: list[Any] = []
    for kind in wanted:
        if kind == "value?" and not rest:
            continue
        if not rest:
            refuse(node, f"{what} takes {takes}")
        part = rest.pop(0)
        value = translation.expr(part)
        if kind == "literal":
            literal = literal_integer(value)
            if literal is None or literal < 0:
                refuse(node, f"{what} takes {takes}")
        if kind in _ARRAYS:
            name, fits = _ARRAYS[kind]
            if not (isinstance(value.type, ArrayType) and fits(value.type)):
                mistyped(part, value.type, f"{what} takes {name}")
        if kind == "number":
            found.append(translation.integer_index(node, part, translation.as_number(part, value)))
        else:
            found.append(value)
        if kind == "element":
            count = value.array_type.ndim
            indices, rest = rest[:count], rest[count:]
            if len(indices) < count:
                needed = plural(count, "index", "es")
                refuse(node, f"{what} takes {takes}; give {ast.unparse(part)} {needed}")
            found.append(tuple(translation.integer_index(node, at, translation.scalar(at)) for at in indices))
    if rest or node.keywords:
        refuse(node, f"{what} takes {takes}{', without names' * bool(node.keywords)}")
    return found


def _load(translation: Translation, node: ast.Call, width: int) -> Expr:
    array, index = _taken(translation, node, "an array and its indices", "element")
    return load(array, index, TupleType((array.type.dtype,) * width), node.lineno, width)


def _store(translation: Translation, node: ast.Call, width: int) -> Expr:
    array, index, values = _taken(
        translation, node, f"an array, its indices and a tuple of {width} values", "element", "value"
    )
    if values.type != TupleType((array.type.dtype,) * width):
        what = ast.unparse(node.func)
        mistyped(node.args[-1], values.type, f"{what} stores {width} values of {array.type.dtype} in a tuple")
    return store(array, index, values, node.lineno, width)


Dtypes = str | tuple[str, ...]
#: Bytes of a row of the matrices that ldmatrix loads.
MATRIX_ROW_BYTES = 16


def _warp(
    translation: Translation,
    node: ast.Call,
    function: Callable[..., Any],
    result: Dtypes | Callable[..., Dtypes],
) -> CallWarp:
    what = ast.unparse(node.func)
    check_arguments(node, "numbers and tuples of numbers")
    values = [translation.expr(a) for a in node.args]
    for value, part in zip(values, node.args, strict=True):
        flat = tuples.items(value) if isinstance(value.type, TupleType) else (value,)
        if not all(each.is_scalar for each in flat):
            mistyped(part, value.type, f"{what} takes numbers and tuples of numbers: pass its elements")
    if callable(result):
        try:
            result = result(*(_names(each.type) for each in values))
        except TypeError as error:
            refuse(node, f"{what}: {error}")
    kind: Type = TupleType(result) if isinstance(result, tuple) else result
    return CallWarp(function=function, name=what, args=tuple(values), type=kind, line=node.lineno)


def _matrices(
    translation: Translation, node: ast.Call, function: Callable[..., Any], result: Callable[[tuple[str, ...]], Dtypes]
) -> Expr:
    array, index = _taken(translation, node, "an array and its indices", "element")
    what = ast.unparse(node.func)
    dtype = array.type.dtype
    width = max(1, MATRIX_ROW_BYTES // np.dtype(dtype).itemsize)
    row = (dtype,) * width
    try:
        loaded = result(row)
    except TypeError as error:
        refuse(node, f"{what}: {error}")
    rows = load(array, index, TupleType(row), node.lineno, width, "matrices")
    return CallWarp(function=function, name=what, args=(rows,), type=TupleType(tuple(loaded)), line=node.lineno)


def _copy(translation: Translation, node: ast.Call, width: int) -> Expr:
    """An asynchronous copy of ``width`` elements; of several, a further argument may say where zeros are copied."""
    what, takes = ast.unparse(node.func), "a shared array, its indices, a global array and its indices"
    wanted = ("element", "element", "value?") if width > 1 else ("element", "element")
    target, target_index, array, index, *rest = _taken(translation, node, takes, *wanted)
    if array.array_type.dtype != target.array_type.dtype:
        refuse(
            node,
            f"{what} copies {array.array_type.dtype} as it is, to {target.array_type.dtype}; use one type",
        )
    translation.facts.copies = True
    # the numbers of the operands, in the order of `args`
    first_target_index = 1
    array_number = first_target_index + len(target_index)
    first_index = array_number + 1
    inside_number = first_index + len(index)
    given = [
        "{0}",
        listed(first_target_index, len(target_index)),
        f"{{{array_number}}}",
        listed(first_index, len(index)),
        "mask={mask}",
    ]
    args = [target, *target_index, array, *index]
    for value in rest:  # at most one: lanes in which it is false copy zeros
        number = translation.as_number(node.args[-1], value)
        args.append(truth(translation, number, node.lineno))
        given.append(f"inside={{{inside_number}}}")
    code = f"warp.copy({{sites}}, {', '.join(given)})"
    sites = ("load", width), ("store", width)
    return Apply(code=code, args=tuple(args), line=node.lineno, sites=sites, stores=target)


def _wait(translation: Translation, node: ast.Call) -> Expr:
    values = _taken(translation, node, "the number of groups not to wait for: a literal, 0 or more", "literal")
    return Apply(code="warp.copies.wait({0}, {mask})", args=tuple(values), line=node.lineno)


def _instruction(code: str) -> Callable[..., Expr]:
    """Return the translation of a call without arguments."""

    def call_of(translation: Translation, node: ast.Call) -> Expr:
        check_arguments(node, "no arguments", 0)
        return Apply(code=code, line=node.lineno)

    return call_of


def _descriptor(translation: Translation, node: ast.Call, codes: dict[int, int]) -> Expr:
    what = ast.unparse(node.func)
    takes = "a shared array, a place in it, two distances in bytes and a swizzle"
    array, *fields, swizzle = _taken(translation, node, takes, "tile", "number", "number", "number", "literal")
    if int(swizzle.value) not in codes:
        refuse(node, f"the swizzle of {what} is one of the literal numbers {', '.join(map(str, codes))}")
    code = translation.number(codes[int(swizzle.value)])
    descriptor = "warp.descriptor({0}, {1}, {2}, {3}, {4}, {line})"
    return Apply(code=descriptor, args=(array, *fields, code), type="uint64", line=node.lineno)


def _product(translation: Translation, node: ast.Call, spec: Any) -> Expr:
    what = ast.unparse(node.func)
    takes = "the results, A, B and whether to add"
    results, a, b, add = _taken(translation, node, takes, "results", "value", "value", "value")
    wanted: Type = TupleType(("float32",) * 4) if spec.registers else "uint64"
    for name, value, kind in (("A", a, wanted), ("B", b, "uint64")):
        if value.type != kind:
            refuse(node, f"{what} takes {describe_type(kind)} for {name}, not {describe_type(value.type)}")
    translation.facts.products = True
    elements_of_row = MATRIX_ROW_BYTES // np.dtype(spec.dtype).itemsize
    sites = (("load", 1), ("matrices", elements_of_row))
    args = (results, a, b, add, CompileTimeObject(obj=spec))
    code = "warp.products.start(({sites}), {4}, {0}, {1}, {2}, {3}, mask={mask}, line={line})"
    return Apply(code=code, args=args, line=node.lineno, sites=sites)


def _wait_products(translation: Translation, node: ast.Call) -> Expr:
    takes = "the results and the number of groups not to wait for, a literal"
    values = _taken(translation, node, takes, "results", "literal")
    return Apply(code="warp.products.wait({1}, {mask})", args=tuple(values), line=node.lineno)


INIT_BARRIER = "warp.mbarriers.init(warp, {0}, {1}, {2}, {mask}, {line})"
EXPECT_BYTES = "warp.mbarriers.expect(warp, {0}, {1}, {2}, {mask}, {line})"
WAIT_BARRIER = "while pause := warp.mbarriers.unfinished(warp, {0}, {1}, {2}, {mask}, {line}): yield pause"


def _on_barrier(code: str) -> Callable[..., Expr]:
    """Return the translation of f(barriers, i, number) to ``code``."""

    def call_of(translation: Translation, node: ast.Call) -> Expr:
        values = _taken(translation, node, "barriers, the index of one and a number", "barriers", "number", "number")
        translation.facts.fences = translation.facts.copies = True
        translation.function.barriers |= code is WAIT_BARRIER
        return Apply(code=code, args=tuple(values), line=node.lineno)

    return call_of


def _tile_copy(translation: Translation, node: ast.Call, rows: int, columns: int) -> Expr:
    takes = "a tile, a place, a matrix, a row, a column, barriers and an index"
    kinds = "tile", "number", "matrix", "number", "number", "barriers", "number"
    values = tile, _, matrix, *_ = _taken(translation, node, takes, *kinds)
    if matrix.type.dtype != tile.type.dtype:
        refuse(
            node, f"{ast.unparse(node.func)} copies {matrix.type.dtype} as it is, to {tile.type.dtype}; use one type"
        )
    translation.facts.fences = translation.facts.copies = True
    box = (rows, columns)
    code = (
        "warp.mbarriers.copy(warp, {0}, {1}, {2}, ({3}, {4}), {5}, "
        f"index={{6}}, box={box}, mask={{mask}}, line={{line}})"
    )
    return Apply(code=code, args=tuple(values), line=node.lineno)


def _names(kind: Type) -> Any:
    return tuple(map(_names, kind.items)) if isinstance(kind, TupleType) else kind


#: For each kind, the function that translates a call, given the rest of the declaration.
KINDS: dict[str, Callable[..., Expr]] = {
    "load": _load,
    "store": _store,
    "copy": _copy,
    "commit": _instruction("warp.copies.commit({mask})"),
    "wait": _wait,
    "warp": _warp,
    "lane": lambda *given: replace(_warp(*given), whole_warp=False),
    "matrices": _matrices,
    "descriptor": _descriptor,
    "product": _product,
    "wait products": _wait_products,
    "commit products": _instruction("warp.products.commit({mask})"),
    "init barrier": _on_barrier(INIT_BARRIER),
    "expect bytes": _on_barrier(EXPECT_BYTES),
    "wait barrier": _on_barrier(WAIT_BARRIER),
    "tile copy": _tile_copy,
    "fence proxy": _instruction("warp.report('proxy_fence', {mask})"),
    "fence registers": _instruction("warp.report('register_fence', {mask})"),
}
