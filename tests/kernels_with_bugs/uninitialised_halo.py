"""The tile has room for a halo of one element at each side, and only the right one is filled."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = 1, 32
EXPECTED = [("uninitialized-read", "use", None, "s")]


@cuda.jit
def bug(x, out):
    s = cuda.shared.array(34, float32)
    t = cuda.threadIdx.x
    s[t + 1] = x[t]
    # twin: if t == 0:
        # twin: s[0] = float32(0)
    if t == 31:
        s[33] = float32(0)
    cuda.syncthreads()
    out[t] = s[t] + s[t + 1] + s[t + 2]  # <- use


def arguments(rng):
    return rng.standard_normal(32, np.float32), np.zeros(32, np.float32)


def answer(x, out):
    return {1: np.convolve(x, np.ones(3, np.float32), "same")}
