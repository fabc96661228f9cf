"""Register tiles in one dimension: both tiles shared, eight results of a column per thread.

Idea: keep the outer product's column of results, and share B's tile again, so that a block can cover 64×64
elements of C. An element of B, once in a register, is used for eight results.
Launch: blocks of 512 threads for a 64×64 tile of C; the tiles of A and B are 8 deep, one element each per thread.
Measured on an H200: slower than outer_product.py, 9.8 against 11.4 TFLOP/s, although it asks global memory for less.
The two differ in several things. This one executes 1.2 times the instructions, and shared memory serves 1.1 times
the wavefronts (Nsight Compute). The next files have reuse in both directions, and wide loads.
Loads: 2 K / 64 per element of C from global memory; K (1 + 1/8) from shared memory instead of 2 K.
Source: the idea is also in Simon Boehm, "How to Optimize a CUDA Matmul Kernel for cuBLAS-like Performance" (2022),
1D tiling.
"""

from functools import lru_cache

from numba import cuda, float32, uint32

from .rung import Rung, blocks

TILE = 64
DEPTH = 8
RESULTS = 8


@lru_cache
def register_1d(dtype=float32):
    """Return the kernel for elements `dtype`: `kernel[grid, block](A, B, C)`."""

    @cuda.jit
    def register_1d(A, B, C):
        """Compute C = A @ B; A is M×K, B is K×N, C is M×N, in blocks of 512 threads."""
        A_tile = cuda.shared.array((TILE, DEPTH), dtype)
        B_tile = cuda.shared.array((DEPTH, TILE), dtype)
        acc = cuda.local.array(RESULTS, dtype)
        thread = uint32(cuda.threadIdx.x)  # unsigned: numba need not test the indices made from it for negative ones
        top, left = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
        a_row, a_k = thread // DEPTH, thread % DEPTH
        b_k, b_col = thread // TILE, thread % TILE
        first_row, col = thread // TILE * RESULTS, thread % TILE
        M, K = A.shape
        N = B.shape[1]
        for i in range(RESULTS):
            acc[i] = 0
        for start in range(0, K, DEPTH):
            if top + a_row < M and start + a_k < K:
                A_tile[a_row, a_k] = A[top + a_row, start + a_k]
            else:
                A_tile[a_row, a_k] = 0
            if start + b_k < K and left + b_col < N:
                B_tile[b_k, b_col] = B[start + b_k, left + b_col]
            else:
                B_tile[b_k, b_col] = 0
            cuda.syncthreads()
            for k in range(DEPTH):
                b = B_tile[k, col]
                for i in range(RESULTS):
                    acc[i] += A_tile[first_row + i, k] * b
            cuda.syncthreads()
        for i in range(RESULTS):
            if top + first_row + i < M and left + col < N:
                C[top + first_row + i, left + col] = acc[i]

    return register_1d


RUNG = Rung(
    "register_1d",
    "Register tiles, 8 results per thread",
    register_1d,
    blocks(TILE, TILE, TILE * TILE // RESULTS),
    lesson="08_register_tiles",
    change="outer_product, B shared, 8 results, 64×64 tiles",
)
