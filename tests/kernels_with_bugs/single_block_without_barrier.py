"""Both matrices are copied to shared memory and used at once, without the one barrier that a single block needs."""

import numpy as np
from numba import cuda, float32

N = 8
GRID, BLOCK = 1, (N, N)
EXPECTED = [("race", "use", "fill A", "A_s"), ("race", "use", "fill B", "B_s")]
ALSO = ["uninitialized-read"]


@cuda.jit
def bug(A, B, C):
    A_s = cuda.shared.array((N, N), float32)
    B_s = cuda.shared.array((N, N), float32)
    x, y = cuda.threadIdx.x, cuda.threadIdx.y
    A_s[y, x] = A[y, x]  # <- fill A
    B_s[y, x] = B[y, x]  # <- fill B
    # twin: cuda.syncthreads()
    acc = float32(0)
    for k in range(N):
        acc += A_s[y, k] * B_s[k, x]  # <- use
    C[y, x] = acc


def arguments(rng):
    A, B = rng.standard_normal((N, N), np.float32), rng.standard_normal((N, N), np.float32)
    return A, B, np.zeros((N, N), np.float32)


def answer(A, B, C):
    return {2: A @ B}
