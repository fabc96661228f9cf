"""Tensor cores: the product of two small matrices as one instruction of a warp (compute capability 8.0 and later).

How to call them, what must hold, and the source: instructions.md in this folder.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from . import llvm
from .intrinsics import declared
from .tensor_core_formats import cut_to_tf32, from_bfloat16

#: The rows and columns of C, and the values of a, b and c that a lane gives.
ROWS, COLUMNS = 16, 8
A_ITEMS, B_ITEMS, C_ITEMS = 4, 2, 4
#: The number of bits that are added, from the largest exponent on; the least exponent e, with |x| < 2**e as in frexp.
SUM_BITS, LEAST_EXPONENT = 26, -125

_Q, _T = np.divmod(np.arange(32), 4)
#: Row and column of each item of c of each lane: shape (items, 32).
C_PLACES = np.array([_Q, _Q, _Q + 8, _Q + 8]), np.array([2 * _T, 2 * _T + 1, 2 * _T, 2 * _T + 1])


def _exponents(x, least=LEAST_EXPONENT):
    """Return the least e with |x| < 2**e; `least` for denormals, and for zeros that of float32's denormals."""
    return np.where(x == 0, LEAST_EXPONENT, np.maximum(np.frexp(x)[1], least))


def _towards_zero(x):
    """Return float64 values truncated to float32; those beyond float32 become infinite."""
    rounded = x.astype(np.float32)
    beyond = np.isfinite(rounded) & (np.abs(rounded.astype(np.float64)) > np.abs(x))
    return np.where(beyond, np.nextafter(rounded, np.float32(0)), rounded)


def sums_of_products(A: Any, B: Any, C: Any, least: int = LEAST_EXPONENT) -> Any:
    """Return A B + C, of arrays (…, rows, depth), (…, depth, columns) and (…, rows, columns), as tensor cores add.

    least: the exponent of the smallest normal number of A's and B's format, which its denormals count as.
    """
    A, B, C = (X.astype(np.float64, copy=False) for X in (A, B, C))
    with np.errstate(invalid="ignore", over="ignore", under="ignore"):
        A, B = A[..., :, None, :], B.swapaxes(-1, -2)[..., None, :, :]
        terms = np.concatenate([A * B, C[..., None]], axis=-1)  # exact: 11 bits by 11, or 8 by 8
        exponents = np.concatenate([_exponents(A, least) + _exponents(B, least) - 1, _exponents(C)[..., None]], axis=-1)
        last_bit = exponents.max(axis=-1, keepdims=True).clip(LEAST_EXPONENT) - SUM_BITS
        sums = np.ldexp(np.trunc(np.ldexp(terms, -last_bit)).sum(axis=-1), last_bit[..., 0])
        return _towards_zero(np.where(np.isfinite(terms).all(axis=-1), sums, terms.sum(axis=-1)))


@dataclass(frozen=True)
class Mma:
    """One instruction: its name in the compiler's language, the type of a and b, and which lane holds which element.

    A is 16×depth and B depth×8. a_places and b_places are (rows, columns) of shape (elements, 32): element i of lane l
    is A[rows[i, l], columns[i, l]]. elements(x) gives the elements, as float32, of the values of a fragment.
    """

    text: str
    operand: str
    depth: int
    a_places: tuple[np.ndarray, np.ndarray]
    b_places: tuple[np.ndarray, np.ndarray]
    elements: Callable[[np.ndarray], np.ndarray]

    @property
    def fragments(self):
        """The layout of the matrices: (name, (rows, columns), places) of A, of B, and of C, whose places D has, too."""
        return (
            ("A", (ROWS, self.depth), self.a_places),
            ("B", (self.depth, COLUMNS), self.b_places),
            ("C and D", (ROWS, COLUMNS), C_PLACES),
        )

    def of_warps(self, a: Any, b: Any, c: Any) -> Any:
        """Return D = A B + C for all lanes: tuples of arrays of shape (warps, 32), an array for each item."""
        warps = len(c[0])
        A, B = np.empty((warps, ROWS, self.depth)), np.empty((warps, self.depth, COLUMNS))
        C = np.empty((warps, ROWS, COLUMNS))
        A[:, *self.a_places] = self.elements(np.stack(a, axis=1))
        B[:, *self.b_places] = self.elements(np.stack(b, axis=1))
        C[:, *C_PLACES] = np.stack(c, axis=1)
        D = sums_of_products(A, B, C)
        return tuple(D[:, *C_PLACES].swapaxes(0, 1))

    def check(self, items, a, b, c):
        """Raise TypeError unless a, b and c are tuples of the right types; items(x) gives the names of their types."""
        operand = self.operand
        fragments = (("A", a, A_ITEMS, operand), ("B", b, B_ITEMS, operand), ("C", c, C_ITEMS, "float32"))
        for name, fragment, count, kind in fragments:
            if items(fragment) != (kind,) * count:
                raise TypeError(
                    f"the fragment of {name} is a tuple of {count} {kind}, not {fragment}; write {count} items in "
                    "parentheses, each converted"
                )

    def simulated_types(self, a, b, c):
        """Return the types of d for those of the arguments in the simulator."""
        self.check(lambda kind: kind, a, b, c)
        return c


def _halves(words):
    """Return the bfloat16 numbers of uint32 words (warps, n, 32), as float32 (warps, 2 n, 32)."""
    halves = np.stack([words & np.uint32(0xFFFF), words >> np.uint32(16)], axis=2)
    return from_bfloat16(halves.astype(np.uint16)).reshape(len(words), -1, 32)


TF32 = Mma(
    "m16n8k8.row.col.f32.tf32.tf32.f32",
    "float32",
    8,
    (np.array([_Q, _Q + 8, _Q, _Q + 8]), np.array([_T, _T, _T + 4, _T + 4])),
    (np.array([_T, _T + 4]), np.array([_Q, _Q])),
    cut_to_tf32,
)
BF16 = Mma(
    "m16n8k16.row.col.f32.bf16.bf16.f32",
    "uint32",
    16,
    (
        np.array([_Q, _Q, _Q + 8, _Q + 8] * 2),
        np.array([2 * _T, 2 * _T + 1] * 2 + [2 * _T + 8, 2 * _T + 9] * 2),
    ),
    (np.array([2 * _T, 2 * _T + 1, 2 * _T + 8, 2 * _T + 9]), np.array([_Q] * 4)),
    _halves,
)


def alone(name):
    """Return a function that raises NotImplementedError: in numba's simulator the operations of a warp do not exist."""

    def refuse(*arguments):
        raise NotImplementedError(
            f"{name} is done by 32 lanes together, which numba's simulator cannot; use `simulate`"
        )

    return refuse


@declared(("warp", TF32.of_warps, TF32.simulated_types), alone("mma_tf32"))
def mma_tf32(typingctx, a, b, c):
    """Return the lane's items of D = A B + C, of 16×8, 8×8 and 16×8 matrices in fragments of 4, 2 and 4 float32."""
    return llvm.tensor_core.product("mma_tf32", TF32, a, b, c)


@declared(("warp", BF16.of_warps, BF16.simulated_types), alone("mma_bf16"))
def mma_bf16(typingctx, a, b, c):
    """Return the lane's items of D = A B + C, of 16×16 and 16×8 bfloat16 in 4 and 2 uint32, and 16×8 float32 in 4."""
    return llvm.tensor_core.product("mma_bf16", BF16, a, b, c)
