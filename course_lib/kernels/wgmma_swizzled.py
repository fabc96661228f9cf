"""Tiles for tensor cores, copied 16 bytes at a time and swizzled, so that no bank is asked twice.

Idea: in the plain layout of `wgmma` the 16 bytes that neighbouring threads bring of one row are apart, and eight of
them meet in the same banks. Here a row of a tile is 128 bytes, all the banks, and its eight pieces of 16 bytes change
places with the row: piece p of row r is at p ^ r % 8. Then a row that is written, and eight pieces below each other
that a tensor core reads, both are in 32 different banks. The descriptor says swizzle 128, and the hardware undoes it.
Asynchronous copies bring the pieces, without a register in between. A block is two warpgroups of 64×256 results each.
Launch: blocks of 256 threads, one for each 128×256 tile of C, in bands of `BAND` rows of tiles.
Edges: pieces outside of A and B become zeros. Where rows do not begin on 16-byte boundaries, so that no piece can be
copied, the tiles are stored element by element.
Loads: K (1/128 + 1/256) elements of 2 bytes per element of C from global memory, in 16 bytes.
Source: NVIDIA, "Parallel Thread Execution ISA", the section on wgmma; the layout is derived here.
"""

from numba import cuda, float32, uint16

from .async_copy import commit_copies, copy8_async, wait_copies
from .rung import VECTORS, Rung, ready_made
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
from .wgmma_results import bands, corner_of_tile, store_results

#: The tile of C of a block, the depth of the tiles of A and B, and their elements.
ROWS, COLUMNS, DEPTH = 128, 256, 64
A_ELEMENTS, B_ELEMENTS, RESULTS = ROWS * DEPTH, DEPTH * COLUMNS, COLUMNS // 2
#: The elements of a panel of B, of 64 columns: rows of 128 bytes below each other.
PANEL = DEPTH * 64
multiply, wait = products(BF16, COLUMNS), wait_for_products(COLUMNS)


@cuda.jit(device=True)
def place_in_A(row, k):
    """Return where A[row, k] of a tile is."""
    return row * 64 + (k ^ row % 8 * 8)


@cuda.jit(device=True)
def place_in_B(k, col):
    """Return where B[k, col] of a tile is: in one of four panels, each 64 columns wide."""
    return col // 64 * PANEL + k * 64 + (col % 64 ^ k % 8 * 8)


@cuda.jit(device=True)
def start_copies(A, B, A_tile, B_tile, top, left, start):
    """Start to copy the tiles at `start`, 16 bytes at a time, zeros outside."""
    row, k = cuda.threadIdx.x // 8, cuda.threadIdx.x % 8 * 8
    for i in range(0, ROWS, 32):
        inside = top + row + i < A.shape[0] and start + k < A.shape[1]
        copy8_async(A_tile, place_in_A(row + i, k), A, top + row + i, start + k, inside)
    k, col = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32 * 8
    for i in range(0, DEPTH, 8):
        inside = start + k + i < B.shape[0] and left + col < B.shape[1]
        copy8_async(B_tile, place_in_B(k + i, col), B, start + k + i, left + col, inside)
    commit_copies()


@cuda.jit(device=True)
def store_tiles(A, B, A_tile, B_tile, top, left, start):
    """Store the tiles at `start` element by element, zeros outside."""
    for i in range(cuda.threadIdx.x, ROWS * DEPTH, 2 * THREADS):
        row, k = i // DEPTH, i % DEPTH
        A_tile[place_in_A(row, k)] = bits_or_zero(A, top + row, start + k)
    for i in range(cuda.threadIdx.x, DEPTH * COLUMNS, 2 * THREADS):
        k, col = i // COLUMNS, i % COLUMNS
        B_tile[place_in_B(k, col)] = bits_or_zero(B, start + k, left + col)


@cuda.jit
def wgmma_swizzled(A, B, C):
    """Compute C = A @ B; A is M×K, B is K×N, uint16 with the bits of bfloat16, C is M×N, float32; all C-ordered."""
    A_tile = cuda.shared.array(A_ELEMENTS, uint16, 1024)
    B_tile = cuda.shared.array(B_ELEMENTS, uint16, 1024)
    acc = cuda.local.array(RESULTS, float32)
    top, left = corner_of_tile(ROWS, COLUMNS)
    if top >= C.shape[0]:
        return
    group = cuda.threadIdx.x // THREADS
    whole_pieces = A.shape[1] % 8 == 0 and B.shape[1] % 8 == 0
    for start in range(0, max(1, B.shape[0]), DEPTH):
        if whole_pieces:
            start_copies(A, B, A_tile, B_tile, top, left, start)
            wait_copies(0)
        else:
            store_tiles(A, B, A_tile, B_tile, top, left, start)
        fence_proxy()
        cuda.syncthreads()
        fence_registers()
        for k in range(0, DEPTH, 16):
            a = descriptor(A_tile, group * 64 * DEPTH + k, 0, 1024, 128)
            b = descriptor(B_tile, k * 64, 2 * PANEL, 1024, 128)
            multiply(acc, a, b, start + k > 0)
        commit_products()
        wait(acc, 0)
        cuda.syncthreads()
    store_results(C, top + 64 * group, left, acc, COLUMNS)


RUNG = Rung(
    "wgmma_swizzled",
    "Swizzled tiles",
    ready_made(wgmma_swizzled),
    bands(ROWS, COLUMNS),
    operand=lines_of_bfloat16,
    multiplied=as_bfloat16,
    **VECTORS,
)
