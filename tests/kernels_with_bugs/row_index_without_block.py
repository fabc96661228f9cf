"""Two blocks own the same rows, because the row leaves out blockIdx.y."""

import numpy as np
from numba import cuda

GRID, BLOCK = (1, 2), (8, 8)
EXPECTED = [("race", "write", "write", "out")]


@cuda.jit
def bug(A, out):
    col = cuda.threadIdx.x
    row = cuda.threadIdx.y  # bug
    # twin: row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    out[row, col] = A[row, col] + A[row, col]  # <- write


def arguments(rng):
    return rng.standard_normal((16, 8), np.float32), np.zeros((16, 8), np.float32)


def answer(A, out):
    return {1: 2 * A}
