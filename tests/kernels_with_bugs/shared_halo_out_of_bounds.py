"""The tile has no room for the halo: the last thread of a block writes one element too far."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = 2, 32
EXPECTED = [("out-of-bounds", "fill", None, "s"), ("out-of-bounds", "use", None, "s")]


@cuda.jit
def bug(x, out):
    s = cuda.shared.array(32, float32)  # bug
    # twin: s = cuda.shared.array(33, float32)
    t = cuda.threadIdx.x
    i = cuda.grid(1)
    s[t] = x[i]
    if t == 31:
        s[32] = x[i + 1]  # <- fill
    cuda.syncthreads()
    out[i] = s[t + 1] - s[t]  # <- use


def arguments(rng):
    return rng.standard_normal(65, np.float32), np.zeros(64, np.float32)


def answer(x, out):
    return {1: np.diff(x)}
