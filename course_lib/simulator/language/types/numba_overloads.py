"""Python functions that have an implementation for kernels by numba's ``@overload``."""

import sys
from collections.abc import Sequence
from inspect import getfullargspec, signature
from types import FunctionType
from typing import Any

from ..source.packages import NUMBA_CUDA, installed
from .value_types import NONE, ArrayType, OptionalType, RecordsType, TupleType, Type

#: The targets whose implementations a kernel takes, the best first.
TARGETS = ("cuda", "generic")
#: The type of an argument that is a function.
FUNCTION = "function"


def templates(function: object) -> list[Any]:
    """The implementations that numba knows of a function."""
    found: list[Any] = []
    for home in ("numba.core.typing.templates", "numba.cuda.typing.templates"):
        registry = getattr(sys.modules.get(home), "builtin_registry", None)
        for known, kind in getattr(registry, "globals", ()):
            if known is function:
                found += getattr(kind, "templates", ())
    return found


def implementation(function: object, kinds: Sequence[Type], named: dict[str, Type]) -> FunctionType | None:
    """The function that numba compiles in place of ``function`` for arguments of these types; None if there is none.

    It has the parameters of its overload, unless that is not strict, and does not depend on the values of literals
    (``prefer_literal``).
    """
    types = sys.modules["numba.cuda.types" if installed() == NUMBA_CUDA else "numba.core.types"]
    given = [_numba_type(types, kind) for kind in kinds]
    by_name = {name: _numba_type(types, kind) for name, kind in named.items()}
    if None in (*given, *by_name.values()):
        return None
    for target in TARGETS:
        for template in templates(function):
            choose = getattr(template, "_overload_func", None)
            if choose is None or getattr(template, "prefer_literal", False):
                continue
            if template.metadata.get("target", "generic") != target:
                continue
            try:
                signature(choose).bind(*given, **by_name)
            except TypeError:  # this one takes other arguments
                continue
            found = choose(*given, **by_name)
            if not isinstance(found, FunctionType):
                continue
            same_parameters = getfullargspec(found)[:4] == getfullargspec(choose)[:4]
            if same_parameters or not getattr(template, "_strict", True):
                return found
    return None


def _numba_type(types: Any, kind: Type) -> Any:
    """numba's type of a value, None if it has none here."""
    if isinstance(kind, ArrayType):
        return types.Array(_numba_type(types, kind.dtype), kind.ndim, "A" if kind.view else "C")
    if isinstance(kind, TupleType):
        items = [_numba_type(types, item) for item in kind.items]
        return None if None in items else types.Tuple.from_types(items)
    if isinstance(kind, OptionalType):
        return types.Optional(_numba_type(types, kind.of))
    if isinstance(kind, RecordsType):
        return None
    if kind == FUNCTION:
        return types.Opaque(kind)
    if kind == NONE:
        return types.none
    name = "boolean" if kind == "bool" else kind
    return getattr(types, name, None)
