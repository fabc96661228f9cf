"""A histogram has one bin fewer than there are values."""

import numpy as np
from numba import cuda

GRID, BLOCK = 1, 64
EXPECTED = [("out-of-bounds", "count", None, "bins")]


@cuda.jit
def bug(x, bins):
    cuda.atomic.add(bins, x[cuda.grid(1)] + 1, 1)  # bug  # <- count
    # twin: cuda.atomic.add(bins, x[cuda.grid(1)], 1)


def arguments(rng):
    return rng.permutation(np.arange(64, dtype=np.int32) % 8), np.zeros(8, np.int32)


def answer(x, bins):
    return {1: np.full(8, 8, np.int32)}
