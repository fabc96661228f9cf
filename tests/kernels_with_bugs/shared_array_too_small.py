"""The shared array has the size of another block: the last warp writes behind its end."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = 1, 96
EXPECTED = [("out-of-bounds", "fill", None, "s"), ("out-of-bounds", "read", None, "s")]


@cuda.jit
def bug(x, out):
    s = cuda.shared.array(64, float32)  # bug
    # twin: s = cuda.shared.array(96, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]  # <- fill
    cuda.syncthreads()
    out[t] = s[95 - t]  # <- read


def arguments(rng):
    return rng.standard_normal(96, np.float32), np.zeros(96, np.float32)


def answer(x, out):
    return {1: x[::-1]}
