"""The first thread has no left neighbour; numba reads the last element of the array instead, and says nothing."""

import numpy as np
from numba import cuda

GRID, BLOCK = 2, 32
EXPECTED = [("negative-index", "load", None, "x")]


@cuda.jit
def bug(x, out):
    i = cuda.grid(1)
    out[i] = x[i] - x[i - 1]  # bug  # <- load
    # twin: if i > 0:
        # twin: out[i] = x[i] - x[i - 1]


def arguments(rng):
    return rng.standard_normal(64, np.float32), np.zeros(64, np.float32)


def answer(x, out):
    return {1: np.append(np.float32(0), np.diff(x))}
