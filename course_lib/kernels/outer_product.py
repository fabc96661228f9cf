"""Outer products: a thread keeps a column of results, and reads shared memory half as often.

Idea: an inner product reads two operands from shared memory for every multiplication. Let each thread keep 16
results, a column of the block's 16×64 tile of C, in registers: one element of B, held in a register, then
meets a whole column of A's tile. B needs no sharing, so it goes straight from global memory to a register.
Launch: blocks of 64 threads, one per column of a 16×64 tile of C.
Loads: K (1/64 + 1/16) per element of C from global memory, K from shared memory, the same word for all threads.
Source: the TU Eindhoven 5KK73 page (computation optimization).
"""

from functools import lru_cache

from numba import cuda, float32, uint32

from .rung import Rung, blocks

ROWS = 16
COLUMNS = 64


@lru_cache
def outer_product(dtype=float32):
    """Return the kernel for elements `dtype`: `kernel[grid, block](A, B, C)`."""

    @cuda.jit
    def outer_product(A, B, C):
        """Compute C = A @ B; A is M×K, B is K×N, C is M×N, in blocks of 64 threads."""
        A_tile = cuda.shared.array((ROWS, ROWS), dtype)
        acc = cuda.local.array(ROWS, dtype)
        thread = uint32(cuda.threadIdx.x)  # unsigned: numba need not test the indices made from it for negative ones
        top, col = cuda.blockIdx.y * ROWS, cuda.blockIdx.x * COLUMNS + thread
        ty, tx = thread // ROWS, thread % ROWS
        M, K = A.shape
        N = B.shape[1]
        for i in range(ROWS):
            acc[i] = 0
        for start in range(0, K, ROWS):
            for i in range(0, ROWS, 4):  # 64 threads load four rows of the tile at a time
                if top + ty + i < M and start + tx < K:
                    A_tile[ty + i, tx] = A[top + ty + i, start + tx]
                else:
                    A_tile[ty + i, tx] = 0
            cuda.syncthreads()
            depth = ROWS if ROWS < K - start else K - start
            for k in range(depth):  # not known when compiling, so the compiler keeps the loop
                b = B[start + k, col] if col < N else dtype(0)
                for i in range(ROWS):
                    acc[i] += A_tile[i, k] * b
            cuda.syncthreads()
        for i in range(ROWS):
            if top + i < M and col < N:
                C[top + i, col] = acc[i]

    return outer_product


RUNG = Rung(
    "outer_product",
    "Outer products, a column per thread",
    outer_product,
    blocks(ROWS, COLUMNS, COLUMNS),
    lesson="08_register_tiles",
    change="tiled, 16 results a thread, B not shared",
)
