"""Types as those of numba, where no package that has them is installed: for signatures, and for arrays in a kernel.

A type is called as numba's is: with types it makes a signature, ``void(float32[:], int64)``; with a number it converts
the number. ``float32[:, ::1]`` is the type of an array. Texts are those of numba.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .value_types import DTYPE


class NumbaType:
    """A type; two with one name are equal."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __call__(self, *arguments: Any) -> Any:
        if all(isinstance(each, NumbaType) for each in arguments):
            return NumbaSignature(self, arguments)
        raise TypeError(f"{self} converts no value outside a kernel")

    def __getitem__(self, index: Any) -> NumbaArray:
        """Return the type of an array: ``[:, :]``, in C order ``[:, ::1]``, in Fortran's ``[::1, :]``."""
        dimensions = index if isinstance(index, tuple) else (index,)
        if not dimensions or not all(isinstance(each, slice) for each in dimensions):
            raise KeyError(f"can only index numba types with slices with no start or stop, got {index!r}")
        if dimensions[-1].step == 1:
            layout = "C"
        else:
            layout = "F" if dimensions[0].step == 1 else "A"
        return NumbaArray(self, len(dimensions), layout)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, NumbaType) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return self.name


class NumbaScalar(NumbaType):
    """The type of a number. ``bitwidth`` is its size in bits, ``dtype_of_numpy`` its type in NumPy."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.dtype_of_numpy = DTYPE[name]
        self.bitwidth = 8 * self.dtype_of_numpy.itemsize

    def __call__(self, *arguments: Any) -> Any:
        if all(isinstance(each, NumbaType) for each in arguments):  # also of none
            return NumbaSignature(self, arguments)
        (value,) = arguments
        return self.dtype_of_numpy.type(value)

    def cast_python_value(self, value: Any) -> Any:
        """Return the number in this type."""
        return self(value)


class NumbaArray(NumbaType):
    """The type of an array. ``layout`` is C or F for one without gaps in that order, else A."""

    def __init__(self, dtype: NumbaType, ndim: int, layout: str, readonly: bool = False, aligned: bool = True) -> None:
        self.dtype, self.ndim, self.layout = dtype, ndim, layout
        self.mutable = not readonly
        self.aligned = aligned
        words = f"{'readonly ' * readonly}{'' if aligned else 'unaligned '}array"
        super().__init__(f"{words.strip()}({dtype}, {ndim}d, {layout})")

    def copy(self, **changed: Any) -> NumbaArray:
        """Return the type with other values of dtype, ndim, layout or readonly."""
        own: dict[str, Any] = {
            "dtype": self.dtype,
            "ndim": self.ndim,
            "layout": self.layout,
            "readonly": not self.mutable,
        }
        return NumbaArray(**(own | changed))


class NumbaTuple(NumbaType):
    """The type of a tuple of ``types``."""

    def __init__(self, types: Sequence[NumbaType]) -> None:
        self.types, self.count = tuple(types), len(types)
        uniform = len({*self.types}) == 1
        items = f"{self.types[0]} x {self.count}" if uniform else ", ".join(map(str, types))
        super().__init__(f"{'Uni' * uniform}Tuple({items})")


def uni_tuple(dtype: NumbaType, count: int) -> NumbaTuple:
    """Return the type of a tuple of ``count`` items of one type."""
    return NumbaTuple((dtype,) * count)


@dataclass(frozen=True)
class NumbaSignature:
    """The types of the result and of the arguments of a function."""

    return_type: NumbaType
    args: tuple[NumbaType, ...]

    def __repr__(self) -> str:
        return f"({', '.join(map(str, self.args))}) -> {self.return_type}"


NONE = NumbaType("none")
SCALARS = {name: NumbaScalar(name) for name in DTYPE}
_OTHER_NAMES = {
    "bool": "b1 bool_ boolean",
    "int8": "i1 char",
    "int16": "i2 short",
    "int32": "i4 intc",
    "int64": "i8 int_ intp long_ longlong ssize_t",
    "uint8": "u1 byte uchar",
    "uint16": "u2 ushort",
    "uint32": "u4 uintc",
    "uint64": "u8 uint uintp ulong ulonglong size_t",
    "float16": "f2",
    "float32": "f4",
    "float64": "f8 double",
    "complex64": "c8",
    "complex128": "c16",
}
#: The types of numba by all of their names.
TYPES: dict[str, NumbaType] = {
    **SCALARS,
    **{other: SCALARS[name] for name, others in _OTHER_NAMES.items() for other in others.split()},
    "none": NONE,
    "void": NONE,
}
#: Names that numba_cuda_mlir.types has beside these: there, a number counts bits.
OF_MLIR: dict[str, NumbaType] = {
    **{f"i{bits}": SCALARS[f"int{bits}"] for bits in (8, 16, 32, 64)},
    **{f"u{bits}": SCALARS[f"uint{bits}"] for bits in (8, 16, 32, 64)},
    **{f"f{bits}": SCALARS[f"float{bits}"] for bits in (16, 32, 64)},
}
CLASSES: dict[str, Any] = {"Array": NumbaArray, "Tuple": NumbaTuple, "UniTuple": uni_tuple}


def of_dtype(dtype: Any) -> NumbaType:
    """Return the type of a NumPy type. Raises NotImplementedError for one that is no number's."""
    name = np.dtype(dtype).name
    if name not in SCALARS:
        raise NotImplementedError(f"{np.dtype(dtype)} cannot be represented as a type of a number")
    return SCALARS[name]


