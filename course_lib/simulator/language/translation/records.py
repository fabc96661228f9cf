"""Arrays of records: an array for each field, under one index."""

import ast
from dataclasses import replace

from ..program.builders import elementwise, reusable, reusable_items, store
from ..program.nodes import Expr, Item, MakeTuple, MakeView, Slice
from ..source.errors import refuse
from ..types.value_types import ArrayType, RecordsType
from .translation import Translation, unchanged


def field(node: ast.expr, owner: Expr, name: str) -> Expr:
    """The array of a field; of one record, the field as a part of that array without dimensions."""
    kind = owner.type
    assert isinstance(kind, RecordsType)
    if name not in kind.fields:
        refuse(node, f"{ast.unparse(node)}: this {kind.noun} has the fields {', '.join(kind.fields)}; name one of them")
    index = kind.fields.index(name)
    if isinstance(owner, MakeTuple):
        return owner.items[index]
    of = kind.items[index]
    array = Item(value=owner, index=index, type=of)
    if kind.ndim or of.view:
        return array
    by_value = replace(of, view=True)
    return MakeView(array=array, parts=(Slice(),) * of.ndim, type=by_value, line=node.lineno)


def of_numbers(node: ast.expr, owner: Expr) -> tuple[Expr, ArrayType]:
    """The array of the first field that is a number: it has the shape of the array of records."""
    kind = owner.type
    assert isinstance(kind, RecordsType)
    for name, of in zip(kind.fields, kind.items, strict=True):
        if of.ndim == kind.ndim:
            return field(node, owner, name), of
    refuse(node, f"all fields of {ast.unparse(node)} are arrays, and the simulator does not know its size; pass it")


def copies(translation: Translation, target: ast.Subscript, value: Expr) -> list[Expr]:
    """The stores of a whole record, or of an array to a field that is one; empty for other assignments."""
    base = translation.expr(target.value)
    if not isinstance(base.type, RecordsType) or not isinstance(value.type, (ArrayType, RecordsType)):
        return []
    owner = at(translation, target, base)
    text = ast.unparse(target)
    kind, have = owner.type, value.type
    if isinstance(kind, RecordsType) and isinstance(have, RecordsType) and not kind.ndim:
        if _layout(kind) != _layout(have):
            refuse(target, f"{text} takes a record with the same names and types alone; store each field")
        value = reusable_items(value)
        stores = []
        for name in kind.fields:
            to = field(target, owner, name)
            of = field(target, value, name)
            stores.append(_copy_of_field(translation, target, to, of))
        return stores
    if isinstance(kind, ArrayType) and isinstance(have, ArrayType) and kind.ndim:
        if (kind.dtype, kind.ndim) != (have.dtype, have.ndim):
            refuse(target, f"{text} is {kind}, and is given {have}; copy single elements in a loop")
        return [_copy_of_field(translation, target, owner, value)]
    return []


def _layout(kind: RecordsType) -> list[tuple[str, str, int]]:
    """The name, dtype and number of dimensions of each field: two records with the same can be copied."""
    return [(name, of.dtype, of.ndim) for name, of in zip(kind.fields, kind.items, strict=True)]


def _copy_of_field(translation: Translation, target: ast.Subscript, to: Expr, of: Expr) -> Expr:
    """The store of one field: a number, or an array element by element."""
    if not to.array_type.ndim:
        return store(to, (), translation.load(target, of, ()), target.lineno)
    return elementwise(to, unchanged, (of,), target.lineno, exact=True)


def at(translation: Translation, node: ast.Subscript, owner: Expr) -> Expr:
    """``owner["field"]``, or the record ``owner[i, j]``."""
    kind, index = owner.type, node.slice
    assert isinstance(kind, RecordsType)
    name = index.value if isinstance(index, ast.Constant) else translation.constant_object(index)
    if isinstance(name, str) or not kind.ndim:
        return field(node, owner, str(name))
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    if len(parts) != kind.ndim or any(isinstance(part, ast.Slice) for part in parts):
        refuse(node, f"{ast.unparse(node)} is a part of an array of records; give one index for each dimension")
    arrays = reusable(owner)
    indices = [reusable(translation.integer_index(node, part, translation.scalar(part))) for part in parts]
    return record(translation, node, arrays, indices)


def record(translation: Translation, node: ast.expr, arrays: Expr, indices: list[Expr]) -> Expr:
    """One record of an array of them, as a part of each field's array."""
    kind = arrays.type
    assert isinstance(kind, RecordsType)
    fields = [field(node, arrays, name) for name in kind.fields]
    views = tuple(translation.view_of(node, array, [*indices]) for array in fields)
    kinds = tuple(view.type for view in views if isinstance(view.type, ArrayType))
    return MakeTuple(items=views, type=RecordsType(kinds, kind.fields, 0))
