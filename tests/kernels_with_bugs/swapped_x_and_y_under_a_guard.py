"""Row and column are swapped, and a guard hides it: the threads that leave the matrix do nothing."""

import numpy as np
from numba import cuda

GRID, BLOCK = (2, 3), (4, 4)
EXPECTED = [("wrong-value", None, None, None)]


@cuda.jit
def bug(A, out):
    row, col = cuda.grid(2)  # bug
    # twin: col, row = cuda.grid(2)
    if row < A.shape[0] and col < A.shape[1]:
        out[row, col] = A[row, col]


def arguments(rng):
    return rng.standard_normal((11, 7), np.float32), np.zeros((11, 7), np.float32)


def answer(A, out):
    return {1: A}
