"""Threads that meet the same value add to the same counter, each from the count it read."""

import numpy as np
from numba import cuda

GRID, BLOCK = 2, 64
EXPECTED = [("race", "count", "count", "bins")]


@cuda.jit
def bug(x, bins):
    i = cuda.grid(1)
    if i < x.shape[0]:
        bins[x[i]] += 1  # bug  # <- count
        # twin: cuda.atomic.add(bins, x[i], 1)


def arguments(rng):
    return rng.integers(0, 10, 100, np.int32), np.zeros(10, np.int32)


def answer(x, bins):
    return {1: np.bincount(x, minlength=10).astype(np.int32)}
