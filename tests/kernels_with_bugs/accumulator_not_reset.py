"""Each thread computes several rows and starts the next one with the sum of the last."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = 1, 33
EXPECTED = [("wrong-value", None, None, None)]


@cuda.jit
def bug(A, out):
    col = cuda.grid(1)
    acc = float32(0)  # bug
    for row in range(A.shape[0]):
        # twin: acc = float32(0)
        for k in range(A.shape[2]):
            acc += A[row, col, k]
        out[row, col] = acc


def arguments(rng):
    return rng.standard_normal((3, 33, 4), np.float32), np.zeros((3, 33), np.float32)


def answer(A, out):
    return {1: A.sum(2)}
