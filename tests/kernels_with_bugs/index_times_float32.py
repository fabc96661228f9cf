"""float32 times an integer index is a float64 in numba."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = 1, 48
EXPECTED = [("float64", "scale", None, None)]


@cuda.jit
def bug(x, out):
    i = cuda.grid(1)
    out[i] = x[i] * i  # bug  # <- scale
    # twin: out[i] = x[i] * float32(i)


def arguments(rng):
    return rng.standard_normal(48, np.float32), np.zeros(48, np.float32)


def answer(x, out):
    return {1: x * np.arange(48, dtype=np.float32)}
