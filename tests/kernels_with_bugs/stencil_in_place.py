"""A stencil writes the array that its neighbours read."""

import numpy as np
from numba import cuda

GRID, BLOCK = 2, 48
EXPECTED = [("race", "update", "update", "x")]


@cuda.jit
def bug(x, out):
    i = cuda.grid(1)
    if 0 < i < x.shape[0] - 1:
        x[i] = x[i - 1] + x[i + 1]  # bug  # <- update
        out[i] = x[i]  # bug
        # twin: out[i] = x[i - 1] + x[i + 1]


def arguments(rng):
    return rng.standard_normal(96, np.float32), np.zeros(96, np.float32)


def answer(x, out):
    return {1: np.concatenate([[0], x[:-2] + x[2:], [0]]).astype(np.float32)}
