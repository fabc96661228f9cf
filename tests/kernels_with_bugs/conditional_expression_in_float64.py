"""`value if condition else 0.0` takes the type of the 0.0."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = 1, 32
EXPECTED = [("float64", "scale", None, None)]


@cuda.jit
def bug(x, out):
    i = cuda.grid(1)
    value = x[i] if i % 3 == 0 else 0.0  # bug
    # twin: value = x[i] if i % 3 == 0 else float32(0)
    out[i] = value * x[i]  # <- scale


def arguments(rng):
    return rng.standard_normal(32, np.float32), np.zeros(32, np.float32)


def answer(x, out):
    return {1: np.where(np.arange(32) % 3 == 0, x * x, np.float32(0))}
