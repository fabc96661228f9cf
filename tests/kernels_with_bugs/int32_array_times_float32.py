"""An int32 weight makes a float64 of the float32 that it multiplies."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = 1, 48
EXPECTED = [("float64", "weigh", None, None)]


@cuda.jit
def bug(x, weight, out):
    i = cuda.grid(1)
    out[i] = weight[i] * x[i]  # bug  # <- weigh
    # twin: out[i] = float32(weight[i]) * x[i]


def arguments(rng):
    return rng.standard_normal(48, np.float32), rng.integers(-9, 9, 48, np.int32), np.zeros(48, np.float32)


def answer(x, weight, out):
    return {2: x * weight.astype(np.float32)}
