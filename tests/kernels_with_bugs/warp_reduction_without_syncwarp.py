"""The last steps of a sum, inside one warp, rely on the lanes running in step."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = 1, 32
EXPECTED = [("race", "read", "write", "s")]


@cuda.jit
def bug(x, out):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncwarp()
    step = 16
    while step > 0:
        if t < step:
            other = s[t + step]  # <- read
            s[t] = s[t] + other  # <- write
        # twin: cuda.syncwarp()
        step //= 2
    if t == 0:
        out[0] = s[0]


def arguments(rng):
    return rng.standard_normal(32, np.float32), np.zeros(1, np.float32)


def answer(x, out):
    return {1: np.array([x.sum()])}
