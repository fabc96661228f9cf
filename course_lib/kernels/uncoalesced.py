"""One thread per element of C, with x along the rows: the costliest mistake that fits on one line.

Idea: exchange x and y in the naive kernel. Each thread does the same work, but neighbouring threads now read A
and write C a whole row apart: every request for A touches up to 32 sectors, of which 4 bytes each are used.
Launch: blocks of W×W threads (W = 16 by default), rounded up to cover C with x along the rows.
Loads: 2 K per element of C, as the naive kernel; what grows is the number of sectors.
Source: the report's device kernel, which takes the row from x too.
"""

from numba import cuda, float32

from .rung import Rung, ready_made, square_blocks


@cuda.jit
def uncoalesced(A, B, C):
    """Compute C = A @ B; A is M×K, B is K×N, C is M×N. Integers are summed as float64, exact below 2**53."""
    row = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    col = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    M, K = A.shape
    N = B.shape[1]
    if row < M and col < N:
        acc = float32(0)
        for k in range(K):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc


RUNG = Rung(
    "uncoalesced",
    "One thread per element, x along the rows",
    ready_made(uncoalesced),
    lambda M, N, K, block_width=16: square_blocks(N, M, K, block_width),
    params={"block_width": 16},
    lesson="06_coalescing",
    change="naive, with x and y exchanged",
)
