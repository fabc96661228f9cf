"""Blocks add to a sum under a lock; the block that comes last reads it without the lock."""

import numpy as np
from numba import cuda

GRID, BLOCK = 4, 32
EXPECTED = [("race", "read", "add", "total")]


@cuda.jit
def bug(x, mutex, total, seen):
    if cuda.threadIdx.x == 0:
        if cuda.blockIdx.x < cuda.gridDim.x - 1:
            while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
                pass
            total[0] += x[cuda.blockIdx.x]  # <- add
            cuda.threadfence()
            cuda.atomic.exch(mutex, 0, 0)
        else:
            # twin: while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
            # twin:     pass
            seen[0] = total[0]  # <- read
            # twin: cuda.threadfence()
            # twin: cuda.atomic.exch(mutex, 0, 0)


def arguments(rng):
    return rng.integers(1, 9, 3, np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32)


def answer(x, mutex, total, seen):
    return {2: np.array([x.sum()], np.int32)}
