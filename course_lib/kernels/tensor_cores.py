"""Tensor cores: a warp multiplies 16×8 by 8×8 elements in one instruction.

Idea: up to here a thread multiplies two numbers at a time. A tensor core takes a small matrix of each from the
registers of a whole warp and adds their product to a third, 1,024 multiplications in one instruction. Its operands are
TF32, of which 10 fraction bits are left of float32's 23: this rung pays with accuracy. `to_tf32` rounds each element of
A and B on its way into shared memory, with a relative error of up to 2**-11; the sums stay float32. A block computes a
tile of 32×32 results, each of its 8 warps 16×8 of them, with one mma for every 8 elements of K.
Launch: blocks of 32×8 threads, one for each 32×32 tile of C, rounded up to cover C.
Loads: 2 K / 32 per element of C from global memory, as tiled with its widest tile; from shared memory 6 per lane for
an mma. Rows of the tiles are 36 and 40 words apart, so that the 8×4 elements of a load are in 32 different banks.
Source: NVIDIA, "Parallel Thread Execution ISA", the section on mma.sync; the padding is derived here.
"""

from functools import partial

from numba import cuda, float32

from .rung import Rung, blocks, ready_made
from .tensor_core import mma_tf32
from .tensor_core_formats import as_tf32, to_tf32
from .vector import element_or_zero

#: The width and height of the tiles of A, B and C, and the rows of threads of a block, each of which is a warp.
T, WARPS = 32, 8
#: The words from one row of a tile to the next: 4 and 8 more than the banks.
A_PITCH, B_PITCH = T + 4, T + 8


@cuda.jit
def tensor_cores(A, B, C):
    """Compute C = A @ B in TF32; A is M×K, B is K×N, C is M×N, float32, in blocks of 32×8 threads."""
    A_tile = cuda.shared.array((T, A_PITCH), float32)
    B_tile = cuda.shared.array((T, B_PITCH), float32)
    lane, warp = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = cuda.blockIdx.y * T, cuda.blockIdx.x * T
    q, t = lane // 4, lane % 4
    row, col = warp // 4 * 16, warp % 4 * 8  # the warp's 16×8 results begin here in the tile
    c0 = c1 = c2 = c3 = float32(0)
    for start in range(0, A.shape[1], T):
        for y in range(warp, T, WARPS):
            A_tile[y, lane] = to_tf32(element_or_zero(A, top + y, start + lane))
            B_tile[y, lane] = to_tf32(element_or_zero(B, start + y, left + lane))
        cuda.syncthreads()
        for k in range(0, T, 8):
            a0 = A_tile[row + q, k + t]
            a1 = A_tile[row + q + 8, k + t]
            a2 = A_tile[row + q, k + t + 4]
            a3 = A_tile[row + q + 8, k + t + 4]
            b0 = B_tile[k + t, col + q]
            b1 = B_tile[k + t + 4, col + q]
            c0, c1, c2, c3 = mma_tf32((a0, a1, a2, a3), (b0, b1), (c0, c1, c2, c3))
        cuda.syncthreads()
    y, x = top + row + q, left + col + 2 * t
    if y < C.shape[0] and x < C.shape[1]:
        C[y, x] = c0
    if y < C.shape[0] and x + 1 < C.shape[1]:
        C[y, x + 1] = c1
    if y + 8 < C.shape[0] and x < C.shape[1]:
        C[y + 8, x] = c2
    if y + 8 < C.shape[0] and x + 1 < C.shape[1]:
        C[y + 8, x + 1] = c3


RUNG = Rung(
    "tensor_cores",
    "Tensor cores, TF32",
    ready_made(tensor_cores),
    blocks(T, T, T, WARPS),
    dtypes=("float32",),
    multiplied=partial(as_tf32, rounded=True),
)
