"""Two groups are on their way, and the wait leaves one of them there."""

from numba import cuda, float32, uint16
from oracles.warpgroups import corner, fill, matrices, multiply, product, wait

from course_lib.kernels.warpgroup import commit_products, descriptor, fence_proxy, fence_registers

GRID, BLOCK = 1, 128
EXPECTED = [("unfinished-product", "use", "product", "acc")]
ALSO = ["uninitialized-read"]


@cuda.jit
def bug(A, B, C):
    A_tile = cuda.shared.array(1024, uint16, 128)
    B_tile = cuda.shared.array(128, uint16, 128)
    acc = cuda.local.array(4, float32)
    fill(A, B, A_tile, B_tile, 0)
    fence_proxy()
    cuda.syncthreads()
    a, b = descriptor(A_tile, 0, 1024, 128, 0), descriptor(B_tile, 0, 128, 256, 0)
    fence_registers()
    multiply(acc, a, b, 0)  # <- product
    commit_products()
    wait(acc, 1)  # bug
    # twin: wait(acc, 0)
    row, col = corner()
    for i in range(4):
        C[row + i // 2 * 8, col + i % 2] = acc[i]  # <- use


def arguments(rng):
    return matrices(rng, 16)


answer = product
