"""The condition splits the block between warps, none of which is split itself."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = 1, 96
EXPECTED = [("barrier-divergence", "barrier", None, None)]


@cuda.jit
def bug(x, out):
    s = cuda.shared.array(96, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    if t < 64:  # bug
        cuda.syncthreads()  # bug  # <- barrier
    # twin: cuda.syncthreads()
    out[t] = s[t]


def arguments(rng):
    return rng.standard_normal(96, np.float32), np.zeros(96, np.float32)


def answer(x, out):
    return {1: x}
