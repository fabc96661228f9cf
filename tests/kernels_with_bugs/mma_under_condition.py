"""The guard of a matrix with few rows stands around the mma, and not around the loads and stores alone.

A tensor core multiplies what 32 lanes hold together, so all of them must arrive.
"""

import numpy as np
from numba import cuda, float32

from course_lib.kernels.tensor_core import mma_tf32

GRID, BLOCK = 1, 32
EXPECTED = [("barrier-divergence", "mma", None, None)]


@cuda.jit
def bug(A, B, C):
    q, t = cuda.threadIdx.x // 4, cuda.threadIdx.x % 4
    zero = float32(0)
    # twin: left = A[q, t] if q < A.shape[0] else zero
    # twin: right = A[q, t + 4] if q < A.shape[0] else zero
    # twin: d = mma_tf32((left, zero, right, zero), (B[t, q], B[t + 4, q]), (zero, zero, zero, zero))
    if q < A.shape[0]:
        a, b = (A[q, t], zero, A[q, t + 4], zero), (B[t, q], B[t + 4, q])  # bug
        d = mma_tf32(a, b, (zero, zero, zero, zero))  # bug  # <- mma
        C[q, 2 * t] = d[0]
        C[q, 2 * t + 1] = d[1]


def arguments(rng):
    A, B = (rng.integers(-9, 10, shape).astype(np.float32) for shape in ((4, 8), (8, 8)))
    return A, B, np.zeros((4, 8), np.float32)


def answer(A, B, C):
    return {2: A @ B}
