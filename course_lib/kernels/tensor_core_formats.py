"""The numbers that tensor cores multiply: TF32 and bfloat16, each with fewer fraction bits than float32.

How to call them, what must hold, and the source: instructions.md in this folder.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from . import llvm
from .intrinsics import declared

#: The bits of a float32's fraction that TF32 and bfloat16 lack.
TF32_DROPPED, BFLOAT16_DROPPED = 13, 16
#: The bytes of a line of a cache.
LINE_BYTES = 128


def cut_to_tf32(x: Any) -> Any:
    """Return the float32 array x without the bits that TF32 lacks, as a tensor core takes them."""
    bits = np.asarray(x, np.float32).view(np.uint32)
    return (bits & np.uint32(2**32 - (1 << TF32_DROPPED))).view(np.float32)


def round_to_tf32(x: Any) -> Any:
    """Return the float32 values nearest to those of the float32 array x that TF32 holds, ties away from zero.

    A NaN loses its last 13 bits, as on a GPU, and one that has no others becomes an infinity.
    """
    x = np.asarray(x, np.float32)
    half = np.where(np.isnan(x), 0, 1 << (TF32_DROPPED - 1)).astype(np.uint32)
    return cut_to_tf32((x.view(np.uint32) + half).view(np.float32))


def to_bfloat16(x: Any) -> Any:
    """Return the bits (uint16) of the bfloat16 nearest to each number of x, as float32; ties to the even neighbour."""
    x = np.asarray(x, np.float32)
    bits = x.view(np.uint32)
    even = (bits >> np.uint32(BFLOAT16_DROPPED)) & np.uint32(1)
    rounded = (bits + np.uint32((1 << (BFLOAT16_DROPPED - 1)) - 1) + even) >> np.uint32(BFLOAT16_DROPPED)
    return np.where(np.isnan(x), np.uint32(0x7FFF), rounded).astype(np.uint16)


def from_bfloat16(bits: Any) -> Any:
    """Return the float32 values of the bfloat16 `bits` (uint16)."""
    return (np.asarray(bits, np.uint16).astype(np.uint32) << np.uint32(BFLOAT16_DROPPED)).view(np.float32)


def to_float16(x: Any) -> Any:
    """Return the bits (uint16) of the float16 nearest to each number of x; ties to the even neighbour."""
    return np.asarray(x).astype(np.float16).view(np.uint16)


def from_float16(bits: Any) -> Any:
    """Return the float32 numbers that the float16 `bits` (uint16) are."""
    return np.asarray(bits, np.uint16).view(np.float16).astype(np.float32)


def with_whole_lines(X: Any) -> Any:
    """Return the matrix X with zeros after its rows, so that each begins on a 128-byte boundary."""
    X = np.asarray(X)
    return np.pad(X, ((0, 0), (0, -X.shape[1] % (LINE_BYTES // X.itemsize))))


def as_tf32(X: Any, rounded: bool = False, **params: Any) -> Any:
    """Return the float32 numbers that a float32 matrix becomes in TF32."""
    return round_to_tf32(X) if rounded else cut_to_tf32(X)


def _rounded(to: Callable[[Any], Any], of: Callable[[Any], Any]) -> Callable[..., Any]:
    """Return the function that gives the float32 numbers which a float32 matrix becomes in a format."""
    return lambda X, **params: of(to(X))


as_bfloat16, as_float16 = _rounded(to_bfloat16, from_bfloat16), _rounded(to_float16, from_float16)


def lines_of_bfloat16(X: Any) -> Any:
    """Return a float32 matrix in bfloat16, each row on a 128-byte boundary."""
    return with_whole_lines(to_bfloat16(X))


def lines_of_float16(X: Any) -> Any:
    """Return a float32 matrix in float16, each row on a 128-byte boundary."""
    return with_whole_lines(to_float16(X))


def _to_tf32(x):
    return round_to_tf32(np.float32(x))[()]


def _simulated_type(x):
    """Return the type of to_tf32(x) in the simulator."""
    if x != "float32":
        raise TypeError(f"takes a float32, not {x}; convert it")
    return x


@declared(("lane", round_to_tf32, _simulated_type), _to_tf32)
def to_tf32(typingctx, x):
    """Return the float32 nearest to the float32 x that TF32 holds."""
    return llvm.tensor_core.rounded(x)
