"""Threads append what they find to a list; each reads the list's length and writes it back, larger by one."""

import numpy as np
from numba import cuda

GRID, BLOCK = 2, 32
EXPECTED = [("race", "length", "length", "length")]


@cuda.jit
def bug(x, found, length):
    i = cuda.grid(1)
    if i < x.size and x[i] < 0:
        cuda.atomic.max(found, length[0], i)  # bug  # <- length
        length[0] += 1  # bug  # <- length
        # twin: cuda.atomic.max(found, cuda.atomic.add(length, 0, 1), i)


def arguments(rng):
    x = rng.integers(-9, 9, 50, np.int32)
    return x, np.full(64, -1, np.int32), np.zeros(1, np.int32)


def answer(x, found, length):
    negative = np.flatnonzero(x < 0)
    return {2: np.array([negative.size], np.int32)}
