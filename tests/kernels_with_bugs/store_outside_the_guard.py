"""The loop is guarded, the store after it is not, as in a published listing."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = (2, 2), (8, 8)
EXPECTED = [("out-of-bounds", "store", None, "C")]


@cuda.jit
def bug(A, B, C):
    col, row = cuda.grid(2)
    acc = float32(0)
    if row < C.shape[0] and col < C.shape[1]:
        for k in range(A.shape[1]):
            acc += A[row, k] * B[k, col]
    C[row, col] = acc  # bug  # <- store
        # twin: C[row, col] = acc


def arguments(rng):
    A, B = rng.standard_normal((13, 5), np.float32), rng.standard_normal((5, 11), np.float32)
    return A, B, np.zeros((13, 11), np.float32)


def answer(A, B, C):
    return {2: A @ B}
