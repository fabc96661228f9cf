"""Tuples, and the iterables of for loops.

If the items of a tuple are separate expressions (:class:`~.nodes.MakeTuple`), an item is selected at compile time;
only an index that is computed at run time is looked up then.
"""

import ast
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np

from ..tables import plural
from . import packages, records, refusals, types
from .context import Context
from .nodes import (
    After,
    Apply,
    Const,
    Expr,
    Item,
    Local,
    LoopValue,
    MakeTuple,
    Saved,
    after,
    literal_integer,
    once,
    settled,
    tuple_of,
)
from .operators import BINARY, INTEGER_QUOTIENT, applied, cast
from .program import EACH, NUMBERED, RANGE, TOGETHER, Iterable
from .reasons import Why, item_why
from .refusals import check_arguments, mistyped, refuse
from .types import ArrayType, TupleType, Type, describe_type


def make(x: Context, node: ast.Tuple) -> Expr:
    return tuple_of(tuple(value for e in node.elts for value in unpacked(x, e)))


def unpacked(x: Context, node: ast.expr) -> tuple[Expr, ...]:
    """The value of ``node``, or the items of the tuple after a star."""
    if not isinstance(node, ast.Starred):
        return (x.expr(node),)
    value = x.expr(node.value)
    if not isinstance(value.type, TupleType):
        refuse(node, f"{ast.unparse(node)} unpacks {describe_type(value.type)}; only a tuple's items are known")
    return items(settled(value))


def item(value: Expr, i: int) -> Expr:
    """Item ``i`` of a tuple, after the effects of the others."""
    if isinstance(value, After):
        return after(value.first, item(value.value, i))
    if isinstance(value, MakeTuple):
        if any(other.does for other in value.items if other is not value.items[i]):
            value = settled(value)
            assert isinstance(value, MakeTuple)
            return after(value.items, value.items[i])
        return value.items[i]
    return Item(value=value, index=i, type=value.tuple_type.items[i], why=item_why(value.why, i))


def items(value: Expr) -> tuple[Expr, ...]:
    """The items of a tuple; the tuple is evaluated once."""
    if isinstance(value, MakeTuple):
        return value.items
    kept = once(value)
    return tuple(item(kept, i) for i in range(len(value.tuple_type.items)))


def item_type(value: Expr, node: ast.AST) -> Type:
    """The type of all of a tuple's items; refused if they differ, since numba cannot loop over them at run time."""
    kinds = tuple(dict.fromkeys(value.tuple_type.items))
    if not kinds:
        refuse(
            node,
            f"{ast.unparse(node)} is an empty tuple, whose items have no type for numba; leave out what runs "
            "through it",
        )
    if len(kinds) > 1:
        refuse(
            node,
            f"{ast.unparse(node)} has items of different types ({', '.join(map(describe_type, kinds))}); numba runs "
            "through tuples of one type: convert the items",
        )
    return kinds[0]


def any_why(value: Expr) -> Why:
    """Return why an item at an unknown index is float64: by accident if that is true of all items."""
    reasons = [item_why(value.why, i) for i in range(len(value.tuple_type.items))]
    return reasons[0] if all(reasons) else None


def item_of(x: Context, node: ast.AST, owner: Expr, place: ast.expr) -> Expr:
    """``owner[place]`` of a tuple: an item or a slice."""
    count, text = len(owner.tuple_type.items), ast.unparse(node)
    if isinstance(place, ast.Slice):
        bounds = [None if b is None else known_integer(x.expr(b)) for b in (place.lower, place.upper, place.step)]
        given = [b is not None for b in (place.lower, place.upper, place.step)]
        if any(b is None and asked for b, asked in zip(bounds, given, strict=True)):
            refuse(node, f"{text}: the bounds of a tuple's slice must be literal integers, as in t[0:2]")
        owner = settled(owner)
        return after((owner,), tuple_of(items(owner)[slice(*bounds)]))
    index = x.integer_index(node, place, x.scalar(place))
    known = known_integer(index)
    if known is not None:
        if not -count <= known < count:
            refuse(node, f"{text}: the tuple has {plural(count, 'item')}; its numbers begin at 0")
        return item(owner, known % count)
    kind = item_type(owner, getattr(node, "value", node))
    told = repr(text).replace("{", "{{").replace("}", "}}")
    code = f"item_at({{0}}, {{1}}, w.full, {{mask}}, {{line}}, {told})"
    return Apply(
        code=code,
        args=(owner, index),
        type=kind,
        line=getattr(node, "lineno", 0),
        why=any_why(owner),
        chooses=kind not in types.SCALARS,
    )


