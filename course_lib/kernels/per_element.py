"""One thread per element of C, in one block.

Idea: both outer loops become threads. The block is as wide as C and as high, so no guard is needed,
and no matrix with more than 1,024 elements fits.
Launch: a single block of N×M threads.
Loads: 2 K per element of C, all from global memory.
Source: the lecture slides (element-wise kernel).
"""

from numba import cuda, float32

from .rung import Rung, ready_made


@cuda.jit
def per_element(A, B, C):
    """Compute C = A @ B; A is M×K, B is K×N, C is M×N. Integers are summed as float64, exact below 2**53."""
    row = cuda.threadIdx.y
    col = cuda.threadIdx.x
    K = A.shape[1]
    acc = float32(0)
    for k in range(K):
        acc += A[row, k] * B[k, col]
    C[row, col] = acc


def launch(M, N, K):
    """Return (grid, block): one block of N×M threads. Raise ValueError if that is none, or more than 1,024."""
    if not 1 <= M * N <= 1024:
        raise ValueError(f"a block has 1 to 1,024 threads, so per_element cannot compute a C of {M}×{N} elements")
    return (1, 1), (N, M)


RUNG = Rung("per_element", "One thread per element, one block", ready_made(per_element), launch)
