"""The barrier stands inside the guard, so the threads at the ragged edge never reach it."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = 1, 64
EXPECTED = [("barrier-divergence", "barrier", None, None)]


@cuda.jit
def bug(x, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    if t < x.shape[0]:
        s[t] = x[t]
        cuda.syncthreads()  # bug  # <- barrier
    # twin: cuda.syncthreads()
    # twin: if t < x.shape[0]:
        out[t] = s[x.shape[0] - 1 - t]


def arguments(rng):
    return rng.standard_normal(50, np.float32), np.zeros(50, np.float32)


def answer(x, out):
    return {1: x[::-1]}
