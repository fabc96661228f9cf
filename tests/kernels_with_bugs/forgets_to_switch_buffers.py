"""The new tile goes into the other buffer, but the reader never switches to it: no rule broken, wrong product."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = 1, 64
EXPECTED = [("wrong-value", None, None, None)]


@cuda.jit
def bug(x, out):
    s = cuda.shared.array((2, 64), float32)
    t = cuda.threadIdx.x
    s[0, t] = x[0, t]
    cuda.syncthreads()
    acc = float32(0)
    now = 0
    for r in range(x.shape[0]):
        if r + 1 < x.shape[0]:
            s[1 - now, t] = x[r + 1, t]
        acc += s[now, 63 - t]
        cuda.syncthreads()
        # twin: now = 1 - now
    out[t] = acc


def arguments(rng):
    return rng.standard_normal((5, 64), np.float32), np.zeros(64, np.float32)


def answer(x, out):
    return {1: x.sum(0)[::-1]}
