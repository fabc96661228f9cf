"""Each thread compares its value with the greatest so far, and stores it if it is greater: others came between."""

import numpy as np
from numba import cuda

GRID, BLOCK = 3, 32
EXPECTED = [("race", "check", "store", "greatest")]


@cuda.jit
def bug(x, greatest):
    i = cuda.grid(1)
    if i < x.size:
        # twin: cuda.atomic.max(greatest, 0, x[i])
        if x[i] > greatest[0]:  # bug  # <- check
            greatest[0] = x[i]  # bug  # <- store


def arguments(rng):
    return rng.integers(1, 1000, 90, np.int32), np.zeros(1, np.int32)


def answer(x, greatest):
    return {1: x.max(keepdims=True)}
