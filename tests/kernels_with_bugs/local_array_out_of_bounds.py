"""A window of four is shifted with a loop that runs one element too far."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = 1, 33
EXPECTED = [("out-of-bounds", "fill", None, "window")]


@cuda.jit
def bug(x, out):
    window = cuda.local.array(4, float32)
    i = cuda.grid(1)
    for k in range(5):  # bug
    # twin: for k in range(4):
        window[k] = x[i + k]  # <- fill
    out[i] = window[0] * window[3]


def arguments(rng):
    return rng.standard_normal(40, np.float32), np.zeros(33, np.float32)


def answer(x, out):
    return {1: x[:33] * x[3:36]}
