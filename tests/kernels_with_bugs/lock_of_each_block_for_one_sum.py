"""Each block takes a lock in its own shared memory, and the sum that it guards belongs to all blocks."""

import numpy as np
from numba import cuda, int32

GRID, BLOCK = 3, 64
EXPECTED = [("race", "add", "add", "total")]


@cuda.jit
def bug(x, locks, total):
    mutex = cuda.shared.array(1, int32)  # bug
    # twin: mutex = locks
    if cuda.threadIdx.x == 0:  # bug
        mutex[0] = 0  # bug
    cuda.syncthreads()
    if cuda.threadIdx.x % 32 == 0:
        while cuda.atomic.cas(mutex, 0, 0, 1) != 0:
            pass
        total[0] += x[cuda.grid(1) // 32]  # <- add
        cuda.threadfence()
        cuda.atomic.exch(mutex, 0, 0)


def arguments(rng):
    return rng.integers(1, 9, 6, np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32)


def answer(x, locks, total):
    return {2: np.array([x.sum()], np.int32)}
