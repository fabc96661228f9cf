"""The products and a barrier in the innermost loop are guarded together: edge threads miss every barrier of it.

After the published listing that synchronises inside the inner loop, where it is only slow as long as no tile
is ragged.
"""

import numpy as np
from numba import cuda, float32

T = 4
GRID, BLOCK = (2, 2), (T, T)
EXPECTED = [("barrier-divergence", "barrier", None, None)]


@cuda.jit
def bug(A, B, C):
    A_tile = cuda.shared.array((T, T), float32)
    B_tile = cuda.shared.array((T, T), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0)
    for start in range(0, A.shape[1], T):
        A_tile[ty, tx] = float32(0)
        B_tile[ty, tx] = float32(0)
        if row < A.shape[0] and start + tx < A.shape[1]:
            A_tile[ty, tx] = A[row, start + tx]
        if start + ty < B.shape[0] and col < B.shape[1]:
            B_tile[ty, tx] = B[start + ty, col]
        cuda.syncthreads()
        if row < C.shape[0] and col < C.shape[1]:  # bug
            for k in range(T):  # bug
                acc += A_tile[ty, k] * B_tile[k, tx]  # bug
                cuda.syncthreads()  # bug  # <- barrier
        # twin: for k in range(T):
            # twin: acc += A_tile[ty, k] * B_tile[k, tx]
            # twin: cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc


def arguments(rng):
    A, B = rng.standard_normal((7, 10), np.float32), rng.standard_normal((10, 6), np.float32)
    return A, B, np.zeros((7, 6), np.float32)


def answer(A, B, C):
    return {2: A @ B}
