"""The tile is filled at [tx, ty] and read at [ty, k]: the product uses the transposed tile."""

import numpy as np
from numba import cuda, float32

T = 8
GRID, BLOCK = 1, (T, T)
EXPECTED = [("wrong-value", None, None, None)]


@cuda.jit
def bug(A, B, C):
    A_tile = cuda.shared.array((T, T), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    A_tile[tx, ty] = A[ty, tx]  # bug
    # twin: A_tile[ty, tx] = A[ty, tx]
    cuda.syncthreads()
    acc = float32(0)
    for k in range(T):
        acc += A_tile[ty, k] * B[k, tx]
    C[ty, tx] = acc


def arguments(rng):
    A, B = rng.standard_normal((T, T), np.float32), rng.standard_normal((T, T), np.float32)
    return A, B, np.zeros((T, T), np.float32)


def answer(A, B, C):
    return {2: A @ B}
