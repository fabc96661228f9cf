"""Threads count with atomics, and one reads the counter in the same phase with a plain load."""

import numpy as np
from numba import cuda, int32

GRID, BLOCK = 1, 64
EXPECTED = [("race", "read", "count", "counter")]


@cuda.jit
def bug(x, out):
    counter = cuda.shared.array(1, int32)
    t = cuda.threadIdx.x
    if t == 0:
        counter[0] = 0
    cuda.syncthreads()
    if x[t] > 0:
        cuda.atomic.add(counter, 0, 1)  # <- count
    # twin: cuda.syncthreads()
    if t == 63:
        out[0] = counter[0]  # <- read


def arguments(rng):
    return rng.integers(-4, 5, 64, np.int32), np.zeros(1, np.int32)


def answer(x, out):
    return {1: np.array([(x > 0).sum()], np.int32)}
