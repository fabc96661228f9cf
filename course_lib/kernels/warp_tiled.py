"""Warp tiles: each warp computes a compact 64×32 piece of the block's tile.

Idea: in vectorized.py a warp spans 2×16 threads, two stripes of 8 of the tile's rows and all 128 columns. Give
each warp 8×4 threads and a piece of 64×32 elements instead: it needs 64 + 32 elements per step of k, not
16 + 128.
Measured on an H200: no gain, 32.3 against 33.8 TFLOP/s. Nsight Compute counts exactly as many wavefronts as
before, three for each 128-bit request on average, so fewer different elements do not make cheaper requests. With
other registers for its results, and all else the same, it is as fast as vectorized (lesson 14).
Launch: blocks of 256 threads, 2×4 warps, for a 128×128 tile of C; the tiles of A and B are 8 deep.
Loads: as vectorized, 2 K / 128 per element of C from global memory and 2 K / 8 from shared memory.
Source: the idea is also in Simon Boehm, "How to Optimize a CUDA Matmul Kernel for cuBLAS-like Performance" (2022),
warp tiling.
"""

from numba import cuda, float32

from .rung import VECTORS, Rung, blocks, ready_made
from .vector import load4, load4_or_zeros, store4, store4_inside

TILE = 128
DEPTH = 8
PITCH = TILE + 4


@cuda.jit(device=True)
def add_outer_product(A_tile, B_tile, k, m, n, a, b, acc):
    """Add column k of A_tile times row k of B_tile to the thread's 8×8 results."""
    for i in range(2):
        a[4 * i], a[4 * i + 1], a[4 * i + 2], a[4 * i + 3] = load4(A_tile, k, m + 32 * i)
        b[4 * i], b[4 * i + 1], b[4 * i + 2], b[4 * i + 3] = load4(B_tile, k, n + 16 * i)
    for i in range(8):
        for j in range(8):
            acc[i, j] += a[i] * b[j]


@cuda.jit(device=True)
def store_results(C, top, left, acc):
    """Store the thread's 8×8 results: pieces of 4×4, 32 rows and 16 columns apart."""
    for i in range(8):
        row = top + i // 4 * 32 + i % 4
        for j in range(2):
            results = acc[i, 4 * j], acc[i, 4 * j + 1], acc[i, 4 * j + 2], acc[i, 4 * j + 3]
            store4_inside(C, row, left + 16 * j, results)


@cuda.jit
def warp_tiled(A, B, C):
    """Compute C = A @ B; A is M×K, B is K×N, C is M×N, all float32 and C-ordered, in blocks of 256 threads."""
    A_tile = cuda.shared.array((DEPTH, PITCH), float32)
    B_tile = cuda.shared.array((DEPTH, TILE), float32)
    acc = cuda.local.array((8, 8), float32)
    a = cuda.local.array(8, float32)
    b = cuda.local.array(8, float32)
    K = A.shape[1]
    thread = cuda.threadIdx.x
    warp, lane = thread // 32, thread % 32
    m, n = warp // 4 * 64 + lane // 4 * 4, warp % 4 * 32 + lane % 4 * 4
    top, left = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
    a_row, a_k = thread // 2, thread % 2 * 4
    b_k, b_col = thread // 32, thread % 32 * 4
    for i in range(8):
        for j in range(8):
            acc[i, j] = 0
    for start in range(0, K, DEPTH):
        a4 = load4_or_zeros(A, top + a_row, start + a_k)
        b4 = load4_or_zeros(B, start + b_k, left + b_col)
        A_tile[a_k, a_row] = a4[0]
        A_tile[a_k + 1, a_row] = a4[1]
        A_tile[a_k + 2, a_row] = a4[2]
        A_tile[a_k + 3, a_row] = a4[3]
        store4(B_tile, b_k, b_col, b4)
        cuda.syncthreads()
        for k in range(DEPTH):
            add_outer_product(A_tile, B_tile, k, m, n, a, b, acc)
        cuda.syncthreads()
    store_results(C, top + m, left + n, acc)


RUNG = Rung(
    "warp_tiled",
    "Warp tiles",
    ready_made(warp_tiled),
    blocks(TILE, TILE, 256),
    lesson="10_towards_cublas",
    change="vectorized, with compact pieces for the warps",
    **VECTORS,
)
