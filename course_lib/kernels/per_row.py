"""One thread per row of C.

Idea: the outermost loop of the host version becomes the grid; a thread computes a whole row of C by itself.
Neighbouring threads read A and write C a whole row apart, so a warp touches 32 sectors where 4 would do.
Launch: blocks of 128 threads in a row, rounded up to cover the rows of C.
Loads: 2 K per element of C, all from global memory; only M threads have work.
Source: the lecture slides (row-wise kernel), with its store moved into the loop and a guard.
"""

from numba import cuda, float32

from .rung import Rung, ready_made


@cuda.jit
def per_row(A, B, C):
    """Compute C = A @ B; A is M×K, B is K×N, C is M×N. Integers are summed as float64, exact below 2**53."""
    row = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    M, K = A.shape
    N = B.shape[1]
    if row < M:
        for col in range(N):
            acc = float32(0)
            for k in range(K):
                acc += A[row, k] * B[k, col]
            C[row, col] = acc


RUNG = Rung(
    "per_row",
    "One thread per row",
    ready_made(per_row),
    lambda M, N, K, block_width=128: ((max(1, -(-M // block_width)), 1), (block_width, 1)),
    params={"block_width": 128},
    lesson="01_threads_and_data",
    change="a thread for each row",
)
