"""`acc = 0.0` is a float64, so every product is added in float64; a GPU does that 2 to 64 times slower."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = 1, (4, 6)
EXPECTED = [("float64", "add", None, None)]


@cuda.jit
def bug(A, B, C):
    col, row = cuda.grid(2)
    acc = 0.0  # bug
    # twin: acc = float32(0.0)
    for k in range(A.shape[1]):
        acc += A[row, k] * B[k, col]  # <- add
    C[row, col] = acc


def arguments(rng):
    A, B = rng.standard_normal((6, 5), np.float32), rng.standard_normal((5, 4), np.float32)
    return A, B, np.zeros((6, 4), np.float32)


def answer(A, B, C):
    return {2: A @ B}
