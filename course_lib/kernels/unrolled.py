"""Outer products with the loop over k unrolled by hand.

Idea: write four steps of k out, in a loop whose length is known when compiling. There are fewer counters and
branches per addition, four loads of B are under way at once, and the four neighbouring elements of A's tile
come in one instruction. The edge of the matrix is a zero in place of b instead of a shorter loop.
Launch: blocks of 64 threads, one per column of a 16×64 tile of C.
Loads: K (1/64 + 1/16) per element of C from global memory, K from shared memory, as before.
Source: the TU Eindhoven 5KK73 page (loop unrolling).
"""

from functools import lru_cache

from numba import cuda, float32

ROWS = 16
COLUMNS = 64


@lru_cache
def unrolled(dtype=float32):
    """Return the kernel for elements `dtype`: `kernel[grid, block](A, B, C)`."""

    @cuda.jit
    def unrolled(A, B, C):
        """Compute C = A @ B; A is M×K, B is K×N, C is M×N, in blocks of 64 threads."""
        A_tile = cuda.shared.array((ROWS, ROWS), dtype)
        acc = cuda.local.array(ROWS, dtype)
        thread = cuda.threadIdx.x
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
            for k in range(0, ROWS, 4):  # a constant number of rounds, four steps of k each
                b0 = B[start + k, col] if start + k < K and col < N else dtype(0)
                b1 = B[start + k + 1, col] if start + k + 1 < K and col < N else dtype(0)
                b2 = B[start + k + 2, col] if start + k + 2 < K and col < N else dtype(0)
                b3 = B[start + k + 3, col] if start + k + 3 < K and col < N else dtype(0)
                for i in range(ROWS):
                    acc[i] += A_tile[i, k] * b0
                    acc[i] += A_tile[i, k + 1] * b1
                    acc[i] += A_tile[i, k + 2] * b2
                    acc[i] += A_tile[i, k + 3] * b3
            cuda.syncthreads()
        for i in range(ROWS):
            if top + i < M and col < N:
                C[top + i, col] = acc[i]

    return unrolled


def launch(M, N, K):
    """Return (grid, block) for an M×N result: 64 threads per 16×64 tile of C."""
    return (max(1, -(-N // COLUMNS)), max(1, -(-M // ROWS))), (COLUMNS, 1)


def shared_bytes(itemsize=4):
    """Return the bytes of shared memory per block: one tile of A."""
    return ROWS * ROWS * itemsize
