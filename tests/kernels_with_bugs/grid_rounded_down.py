"""The grid is n // block: the last elements belong to nobody. The launch is wrong, the kernel is right."""

import numpy as np
from numba import cuda

GRID, BLOCK = 3, 32
BUG_GRID = 2
EXPECTED = [("wrong-value", None, None, None)]


@cuda.jit
def bug(x, out):
    i = cuda.grid(1)
    if i < x.shape[0]:
        out[i] = x[i] + x[i]


def arguments(rng):
    return rng.standard_normal(90, np.float32), np.zeros(90, np.float32)


def answer(x, out):
    return {1: x + x}
