"""An index below -n wraps to nowhere: numba adds n once, and the element is still outside."""

import numpy as np
from numba import cuda

GRID, BLOCK = 1, 32
EXPECTED = [("out-of-bounds", "load", None, "x")]
ALSO = ["negative-index"]


@cuda.jit
def bug(x, out):
    i = cuda.grid(1)
    out[i] = x[i - 40]  # bug  # <- load
    # twin: out[i] = x[(i + 24) % 32]


def arguments(rng):
    return rng.standard_normal(32, np.float32), np.zeros(32, np.float32)


def answer(x, out):
    return {1: np.roll(x, 8)}
