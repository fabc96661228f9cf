"""The next tile overwrites the one that slower warps still read: the barrier after the products is missing."""

import numpy as np
from numba import cuda, float32

T = 8
GRID, BLOCK = (2, 2), (T, T)
EXPECTED = [("race", "use A", "fill A", "A_tile"), ("race", "use B", "fill B", "B_tile")]


@cuda.jit
def bug(A, B, C):
    A_tile = cuda.shared.array((T, T), float32)
    B_tile = cuda.shared.array((T, T), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0)
    for start in range(0, A.shape[1], T):
        A_tile[ty, tx] = A[row, start + tx]  # <- fill A
        B_tile[ty, tx] = B[start + ty, col]  # <- fill B
        cuda.syncthreads()
        for k in range(T):
            a = A_tile[ty, k]  # <- use A
            acc += a * B_tile[k, tx]  # <- use B
        # twin: cuda.syncthreads()
    C[row, col] = acc


def arguments(rng):
    A, B = rng.standard_normal((16, 24), np.float32), rng.standard_normal((24, 16), np.float32)
    return A, B, np.zeros((16, 16), np.float32)


def answer(A, B, C):
    return {2: A @ B}
