"""Rows are guarded, columns are not: a thread beyond the right edge of a row leaves dimension 1."""

import numpy as np
from numba import cuda

GRID, BLOCK = (2, 2), (8, 4)
EXPECTED = [("out-of-bounds", "copy", None, "A"), ("out-of-bounds", "copy", None, "out")]


@cuda.jit
def bug(A, out):
    col, row = cuda.grid(2)
    if row < A.shape[0]:  # bug
    # twin: if row < A.shape[0] and col < A.shape[1]:
        out[row, col] = A[row, col]  # <- copy


def arguments(rng):
    return rng.standard_normal((7, 13), np.float32), np.zeros((7, 13), np.float32)


def answer(A, out):
    return {1: A}
