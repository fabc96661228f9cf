"""A warp sum by shuffles halves its step down to 2 and forgets 1: odd lanes are not in the sum."""

import numpy as np
from numba import cuda

GRID, BLOCK = 2, 64
EXPECTED = [("wrong-value", None, None, None)]


@cuda.jit
def bug(x, out):
    i = cuda.grid(1)
    value = x[i]
    step = 16
    while step > 1:  # bug
    # twin: while step > 0:
        value += cuda.shfl_down_sync(0xFFFFFFFF, value, step)
        step //= 2
    if cuda.laneid == 0:
        out[i // 32] = value


def arguments(rng):
    return rng.standard_normal(128, np.float32), np.zeros(4, np.float32)


def answer(x, out):
    return {1: x.reshape(4, 32).sum(1)}
