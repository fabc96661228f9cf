"""A tiled product that lacks one barrier, for `tile-by-tile profile docs/matmul.py`."""

import numpy as np
from numba import cuda, float32

T = 16


@cuda.jit
def matmul(A, B, C):
    a = cuda.shared.array((T, T), float32)
    b = cuda.shared.array((T, T), float32)
    col, row = cuda.grid(2)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    acc = float32(0)
    for start in range(0, A.shape[1], T):
        a[y, x] = A[row, start + x]
        b[y, x] = B[start + y, col]
        cuda.syncthreads()
        for k in range(T):
            acc += a[y, k] * b[k, x]
    C[row, col] = acc


A, B = np.random.default_rng(0).random((2, 64, 64), np.float32)
matmul[(4, 4), (T, T)](A, B, np.zeros((64, 64), np.float32))
