"""Atomics, and the loads and stores that have a hint for the caches."""

import ast

from ..program import builders, nodes
from ..program.builders import cast, cut
from ..source.errors import refuse
from ..tables import package_gaps
from ..types.value_types import ArrayType, TupleType, TypingError
from . import tuples
from .refusals import check_arguments, mistyped
from .translated_expression import Translated
from .translation import Translation

#: The arguments of each atomic after the array.
ATOMICS = dict.fromkeys(
    ("add", "sub", "max", "min", "nanmax", "nanmin", "and_", "or_", "xor", "exch", "inc", "dec"),
    ("the index", "the value"),
) | {
    "cas": ("the index", "the expected value", "the new value"),
    "compare_and_swap": ("the expected value", "the new value"),
}
_INTEGERS = ("int32", "uint32", "int64", "uint64")
#: The element types that numba supports for each atomic.
ATOMIC_TYPES = {
    **dict.fromkeys(("add", "sub", "max", "min", "nanmax", "nanmin"), ("float32", "float64", *_INTEGERS)),
    **dict.fromkeys(("and_", "or_", "xor", "exch", "cas", "compare_and_swap"), _INTEGERS),
    **dict.fromkeys(("inc", "dec"), ("uint32", "uint64")),
}


def atomic(name: str, translation: Translation, node: ast.Call, used: bool) -> nodes.Expr:
    """``cuda.atomic.<name>(...)``."""
    takes = ("the array", *ATOMICS[name])
    said = f"{', '.join(takes[:-1])} and {takes[-1]}"
    check_arguments(node, f"{len(takes)} arguments, {said}", len(takes))
    array = translation.expr(node.args[0])
    if not isinstance(array.type, ArrayType):
        mistyped(node.args[0], array.type, f"cuda.atomic.{name} takes {said}")
    index: ast.expr
    if name == "compare_and_swap":
        index, values = ast.copy_location(ast.Constant(0), node), node.args[1:]
    else:
        index, values = node.args[1], node.args[2:]
    if isinstance(index, ast.Tuple) and len(index.elts) == 1:
        refuse(node, f"numba does not take a tuple of one index here; write {ast.unparse(index.elts[0])}")
    subscript = ast.copy_location(ast.Subscript(node.args[0], _cut_index(translation, index), ast.Load()), node)
    array, indices = translation.element(subscript)
    dtype = array.array_type.dtype
    _check_atomic(name, dtype, ast.unparse(node.args[0]), array.array_type.ndim)
    numbers = [translation.scalar(value) for value in values]
    element = ast.unparse(ast.Subscript(node.args[0], node.args[1], ast.Load()))
    for number in numbers:
        translation.warn_if_narrowed(node, element, dtype, number)
    operands = tuple(cast(number, dtype) for number in numbers)
    return builders.atomic(name, array, indices, operands, node.lineno, used)


def _cut_index(translation: Translation, index: ast.expr) -> ast.expr:
    """The index of an atomic operation, of which numba cuts floats."""
    if isinstance(index, ast.Tuple):
        parts = [_cut_index(translation, part) for part in index.elts]
        return ast.copy_location(ast.Tuple(parts, ast.Load()), index)
    if isinstance(index, (ast.Slice, ast.Starred)):
        return index
    if isinstance(index, ast.Constant) and index.value in (None, ...):
        return index
    value = translation.unwrap_optional(index, translation.expr(index))
    if isinstance(value.type, TupleType):
        indices = builders.tuple_of(tuple(map(cut, tuples.items(value))))
        return Translated(builders.after((value,), indices), index)
    return Translated(cut(value), index)


def _check_atomic(name: str, dtype: str, text: str, ndim: int) -> None:
    """Raise TypingError if numba does not have this atomic."""
    if not ndim:
        raise TypingError(f"cuda.atomic.{name} does not take an array without dimensions; pass one of shape (1,)")
    if name == "compare_and_swap" and ndim != 1:
        raise TypingError(f"cuda.atomic.{name} takes an array of one dimension; use cuda.atomic.cas with an index")
    allowed = ATOMIC_TYPES[name]
    if dtype not in allowed:
        raise TypingError(
            f"cuda.atomic.{name} needs an array of {', '.join(allowed[:-1])} or {allowed[-1]}, and {text} "
            f"holds {dtype}; convert the array before the launch"
        )


#: The functions of numba-cuda that load or store an element with a hint for the caches, which changes no value.
HINTED_LOADS = ("ldca", "ldcg", "ldcs", "ldlu", "ldcv")
HINTED_STORES = ("stcg", "stcs", "stwb", "stwt")


def hinted(name: str, translation: Translation, node: ast.Call, used: bool) -> nodes.Expr:
    """``cuda.ldcs(array, index)`` and ``cuda.stcs(array, index, value)``."""
    package_gaps.check(f"cuda.{name}", ())
    loads = name in HINTED_LOADS
    check_arguments(node, f"an array, an index{'' if loads else ' and a value'}", 3 - loads)
    subscript = ast.copy_location(ast.Subscript(node.args[0], node.args[1], ast.Load()), node)
    array, index = translation.element(subscript)
    if loads:
        return translation.load(subscript, array, index)
    value = translation.value_to_store(subscript, array, translation.scalar(node.args[2]))
    return builders.store(array, index, value, node.lineno)
