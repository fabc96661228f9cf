"""Several blocks each add their part of the K loop to one element of C without an atomic."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = (1, 1, 3), (4, 8)
EXPECTED = [("race", "add", "add", "C")]


@cuda.jit
def bug(A, B, C):
    col, row = cuda.threadIdx.x, cuda.threadIdx.y
    part = A.shape[1] // cuda.gridDim.z
    first = cuda.blockIdx.z * part
    acc = float32(0)
    for k in range(first, first + part):
        acc += A[row, k] * B[k, col]
    C[row, col] += acc  # bug  # <- add
    # twin: cuda.atomic.add(C, (row, col), acc)


def arguments(rng):
    A, B = rng.standard_normal((8, 15), np.float32), rng.standard_normal((15, 4), np.float32)
    return A, B, np.zeros((8, 4), np.float32)


def answer(A, B, C):
    return {2: A @ B}
