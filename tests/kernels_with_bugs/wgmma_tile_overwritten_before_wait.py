"""The next tiles are stored while the product still reads the last ones: a barrier does not wait for tensor cores."""

from numba import cuda, float32, uint16
from oracles.warpgroups import corner, fill, matrices, multiply, product, wait

from course_lib.kernels.warpgroup import commit_products, descriptor, fence_proxy, fence_registers

GRID, BLOCK = 1, 128
EXPECTED = [("unfinished-product", "store", "product", "B_tile")]


@cuda.jit
def bug(A, B, C):
    A_tile = cuda.shared.array(1024, uint16, 128)
    B_tile = cuda.shared.array(128, uint16, 128)
    acc = cuda.local.array(4, float32)
    a, b = descriptor(A_tile, 0, 1024, 128, 0), descriptor(B_tile, 0, 128, 256, 0)
    row, half, t = cuda.threadIdx.x // 2, cuda.threadIdx.x % 2, cuda.threadIdx.x  # bug
    for start in range(0, A.shape[1], 16):
        for i in range(8):  # bug
            A_tile[512 * half + 8 * row + i] = A[row, start + 8 * half + i]  # bug
        B_tile[t] = B[start + t // 8, t % 8]  # bug  # <- store
        # twin: fill(A, B, A_tile, B_tile, start)
        fence_proxy()
        cuda.syncthreads()
        fence_registers()
        multiply(acc, a, b, start)  # <- product
        commit_products()
        # twin: wait(acc, 0)
        cuda.syncthreads()
    wait(acc, 0)  # bug
    row, col = corner()
    for i in range(4):
        C[row + i // 2 * 8, col + i % 2] = acc[i]


def arguments(rng):
    return matrices(rng, 48)


answer = product
