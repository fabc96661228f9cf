"""A tile is read without a barrier for elements above a threshold, and this input has none."""

import numpy as np
from numba import cuda, int32

GRID, BLOCK = 1, 64
EXPECTED = [("unseen", None, None, None)]


@cuda.jit
def bug(x, out):
    tile = cuda.shared.array(64, int32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    # twin: cuda.syncthreads()
    out[t] = tile[63 - t] if x[t] > 100 else x[t]


def arguments(rng):
    return rng.integers(0, 9, 64, np.int32), np.zeros(64, np.int32)


def answer(x, out):
    return {1: x}
