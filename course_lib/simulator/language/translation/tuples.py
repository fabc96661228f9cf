"""Tuples.

If the items of a tuple are separate expressions (:class:`~.nodes.MakeTuple`), an item is selected at compile time;
only an index that is computed at run time is looked up then.
"""

import ast

from ...formatting import plural
from ..program.builders import after, literal_integer, reusable, reusable_items, tuple_of
from ..program.nodes import After, Apply, Const, Expr, Item, MakeTuple
from ..source.errors import refuse
from ..types.float64_reasons import Why, item_why
from ..types.value_types import SCALARS, TupleType, Type, describe_type, is_int
from .translation import Translation


def make(translation: Translation, node: ast.Tuple) -> Expr:
    values: list[Expr] = []
    for element in node.elts:
        values += unpacked(translation, element)
    return tuple_of(tuple(values))


def unpacked(translation: Translation, node: ast.expr) -> tuple[Expr, ...]:
    """The value of ``node``, or the items of the tuple after a star."""
    if not isinstance(node, ast.Starred):
        return (translation.expr(node),)
    value = translation.expr(node.value)
    if not isinstance(value.type, TupleType):
        refuse(node, f"{ast.unparse(node)} unpacks {describe_type(value.type)}; only a tuple's items are known")
    return items(reusable_items(value))


def item(value: Expr, i: int) -> Expr:
    """Item ``i`` of a tuple, after the effects of the others."""
    if isinstance(value, After):
        return after(value.first, item(value.value, i))
    if isinstance(value, MakeTuple):
        others = [other for other in value.items if other is not value.items[i]]
        if any(other.must_be_evaluated for other in others):
            value = reusable_items(value)
            assert isinstance(value, MakeTuple)
            return after(value.items, value.items[i])
        return value.items[i]
    return Item(value=value, index=i, type=value.tuple_type.items[i], why=item_why(value.why, i))


def items(value: Expr) -> tuple[Expr, ...]:
    """The items of a tuple; the tuple is evaluated once."""
    if isinstance(value, MakeTuple):
        return value.items
    kept = reusable(value)
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


def item_of(translation: Translation, node: ast.AST, owner: Expr, index_tree: ast.expr) -> Expr:
    """``owner[index_tree]`` of a tuple: an item or a slice."""
    count = len(owner.tuple_type.items)
    text = ast.unparse(node)
    if isinstance(index_tree, ast.Slice):
        bounds: list[int | None] = []
        for part in (index_tree.lower, index_tree.upper, index_tree.step):
            bound = None if part is None else constant_integer(translation.expr(part))
            if part is not None and bound is None:
                refuse(node, f"{text}: the bounds of a tuple's slice must be literal integers, as in t[0:2]")
            bounds.append(bound)
        owner = reusable_items(owner)
        return after((owner,), tuple_of(items(owner)[slice(*bounds)]))
    index = translation.integer_index(node, index_tree, translation.scalar(index_tree))
    known = constant_integer(index)
    if known is not None:
        if not -count <= known < count:
            refuse(node, f"{text}: the tuple has {plural(count, 'item')}; its numbers begin at 0")
        return item(owner, known % count)
    kind = item_type(owner, getattr(node, "value", node))
    quoted = repr(text).replace("{", "{{").replace("}", "}}")
    code = f"item_at({{0}}, {{1}}, warp.full, {{mask}}, {{line}}, {quoted})"
    return Apply(
        code=code,
        args=(owner, index),
        type=kind,
        line=getattr(node, "lineno", 0),
        why=any_why(owner),
        diverging_arrays=kind not in SCALARS,
    )


def constant_integer(value: Expr) -> int | None:
    """The integer that ``value`` is known to be when the kernel is compiled; None for other values."""
    if isinstance(value, Const) and isinstance(value.type, str) and is_int(value.type):
        return int(value.value)
    return None


def combined(node: ast.AST, op: str, left: Expr, right: Expr) -> Expr:
    """An operator between tuples; only concatenation exists."""
    if op == "Add" and isinstance(left.type, TupleType) and isinstance(right.type, TupleType):
        left, right = reusable_items(left), reusable_items(right)
        a, b = items(left), items(right)
        return tuple_of(a + b) if a and b else after((left, right), tuple_of(a + b))
    if op == "Mult" and isinstance(left.type, TupleType) and (times := literal_integer(right)) is not None:
        left = reusable_items(left)
        return after((left,), tuple_of(items(left) * times))
    refuse(
        node,
        f"{ast.unparse(node)}: the operands are {describe_type(left.type)} and {describe_type(right.type)}; + joins "
        "two tuples, * repeats one by a literal, anything else needs their items",
    )
