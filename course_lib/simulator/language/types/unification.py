"""The one type of a value that has two types on two paths."""

import numpy as np

from .value_types import CONFLICT, NONE, SCALARS, ArrayType, OptionalType, TupleType, Type


def unify(a: str, b: str) -> str:
    """The one type of a variable that has type ``a`` on one path and ``b`` on another (also min and max)."""
    return np.promote_types(a, b).name


def unify_types(a: Type, b: Type) -> Type:
    """The common type of two versions of a variable, or CONFLICT."""
    if a == b:
        return a
    if a in SCALARS and b in SCALARS:
        return unify(str(a), str(b))
    if isinstance(a, TupleType) and isinstance(b, TupleType) and len(a.items) == len(b.items):
        items = tuple(unify_types(x, y) for x, y in zip(a.items, b.items, strict=True))
        if CONFLICT in items:
            return CONFLICT
        return TupleType(items, a.fields if a.fields == b.fields else ())
    if isinstance(a, ArrayType) and isinstance(b, ArrayType) and (a.dtype, a.ndim) == (b.dtype, b.ndim):
        return ArrayType(a.dtype, a.ndim, view=True)
    if NONE in (a, b) or isinstance(a, OptionalType) or isinstance(b, OptionalType):
        kinds = [kind.of if isinstance(kind, OptionalType) else kind for kind in (a, b) if kind != NONE]
        of = unify_types(kinds[0], kinds[-1])
        return OptionalType(of) if of in SCALARS or isinstance(of, ArrayType) else CONFLICT
    return CONFLICT
