"""A barrier of the block does not wait for the copy engine: only the barrier that counts its bytes does."""

from numba import cuda, uint16, uint64
from oracles.bulk import BYTES, ELEMENTS, SIDE, copy, matrices, place, unchanged

from course_lib.kernels.bulk_copy import expect_bytes, init_barrier, wait_barrier
from course_lib.kernels.warpgroup import fence_proxy

GRID, BLOCK = 1, 64
EXPECTED = [("unfinished-copy", "read", "copy", "tile")]
ALSO = ("wrong-value", "uninitialized-read")


@cuda.jit
def bug(A, C):
    tile = cuda.shared.array(ELEMENTS, uint16, 1024)
    barriers = cuda.shared.array(1, uint64)
    if cuda.threadIdx.x == 0:
        init_barrier(barriers, 0, 1)
        fence_proxy()
        expect_bytes(barriers, 0, BYTES)
        copy(tile, 0, A, 0, 0, barriers, 0)  # <- copy
    cuda.syncthreads()
    # twin: wait_barrier(barriers, 0, 0)
    for col in range(SIDE):
        C[cuda.threadIdx.x, col] = tile[place(cuda.threadIdx.x, col)]  # <- read
    wait_barrier(barriers, 0, 0)  # bug


def arguments(rng):
    return matrices(rng, 1)


answer = unchanged
