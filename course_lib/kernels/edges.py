"""The few rows or columns beyond the last tile, as inner products: device functions for blocks of 256 threads.

A block of large tiles takes as long for one column of results as for all of its columns. At n = 4097 a grid of
128×256 tiles has 49 such blocks, and on 132 multiprocessors, one block each, they make a fifth round of four.
Here every result is a separate inner product, divided among the lanes of a warp or among the warps of the block.
"""

from numba import cuda, float32, uint64

from .vector import element_or_zero

WARPS = 8


@cuda.jit(device=True)
def last_columns(A, B, C, top, left):
    """Compute rows top … top + 127 of the columns from `left` on: 16 rows a warp, every 32nd product in each lane.

    Neighbouring lanes read neighbouring elements of a row of A, and a warp adds its lanes' sums by pairwise exchange.
    """
    warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
    sums = cuda.local.array(16, float32)
    for col in range(left, C.shape[1]):
        for i in range(16):
            sums[i] = 0
        for k in range(lane, A.shape[1], 32):
            b = B[uint64(k), uint64(col)]
            for i in range(16):
                sums[i] += element_or_zero(A, top + 16 * warp + i, k) * b
        for i in range(16):
            total, row = sums[i], top + 16 * warp + i
            for halving in range(5):
                total += cuda.shfl_xor_sync(0xFFFFFFFF, total, 16 >> halving)
            if lane == 0 and row < C.shape[0]:
                C[uint64(row), uint64(col)] = total


@cuda.jit(device=True)
def last_rows(A, B, C, top, left, partial):
    """Compute columns left … left + 255 of the rows from `top` on: all of them in each warp, a share of the products.

    Neighbouring lanes read neighbouring elements of a row of B; a warp takes four rows at a time. The warps' sums are
    added up in `partial`, shared memory of 8×256 elements.
    """
    warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
    sums = cuda.local.array(8, float32)
    for row in range(top, C.shape[0]):
        for j in range(8):
            sums[j] = 0
        for start in range(4 * warp, A.shape[1], 4 * WARPS):
            for k in range(start, start + 4):
                a = element_or_zero(A, row, k)
                for j in range(8):
                    sums[j] += a * element_or_zero(B, k, left + lane + 32 * j)
        for j in range(8):
            partial[warp, lane + 32 * j] = sums[j]
        cuda.syncthreads()
        total, col = float32(0), left + cuda.threadIdx.x
        for w in range(WARPS):
            total += partial[w, cuda.threadIdx.x]
        if col < C.shape[1]:
            C[uint64(row), uint64(col)] = total
        cuda.syncthreads()  # the next row overwrites `partial`
