"""Column n of row r is column 0 of row r + 1 in memory: every address is inside the array, and the index is not."""

import numpy as np
from numba import cuda

GRID, BLOCK = 1, (6, 5)
EXPECTED = [("out-of-bounds", "load", None, "A")]


@cuda.jit
def bug(A, out):
    col, row = cuda.grid(2)
    if row < A.shape[0] - 1:  # bug
    # twin: if row < A.shape[0] - 1 and col < A.shape[1] - 1:
        out[row, col] = A[row, col + 1] - A[row, col]  # <- load


def arguments(rng):
    return rng.standard_normal((5, 6), np.float32), np.zeros((5, 6), np.float32)


def answer(A, out):
    right = np.zeros_like(A)
    right[:-1, :-1] = A[:-1, 1:] - A[:-1, :-1]
    return {1: right}
