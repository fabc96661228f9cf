"""The guard lets i = n through: `<=` where `<` is meant."""

import numpy as np
from numba import cuda

GRID, BLOCK = 2, 64
EXPECTED = [("out-of-bounds", "store", None, "out"), ("out-of-bounds", "store", None, "x")]


@cuda.jit
def bug(x, out):
    i = cuda.grid(1)
    if i <= x.shape[0]:  # bug
    # twin: if i < x.shape[0]:
        out[i] = x[i] + x[i]  # <- store


def arguments(rng):
    return rng.standard_normal(100, np.float32), np.zeros(100, np.float32)


def answer(x, out):
    return {1: x + x}
