"""The second tile arrives in the second phase of its barrier, whose parity is 1."""

from numba import cuda, uint16, uint64
from oracles.bulk import BYTES, ELEMENTS, SIDE, copy, matrices, place, unchanged

from course_lib.kernels.bulk_copy import expect_bytes, init_barrier, wait_barrier
from course_lib.kernels.warpgroup import fence_proxy

GRID, BLOCK = 1, 32
EXPECTED = [("barrier-divergence", "wait", None, "barriers")]


@cuda.jit
def bug(A, C):
    tile = cuda.shared.array(ELEMENTS, uint16, 1024)
    barriers = cuda.shared.array(1, uint64)
    if cuda.threadIdx.x == 0:
        init_barrier(barriers, 0, 1)
        fence_proxy()
    cuda.syncthreads()
    for i in range(2):
        if cuda.threadIdx.x == 0:
            expect_bytes(barriers, 0, BYTES)
            copy(tile, 0, A, 0, SIDE * i, barriers, 0)
        # twin: wait_barrier(barriers, 0, i)
        wait_barrier(barriers, 0, 0)  # bug  # <- wait
        for row in range(cuda.threadIdx.x, SIDE, 32):
            for col in range(SIDE):
                C[row, SIDE * i + col] = tile[place(row, col)]
        cuda.syncthreads()


def arguments(rng):
    return matrices(rng, 2)


answer = unchanged
