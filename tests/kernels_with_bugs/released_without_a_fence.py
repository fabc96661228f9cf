"""One block writes and raises a flag without a fence; the other waits for the flag and writes the same word."""

import numpy as np
from numba import cuda

GRID, BLOCK = 2, 32
EXPECTED = [("race", "first", "second", "word")]


@cuda.jit
def bug(flag, word):
    if cuda.threadIdx.x == 0:
        if cuda.blockIdx.x == 0:
            word[0] = 1  # <- first
            # twin: cuda.threadfence()
            cuda.atomic.exch(flag, 0, 1)
        else:
            while cuda.atomic.add(flag, 0, 0) == 0:
                pass
            cuda.threadfence()
            word[0] = 2  # <- second


def arguments(rng):
    return np.zeros(1, np.int32), np.zeros(1, np.int32)


def answer(flag, word):
    return {1: np.array([2], np.int32)}
