"""A thread reads what it copies asynchronously before it has waited for the copy."""

import numpy as np
from numba import cuda, float32

from course_lib.kernels.async_copy import commit_copies, copy_async, wait_copies

GRID, BLOCK = 2, 64
EXPECTED = [("unfinished-copy", "use", "copy", "tile")]
ALSO = ["uninitialized-read"]


@cuda.jit
def bug(x, out):
    tile = cuda.shared.array((1, 64), float32)
    t, i = cuda.threadIdx.x, cuda.grid(1)
    copy_async(tile, 0, t, x, 0, i)  # <- copy
    commit_copies()
    # twin: wait_copies(0)
    out[i] = float32(2) * tile[0, t]  # <- use
    wait_copies(0)  # bug


def arguments(rng):
    return rng.standard_normal((1, 128), np.float32), np.zeros(128, np.float32)


def answer(x, out):
    return {1: 2 * x[0]}
