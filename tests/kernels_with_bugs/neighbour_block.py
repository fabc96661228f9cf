"""Each thread reads what a thread of the next block has written in the same launch: nothing orders two blocks."""

import numpy as np
from numba import cuda

GRID, BLOCK = 4, 32
EXPECTED = [("race", "read", "write", "y")]


@cuda.jit
def bug(x, y, out):
    i = cuda.grid(1)
    # twin: j = (i + 32) % y.shape[0]
    y[i] = x[i] * x[i]  # <- write
    cuda.syncthreads()
    out[i] = y[(i + 32) % y.shape[0]]  # bug  # <- read
    # twin: out[i] = x[j] * x[j]


def arguments(rng):
    return rng.standard_normal(128, np.float32), np.zeros(128, np.float32), np.zeros(128, np.float32)


def answer(x, y, out):
    return {2: np.roll(x * x, -32)}
