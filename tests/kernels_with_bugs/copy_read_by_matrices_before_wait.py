"""A warp loads matrices from a tile whose rows are still on their way: the wait comes after."""

import numpy as np
from numba import cuda, float32

from course_lib.kernels.async_copy import commit_copies, copy4_async, wait_copies
from course_lib.kernels.tensor_core_loads import load_matrices

GRID, BLOCK = 1, 32
EXPECTED = [("unfinished-copy", "use", "copy", "tile")]
ALSO = ["uninitialized-read", "race"]


@cuda.jit
def bug(x, out):
    tile = cuda.shared.array((32, 4), float32)
    i = cuda.threadIdx.x
    copy4_async(tile, i, 0, x, i, 0)  # <- copy
    commit_copies()
    # twin: wait_copies(0)
    # twin: cuda.syncthreads()
    y = load_matrices(tile, i, 0)  # <- use
    wait_copies(0)  # bug
    out[0, i] = y[0]
    out[1, i] = y[1]
    out[2, i] = y[2]
    out[3, i] = y[3]


def arguments(rng):
    return rng.standard_normal((32, 4), np.float32), np.zeros((4, 32), np.float32)


def answer(x, out):
    return {1: x.reshape(4, 32)}
