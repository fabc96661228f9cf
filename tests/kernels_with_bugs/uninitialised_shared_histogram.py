"""Each block counts in shared memory and never sets the counters to zero."""

import numpy as np
from numba import cuda, int32

GRID, BLOCK = 2, 64
EXPECTED = [("uninitialized-read", "count", None, "bins")]


@cuda.jit
def bug(x, out):
    bins = cuda.shared.array(16, int32)
    t = cuda.threadIdx.x
    # twin: if t < 16:
        # twin: bins[t] = 0
    # twin: cuda.syncthreads()
    cuda.atomic.add(bins, x[cuda.grid(1)], 1)  # <- count
    cuda.syncthreads()
    if t < 16:
        cuda.atomic.add(out, t, bins[t])  # <- count


def arguments(rng):
    return rng.integers(0, 15, 128, np.int32), np.zeros(16, np.int32)


def answer(x, out):
    return {1: np.bincount(x, minlength=16).astype(np.int32)}
