"""Parts of all wgmma rungs: the tile of C that a block computes, and the stores from a warpgroup's registers to C."""

from numba import cuda, uint64

from .rung import with_tile
from .vector import store2

#: Rows of tiles of C that are worked through side by side.
BAND = 8
THREADS = 256


@cuda.jit(device=True)
def corner_of_tile(rows, columns):
    """Return the first row and column of the block's tile of C, which may be below C.

    Blocks are numbered in bands of rows of tiles, column after column: the blocks that run at the same time then need
    few rows of A and few columns of B, and find them in the second-level cache. The lowest band, which may be mostly
    empty, comes first, so that its few tiles do not run alone at the end.
    """
    band = cuda.gridDim.y - 1 - cuda.blockIdx.y
    return (band * BAND + cuda.blockIdx.x % BAND) * rows, cuda.blockIdx.x // BAND * columns


def bands(rows, columns):
    """Return the launch of a kernel with 256 threads per tile of C, in bands of rows of tiles, as a function."""

    @with_tile(lambda rows=rows, columns=columns, **params: (rows, columns))
    def launch(M, N, K, rows=rows, columns=columns, **params):
        down, across = max(1, -(-M // rows)), max(1, -(-N // columns))
        return (BAND * across, -(-down // BAND)), (THREADS, 1)

    return launch


def fitting_width(length, across, widths, multiprocessors):
    """Return the width of tiles with which the multiprocessors finish first, a tile each at a time.

    The tiles divide `length` rows or columns of C, and `across` of them, 128 wide, cover the other side. The time for a
    tile is taken to be proportional to the rows of A and columns of B that it loads. The widest of equals.
    """
    rounds = {width: -(-(-(-length // width) * across) // multiprocessors) for width in widths}
    return min(sorted(widths, reverse=True), key=lambda width: rounds[width] * (width + 128))


@cuda.jit(device=True)
def store_pair(C, row, col, first, second):
    """Store two results side by side, where they are inside C; `col` is even."""
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
    if C.shape[1] % 2 == 0:
        for j in range(columns // 8):
            store_pair(C, row, col + 8 * j, acc[4 * j], acc[4 * j + 1])
            store_pair(C, row + 8, col + 8 * j, acc[4 * j + 2], acc[4 * j + 3])
    else:
        store_row(C, row, left, acc, 0, columns)
        store_row(C, row + 8, left, acc, 2, columns)


@cuda.jit(device=True)
def store_row(C, row, left, acc, first, columns):
    """Store the results of one row of the thread, acc[first], acc[first + 1] and so on, where rows of C are odd.

    Then every second row begins between two boundaries of 8 bytes. There a thread stores its second result beside the
    first one of its neighbour. Stored one by one, as parts of sectors, they would take a fifth of the time at n = 4095.
    """
    lane = cuda.threadIdx.x % 32
    begins, odd, source = lane % 4 == 0, row % 2, lane // 4 * 4 + (lane + 1) % 4
    col, end = left + lane % 4 * 2 + odd, min(left + columns, C.shape[1])
    if odd and begins:
        store_inside(C, row, left, C.shape[1], acc[first])
    for j in range(columns // 8 - 1):
        x, y, after = acc[4 * j + first], acc[4 * j + first + 1], acc[4 * j + first + 4]
        z = cuda.shfl_sync(0xFFFFFFFF, after if begins else x, source)
        store_shifted(C, row, col + 8 * j, end, y if odd else x, z if odd else y)
    x, y = acc[columns // 2 - 4 + first], acc[columns // 2 - 3 + first]
    z = cuda.shfl_sync(0xFFFFFFFF, x, source)
    store_shifted(C, row, col + columns - 8, end, y if odd else x, z if odd else y)


@cuda.jit(device=True)
def store_shifted(C, row, col, end, first, second):
    """Store two results side by side, from a boundary of 8 bytes on, where they are before column `end`."""
    if row < C.shape[0] and col + 1 < end:
        store2(C, row, col, (first, second))
    else:
        store_inside(C, row, col, end, first)


@cuda.jit(device=True)
def store_inside(C, row, col, end, result):
    """Store one result where it is before column `end`."""
    if row < C.shape[0] and col < end:
        C[uint64(row), uint64(col)] = result
