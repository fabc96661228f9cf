"""One thread per element of C, straight from global memory.

Idea: the two outer loops of the host version become the grid; neighbouring threads (x) compute neighbouring
columns, so a warp reads B and writes C in consecutive addresses.
Launch: blocks of W×W threads (W = 16 by default), rounded up to cover C; the guard idles the surplus threads.
Loads: 2 K per element of C, all from global memory; 1/4 flop per byte in float32.
Source: Paul Richmond's lab notes (the naive kernel), with the guard of the lecture slides.
"""

from numba import cuda, float32

from .rung import Rung, ready_made, square_blocks


@cuda.jit
def naive(A, B, C):
    """Compute C = A @ B; A is M×K, B is K×N, C is M×N. Integers are summed as float64, exact below 2**53."""
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    M, K = A.shape
    N = B.shape[1]
    if row < M and col < N:
        # 0.0 would be float64 and promote every addition to double precision, 64 times slower on a gaming GPU.
        acc = float32(0)
        for k in range(K):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc


RUNG = Rung(
    "naive",
    "One thread per element",
    ready_made(naive),
    lambda M, N, K, block_width=16: square_blocks(M, N, K, block_width),
    params={"block_width": 16},
    lesson="02_naive",
    change="a thread for each element",
)
