"""Half of the block waits at one barrier and half at another: two barriers in the source are not one."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = 1, 64
EXPECTED = [("barrier-divergence", "first", "second", None)]


@cuda.jit
def bug(x, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    if t < 32:
        s[t] = x[t]
        cuda.syncthreads()  # bug  # <- first
    else:
        s[t] = -x[t]
        cuda.syncthreads()  # bug  # <- second
    # twin: cuda.syncthreads()
    out[t] = s[63 - t]


def arguments(rng):
    return rng.standard_normal(64, np.float32), np.zeros(64, np.float32)


def answer(x, out):
    return {1: np.where(np.arange(64) < 32, x, -x)[::-1]}
