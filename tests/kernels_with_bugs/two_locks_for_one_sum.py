"""Even and odd blocks take different locks, and add to the same sum."""

import numpy as np
from numba import cuda

GRID, BLOCK = 4, 32
EXPECTED = [("race", "add", "add", "total")]


@cuda.jit
def bug(x, mutex, total):
    if cuda.threadIdx.x == 0:
        which = cuda.blockIdx.x % 2  # bug
        # twin: which = 0
        while cuda.atomic.cas(mutex, which, 0, 1) != 0:
            pass
        total[0] += x[cuda.blockIdx.x]  # <- add
        cuda.threadfence()
        cuda.atomic.exch(mutex, which, 0)


def arguments(rng):
    return rng.integers(1, 9, 4, np.int32), np.zeros(2, np.int32), np.zeros(1, np.int32)


def answer(x, mutex, total):
    return {2: np.array([x.sum()], np.int32)}
