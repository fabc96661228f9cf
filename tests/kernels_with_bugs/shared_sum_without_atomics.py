"""Every thread adds its element to one shared word with a plain addition."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = 2, 64
EXPECTED = [("race", "add", "add", "total")]


@cuda.jit
def bug(x, out):
    total = cuda.shared.array(1, float32)
    t = cuda.threadIdx.x
    if t == 0:
        total[0] = float32(0)
    cuda.syncthreads()
    total[0] += x[cuda.grid(1)]  # bug  # <- add
    # twin: cuda.atomic.add(total, 0, x[cuda.grid(1)])
    cuda.syncthreads()
    if t == 0:
        out[cuda.blockIdx.x] = total[0]


def arguments(rng):
    return rng.standard_normal(128, np.float32), np.zeros(2, np.float32)


def answer(x, out):
    return {1: x.reshape(2, 64).sum(1)}
