"""The row comes from x and the column from y: a tall matrix is left at the right edge and half of it is never done."""

import numpy as np
from numba import cuda

GRID, BLOCK = (2, 3), (4, 4)
EXPECTED = [("out-of-bounds", "copy", None, "A"), ("out-of-bounds", "copy", None, "out")]


@cuda.jit
def bug(A, out):
    row, col = cuda.grid(2)  # bug
    # twin: col, row = cuda.grid(2)
    out[row, col] = A[row, col]  # <- copy


def arguments(rng):
    return rng.standard_normal((12, 8), np.float32), np.zeros((12, 8), np.float32)


def answer(A, out):
    return {1: A}
