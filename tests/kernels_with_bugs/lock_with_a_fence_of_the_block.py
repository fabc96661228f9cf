"""Blocks add to a sum under a lock, and the fence before it is given back orders the threads of one block only."""

import numpy as np
from numba import cuda

GRID, BLOCK = 5, 32
EXPECTED = [("race", "add", "add", "total")]


@cuda.jit
def bug(x, mutex, total):
    if cuda.threadIdx.x == 0:
        while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
            pass
        total[0] += x[cuda.blockIdx.x]  # <- add
        cuda.threadfence_block()  # bug
        # twin: cuda.threadfence()
        cuda.atomic.exch(mutex, 0, 0)


def arguments(rng):
    return rng.integers(1, 9, 5, np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32)


def answer(x, mutex, total):
    return {2: np.array([x.sum()], np.int32)}
