"""What the wgmma rungs share: which tile of C a block computes, and the way from a warpgroup's registers to C."""

from numba import cuda, uint64

from .tensor_core_loads import store2

#: Rows of tiles of C that are worked through side by side.
BAND = 8
THREADS = 256


@cuda.jit(device=True)
def corner_of_tile(rows, columns):
    """Return the first row and column of the block's tile of C, which may lie below C.

    Blocks are numbered in bands of rows of tiles, column after column: the blocks that run at the same time then need
    few rows of A and few columns of B, and find them in the second-level cache.
    """
    return (cuda.blockIdx.y * BAND + cuda.blockIdx.x % BAND) * rows, cuda.blockIdx.x // BAND * columns


def launch_tiles(M, N, rows, columns):
    """Return (grid, block) for an M×N result: 256 threads per tile of C, in bands of rows of tiles."""
    down, across = max(1, -(-M // rows)), max(1, -(-N // columns))
    return (BAND * across, -(-down // BAND)), (THREADS, 1)


@cuda.jit(device=True)
def store_pair(C, row, col, first, second):
    """Store two results side by side, where they lie inside; `col` is even."""
    if row < C.shape[0] and col < C.shape[1]:
        if C.shape[1] % 2 == 0:
            store2(C, row, col, (first, second))
        else:
            C[uint64(row), uint64(col)] = first
            if col + 1 < C.shape[1]:
                C[uint64(row), uint64(col + 1)] = second


@cuda.jit(device=True)
def store_results(C, top, left, acc, columns):
    """Store the warpgroup's 64×columns results, which begin at [top, left]."""
    lane = cuda.threadIdx.x % 32
    row, col = top + cuda.threadIdx.x % 128 // 32 * 16 + lane // 4, left + lane % 4 * 2
    for j in range(columns // 8):
        store_pair(C, row, col + 8 * j, acc[4 * j], acc[4 * j + 1])
        store_pair(C, row + 8, col + 8 * j, acc[4 * j + 2], acc[4 * j + 3])
