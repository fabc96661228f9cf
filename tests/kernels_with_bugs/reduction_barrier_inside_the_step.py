"""The barrier of the tree sum stands inside `if t < step`, where only the adding threads meet it."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = 1, 64
EXPECTED = [("barrier-divergence", "barrier", None, None)]


@cuda.jit
def bug(x, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    step = 32
    while step > 0:
        if t < step:
            s[t] += s[t + step]
            cuda.syncthreads()  # bug  # <- barrier
        # twin: cuda.syncthreads()
        step //= 2
    if t == 0:
        out[0] = s[0]


def arguments(rng):
    return rng.standard_normal(64, np.float32), np.zeros(1, np.float32)


def answer(x, out):
    return {1: np.array([x.sum()])}
