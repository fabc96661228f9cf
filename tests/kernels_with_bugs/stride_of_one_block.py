"""The grid-stride loop steps by the block instead of the grid: blocks do each other's elements again."""

import numpy as np
from numba import cuda

GRID, BLOCK = 3, 32
EXPECTED = [("race", "write", "write", "out")]


@cuda.jit
def bug(x, out):
    start = cuda.grid(1)
    for i in range(start, x.shape[0], cuda.blockDim.x):  # bug
    # twin: for i in range(start, x.shape[0], cuda.gridsize(1)):
        out[i] = x[i] * x[i]  # <- write


def arguments(rng):
    return rng.standard_normal(200, np.float32), np.zeros(200, np.float32)


def answer(x, out):
    return {1: x * x}
