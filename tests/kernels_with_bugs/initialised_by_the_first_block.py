"""Thread 0 of the grid sets the sum to zero, and no other block waits for it."""

import numpy as np
from numba import cuda

GRID, BLOCK = 3, 32
EXPECTED = [("race", "zero", "add", "total")]


@cuda.jit
def bug(x, total):
    i = cuda.grid(1)
    if i == 0:  # bug
        total[0] = 0  # bug  # <- zero
    cuda.syncthreads()
    cuda.atomic.add(total, 0, x[i])  # <- add


def arguments(rng):
    return rng.integers(-9, 9, 96, np.int32), np.zeros(1, np.int32)


def answer(x, total):
    return {1: np.array([x.sum()], np.int32)}