def known_integer(value: Expr) -> int | None:
    """The integer that ``value`` is known to be when the kernel is compiled; None for other values."""
    if isinstance(value, Const) and isinstance(value.type, str) and types.is_int(value.type):
        return int(value.value)
    return None


def combined(node: ast.AST, op: str, left: Expr, right: Expr) -> Expr:
    """An operator between tuples; only concatenation exists."""
    if op == "Add" and isinstance(left.type, TupleType) and isinstance(right.type, TupleType):
        left, right = settled(left), settled(right)
        a, b = items(left), items(right)
        return tuple_of(a + b) if a and b else after((left, right), tuple_of(a + b))
    if op == "Mult" and isinstance(left.type, TupleType) and (times := literal_integer(right)) is not None:
        left = settled(left)
        return after((left,), tuple_of(items(left) * times))
    refuse(
        node,
        f"{ast.unparse(node)}: the operands are {describe_type(left.type)} and {describe_type(right.type)}; + joins "
        "two tuples, * repeats one by a literal, anything else needs their items",
    )


@dataclass(frozen=True)
class Iterated:
    """The iterable of a for loop, and the values it assigns, given the path to their part of the iterator's value."""

    iterable: Iterable
    item: Callable[[tuple[int, ...]], Expr]


def iterated(x: Context, node: ast.expr) -> Iterated:
    """Translate the iterable of ``for ... in node``."""
    if isinstance(node, ast.Call):
        thing = x.constant_object(node.func)
        if thing is range:
            return _range(x, node)
        if thing is enumerate:
            return _enumerate(x, node)
        if thing is zip:
            return _zip(x, node)
        if thing in (np.ndindex, np.ndenumerate):
            return _indices(x, node, thing is np.ndenumerate)
        name = getattr(thing, "__name__", None)
        if callable(thing) and name in refusals.LOOPS:
            refuse(node, f"a kernel does not loop over {name}(...); {refusals.LOOPS[name]}")
    value = x.present(node, x.expr(node))
    if isinstance(value.type, TupleType):
        kind, reason = item_type(value, node), any_why(value)
        return Iterated(Iterable(EACH, (value,), node.lineno), lambda path: LoopValue(path=path, type=kind, why=reason))
    if isinstance(value.type, ArrayType) and value.type.ndim:
        array = _kept(value)
        through = _counted("int64", (x.dimension(node, array, 0),), node.lineno)
        return Iterated(through, lambda path: _row(x, node, array, LoopValue(path=path, type="int64")))
    if isinstance(value.type, types.RecordsType) and value.type.ndim == 1:
        arrays = _kept(value)
        size = x.dimension(node, records.of_numbers(node, arrays)[0], 0)
        through = _counted("int64", (size,), node.lineno)
        return Iterated(through, lambda path: records.record(x, node, arrays, [LoopValue(path=path, type="int64")]))
    advice = f"; write range({ast.unparse(node)})" if isinstance(value.type, str) and types.is_int(value.type) else ""
    mistyped(node, value.type, f"a kernel loops over range(...), a tuple or an array{advice}")


def _kept(value: Expr) -> Expr:
    """The value that a loop runs through, even if its body assigns another one to the variable."""
    return Saved(value=value, type=value.type, why=value.why) if isinstance(value, Local) else once(value)


def _counted(kind: str, bounds: tuple[Expr, ...], line: int) -> Iterable:
    """``range(*bounds)``, in numbers of the type ``kind``."""
    zero, one = (Const(type=kind, value=types.DTYPE[kind].type(n)) for n in (0, 1))
    return Iterable(RANGE, (zero, *bounds, one) if len(bounds) == 1 else (*bounds, one)[:3], line)