def typeof(value: Any) -> NumbaType:
    """Return the type of a number, an array or a tuple, as a launch takes it. Raises ValueError for other values."""
    if isinstance(value, np.ndarray):
        layout = "A"
        if value.flags.c_contiguous:
            layout = "C"
        elif value.flags.f_contiguous:
            layout = "F"
        return NumbaArray(of_dtype(value.dtype), value.ndim, layout, not value.flags.writeable, value.flags.aligned)
    if isinstance(value, np.generic):
        return of_dtype(value.dtype)
    if isinstance(value, tuple):
        return NumbaTuple([*map(typeof, value)])
    if value is None:
        return NONE
    if isinstance(value, int) and not isinstance(value, bool):
        return SCALARS["int64" if -(2**63) <= value < 2**63 else "uint64"]
    for kind, name in ((bool, "bool"), (float, "float64"), (complex, "complex128")):
        if isinstance(value, kind):
            return SCALARS[name]
    raise ValueError(f"Cannot determine the type of {type(value)}")


def normalize_signature(given: Any) -> tuple[tuple[NumbaType, ...], NumbaType | None]:
    """Return the types of the arguments, and of the result, or None, of a text, a tuple of types, or a signature.

    Raises TypeError for what is none.
    """
    made = _evaluated(given) if isinstance(given, str) else given
    if isinstance(made, tuple) and all(isinstance(each, NumbaType) for each in made):
        return made, None
    if isinstance(made, NumbaSignature):
        return made.args, made.return_type
    raise TypeError(f"invalid signature: {given!r}")


def _evaluated(text: str) -> Any:
    """Return what a text says, in which only types are written. Nothing else is computed."""
    try:
        return _value(ast.parse(text.strip(), mode="eval").body)
    except (SyntaxError, KeyError, ValueError, TypeError):
        raise TypeError(f"invalid signature: {text!r}") from None


def _value(node: ast.expr | None) -> Any:
    match node:
        case None:
            return None
        case ast.Constant(int() | str() as value):
            return value
        case ast.Name(name):
            return CLASSES[name] if name in CLASSES else TYPES[name]
        case ast.Attribute(ast.Name("types" | "numba" | "nb"), name):
            return CLASSES[name] if name in CLASSES else TYPES[name]
        case ast.Subscript(owner, index):
            return _value(owner)[_value(index)]
        case ast.Slice(lower, upper, step) if lower is upper is None:
            return slice(None, None, _value(step))
        case ast.Tuple(parts) | ast.List(parts):
            return tuple(map(_value, parts))
        case ast.Call(called, given, []):
            return _value(called)(*map(_value, given))
    raise ValueError


def vector(name: str) -> tuple[str, int] | None:
    """Return the type and the number of the items of a vector type by numba's name, float32x4; None for others."""
    found = re.fullmatch(r"((?:u?int|float)\d+)x([1-4])", name)
    return (found[1], int(found[2])) if found and found[1] in DTYPE else None


_OF_CUDA = {
    **{"char": "int8", "short": "int16", "int": "int32", "long": "int64", "longlong": "int64"},
    **{"uchar": "uint8", "ushort": "uint16", "uint": "uint32", "ulong": "uint64", "ulonglong": "uint64"},
    **{"half": "float16", "float": "float32", "double": "float64"},
}
#: numba's name of each vector type by all of its names: ``float4`` and ``float32x4`` are float32x4.
VECTORS = {
    f"{other}{count}": f"{name}x{count}"
    for kind, name in _OF_CUDA.items()
    for count in range(1, 5)
    for other in (kind, f"{name}x")
}
