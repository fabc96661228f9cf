"""Dividing a float32 by the literal 2.0 (or 2) computes in float64."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = 1, 32
EXPECTED = [("float64", "halve", None, None)]


@cuda.jit
def bug(x, out):
    i = cuda.grid(1)
    out[i] = x[i] / 2.0  # bug  # <- halve
    # twin: out[i] = x[i] / float32(2.0)


def arguments(rng):
    return rng.standard_normal(32, np.float32), np.zeros(32, np.float32)


def answer(x, out):
    return {1: x / 2}
