"""The iterables of for loops."""

import ast
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np

from ..program.builders import applied, cast, reusable, temporary, tuple_of
from ..program.nodes import Const, Expr, Local, LoopValue
from ..program.statement_nodes import EACH, NUMBERED, RANGE, ZIPPED, Iterable
from ..source.errors import refuse
from ..tables import package_gaps, unsupported_features
from ..tables.operators import BINARY_OPERATORS
from ..types.typing_rules import range_type
from ..types.value_types import DTYPE, ArrayType, RecordsType, TupleType, describe_type, is_int
from . import records
from .refusals import check_arguments, mistyped
from .translation import Translation
from .tuples import any_why, item_type, items


@dataclass(frozen=True)
class Iterated:
    """The iterable of a for loop, and the values it assigns, given the path to their part of the iterator's value."""

    iterable: Iterable
    item: Callable[[tuple[int, ...]], Expr]


def iterated(translation: Translation, node: ast.expr) -> Iterated:
    """Translate the iterable of ``for ... in node``."""
    if isinstance(node, ast.Call):
        obj = translation.constant_object(node.func)
        if obj is range:
            return _range(translation, node)
        if obj is enumerate:
            return _enumerate(translation, node)
        if obj is zip:
            return _zip(translation, node)
        if obj in (np.ndindex, np.ndenumerate):
            return _indices(translation, node, obj is np.ndenumerate)
        name = getattr(obj, "__name__", None)
        if callable(obj) and name in unsupported_features.LOOPS:
            refuse(node, f"a kernel does not loop over {name}(...); {unsupported_features.LOOPS[name]}")
    value = translation.unwrap_optional(node, translation.expr(node))
    if isinstance(value.type, TupleType):
        kind, reason = item_type(value, node), any_why(value)
        return Iterated(Iterable(EACH, (value,), node.lineno), lambda path: LoopValue(path=path, type=kind, why=reason))
    if isinstance(value.type, ArrayType) and value.type.ndim:
        array = _snapshot(value)
        through = _counted("int64", (translation.dimension(node, array, 0),), node.lineno)
        return Iterated(through, lambda path: _row(translation, node, array, LoopValue(path=path, type="int64")))
    if isinstance(value.type, RecordsType) and value.type.ndim == 1:
        arrays = _snapshot(value)
        size = translation.dimension(node, records.of_numbers(node, arrays)[0], 0)
        through = _counted("int64", (size,), node.lineno)

        def one_record(path: tuple[int, ...]) -> Expr:
            return records.record(translation, node, arrays, [LoopValue(path=path, type="int64")])

        return Iterated(through, one_record)
    advice = f"; write range({ast.unparse(node)})" if isinstance(value.type, str) and is_int(value.type) else ""
    mistyped(node, value.type, f"a kernel loops over range(...), a tuple or an array{advice}")


def _snapshot(value: Expr) -> Expr:
    """The value that a loop runs through now, even if its body assigns another one to the variable."""
    return temporary(value) if isinstance(value, Local) else reusable(value)


def _counted(kind: str, bounds: tuple[Expr, ...], line: int) -> Iterable:
    """``range(*bounds)``, in numbers of the type ``kind``."""
    zero = Const(type=kind, value=DTYPE[kind].type(0))
    one = Const(type=kind, value=DTYPE[kind].type(1))
    if len(bounds) == 1:
        bounds = (zero, *bounds)
    if len(bounds) == 2:
        bounds = (*bounds, one)
    return Iterable(RANGE, bounds, line)


def _row(translation: Translation, node: ast.expr, array: Expr, index: Expr) -> Expr:
    """``array[index]``: an element, or a part of an array of more dimensions."""
    if array.array_type.ndim == 1:
        return translation.load(node, array, (index,))
    return translation.view_of(node, array, [index])


