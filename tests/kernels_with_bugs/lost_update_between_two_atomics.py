"""A counter is read by one atomic and written by another: each is whole, and what others add between is lost."""

import numpy as np
from numba import cuda

GRID, BLOCK = 1, 32
EXPECTED = [("wrong-value", None, None, None)]


@cuda.jit
def bug(x, count):
    i = cuda.grid(1)
    if x[i] > 0:
        before = cuda.atomic.add(count, 0, 0)  # bug
        cuda.atomic.exch(count, 0, before + 1)  # bug
        # twin: cuda.atomic.add(count, 0, 1)


def arguments(rng):
    return rng.integers(-9, 9, 32, np.int32), np.zeros(1, np.int32)


def answer(x, count):
    return {1: np.array([(x > 0).sum()], np.int32)}
