"""A block polls a flag with plain loads, and another one raises it with a plain store."""

import numpy as np
from numba import cuda

GRID, BLOCK = 2, 32
EXPECTED = [("race", "poll", "raise", "flag")]
ALSO = ["race"]


@cuda.jit
def bug(flag, word, out):
    if cuda.threadIdx.x == 0:
        if cuda.blockIdx.x == 0:
            word[0] = 7
            cuda.threadfence()
            flag[0] = 1  # bug  # <- raise
            # twin: cuda.atomic.exch(flag, 0, 1)
        else:
            while flag[0] == 0:  # bug  # <- poll
            # twin: while cuda.atomic.add(flag, 0, 0) == 0:
                pass
            cuda.threadfence()
            out[0] = word[0]


def arguments(rng):
    return np.zeros(1, np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32)


def answer(flag, word, out):
    return {2: np.array([7], np.int32)}
