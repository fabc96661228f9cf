"""128-bit loads: four neighbouring elements per instruction, from global and from shared memory.

Idea: the same 64 results per thread, now four 4×4 pieces, so that fragments are four neighbouring elements.
A's tile is stored transposed, k first, so that they are neighbours there too; four words of padding keep rows
on 16-byte boundaries and spread the transposed stores over the banks. A quarter of the load instructions
remains, and the indices of the loads skip numba's test for negative ones.
Launch: blocks of 256 threads for a 128×128 tile of C; the tiles of A and B are 8 deep.
Loads: as register_2d, 2 K / 128 per element of C from global memory and 2 K / 8 from shared memory.
Source: the idea is also in Simon Boehm, "How to Optimize a CUDA Matmul Kernel for cuBLAS-like Performance" (2022),
vectorized accesses.
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
        a[4 * i], a[4 * i + 1], a[4 * i + 2], a[4 * i + 3] = load4(A_tile, k, m + 64 * i)
        b[4 * i], b[4 * i + 1], b[4 * i + 2], b[4 * i + 3] = load4(B_tile, k, n + 64 * i)
    for i in range(8):
        for j in range(8):
            acc[i, j] += a[i] * b[j]


@cuda.jit
def vectorized(A, B, C):
    """Compute C = A @ B; A is M×K, B is K×N, C is M×N, all float32 and C-ordered, in blocks of 256 threads."""
    A_tile = cuda.shared.array((DEPTH, PITCH), float32)
    B_tile = cuda.shared.array((DEPTH, TILE), float32)
    acc = cuda.local.array((8, 8), float32)
    a = cuda.local.array(8, float32)
    b = cuda.local.array(8, float32)
    K = A.shape[1]
    thread = cuda.threadIdx.x
    m, n = thread // 16 * 4, thread % 16 * 4
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
    for i in range(8):
        row = top + m + i // 4 * 64 + i % 4
        for j in range(2):
            results = acc[i, 4 * j], acc[i, 4 * j + 1], acc[i, 4 * j + 2], acc[i, 4 * j + 3]
            store4_inside(C, row, left + n + 64 * j, results)


RUNG = Rung(
    "vectorized",
    "128-bit loads",
    ready_made(vectorized),
    blocks(TILE, TILE, 256),
    lesson="10_towards_cublas",
    change="register_2d, four elements in a load, unsigned indices",
    **VECTORS,
)
