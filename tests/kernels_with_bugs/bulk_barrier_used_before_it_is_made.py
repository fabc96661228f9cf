"""All threads wait at a barrier that one of them makes: they must meet in between."""

from numba import cuda, uint16, uint64
from oracles.bulk import BYTES, ELEMENTS, SIDE, copy, matrices, place, unchanged

from course_lib.kernels.bulk_copy import expect_bytes, init_barrier, wait_barrier
from course_lib.kernels.warpgroup import fence_proxy

GRID, BLOCK = 1, 64
EXPECTED = [("race", "wait", "init", "barriers")]
ALSO = ("race",)


@cuda.jit
def bug(A, C):
    tile = cuda.shared.array(ELEMENTS, uint16, 1024)
    barriers = cuda.shared.array(1, uint64)
    if cuda.threadIdx.x == 0:
        init_barrier(barriers, 0, 1)  # <- init
        fence_proxy()
        expect_bytes(barriers, 0, BYTES)
        copy(tile, 0, A, 0, 0, barriers, 0)
    # twin: cuda.syncthreads()
    wait_barrier(barriers, 0, 0)  # <- wait
    for col in range(SIDE):
        C[cuda.threadIdx.x, col] = tile[place(cuda.threadIdx.x, col)]


def arguments(rng):
    return matrices(rng, 1)


answer = unchanged
