"""The last thread has no right neighbour, and loads one."""

import numpy as np
from numba import cuda

GRID, BLOCK = 2, 32
EXPECTED = [("out-of-bounds", "load", None, "x")]


@cuda.jit
def bug(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:  # bug
    # twin: if i + 1 < x.shape[0]:
        out[i] = x[i + 1] - x[i]  # <- load


def arguments(rng):
    return rng.standard_normal(50, np.float32), np.zeros(50, np.float32)


def answer(x, out):
    return {1: np.append(np.diff(x), np.float32(0))}
