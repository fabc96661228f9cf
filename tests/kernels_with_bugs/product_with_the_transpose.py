"""B is read by rows, as in a published listing: the result is A times the transpose of B."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = (2, 2), (4, 4)
EXPECTED = [("wrong-value", None, None, None)]


@cuda.jit
def bug(A, B, C):
    col, row = cuda.grid(2)
    acc = float32(0)
    if row < C.shape[0] and col < C.shape[1]:
        for k in range(A.shape[1]):
            acc += A[row, k] * B[col, k]  # bug
            # twin: acc += A[row, k] * B[k, col]
        C[row, col] = acc


def arguments(rng):
    A, B = rng.standard_normal((7, 7), np.float32), rng.standard_normal((7, 7), np.float32)
    return A, B, np.zeros((7, 7), np.float32)


def answer(A, B, C):
    return {2: A @ B}
