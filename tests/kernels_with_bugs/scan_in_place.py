"""A running sum in place reads its neighbour and writes its own element with no barrier between the two."""

import numpy as np
from numba import cuda, int32

GRID, BLOCK = 1, 64
EXPECTED = [("race", "write", "read", "s")]


@cuda.jit
def bug(x, out):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    step = 1
    while step < 64:
        before = 0
        if t >= step:
            before = s[t - step]  # <- read
        # twin: cuda.syncthreads()
        s[t] = s[t] + before  # <- write
        cuda.syncthreads()
        step *= 2
    out[t] = s[t]


def arguments(rng):
    return rng.integers(-50, 50, 64, np.int32), np.zeros(64, np.int32)


def answer(x, out):
    return {1: np.cumsum(x).astype(np.int32)}
