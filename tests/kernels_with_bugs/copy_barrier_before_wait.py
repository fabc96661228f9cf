"""The barrier comes before the wait: the neighbour may arrive at it with its copy still on the way."""

import numpy as np
from numba import cuda, float32

from course_lib.kernels.async_copy import commit_copies, copy_async, wait_copies

GRID, BLOCK = 2, 64
EXPECTED = [("race", "use", "copy", "tile")]
ALSO = ["uninitialized-read", "unfinished-copy"]


@cuda.jit
def bug(x, out):
    tile = cuda.shared.array((1, 64), float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    copy_async(tile, 0, t, x, 0, i)  # <- copy
    commit_copies()
    # twin: wait_copies(0)
    cuda.syncthreads()
    wait_copies(0)  # bug
    out[i] = tile[0, 63 - t]  # <- use


def arguments(rng):
    return rng.standard_normal((1, 128), np.float32), np.zeros(128, np.float32)


def answer(x, out):
    return {1: x.reshape(2, 64)[:, ::-1].ravel()}
