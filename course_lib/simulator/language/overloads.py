"""Python functions that have an implementation for kernels by numba's ``@overload``."""

from __future__ import annotations

import sys
from types import FunctionType
from typing import Any

from .packages import NUMBA_CUDA, installed
from .types import NONE, ArrayType, RecordsType, TupleType, Type

#: The targets whose implementations a kernel takes, the best first.
TARGETS = ("cuda", "generic")


def implementation(function: FunctionType, kinds: tuple[Type, ...]) -> FunctionType | None:
    """The function that numba compiles in place of ``function`` for arguments of these types; None if there is none.

    One that depends on the values of literals (``prefer_literal``) is not chosen.
    """
    templates = [
        template
        for home in ("numba.core.typing.templates", "numba.cuda.typing.templates")
        for known, kind in getattr(getattr(sys.modules.get(home), "builtin_registry", None), "globals", ())
        if known is function
        for template in getattr(kind, "templates", ())
    ]
    if not templates:
        return None
    types = sys.modules["numba.cuda.types" if installed() == NUMBA_CUDA else "numba.core.types"]
    given = [_numba_type(types, kind) for kind in kinds]
    for target in TARGETS:
        for template in templates:
            choose = None if getattr(template, "prefer_literal", False) else getattr(template, "_overload_func", None)
            if choose is not None and template.metadata.get("target", "cpu") == target and None not in given:
                found = choose(*given)
                if isinstance(found, FunctionType):
                    return found
    return None


def _numba_type(types: Any, kind: Type) -> Any:
    """numba's type of a value, None if it has none here."""
    if isinstance(kind, ArrayType):
        return types.Array(_numba_type(types, kind.dtype), kind.ndim, "A" if kind.view else "C")
    if isinstance(kind, TupleType):
        items = [_numba_type(types, item) for item in kind.items]
        return None if None in items else types.Tuple.from_types(items)
    if isinstance(kind, RecordsType):
        return None
    return types.none if kind == NONE else getattr(types, {"bool": "boolean"}.get(kind, kind), None)
