"""Register tiles in two dimensions: 64 results per thread, from eight elements of A and eight of B.

Idea: with R×R results per thread, R elements of A and R of B make R² products. Both fragments stay in registers
while they are used, so shared memory is read 2 R times for R² multiplications. The results of a thread are 16
rows and columns apart, so that neighbouring threads read neighbouring words.
Launch: blocks of 256 threads (16×16) for a 128×128 tile of C; the tiles of A and B are 8 deep.
Loads: 2 K / 128 per element of C from global memory; 2 K / 8 from shared memory.
A register array must be indexed by constants only. Every loop over one below has a constant length, so the
compiler unrolls it; an index known only at run time sends the array to local memory (lesson 14).
Source: the idea is also in Simon Boehm, "How to Optimize a CUDA Matmul Kernel for cuBLAS-like Performance" (2022),
2D tiling.
"""

from functools import lru_cache

from numba import cuda, float32, uint32

from .rung import Rung, blocks

TILE = 128
DEPTH = 8
SIDE = 16
RESULTS = 8


@lru_cache
def register_2d(dtype=float32):
    """Return the kernel for elements `dtype`: `kernel[grid, block](A, B, C)`."""

    @cuda.jit
    def register_2d(A, B, C):
        """Compute C = A @ B; A is M×K, B is K×N, C is M×N, in blocks of 256 threads."""
        A_tile = cuda.shared.array((DEPTH, TILE), dtype)
        B_tile = cuda.shared.array((DEPTH, TILE), dtype)
        acc = cuda.local.array((RESULTS, RESULTS), dtype)
        a = cuda.local.array(RESULTS, dtype)
        b = cuda.local.array(RESULTS, dtype)
        thread = uint32(cuda.threadIdx.x)  # unsigned: numba need not test the indices made from it for negative ones
        ty, tx = thread // SIDE, thread % SIDE
        top, left = cuda.blockIdx.y * TILE, cuda.blockIdx.x * TILE
        a_row, a_k = thread // DEPTH, thread % DEPTH
        b_k, b_col = thread // TILE, thread % TILE
        M, K = A.shape
        N = B.shape[1]
        for i in range(RESULTS):
            for j in range(RESULTS):
                acc[i, j] = 0
        for start in range(0, K, DEPTH):
            for i in range(4):  # four elements of each tile per thread
                row, col = top + a_row + 32 * i, start + a_k
                A_tile[a_k, a_row + 32 * i] = A[row, col] if row < M and col < K else dtype(0)
                row, col = start + b_k + 2 * i, left + b_col
                B_tile[b_k + 2 * i, b_col] = B[row, col] if row < K and col < N else dtype(0)
            cuda.syncthreads()
            for k in range(DEPTH):
                for i in range(RESULTS):
                    a[i] = A_tile[k, ty + SIDE * i]
                    b[i] = B_tile[k, tx + SIDE * i]
                for i in range(RESULTS):
                    for j in range(RESULTS):
                        acc[i, j] += a[i] * b[j]
            cuda.syncthreads()
        for i in range(RESULTS):
            for j in range(RESULTS):
                row, col = top + ty + SIDE * i, left + tx + SIDE * j
                if row < M and col < N:
                    C[row, col] = acc[i, j]

    return register_2d


RUNG = Rung(
    "register_2d",
    "Register tiles, 8×8 results per thread",
    register_2d,
    blocks(TILE, TILE, SIDE * SIDE),
    lesson="08_register_tiles",
    change="register_1d, 8×8 results a thread, 128×128 tiles",
)
