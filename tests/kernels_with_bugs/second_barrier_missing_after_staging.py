"""A shared buffer is used twice, for rows and then for columns, with no barrier before it is filled again."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = 1, 64
EXPECTED = [("race", "refill", "read", "s")]


@cuda.jit
def bug(x, y, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    a = s[63 - t]  # <- read
    # twin: cuda.syncthreads()
    s[t] = y[t]  # <- refill
    cuda.syncthreads()
    out[t] = a * s[63 - t]


def arguments(rng):
    return rng.standard_normal(64, np.float32), rng.standard_normal(64, np.float32), np.zeros(64, np.float32)


def answer(x, y, out):
    return {2: (x * y)[::-1]}
