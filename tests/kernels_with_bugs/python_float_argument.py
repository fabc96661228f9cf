"""A Python float argument arrives as float64 and takes the whole expression with it."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = 1, 32
EXPECTED = [("float64", "scale", None, None)]


@cuda.jit
def bug(alpha, x, out):
    i = cuda.grid(1)
    out[i] = alpha * x[i]  # bug  # <- scale
    # twin: out[i] = float32(alpha) * x[i]


def arguments(rng):
    return 1.5, rng.standard_normal(32, np.float32), np.zeros(32, np.float32)


def answer(alpha, x, out):
    return {2: np.float32(alpha) * x}
