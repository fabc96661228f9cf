"""Threads beyond the edge return before a barrier that the rest of their block waits at."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = 2, 64
EXPECTED = [("barrier-divergence", "barrier", "return", None)]


@cuda.jit
def bug(x, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    # twin: if i < x.shape[0]:
        # twin: s[t] = x[i]
    # twin: cuda.syncthreads()
    if i >= x.shape[0]:
        return  # <- return
    s[t] = x[i]  # bug
    cuda.syncthreads()  # bug  # <- barrier
    out[i] = s[0] - s[t]


def arguments(rng):
    return rng.standard_normal(100, np.float32), np.zeros(100, np.float32)


def answer(x, out):
    return {1: x[np.arange(100) // 64 * 64] - x}
