"""Tensor cores of Hopper: four warps multiply tiles of shared memory asynchronously (compute capability 9.0).

How to call them, what must hold, and the source: instructions.md in this folder.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numba.extending import intrinsic

from . import llvm
from .tensor_core import LEAST_EXPONENT, sums_of_products
from .tensor_core import TF32 as MMA_TF32
from .tensor_core_formats import cut_to_tf32, from_bfloat16, from_float16

#: The threads and warps of a warpgroup, and the rows of A and D.
THREADS, WARPS, ROWS = 128, 4, 64
#: The bytes of a row of A that one instruction multiplies, and of the pieces of which a swizzle changes the places.
INSTRUCTION_BYTES, PIECE = 32, 16
#: The number of each swizzle in a descriptor, by the bytes of its rows.
SWIZZLES = {0: 0, 128: 1, 64: 2, 32: 3}


@dataclass(frozen=True)
class Format:
    """A number format: its name in the compiler's language, the type of its arrays, and their numbers as float32.

    least: the least e with |x| < 2**e of its smallest normal number.
    """

    name: str
    dtype: str
    numbers: Callable[[np.ndarray], np.ndarray]
    least: int = LEAST_EXPONENT

    @property
    def depth(self) -> int:
        """The elements of a row of A, or a column of B, that one instruction multiplies."""
        return INSTRUCTION_BYTES // np.dtype(self.dtype).itemsize

    def sums(self, A: Any, B: Any, C: Any) -> Any:
        """Return A B + C of numbers of this format, as `sums_of_products`."""
        return sums_of_products(A, B, C, self.least)


BF16, F16, TF32 = (
    Format("bf16", "uint16", from_bfloat16),
    Format("f16", "uint16", from_float16, least=-13),
    Format("tf32", "float32", cut_to_tf32),
)


def swizzled(address: Any, swizzle: int) -> Any:
    """Return where a tensor core looks for the byte at `address` of a tile with rows of `swizzle` bytes."""
    return address ^ (address // 128 % (swizzle // PIECE) * PIECE) if swizzle else address


def result_places(columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Return row and column in D of each element of acc of each thread of the warpgroup: (columns / 2, 128)."""
    i, (warp, lane) = np.arange(columns // 2)[:, None], np.divmod(np.arange(THREADS), 32)
    return 16 * warp + lane // 4 + 8 * (i // 2 % 2), 8 * (i // 4) + 2 * (lane % 4) + i % 2


@dataclass(frozen=True)
class GroupProduct:
    """The NumPy form of what `products` starts: the simulator runs it, a warp's 16 rows of every block at once."""

    form: Format
    columns: int
    registers: bool

    @property
    def dtype(self) -> str:
        """The type of the elements of A and B."""
        return self.form.dtype

    @property
    def by_rows(self) -> bool:
        """Whether B is stored row by row."""
        return self.dtype == "uint16"

    @property
    def fragments(self) -> tuple[Any, ...]:
        """The name, the shape and each lane's places of a warp's D: eight columns, which repeat in the others."""
        row, column = (places[:4, :32] for places in result_places(8))
        return ((f"D, columns 0 to 7 of {self.columns}", (16, 8), (row, column)),)

    @property
    def pieces(self) -> tuple[Any, ...]:
        """The name, the shape, and the row and column of the first element of each piece of 16 bytes that is read."""
        width = PIECE // np.dtype(self.dtype).itemsize
        half, row = np.divmod(np.arange(32), 16)
        piece = np.arange(2 * self.columns)
        group, other, eighth = piece // 16, piece // 8 % 2, piece % 8
        deep, across = (8 * other + eighth, 8 * group) if self.by_rows else (width * other, 8 * group + eighth)
        b = ("B", (self.form.depth, self.columns), deep, across)
        return (b,) if self.registers else (("A", (16, self.form.depth), row, width * half), b)

    def a_bytes(self, descriptor: int, warp: int) -> np.ndarray:
        """Return where the 32 pieces of 16 bytes of a warp's rows of A begin: 16 rows, then their second halves."""
        half, row = np.divmod(np.arange(32), 16)
        return _along_rows(descriptor, row + 16 * warp, PIECE * half)

    def b_bytes(self, descriptor: int) -> np.ndarray:
        """Return where the pieces of B begin: for each group of eight columns its 16 pieces, eight at a time."""
        piece = np.arange(2 * self.columns)
        group, half, eighth = piece // 16, piece // 8 % 2, piece % 8
        if not self.by_rows:
            return _along_rows(descriptor, 8 * group + eighth, PIECE * half)
        start, leading, stride, swizzle = _fields(descriptor)
        if not swizzle:
            return start + group * stride + half * leading + eighth * PIECE
        panel, within = np.divmod(group * PIECE, swizzle)
        return swizzled(start + panel * leading + half * stride + eighth * swizzle + within, swizzle)

    def product(self, a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
        """Return D as the lanes hold it, (blocks, 32, items), for pieces of A (or its registers) and B, and C."""
        blocks, depth = len(b), self.form.depth
        row, col = (places[:, :32].T for places in result_places(self.columns))
        B = self.form.numbers(np.ascontiguousarray(b)).reshape(blocks, self.columns // 8, 2, 8, depth // 2)
        if self.by_rows:
            B = B.transpose(0, 2, 3, 1, 4).reshape(blocks, depth, self.columns)
        else:
            B = B.transpose(0, 2, 4, 1, 3).reshape(blocks, depth, self.columns)
        if self.registers:
            A: Any = np.empty((blocks, 16, depth), np.float32)
            A[:, *MMA_TF32.a_places] = self.form.numbers(a).swapaxes(1, 2)
        else:
            A = self.form.numbers(np.ascontiguousarray(a)).reshape(blocks, 2, 16, depth // 2)
            A = A.swapaxes(1, 2).reshape(blocks, 16, depth)
        d = np.empty_like(c)
        for i in range(blocks):  # one after the other, to save memory
            C = np.empty((16, self.columns))
            C[row, col] = c[i]
            d[i] = self.form.sums(A[i], B[i], C)[row, col]
        return d


def _fields(descriptor: int) -> tuple[int, int, int, int]:
    """Return the first byte, the two distances in bytes and the swizzle of a descriptor."""
    first, leading, stride = ((descriptor >> shift & 0x3FFF) << 4 for shift in (0, 16, 32))
    return first, leading, stride, next(size for size, code in SWIZZLES.items() if code == descriptor >> 62)


def _along_rows(descriptor: int, row: np.ndarray, byte: np.ndarray) -> np.ndarray:
    """Return the address of a piece of a matrix whose rows (of B: columns) are stored one by one."""
    start, leading, stride, swizzle = _fields(descriptor)
    if not swizzle:
        return start + row // 8 * stride + row % 8 * PIECE + byte // PIECE * leading
    return swizzled(start + row // 8 * stride + row % 8 * swizzle + byte, swizzle)


@intrinsic
def fence_registers(typingctx):
    """Order what the warpgroup did with registers of D, or of A, before the products that follow."""
    return llvm.warpgroup.line("wgmma.fence.sync.aligned;")


@intrinsic
def fence_proxy(typingctx):
    """Make what this thread stored to shared memory visible to the tensor cores, once a barrier was passed."""
    return llvm.warpgroup.line("fence.proxy.async.shared::cta;")


@intrinsic
def commit_products(typingctx):
    """Make one group of the products that this warpgroup started since the last call."""
    return llvm.warpgroup.line("wgmma.commit_group.sync.aligned;")


@intrinsic(prefer_literal=True)
def descriptor(typingctx, tile, place, leading, stride, swizzle):
    """Return the descriptor (uint64) of the matrix that begins at element `place` of a shared tile, see above."""
    return llvm.warpgroup.descriptor(tile, place, leading, stride, swizzle, SWIZZLES)


@cache
def products(form: Format, columns: int, registers: bool = False) -> Any:
    """Return `multiply(acc, a, b, add)`, which starts D = A B + D, of 64×depth by depth×columns; see above."""
    if columns not in range(8, 257, 8):
        raise ValueError(f"wgmma multiplies by 8, 16, ... or 256 columns, not by {columns}")

    @intrinsic
    def multiply(typingctx, acc, a, b, add):
        """Start D = A B + D, or D = A B where `add` is 0."""
        return llvm.warpgroup.product(form, columns, registers, acc, a, b, add)

    multiply.__simulated_as__ = ("product", GroupProduct(form, columns, registers))
    return multiply


@cache
def wait_for_products(columns: int) -> Any:
    """Return `wait(acc, pending)`, after which acc holds the results of all groups but the last `pending`."""

    @intrinsic(prefer_literal=True)
    def wait(typingctx, acc, pending):
        """Wait until all groups of this warpgroup but the last `pending`, a constant, are done."""
        return llvm.warpgroup.wait(columns, acc, pending)

    wait.__simulated_as__ = ("wait products",)
    return wait


descriptor.__simulated_as__ = ("descriptor", SWIZZLES)
commit_products.__simulated_as__ = ("commit products",)
fence_proxy.__simulated_as__ = ("fence proxy",)
fence_registers.__simulated_as__ = ("fence registers",)