def _indices(translation: Translation, node: ast.Call, with_elements: bool) -> Iterated:
    """``np.ndindex(shape)``; ``np.ndenumerate(array)``, which also gives the elements."""
    too_many = with_elements and len(node.args) > 1
    if node.keywords or not node.args or too_many:
        takes = "an array" if with_elements else "sizes or a shape"
        refuse(node, f"{ast.unparse(node.func)}() takes {takes}, without names")
    package_gaps.check("np.ndenumerate" if with_elements else "np.ndindex", ())
    given = [translation.expr(part) for part in node.args]
    array = _snapshot(given[0])
    if with_elements:
        if not (isinstance(array.type, ArrayType) and array.type.ndim):
            refuse(node, f"{ast.unparse(node.args[0])} is {describe_type(array.type)}, not an array with dimensions")
        sizes = [translation.dimension(node, array, axis) for axis in range(array.type.ndim)]
    else:
        sizes = []
        for value in given:
            sizes += items(value) if isinstance(value.type, TupleType) else (value,)
    all_integers = all(isinstance(size.type, str) and is_int(size.type) for size in sizes)
    if not sizes or not all_integers:
        refuse(node, f"the sizes in {ast.unparse(node)} must be integers; convert them with int()")
    sizes = [_snapshot(cast(size, "int64")) for size in sizes]

    def product(a: Expr, b: Expr) -> Expr:
        return applied(BINARY_OPERATORS["Mult"].code, (a, b), "int64", node.lineno)

    def part(path: tuple[int, ...], axis: int) -> Expr:
        """The index in one dimension, of the number of an iteration."""
        here: Expr = LoopValue(path=path, type="int64")
        inner = reduce(product, sizes[axis + 1 :], cast(translation.number(1), "int64"))
        here = applied(BINARY_OPERATORS["FloorDiv"].of_integers, (here, inner), "int64", node.lineno)
        if axis == 0:
            return here
        return applied(BINARY_OPERATORS["Mod"].code, (here, sizes[axis]), "int64", node.lineno)

    def found(path: tuple[int, ...]) -> Expr:
        indices = tuple(reusable(part(path, axis)) for axis in range(len(sizes)))
        if with_elements:
            return tuple_of((tuple_of(indices), translation.load(node, array, indices)))
        return tuple_of(indices)

    return Iterated(_counted("int64", (reduce(product, sizes),), node.lineno), found)


def _range(translation: Translation, node: ast.Call) -> Iterated:
    check_arguments(node, "a stop, or a start and a stop, and perhaps a step", 1, 2, 3)
    given = [translation.scalar(a) for a in node.args]
    kind = range_type([str(a.type) for a in given])
    through = _counted(kind, tuple(cast(a, kind) for a in given), node.lineno)
    return Iterated(through, lambda path: LoopValue(path=path, type=kind))


def _enumerate(translation: Translation, node: ast.Call) -> Iterated:
    check_arguments(node, "an iterable, and perhaps the first number", 1, 2)
    inner = iterated(translation, node.args[0])
    start = translation.number(0) if len(node.args) == 1 else translation.scalar(node.args[1])
    if not is_int(str(start.type)):
        refuse(node, f"enumerate() counts from {ast.unparse(node.args[1])}, which is {start.type}; give an integer")
    return Iterated(
        Iterable(NUMBERED, (inner.iterable, _snapshot(cast(start, "int64"))), node.lineno),
        lambda path: tuple_of((LoopValue(path=(*path, 0), type="int64"), inner.item((*path, 1)))),
    )


def _zip(translation: Translation, node: ast.Call) -> Iterated:
    if node.keywords or not node.args:
        refuse(node, "zip() takes iterables, such as zip(a, b)")
    parts = [iterated(translation, a) for a in node.args]
    return Iterated(
        Iterable(ZIPPED, tuple(each.iterable for each in parts), node.lineno),
        lambda path: tuple_of(tuple(each.item((*path, i)) for i, each in enumerate(parts))),
    )
