"""The prefetch loop fetches the next tile in its last round too: a tile beyond the matrices (a published mistake)."""

import numpy as np
from numba import cuda, float32

T = 4
GRID, BLOCK = (2, 2), (T, T)
EXPECTED = [("out-of-bounds", "next A", None, "A"), ("out-of-bounds", "next B", None, "B")]


@cuda.jit
def bug(A, B, C):
    A_tiles = cuda.shared.array((2, T, T), float32)
    B_tiles = cuda.shared.array((2, T, T), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    A_tiles[0, ty, tx] = A[row, tx]
    B_tiles[0, ty, tx] = B[ty, col]
    cuda.syncthreads()
    acc = float32(0)
    now = 0
    for start in range(0, A.shape[1], T):
        A_tiles[1 - now, ty, tx] = A[row, start + T + tx]  # bug  # <- next A
        B_tiles[1 - now, ty, tx] = B[start + T + ty, col]  # bug  # <- next B
        # twin: if start + T < A.shape[1]:
            # twin: A_tiles[1 - now, ty, tx] = A[row, start + T + tx]
            # twin: B_tiles[1 - now, ty, tx] = B[start + T + ty, col]
        for k in range(T):
            acc += A_tiles[now, ty, k] * B_tiles[now, k, tx]
        cuda.syncthreads()
        now = 1 - now
    C[row, col] = acc


def arguments(rng):
    A, B = rng.standard_normal((8, 12), np.float32), rng.standard_normal((12, 8), np.float32)
    return A, B, np.zeros((8, 8), np.float32)


def answer(A, B, C):
    return {2: A @ B}
