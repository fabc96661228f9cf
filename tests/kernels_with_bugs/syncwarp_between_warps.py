"""A syncwarp stands where a barrier is needed: it orders the lanes of one warp, not two warps."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = 1, 64
EXPECTED = [("race", "read", "write", "s")]
ALSO = ["uninitialized-read"]


@cuda.jit
def bug(x, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]  # <- write
    cuda.syncwarp()  # bug
    # twin: cuda.syncthreads()
    out[t] = s[63 - t]  # <- read


def arguments(rng):
    return rng.standard_normal(64, np.float32), np.zeros(64, np.float32)


def answer(x, out):
    return {1: x[::-1]}
