"""Block 0 writes a result and sets a flag; block 1 waits for the flag and writes a better result over it.

Without the fence before the flag, the first write may arrive last.
"""

import numpy as np
from numba import cuda

GRID, BLOCK = 2, 32
EXPECTED = [("race", "second", "first", "result")]


@cuda.jit
def bug(x, flag, result):
    if cuda.threadIdx.x == 0:
        if cuda.blockIdx.x == 0:
            result[0] = x[0]  # <- first
            # twin: cuda.threadfence()
            cuda.atomic.exch(flag, 0, 1)
        else:
            while cuda.atomic.add(flag, 0, 0) == 0:
                pass
            cuda.threadfence()
            result[0] = x[1]  # <- second


def arguments(rng):
    return rng.integers(1, 9, 2, np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32)


def answer(x, flag, result):
    return {2: x[1:]}
