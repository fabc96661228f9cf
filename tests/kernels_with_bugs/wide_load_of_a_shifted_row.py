"""A load of four floats at once starts at an element whose index is no multiple of four."""

import numpy as np
from numba import cuda

from course_lib.kernels import load4

GRID, BLOCK = 1, 8
EXPECTED = [("misaligned-access", "load", None, "A")]


@cuda.jit
def bug(A, out):
    t = cuda.threadIdx.x
    a, b, c, d = load4(A, 0, 4 * t + 1)  # bug  # <- load
    # twin: a, b, c, d = A[0, 4 * t + 1], A[0, 4 * t + 2], A[0, 4 * t + 3], A[0, 4 * t + 4]
    out[t] = a + b + c + d


def arguments(rng):
    return rng.integers(0, 9, (1, 36)).astype(np.float32), np.zeros(8, np.float32)


def answer(A, out):
    return {1: A[0, 1:33].reshape(8, 4).sum(1)}
