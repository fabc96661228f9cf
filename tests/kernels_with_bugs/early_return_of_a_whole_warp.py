"""A whole warp has nothing to do and returns; the block's other warps wait for it at the barrier."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = 1, 64
EXPECTED = [("barrier-divergence", "barrier", "return", None)]


@cuda.jit
def bug(x, out):
    s = cuda.shared.array(32, float32)
    t = cuda.threadIdx.x
    # twin: if t < x.shape[0]:
        # twin: s[t] = x[t]
    # twin: cuda.syncthreads()
    if t >= x.shape[0]:
        return  # <- return
    s[t] = x[t]  # bug
    cuda.syncthreads()  # bug  # <- barrier
    out[t] = s[31 - t]


def arguments(rng):
    return rng.standard_normal(32, np.float32), np.zeros(32, np.float32)


def answer(x, out):
    return {1: x[::-1]}
