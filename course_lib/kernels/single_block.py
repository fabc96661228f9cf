"""The whole of A and B in shared memory, for matrices that one block can hold.

Idea: the threads load each element of A and B from global memory once, wait for each other at the barrier,
and then read only the shared copies. A thread loads at most one element of each matrix.
Launch: a single block, wide enough for the columns of B and of A, high enough for the rows of A and of B.
Loads: M K + K N from global memory in all, instead of 2 M N K; 2 K per element from shared memory.
Limit: M, N, K ≤ 32, since a block has at most 1,024 threads; and one block uses only one multiprocessor.
Source: Paul Richmond's lab notes (the single-block kernel), with guards for rectangles of any shape.
"""

from functools import lru_cache

from numba import cuda, float32

from .rung import Rung, with_tile


@lru_cache
def single_block_kernel(width=32, dtype=float32):
    """Return the kernel for matrices up to width×width of elements `dtype`: `kernel[grid, block](A, B, C)`."""

    @cuda.jit
    def single_block(A, B, C):
        """Compute C = A @ B in one block; A is M×K, B is K×N, C is M×N, none larger than width×width."""
        A_shared = cuda.shared.array((width, width), dtype)
        B_shared = cuda.shared.array((width, width), dtype)
        row = cuda.threadIdx.y
        col = cuda.threadIdx.x
        M, K = A.shape
        N = B.shape[1]
        if row < M and col < K:
            A_shared[row, col] = A[row, col]
        if row < K and col < N:
            B_shared[row, col] = B[row, col]
        # Every thread must arrive here, also those without an element: all threads of a block must reach a barrier.
        cuda.syncthreads()
        if row < M and col < N:
            acc = dtype(0)
            for k in range(K):
                acc += A_shared[row, k] * B_shared[k, col]
            C[row, col] = acc

    return single_block


single_block = single_block_kernel()


@with_tile(lambda width: (width, width))
def launch(M, N, K, width=32):
    """Return (grid, block): one block. Raise ValueError if M, N or K exceeds `width`."""
    if max(M, N, K) > width:
        raise ValueError(f"single_block holds matrices up to {width}×{width}, not {M}×{K} times {K}×{N}")
    return (1, 1), (max(1, N, K), max(1, M, K))


RUNG = Rung(
    "single_block",
    "Shared memory in one block",
    single_block_kernel,
    launch,
    params={"width": 32},
)