def _row(x: Context, node: ast.expr, array: Expr, index: Expr) -> Expr:
    """``array[index]``: an element, or a part of an array of more dimensions."""
    return x.load(node, array, (index,)) if array.array_type.ndim == 1 else x.part(node, array, [index])


def _indices(x: Context, node: ast.Call, with_elements: bool) -> Iterated:
    """``np.ndindex(shape)``; ``np.ndenumerate(array)``, which also gives the elements."""
    if node.keywords or not node.args or (with_elements and len(node.args) > 1):
        refuse(
            node,
            f"{ast.unparse(node.func)}() takes {'an array' if with_elements else 'sizes or a shape'}, without names",
        )
    packages.check("np.ndenumerate" if with_elements else "np.ndindex", ())
    given = [x.expr(part) for part in node.args]
    array = _kept(given[0])
    if with_elements:
        if not (isinstance(array.type, ArrayType) and array.type.ndim):
            refuse(node, f"{ast.unparse(node.args[0])} is {describe_type(array.type)}, not an array with dimensions")
        sizes: tuple[Expr, ...] = tuple(x.dimension(node, array, axis) for axis in range(array.type.ndim))
    else:
        sizes = tuple(
            part for value in given for part in (items(value) if isinstance(value.type, TupleType) else (value,))
        )
    if not all(isinstance(size.type, str) and types.is_int(size.type) for size in sizes) or not sizes:
        refuse(node, f"the sizes in {ast.unparse(node)} must be integers; convert them with int()")
    sizes = tuple(_kept(cast(size, "int64")) for size in sizes)

    def product(a: Expr, b: Expr) -> Expr:
        return applied(BINARY["Mult"], (a, b), "int64", node.lineno)

    def part(path: tuple[int, ...], axis: int) -> Expr:
        """The index in one dimension, of the number of an iteration."""
        here: Expr = LoopValue(path=path, type="int64")
        inner = reduce(product, sizes[axis + 1 :], cast(x.number(1), "int64"))
        here = applied(INTEGER_QUOTIENT, (here, inner), "int64", node.lineno)
        return applied(BINARY["Mod"], (here, sizes[axis]), "int64", node.lineno) if axis else here

    def found(path: tuple[int, ...]) -> Expr:
        indices = tuple(once(part(path, axis)) for axis in range(len(sizes)))
        return tuple_of((tuple_of(indices), x.load(node, array, indices))) if with_elements else tuple_of(indices)

    return Iterated(_counted("int64", (reduce(product, sizes),), node.lineno), found)


def _range(x: Context, node: ast.Call) -> Iterated:
    check_arguments(node, "a stop, or a start and a stop, and perhaps a step", 1, 2, 3)
    given = [x.scalar(a) for a in node.args]
    kind = types.range_type([str(a.type) for a in given])
    through = _counted(kind, tuple(cast(a, kind) for a in given), node.lineno)
    return Iterated(through, lambda path: LoopValue(path=path, type=kind))


def _enumerate(x: Context, node: ast.Call) -> Iterated:
    check_arguments(node, "an iterable, and perhaps the first number", 1, 2)
    inner = iterated(x, node.args[0])
    start = x.number(0) if len(node.args) == 1 else x.scalar(node.args[1])
    if not types.is_int(str(start.type)):
        refuse(node, f"enumerate() counts from {ast.unparse(node.args[1])}, which is {start.type}; give an integer")
    return Iterated(
        Iterable(NUMBERED, (inner.iterable, _kept(cast(start, "int64"))), node.lineno),
        lambda path: tuple_of((LoopValue(path=(*path, 0), type="int64"), inner.item((*path, 1)))),
    )


def _zip(x: Context, node: ast.Call) -> Iterated:
    if node.keywords or not node.args:
        refuse(node, "zip() takes iterables, such as zip(a, b)")
    parts = [iterated(x, a) for a in node.args]
    return Iterated(
        Iterable(TOGETHER, tuple(p.iterable for p in parts), node.lineno),
        lambda path: tuple_of(tuple(p.item((*path, i)) for i, p in enumerate(parts))),
    )
