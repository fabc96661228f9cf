"""All lanes of a warp pass a syncwarp whose mask names one half of them."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = 1, 32
EXPECTED = [("barrier-divergence", "sync", None, None)]


@cuda.jit
def bug(x, out):
    tile = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    tile[t] = x[t]
    cuda.syncwarp(0xFFFF)  # bug  # <- sync
    # twin: cuda.syncwarp(0xFFFFFFFF)
    out[t] = tile[31 - t]


def arguments(rng):
    return rng.random(32, np.float32), np.zeros(32, np.float32)


def answer(x, out):
    return {1: x[::-1]}
