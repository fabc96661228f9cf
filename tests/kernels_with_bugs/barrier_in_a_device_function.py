"""A helper synchronises, and only some threads call it."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = 1, 64
EXPECTED = [("barrier-divergence", "barrier", None, None)]


@cuda.jit(device=True)
def publish(s, t, value):
    s[t] = value
    cuda.syncthreads()  # <- barrier


@cuda.jit
def bug(x, out):
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    # twin: value = float32(0)
    if t < x.shape[0]:
        publish(s, t, x[t])  # bug
        # twin: value = x[t]
    # twin: publish(s, t, value)
    # twin: if t < x.shape[0]:
        out[t] = s[x.shape[0] - 1 - t]


def arguments(rng):
    return rng.standard_normal(40, np.float32), np.zeros(40, np.float32)


def answer(x, out):
    return {1: x[::-1]}
