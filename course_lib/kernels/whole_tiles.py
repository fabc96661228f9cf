"""Whole tiles without guards: a block tests once whether its tiles are inside; thin edges are inner products.

Idea: `large_tiles` guards each of its six loads by a branch. Nearly all tiles are inside, and one test before the loop
tells whether all of a block's are; they are loaded by plain 128-bit loads. Tiles that cross an edge, or of matrices
whose rows do not begin on 16-byte boundaries, are loaded element by element.
Edges: a block with up to 4 rows or columns of C computes them as inner products, which is far less than a tile. At
n = 4097 49 of 561 blocks are such; as tiles they would take the GPU a fifth round after four.
Measured on an H200: 1 % over large_tiles at n = 4096, 16 % at n = 4097 with its thin edges, and 3 % less at n = 4095,
where three rows of four do not begin on 16-byte boundaries; with K = 4097 alone it is 6 % less, on an H100.
Launch: as large_tiles, blocks of 256 threads for a 128×256 tile of C; the tiles of A and B are 16 deep.
Loads: as large_tiles, K (1/128 + 1/256) per element of C from global memory, K (1/8 + 1/16) from shared memory; the few
rows and columns at the edges cost more (course_lib.machine.model.global_loads_of_best).
Source: the files before it.
"""

from numba import cuda, float32

from .edges import last_columns, last_rows
from .large_tiles import (
    COLUMNS,
    DEPTH,
    PITCH,
    ROWS,
    add_outer_product,
    keep,
    launch,
    load_fragments,
    store_results,
    two_steps,
)
from .rung import VECTORS, Rung, ready_made
from .vector import element_or_zero, load4

#: A block with this many rows or columns of C or fewer computes them as inner products.
FEW = 4


@cuda.jit(device=True)
def fetch(A, B, inside, top, left, start, a_next, b_next):
    """Load the thread's part of the tiles at `start` into registers, zeros outside the matrices.

    Tiles inside the matrices whose rows begin on 16-byte boundaries need no test and little arithmetic.
    """
    a_row, a_k = cuda.threadIdx.x // 4, cuda.threadIdx.x % 4 * 4
    b_k, b_col = cuda.threadIdx.x // 64, cuda.threadIdx.x % 64 * 4
    if inside and start + DEPTH <= A.shape[1]:
        for i in range(2):
            row = top + a_row + 64 * i
            a_next[4 * i], a_next[4 * i + 1], a_next[4 * i + 2], a_next[4 * i + 3] = load4(A, row, start + a_k)
        for j in range(4):
            k, col = start + b_k + 4 * j, left + b_col
            b_next[4 * j], b_next[4 * j + 1], b_next[4 * j + 2], b_next[4 * j + 3] = load4(B, k, col)
    else:
        for e in range(4):
            for i in range(2):
                a_next[4 * i + e] = element_or_zero(A, top + a_row + 64 * i, start + a_k + e)
            for j in range(4):
                b_next[4 * j + e] = element_or_zero(B, start + b_k + 4 * j, left + b_col + e)


@cuda.jit
def whole_tiles(A, B, C):
    """Compute C = A @ B; A is M×K, B is K×N, C is M×N, all float32 and C-ordered, in blocks of 256 threads."""
    A_tile = cuda.shared.array((DEPTH, PITCH), float32)
    B_tile = cuda.shared.array((DEPTH, COLUMNS), float32)
    acc = cuda.local.array((8, 16), float32)
    a0 = cuda.local.array(8, float32)
    a1 = cuda.local.array(8, float32)
    a_next = cuda.local.array(8, float32)
    b0 = cuda.local.array(16, float32)
    b1 = cuda.local.array(16, float32)
    b_next = cuda.local.array(16, float32)
    K, N = B.shape
    warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
    m, n = warp // 4 * 64 + lane // 4 * 4, warp % 4 * 64 + lane % 4 * 4
    top, left = cuda.blockIdx.y * ROWS, cuda.blockIdx.x * COLUMNS
    if left + FEW >= N:
        last_columns(A, B, C, top, left)
        return
    if top + FEW >= A.shape[0]:
        last_rows(A, B, C, top, left, B_tile)
        return
    inside = K % 4 == 0 and N % 4 == 0 and top + ROWS <= A.shape[0] and left + COLUMNS <= N
    for i in range(8):
        for j in range(16):
            acc[i, j] = 0
    fetch(A, B, inside, top, left, 0, a_next, b_next)
    keep(A_tile, B_tile, a_next, b_next)
    cuda.syncthreads()
    load_fragments(A_tile, B_tile, 0, m, n, a0, b0)
    for start in range(DEPTH, K + DEPTH, DEPTH):
        two_steps(A_tile, B_tile, 0, m, n, a0, b0, a1, b1, acc)
        fetch(A, B, inside, top, left, start, a_next, b_next)
        two_steps(A_tile, B_tile, 2, m, n, a0, b0, a1, b1, acc)
        two_steps(A_tile, B_tile, 4, m, n, a0, b0, a1, b1, acc)
        two_steps(A_tile, B_tile, 6, m, n, a0, b0, a1, b1, acc)
        two_steps(A_tile, B_tile, 8, m, n, a0, b0, a1, b1, acc)
        two_steps(A_tile, B_tile, 10, m, n, a0, b0, a1, b1, acc)
        two_steps(A_tile, B_tile, 12, m, n, a0, b0, a1, b1, acc)
        load_fragments(A_tile, B_tile, 15, m, n, a1, b1)
        add_outer_product(a0, b0, acc)
        cuda.syncthreads()  # no thread reads the tiles any more
        keep(A_tile, B_tile, a_next, b_next)
        cuda.syncthreads()  # the next tiles are complete
        load_fragments(A_tile, B_tile, 0, m, n, a0, b0)
        add_outer_product(a1, b1, acc)
    store_results(C, N, top, left, m, n, acc)


RUNG = Rung(
    "whole_tiles",
    "Whole tiles without guards",
    ready_made(whole_tiles),
    launch,
    lesson="10_towards_cublas",
    change="large_tiles, one guard a tile, edges without tiles",
    **VECTORS,
)
