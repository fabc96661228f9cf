"""The types of a kernel's values. A scalar's type is the name of its dtype."""

from dataclasses import dataclass

import numpy as np

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
SCALARS = ("bool", *SIGNED, *UNSIGNED, *FLOATS, *COMPLEX)
#: Types of double precision.
DOUBLE = ("float64", "complex128")
#: Types that numba converts safely to float32.
SMALL = ("bool", "int8", "int16", "uint8")
DTYPE = {name: np.dtype(name) for name in SCALARS}
#: The type of the parts of a complex number.
PART = {"complex64": "float32", "complex128": "float64"}


@dataclass(frozen=True)
class ArrayType:
    """The type of an array: the name of its dtype and its number of dimensions; ``view``: it is a part of one."""

    dtype: str
    ndim: int
    view: bool = False

    def __str__(self) -> str:
        return f"a {self.ndim}-dimensional array of {self.dtype}"


@dataclass(frozen=True)
class TupleType:
    """The type of a tuple: the types of its items, and their names if it is a namedtuple."""

    items: "tuple[Type, ...]"
    fields: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"a tuple ({', '.join(map(describe_type, self.items))})" if self.items else "an empty tuple"


@dataclass(frozen=True)
class RecordsType:
    """The type of an array of records, or of one record (``ndim`` is 0): those of the fields' arrays, by name."""

    items: tuple[ArrayType, ...]
    fields: tuple[str, ...]
    ndim: int

    @property
    def noun(self) -> str:
        return "array of records" if self.ndim else "record"

    def __str__(self) -> str:
        return f"a {self.ndim}-dimensional array of records" if self.ndim else "a record"


@dataclass(frozen=True)
class OptionalType:
    """The type of what is a number or an array in some threads, and None in the others."""

    of: str | ArrayType

    def __str__(self) -> str:
        return f"{self.of} or None"


Type = str | ArrayType | TupleType | RecordsType | OptionalType
#: The type of None.
NONE = "none"
#: The type of a variable whose versions cannot be unified where control flow merges.
CONFLICT = "conflict"
#: The type of what exists only while the kernel is compiled: a module, a function, a type, ``cuda.threadIdx``.
COMPILE_TIME = "compile-time"


class FromEnd(np.int64):
    """An index that the source writes as a negative constant: it is meant to count from the end, as in ``x[-1]``."""


class TypingError(Exception):
    """The operator is not defined for these types, as in numba."""


def is_int(t: str) -> bool:
    return t in SIGNED or t in UNSIGNED


def is_float(t: str) -> bool:
    return t in FLOATS


def is_complex(t: str) -> bool:
    return t in COMPLEX


def bit_width(t: str) -> int:
    return 8 * DTYPE[t].itemsize


def describe_type(kind: Type) -> str:
    """The name of ``kind`` in messages."""
    if kind == COMPILE_TIME:
        return "an object that a kernel cannot compute with"
    return "None" if kind == NONE else str(kind)
