"""The grid is rounded up to whole blocks and no thread asks whether it has an element."""

import numpy as np
from numba import cuda

GRID, BLOCK = 3, 32
EXPECTED = [("out-of-bounds", "load", None, "x"), ("out-of-bounds", "store", None, "out")]


@cuda.jit
def bug(x, out):
    i = cuda.grid(1)
    value = x[i]  # bug  # <- load
    out[i] = value * value  # bug  # <- store
    # twin: if i < x.shape[0]:
        # twin: value = x[i]
        # twin: out[i] = value * value


def arguments(rng):
    return rng.standard_normal(70, np.float32), np.zeros(70, np.float32)


def answer(x, out):
    return {1: x * x}
