"""A lane reads what its neighbour in the same warp has just written: without syncwarp nothing orders the two."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = 1, 32
EXPECTED = [("race", "read", "write", "s")]


@cuda.jit
def bug(x, out):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]  # <- write
    # twin: cuda.syncwarp()
    out[t] = s[t ^ 1]  # <- read


def arguments(rng):
    return rng.standard_normal(32, np.float32), np.zeros(32, np.float32)


def answer(x, out):
    return {1: x.reshape(-1, 2)[:, ::-1].ravel()}
