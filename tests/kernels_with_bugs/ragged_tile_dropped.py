"""The loop runs over whole tiles only, K // T of them: the last, ragged one is left out."""

import numpy as np
from numba import cuda, float32

T = 4
GRID, BLOCK = 1, (T, T)
EXPECTED = [("wrong-value", None, None, None)]


@cuda.jit
def bug(A, B, C):
    A_tile = cuda.shared.array((T, T), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    K = A.shape[1]
    acc = float32(0)
    for tile in range(K // T):  # bug
    # twin: for tile in range((K + T - 1) // T):
        start = tile * T
        A_tile[ty, tx] = A[ty, start + tx] if start + tx < K else float32(0)
        cuda.syncthreads()
        for k in range(T):
            if start + k < K:
                acc += A_tile[ty, k] * B[start + k, tx]
        cuda.syncthreads()
    C[ty, tx] = acc


def arguments(rng):
    A, B = rng.standard_normal((4, 11), np.float32), rng.standard_normal((11, 4), np.float32)
    return A, B, np.zeros((4, 4), np.float32)


def answer(A, B, C):
    return {2: A @ B}
