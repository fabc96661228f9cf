"""The types of a kernel's values, and numba's rules for them on the CUDA target.

A scalar's type is the name of its dtype.

The rules are those of numba's typing, operator by operator; ``tests/simulator/test_typing_oracle.py`` compares
them. They differ from NumPy's: ``int32 * int32`` is int64, ``float32 * int32`` is float64 and
``uint64 + int64`` is int64.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache

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


def bits(t: str) -> int:
    return 8 * DTYPE[t].itemsize


#: numba's names of the qualities of a conversion, the best first.
EXACT, PROMOTE, SAFE, UNSAFE = ("exact", "promote", "safe", "unsafe")


def conversion(have: str, want: str) -> str | None:
    """The quality of a conversion of numbers; None if there is none, from a complex number to a real one."""
    if have == want:
        return EXACT
    if is_complex(have) and not is_complex(want):
        return None
    if (is_complex(have) and is_complex(want)) or (is_float(have) and is_float(want)):
        return PROMOTE if bits(have) < bits(want) else UNSAFE
    if is_complex(want):
        return UNSAFE if conversion(have, PART[want]) == UNSAFE else SAFE
    if is_float(want):
        return SAFE if have in {"float64": SCALARS, "float32": SMALL, "float16": ("bool", "int8")}[want] else UNSAFE
    if not is_int(have) or not is_int(want) or bits(have) >= bits(want):
        return SAFE if have == "bool" else UNSAFE
    if (have in SIGNED) == (want in SIGNED):
        return PROMOTE
    return SAFE if have in UNSIGNED else UNSAFE


Cost = tuple[int, int, int]


def cost(given: Sequence[str], wanted: Sequence[str]) -> Cost | None:
    """Count the arguments that convert unsafely, safely and by promotion; None if one does not convert."""
    found = [conversion(have, want) for have, want in zip(given, wanted, strict=True)]
    return None if None in found else (found.count(UNSAFE), found.count(SAFE), found.count(PROMOTE))


_INTEGERS, _REALS = "qq->q qQ->q Qq->q QQ->Q", "ff->f dd->d"
_NUMBERS = f"ee->e {_REALS} FF->F DD->D"
#: The operators that take bits, of integers alone.
BITS = ("BitAnd", "BitOr", "BitXor", "LShift", "RShift")
#: numba's overloads of each operator, by its name in Python's syntax tree; see :func:`best`.
BINARY = {
    **dict.fromkeys(("Add", "Sub", "Mult"), f"{_INTEGERS} {_NUMBERS}"),
    "Div": f"qq->d QQ->d {_NUMBERS}",
    **dict.fromkeys(("FloorDiv", "Mod"), f"{_INTEGERS} {_REALS}"),
    "Pow": f"{_INTEGERS} fi->f fq->f fQ->f di->d dq->d dQ->d {_REALS} FF->F DD->D",
    **dict.fromkeys(BITS[:3], f"??->? {_INTEGERS}"),
    **dict.fromkeys(BITS[3:], "qq->q qQ->q Qq->Q QQ->Q"),
}


@cache
def best(overloads: str, *given: str, unsafe: bool = True) -> tuple[str, tuple[str, ...]]:
    """The overload to which ``given`` converts best, if need be ``unsafe``: its result and its arguments.

    ``overloads`` are such as "ff->f dd->d", in NumPy's letters. Raises TypingError if there is none.
    """
    found: dict[Cost, tuple[str, tuple[str, ...]]] = {}
    for overload in overloads.split():
        *wanted, result = (np.dtype(letter).name for letter in overload.replace("->", ""))
        rating = cost(given, wanted)
        if rating is not None and (unsafe or not rating[0]):
            found.setdefault(rating, (result, tuple(wanted)))  # of two that are equal, numba takes the first
    if not found:
        raise TypingError(f"it does not take {' and '.join(given)}")
    return found[min(found)]


def binary(op: str, a: str, b: str) -> str:
    """The type of ``a op b``, to which numba also converts the operands."""
    with suppress(TypingError):
        return best(BINARY.get(op, ""), a, b, unsafe=False)[0]
    if is_complex(a) or is_complex(b):
        raise TypingError(f"numba has no such operator for {a} and {b}; compute with .real and .imag")
    if op not in BINARY:
        raise TypingError(f"a kernel has no operator {'@: multiply and add in a loop' if op == 'MatMult' else op}")
    what = "shifts" if op.endswith("Shift") else "bit operations"
    raise TypingError(f"{what} need integers, not {a} and {b}: convert with int()")


def comparison(a: str, b: str, order: bool = True) -> str:
    """The type in which ``a < b`` and the like compare; without ``order``, ``a == b`` and ``a != b``."""
    if order and (is_complex(a) or is_complex(b)):
        raise TypingError("complex numbers have no order; compare .real, .imag or abs()")
    return unify(a, b)


def unary(op: str, a: str) -> tuple[str, str]:
    """Types of a unary operator: (result, the type of the computation, which is then widened to the result)."""
    if op == "Not":
        return "bool", a
    if op == "Invert" and (is_float(a) or is_complex(a)):
        raise TypingError(f"~ needs an integer, not {a}: convert {'.real of it ' * is_complex(a)}with int()")
    if op == "Invert" and a == "bool":
        return "bool", "bool"
    if op == "UAdd" and a == "float16":
        return "float32", "float32"
    if is_float(a) or is_complex(a):
        return a, a
    if a == "bool":
        return "int64", "int64"
    return ("uint64" if a in UNSIGNED else "int64"), a


def unify(a: str, b: str) -> str:
    """The one type of a variable that has type ``a`` on one path and ``b`` on another (also min and max)."""
    return np.promote_types(a, b).name


def complex_result(a: str, b: str | None = None) -> str:
    """Type of ``complex(a)`` and ``complex(a, b)``."""
    for t in (a,) if b is None else (a, b):
        if t in ("bool", "float16") or b is not None and is_complex(t):
            raise TypingError(f"numba has no complex() of {t}; convert it, as in complex64({t} value)")
    return "complex64" if a == "float32" and b in (None, "float32") else "complex128"


def range_type(arguments: list[str]) -> str:
    """Type of the variable of ``for ... in range(...)``: the first to which the arguments convert best.

    numba converts a float or a bool as well, by cutting it.
    """
    if any(map(is_complex, arguments)):
        raise TypingError(f"range() takes no {' and '.join(arguments)}; take .real of it")

    return min(("int32", "int64", "uint64"), key=lambda kind: cost(arguments, [kind] * len(arguments)) or ())


def of_value(value: object) -> str | None:
    """The type numba gives a Python or NumPy scalar, or None for other objects."""
    if isinstance(value, np.generic):
        return value.dtype.name if value.dtype.name in SCALARS else None
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int64" if -(2**63) <= value < 2**63 else ("uint64" if value < 2**64 and value > 0 else None)
    return "float64" if isinstance(value, float) else "complex128" if isinstance(value, complex) else None


def unfit_records(records: np.ndarray) -> str:
    """Return why the simulator does not run these records, for a message; empty if it does."""
    for field, (kind, *_) in (records.dtype.fields or {}).items():
        kind = kind.base  # of the elements, if the field is an array
        if kind.name not in SCALARS or not kind.isnative:
            return f"holds {kind} in the field {field!r}; the simulator runs numbers and arrays of numbers"
        if any(size % kind.itemsize for size in records.strides):
            return (
                f"has a field {field!r} that is not aligned in every record; make their dtype with np.dtype(..., "
                f"align=True), and with a size that is a multiple of {kind.itemsize} bytes"
            )
    return ""


def type_of_records(records: np.ndarray) -> RecordsType:
    names = records.dtype.names or ()
    kinds = (records.dtype[name] for name in names)
    items = tuple(ArrayType(kind.base.name, records.ndim + kind.ndim) for kind in kinds)
    return RecordsType(items, names, records.ndim)


def unify_types(a: Type, b: Type) -> Type:
    """The common type of two versions of a variable, or CONFLICT."""
    if a == b:
        return a
    if isinstance(a, str) and isinstance(b, str) and a in SCALARS and b in SCALARS:
        return unify(a, b)
    if isinstance(a, TupleType) and isinstance(b, TupleType) and len(a.items) == len(b.items):
        items = tuple(unify_types(x, y) for x, y in zip(a.items, b.items, strict=True))
        return CONFLICT if CONFLICT in items else TupleType(items, a.fields if a.fields == b.fields else ())
    if isinstance(a, ArrayType) and isinstance(b, ArrayType) and (a.dtype, a.ndim) == (b.dtype, b.ndim):
        return ArrayType(a.dtype, a.ndim, view=True)
    if NONE in (a, b) or isinstance(a, OptionalType) or isinstance(b, OptionalType):
        kinds = [kind.of if isinstance(kind, OptionalType) else kind for kind in (a, b) if kind != NONE]
        of = unify_types(kinds[0], kinds[-1])
        return OptionalType(of) if of in SCALARS or isinstance(of, ArrayType) else CONFLICT
    return CONFLICT


def describe_type(kind: Type) -> str:
    """The name of ``kind`` in messages."""
    if kind == COMPILE_TIME:
        return "an object that a kernel cannot compute with"
    return "None" if kind == NONE else str(kind)
