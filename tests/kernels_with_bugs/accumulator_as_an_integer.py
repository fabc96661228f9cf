"""`acc = 0` is an int64; adding a float32 to it makes a float64."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = 1, 32
EXPECTED = [("float64", "add", None, None)]


@cuda.jit
def bug(A, out):
    acc = 0  # bug
    # twin: acc = float32(0)
    i = cuda.grid(1)
    for k in range(A.shape[1]):
        acc += A[i, k]  # <- add
    out[i] = acc


def arguments(rng):
    return rng.standard_normal((32, 5), np.float32), np.zeros(32, np.float32)


def answer(A, out):
    return {1: A.sum(1)}
