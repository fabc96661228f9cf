"""Threads beyond the end return before a barrier of the grid, for which the others then wait without end."""

import numpy as np
from numba import cuda

GRID, BLOCK = 3, 32
EXPECTED = [("barrier-divergence", "barrier", "return", None)]


@cuda.jit
def bug(x, y):
    i = cuda.grid(1)
    if i >= x.size:  # bug
        return  # bug  # <- return
    # twin: if i < x.size:
    # twin:     y[i] = 2 * x[i]
    y[i] = 2 * x[i]  # bug
    cuda.cg.this_grid().sync()  # <- barrier
    if i < x.size:
        x[i] = y[x.size - 1 - i]


def arguments(rng):
    return rng.integers(0, 9, 80), np.zeros(80, np.int64)


def answer(x, y):
    return {0: 2 * x[::-1]}
