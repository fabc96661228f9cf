"""What the kernels with bugs of warpgroups share: tiles of 64×16 and 16×8 elements in the plain layout."""

import numpy as np
from numba import cuda

from course_lib.kernels.tensor_core_formats import from_bfloat16, to_bfloat16
from course_lib.kernels.warpgroup import BF16, products, wait_for_products

multiply, wait = products(BF16, 8), wait_for_products(8)


@cuda.jit(device=True)
def fill(A, B, A_tile, B_tile, start):
    """Store A[:, start : start + 16] and B[start : start + 16] to the tiles."""
    row, half = cuda.threadIdx.x // 2, cuda.threadIdx.x % 2
    for i in range(8):
        A_tile[512 * half + 8 * row + i] = A[row, start + 8 * half + i]
    B_tile[cuda.threadIdx.x] = B[start + cuda.threadIdx.x // 8, cuda.threadIdx.x % 8]


@cuda.jit(device=True)
def corner():
    """Return row and column of the thread's first result; the others are beside it, and eight rows below."""
    return cuda.threadIdx.x // 32 * 16 + cuda.threadIdx.x % 32 // 4, cuda.threadIdx.x % 4 * 2


def matrices(rng, depth):
    """Return A (64×depth) and B (depth×8) as the bits of bfloat16, and a C of zeros."""
    A, B = (to_bfloat16(rng.standard_normal(shape)) for shape in ((64, depth), (depth, 8)))
    return A, B, np.zeros((64, 8), np.float32)


def product(A, B, C):
    """Return {2: C + A B}."""
    return {2: C + from_bfloat16(A) @ from_bfloat16(B)}
