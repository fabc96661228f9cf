"""A phase that waits for more bytes than are copied never completes: on a GPU the kernel never ends."""

from numba import cuda, uint16, uint64
from oracles.bulk import BYTES, ELEMENTS, SIDE, copy, matrices, place, unchanged

from course_lib.kernels.bulk_copy import expect_bytes, init_barrier, wait_barrier
from course_lib.kernels.warpgroup import fence_proxy

GRID, BLOCK = 1, 64
EXPECTED = [("barrier-divergence", "wait", None, "barriers")]
ALSO = ("unfinished-copy", "uninitialized-read", "wrong-value")


@cuda.jit
def bug(A, C):
    tile = cuda.shared.array(ELEMENTS, uint16, 1024)
    barriers = cuda.shared.array(1, uint64)
    if cuda.threadIdx.x == 0:
        init_barrier(barriers, 0, 1)
        fence_proxy()
        # twin: expect_bytes(barriers, 0, BYTES)
        expect_bytes(barriers, 0, 2 * BYTES)  # bug
        copy(tile, 0, A, 0, 0, barriers, 0)
    cuda.syncthreads()
    wait_barrier(barriers, 0, 0)  # <- wait
    for col in range(SIDE):
        C[cuda.threadIdx.x, col] = tile[place(cuda.threadIdx.x, col)]


def arguments(rng):
    return matrices(rng, 1)


answer = unchanged
