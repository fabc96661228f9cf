"""The types of Python's, NumPy's and numba's objects."""

import numpy as np

from ..source.names import OTHER_NAMES, Symbol
from . import stand_in_types
from .value_types import SCALARS


def of_value(value: object) -> str | None:
    """The type numba gives a Python or NumPy scalar, or None for other objects."""
    if isinstance(value, np.generic):
        return value.dtype.name if value.dtype.name in SCALARS else None
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        if -(2**63) <= value < 2**63:
            return "int64"
        return "uint64" if 0 < value < 2**64 else None
    if isinstance(value, float):
        return "float64"
    return "complex128" if isinstance(value, complex) else None


#: Types of NumPy that are none of a number: NumPy 2.0 takes them for another type.
_ABSTRACT = (
    np.generic,
    np.number,
    np.integer,
    np.signedinteger,
    np.unsignedinteger,
    np.inexact,
    np.floating,
    np.complexfloating,
    np.flexible,
    np.character,
)


def dtype_name(obj: object) -> str | None:
    """The name of a scalar type, given as a numba type, a NumPy type or dtype, a Python type or a name."""
    if isinstance(obj, type) and obj in (int, float, bool, complex):  # a NumPy dtype may be equal to one of them
        return {int: "int64", float: "float64", bool: "bool", complex: "complex128"}[obj]
    if isinstance(obj, np.dtype) or (isinstance(obj, type) and issubclass(obj, np.generic)):
        if any(obj is each for each in _ABSTRACT):
            return None
        name = np.dtype(obj).name
    elif isinstance(obj, str):
        name = obj
    elif isinstance(obj, stand_in_types.NumbaScalar):
        name = str(obj.name)
    elif type(obj).__module__.startswith("numba") and hasattr(obj, "name"):
        name = str(obj.name)
    else:
        return None
    name = {"boolean": "bool"}.get(name, name)
    return name if name in SCALARS else None


def vector_of(obj: object) -> tuple[str, int] | None:
    """The type and the number of the items of a vector type such as ``cuda.float32x4``; None for other objects."""
    return stand_in_types.vector(str(getattr(obj, "__name__", getattr(obj, "name", ""))))


def part_of_cuda(path: tuple[str, ...], obj: object) -> object:
    """The meaning of ``cuda.<path>``: the type that ``obj`` is, else a symbol."""
    return obj if dtype_name(obj) else Symbol(OTHER_NAMES.get(path, path), obj)
