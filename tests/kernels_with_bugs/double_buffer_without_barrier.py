"""Two buffers, but no barrier in the loop: a fast warp fills the buffer that a slow one still reads."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = 1, 64
EXPECTED = [("race", "use", "next", "s")]
ALSO = ["uninitialized-read"]


@cuda.jit
def bug(x, out):
    s = cuda.shared.array((2, 64), float32)
    t = cuda.threadIdx.x
    s[0, t] = x[0, t]
    cuda.syncthreads()
    acc = float32(0)
    for r in range(x.shape[0]):
        if r + 1 < x.shape[0]:
            s[(r + 1) % 2, t] = x[r + 1, t]  # <- next
        acc += s[r % 2, 63 - t]  # <- use
        # twin: cuda.syncthreads()
    out[t] = acc


def arguments(rng):
    return rng.standard_normal((5, 64), np.float32), np.zeros(64, np.float32)


def answer(x, out):
    return {1: x.sum(0)[::-1]}
