"""A tree sum in shared memory halves the stride without waiting for the step before."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = 2, 128
EXPECTED = [("race", "read", "write", "s")]


@cuda.jit
def bug(x, out):
    s = cuda.shared.array(128, float32)
    t = cuda.threadIdx.x
    s[t] = x[cuda.grid(1)]
    cuda.syncthreads()
    step = 64
    while step > 0:
        if t < step:
            other = s[t + step]  # <- read
            s[t] = s[t] + other  # <- write
        # twin: cuda.syncthreads()
        step //= 2
    cuda.syncthreads()  # bug
    if t == 0:
        out[cuda.blockIdx.x] = s[0]


def arguments(rng):
    return rng.standard_normal(256, np.float32), np.zeros(2, np.float32)


def answer(x, out):
    return {1: x.reshape(2, 128).sum(1)}
