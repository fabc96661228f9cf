"""Each block writes the sum of its part, and then every block reads the sums of all blocks."""

import numpy as np
from numba import cuda

GRID, BLOCK = 4, 32
EXPECTED = [("race", "read", "write", "sums")]


@cuda.jit
def bug(x, sums, out):
    if cuda.threadIdx.x == 0:
        part = 0
        for k in range(cuda.blockDim.x):
            part += x[cuda.blockIdx.x * cuda.blockDim.x + k]
        sums[cuda.blockIdx.x] = part  # <- write
    cuda.syncthreads()  # bug
    # twin: cuda.cg.this_grid().sync()
    total = 0
    for b in range(cuda.gridDim.x):
        total += sums[b]  # <- read
    out[cuda.grid(1)] = total


def arguments(rng):
    return rng.integers(0, 9, 128), np.zeros(4, np.int64), np.zeros(128, np.int64)


def answer(x, sums, out):
    return {2: np.full(128, x.sum())}
