"""The guard skips the loads beyond the edge, and nobody puts zeros there: the product reads what was never written."""

import numpy as np
from numba import cuda, float32

T = 4
GRID, BLOCK = (2, 2), (T, T)
EXPECTED = [("uninitialized-read", "use A", None, "A_tile"), ("uninitialized-read", "use B", None, "B_tile")]


@cuda.jit
def bug(A, B, C):
    A_tile = cuda.shared.array((T, T), float32)
    B_tile = cuda.shared.array((T, T), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = float32(0)
    for start in range(0, A.shape[1], T):
        if row < A.shape[0] and start + tx < A.shape[1]:
            A_tile[ty, tx] = A[row, start + tx]
        # twin: else:
            # twin: A_tile[ty, tx] = float32(0)
        if start + ty < B.shape[0] and col < B.shape[1]:
            B_tile[ty, tx] = B[start + ty, col]
        # twin: else:
            # twin: B_tile[ty, tx] = float32(0)
        cuda.syncthreads()
        for k in range(T):
            a = A_tile[ty, k]  # <- use A
            acc += a * B_tile[k, tx]  # <- use B
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc


def arguments(rng):
    A, B = rng.standard_normal((7, 3), np.float32), rng.standard_normal((3, 6), np.float32)
    return A, B, np.zeros((7, 6), np.float32)


def answer(A, B, C):
    return {2: A @ B}
