"""A local array is used as a set of sums without being set to zero first."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = 1, 40
EXPECTED = [("uninitialized-read", "sum", None, "sums")]


@cuda.jit
def bug(x, out):
    sums = cuda.local.array(3, float32)
    t = cuda.grid(1)
    # twin: for k in range(3):
        # twin: sums[k] = float32(0)
    for k in range(x.shape[1]):
        sums[k % 3] += x[t, k]  # <- sum
    out[t] = sums[0] * sums[1] * sums[2]


def arguments(rng):
    return rng.standard_normal((40, 7), np.float32), np.zeros(40, np.float32)


def answer(x, out):
    return {1: x[:, ::3].sum(1) * x[:, 1::3].sum(1) * x[:, 2::3].sum(1)}
