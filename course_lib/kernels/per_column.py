"""One thread per column of C.

Idea: as one thread per row, with the two outer loops exchanged. Neighbouring threads now read B and write C
in consecutive addresses, and all threads of a warp read the same element of A.
Launch: blocks of 128 threads in a row, rounded up to cover the columns of C.
Loads: 2 K per element of C, all from global memory; only N threads have work.
Source: the lecture slides (column-wise kernel), with its store moved into the loop and a guard.
"""

from numba import cuda, float32

from .rung import Rung, ready_made


@cuda.jit
def per_column(A, B, C):
    """Compute C = A @ B; A is M×K, B is K×N, C is M×N. Integers are summed as float64, exact below 2**53."""
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    M, K = A.shape
    N = B.shape[1]
    if col < N:
        for row in range(M):
            acc = float32(0)
            for k in range(K):
                acc += A[row, k] * B[k, col]
            C[row, col] = acc


RUNG = Rung(
    "per_column",
    "One thread per column",
    ready_made(per_column),
    lambda M, N, K, block_width=128: ((max(1, -(-N // block_width)), 1), (block_width, 1)),
    params={"block_width": 128},
    lesson="01_threads_and_data",
    change="a thread for each column, not each row",
)
