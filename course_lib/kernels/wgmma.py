"""Tensor cores of Hopper: a warpgroup, four warps, multiplies tiles that stay in shared memory.

Idea: mma.sync multiplies numbers in the registers of a warp. wgmma reads both tiles from shared memory itself: no
loads of fragments, and no registers for them. Here a block, one warpgroup, computes 64×128 results: four instructions,
each 16 deep, multiply 64×64 elements of A by 64×128 of B. The instructions only begin the work, so three things are
needed that mma.sync did without: `fence_proxy` after the tiles were stored, for the tensor cores read shared memory on
a way of their own; `fence_registers` before the first product; and `wait` before the tiles are overwritten, or a result
is read.
The tiles are in the plain layout: pieces of 16 bytes, eight of them below each other in a row of A (or beside each
other in a row of B) make 128 bytes, a core matrix.
A and B come as uint16, the bits of bfloat16 (`to_bfloat16`), for NumPy has no such type; C is float32.
Launch: blocks of 128 threads, one for each 64×128 tile of C, rounded up to cover C.
Loads: K (1/64 + 1/128) elements of 2 bytes per element of C from global memory, one by one.
Source: NVIDIA, "Parallel Thread Execution ISA", the section on wgmma; the layout is derived here.
"""

from numba import cuda, float32, uint16

from .rung import VECTORS, Rung, blocks, ready_made
from .tensor_core_formats import as_bfloat16, lines_of_bfloat16
from .tensor_cores_bf16 import bits_or_zero
from .warpgroup import (
    BF16,
    THREADS,
    commit_products,
    descriptor,
    fence_proxy,
    fence_registers,
    products,
    wait_for_products,
)
from .wgmma_results import store_results

#: The tile of C of a block, and the depth of the tiles of A and B.
ROWS, COLUMNS, DEPTH = 64, 128, 64
A_ELEMENTS, B_ELEMENTS, RESULTS = ROWS * DEPTH, DEPTH * COLUMNS, COLUMNS // 2
multiply, wait = products(BF16, COLUMNS), wait_for_products(COLUMNS)


@cuda.jit(device=True)
def place_in_A(row, k):
    """Return where the plain layout has A[row, k] of a tile: pieces of eight along k, a column of them at a time."""
    return k // 8 * (8 * ROWS) + row * 8 + k % 8


@cuda.jit(device=True)
def place_in_B(k, col):
    """Return where the plain layout has B[k, col] of a tile: pieces of eight along a row."""
    return col // 8 * (8 * DEPTH) + k * 8 + col % 8


@cuda.jit
def wgmma(A, B, C):
    """Compute C = A @ B; A is M×K, B is K×N, uint16 with the bits of bfloat16, C is M×N, float32; all C-ordered."""
    A_tile = cuda.shared.array(A_ELEMENTS, uint16, 128)
    B_tile = cuda.shared.array(B_ELEMENTS, uint16, 128)
    acc = cuda.local.array(RESULTS, float32)
    top, left = cuda.blockIdx.y * ROWS, cuda.blockIdx.x * COLUMNS
    for start in range(0, max(1, B.shape[0]), DEPTH):
        for i in range(cuda.threadIdx.x, ROWS * DEPTH, THREADS):
            row, k = i // DEPTH, i % DEPTH
            A_tile[place_in_A(row, k)] = bits_or_zero(A, top + row, start + k)
        for i in range(cuda.threadIdx.x, DEPTH * COLUMNS, THREADS):
            k, col = i // COLUMNS, i % COLUMNS
            B_tile[place_in_B(k, col)] = bits_or_zero(B, start + k, left + col)
        fence_proxy()
        cuda.syncthreads()
        fence_registers()
        for k in range(0, DEPTH, 16):
            a = descriptor(A_tile, place_in_A(0, k), 16 * ROWS, 128, 0)
            b = descriptor(B_tile, place_in_B(k, 0), 128, 16 * DEPTH, 0)
            multiply(acc, a, b, start + k > 0)
        commit_products()
        wait(acc, 0)
        cuda.syncthreads()
    store_results(C, top, left, acc, COLUMNS)


RUNG = Rung(
    "wgmma",
    "A warpgroup, bfloat16",
    ready_made(wgmma),
    blocks(ROWS, COLUMNS, THREADS),
    operand=lines_of_bfloat16,
    multiplied=as_bfloat16,
    **VECTORS,
)
