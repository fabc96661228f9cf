"""The prefetch stores into the buffer that is being read instead of the other one."""

import numpy as np
from numba import cuda, float32

T = 8
GRID, BLOCK = (2, 2), (T, T)
EXPECTED = [("race", "use A", "next A", "A_tiles"), ("race", "use B", "next B", "B_tiles")]


@cuda.jit
def bug(A, B, C):
    A_tiles = cuda.shared.array((2, T, T), float32)
    B_tiles = cuda.shared.array((2, T, T), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    K = A.shape[1]
    A_tiles[0, ty, tx] = A[row, tx]
    B_tiles[0, ty, tx] = B[ty, col]
    cuda.syncthreads()
    acc = float32(0)
    now = 0
    for start in range(T, K + T, T):
        if start < K:
            A_tiles[now, ty, tx] = A[row, start + tx]  # bug  # <- next A
            B_tiles[now, ty, tx] = B[start + ty, col]  # bug  # <- next B
            # twin: A_tiles[1 - now, ty, tx] = A[row, start + tx]
            # twin: B_tiles[1 - now, ty, tx] = B[start + ty, col]
        for k in range(T):
            a = A_tiles[now, ty, k]  # <- use A
            acc += a * B_tiles[now, k, tx]  # <- use B
        cuda.syncthreads()
        # twin: now = 1 - now
    C[row, col] = acc


def arguments(rng):
    A, B = rng.standard_normal((16, 24), np.float32), rng.standard_normal((24, 16), np.float32)
    return A, B, np.zeros((16, 16), np.float32)


def answer(A, B, C):
    return {2: A @ B}
