"""Every thread that finds a negative element writes the same 1 to the same word: still a race."""

import numpy as np
from numba import cuda

GRID, BLOCK = 1, 64
EXPECTED = [("race", "write", "write", "flag")]


@cuda.jit
def bug(x, flag):
    i = cuda.grid(1)
    if x[i] < 0:
        flag[0] = 1  # bug  # <- write
        # twin: cuda.atomic.max(flag, 0, 1)


def arguments(rng):
    return rng.integers(-9, 3, 64, np.int32), np.zeros(1, np.int32)


def answer(x, flag):
    return {1: np.ones(1, np.int32)}
