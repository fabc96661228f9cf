"""The z index of the launch runs past the depth of the array; in memory order the element would still exist."""

import numpy as np
from numba import cuda

GRID, BLOCK = (1, 1, 2), (4, 3, 2)
EXPECTED = [("out-of-bounds", "store", None, "out")]


@cuda.jit
def bug(A, out):
    x, y, z = cuda.grid(3)
    if z < 4:  # bug
    # twin: if z < out.shape[0]:
        out[z, y, x] = A[y, x]  # <- store


def arguments(rng):
    return rng.standard_normal((3, 4), np.float32), np.zeros((3, 3, 4), np.float32)


def answer(A, out):
    return {1: np.stack([A] * 3)}
