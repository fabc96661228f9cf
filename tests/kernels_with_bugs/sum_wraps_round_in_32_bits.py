"""A product of two int32 arrays is added up in an int32 array, and the sum exceeds what 32 bits hold."""

import numpy as np
from numba import cuda, int32, int64

GRID, BLOCK = 1, 32
EXPECTED = [("wrong-value", None, None, None)]


@cuda.jit
def bug(x, out):
    part = cuda.shared.array(32, int32)  # bug
    # twin: part = cuda.shared.array(32, int64)
    t = cuda.threadIdx.x
    part[t] = x[t] * x[t]
    cuda.syncthreads()
    if t == 0:
        total = int64(0)
        for k in range(32):
            total += part[k]
        out[0] = total


def arguments(rng):
    return rng.integers(60_000, 90_000, 32).astype(np.int32), np.zeros(1, np.int64)


def answer(x, out):
    return {1: np.array([(x.astype(np.int64) ** 2).sum()])}
