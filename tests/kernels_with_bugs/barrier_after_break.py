"""A thread that finds what it looks for leaves the loop, and the barrier in it, before the others."""

import numpy as np
from numba import cuda, int32

GRID, BLOCK = 1, 64
EXPECTED = [("barrier-divergence", "barrier", None, None)]


@cuda.jit
def bug(x, out):
    s = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    found = x.shape[0]
    for r in range(x.shape[0]):
        s[t] = x[r, t]
        if s[t] > 0:  # bug
        # twin: if s[t] > 0 and found == x.shape[0]:
            found = r
            break  # bug
        cuda.syncthreads()  # <- barrier
    out[t] = found


def arguments(rng):
    x = (rng.random((6, 64)) < 0.3).astype(np.int32)
    x[0, 0], x[0, 1] = 1, 0
    return x, np.zeros(64, np.int64)


def answer(x, out):
    return {1: np.where(x.any(0), x.argmax(0), 6)}
