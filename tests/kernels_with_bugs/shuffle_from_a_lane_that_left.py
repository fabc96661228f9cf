"""Lanes beyond the end return first, and a shuffle for the whole warp names them."""

import numpy as np
from numba import cuda

GRID, BLOCK = 1, 32
EXPECTED = [("uninitialized-read", "shuffle", None, None)]


@cuda.jit
def bug(x, out):
    i = cuda.grid(1)
    if i >= x.size:  # bug
        return  # bug
    # twin: value = x[min(i, x.size - 1)]
    value = x[i]  # bug
    value += cuda.shfl_down_sync(0xFFFFFFFF, value, 1)  # <- shuffle
    if i < x.size - 1:
        out[i] = value


def arguments(rng):
    return rng.integers(0, 9, 20, np.int32), np.zeros(19, np.int32)


def answer(x, out):
    return {1: x[:-1] + x[1:]}
