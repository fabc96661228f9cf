"""C is stored inside the loop over the tiles, as in a published listing: right in the end, K / T times as often."""

import numpy as np
from numba import cuda, float32

T = 4
GRID, BLOCK = (2, 2), (T, T)
EXPECTED = [("extra-stores", None, None, None)]


@cuda.jit
def bug(A, B, C):
    A_tile = cuda.shared.array((T, T), float32)
    B_tile = cuda.shared.array((T, T), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0)
    for start in range(0, A.shape[1], T):
        A_tile[ty, tx] = A[row, start + tx]
        B_tile[ty, tx] = B[start + ty, col]
        cuda.syncthreads()
        for k in range(T):
            acc += A_tile[ty, k] * B_tile[k, tx]
        C[row, col] = acc  # bug
        cuda.syncthreads()
    # twin: C[row, col] = acc


def arguments(rng):
    A, B = rng.standard_normal((8, 12), np.float32), rng.standard_normal((12, 8), np.float32)
    return A, B, np.zeros((8, 8), np.float32)


def answer(A, B, C):
    return {2: A @ B}
