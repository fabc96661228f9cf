"""A tile is written by rows and read by columns, which other threads wrote."""

import numpy as np
from numba import cuda, float32

T = 16
PADDED = T + 1
GRID, BLOCK = (2, 3), (T, T)
EXPECTED = [("race", "read", "write", "tile")]
ALSO = ["uninitialized-read"]


@cuda.jit
def bug(A, out):
    tile = cuda.shared.array((T, PADDED), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    tile[ty, tx] = A[row, col]  # <- write
    # twin: cuda.syncthreads()
    out[cuda.blockIdx.x * T + ty, cuda.blockIdx.y * T + tx] = tile[tx, ty]  # <- read


def arguments(rng):
    return rng.standard_normal((48, 32), np.float32), np.zeros((32, 48), np.float32)


def answer(A, out):
    return {1: A.T}
