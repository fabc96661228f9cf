"""The copies of the next tile start before everyone has finished reading the stage that they fill."""

import numpy as np
from numba import cuda, float32

from course_lib.kernels.async_copy import commit_copies, copy_async, wait_copies

GRID, BLOCK = 1, 64
EXPECTED = [("race", "copy", "use", "tile")]
ALSO = ["uninitialized-read", "unfinished-copy"]


@cuda.jit
def bug(x, out):
    tile = cuda.shared.array((1, 64), float32)
    t = cuda.threadIdx.x
    acc = float32(0)
    for r in range(x.shape[0]):
        copy_async(tile, 0, t, x, r, t)  # <- copy
        commit_copies()
        wait_copies(0)
        cuda.syncthreads()
        acc += tile[0, 63 - t]  # <- use
        # twin: cuda.syncthreads()
    out[t] = acc


def arguments(rng):
    return rng.standard_normal((4, 64), np.float32), np.zeros(64, np.float32)


def answer(x, out):
    return {1: x.sum(axis=0)[::-1]}
