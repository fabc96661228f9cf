"""Two groups are on their way and the older one is needed, but the wait lets two be outstanding."""

import numpy as np
from numba import cuda, float32

from course_lib.kernels.async_copy import commit_copies, copy_async, wait_copies

GRID, BLOCK = 1, 64
EXPECTED = [("unfinished-copy", "use", "copy", "tile")]
ALSO = ["race", "uninitialized-read"]


@cuda.jit
def bug(x, out):
    tile = cuda.shared.array((2, 64), float32)
    t = cuda.threadIdx.x
    copy_async(tile, 0, t, x, 0, t)  # <- copy
    commit_copies()
    copy_async(tile, 1, t, x, 1, t)
    commit_copies()
    wait_copies(2)  # bug
    # twin: wait_copies(1)
    cuda.syncthreads()
    out[t] = tile[0, 63 - t]  # <- use
    wait_copies(0)


def arguments(rng):
    return rng.standard_normal((2, 64), np.float32), np.zeros(64, np.float32)


def answer(x, out):
    return {1: x[0, ::-1]}
