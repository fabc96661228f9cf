"""Threads go round a loop with a barrier different numbers of times."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = 1, 64
EXPECTED = [("barrier-divergence", "barrier", None, None)]


@cuda.jit
def bug(x, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    acc = float32(0)
    for i in range(t, x.shape[0], 64):  # bug
        s[t] = x[i]  # bug
    # twin: for start in range(0, x.shape[0], 64):
        # twin: if start + t < x.shape[0]:
            # twin: s[t] = x[start + t]
        cuda.syncthreads()  # <- barrier
        acc += s[t]  # bug
        # twin: if start + t < x.shape[0]:
            # twin: acc += s[t]
    out[t] = acc


def arguments(rng):
    return rng.standard_normal(150, np.float32), np.zeros(64, np.float32)


def answer(x, out):
    return {1: np.pad(x, (0, 42)).reshape(3, 64).sum(0)}
