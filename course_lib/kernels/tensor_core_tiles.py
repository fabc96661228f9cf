"""Common parts of the tiled rungs on tensor cores: the tile of C that a block computes, and the sizes of tiles."""

from numba import cuda

from .rung import with_tile

#: The tile of C of a block, and of each of its four warps.
ROWS = COLUMNS = 128
WARP_ROWS = WARP_COLUMNS = 64
THREADS = 128
#: Pairs of tiles of A and B in shared memory: one is multiplied, two are in flight.
STAGES = 3
#: Rows of tiles of C that are processed side by side.
BAND = 8


@cuda.jit(device=True)
def corner_of_tile():
    """Return the first row and column of the block's tile of C, which may be below C.

    Blocks are numbered in bands of eight rows of tiles, column after column: the blocks that run at the same time then
    need few rows of A and few columns of B, and find them in the second-level cache.
    """
    return (cuda.blockIdx.y * BAND + cuda.blockIdx.x % BAND) * ROWS, cuda.blockIdx.x // BAND * COLUMNS


@with_tile(lambda **params: (ROWS, COLUMNS))
def launch(M, N, K, **params):
    """Return (grid, block) for an M×N result: 128 threads per 128×128 tile of C, in bands of eight rows of tiles."""
    rows, columns = max(1, -(-M // ROWS)), max(1, -(-N // COLUMNS))
    return (BAND * columns, -(-rows // BAND)), (THREADS, 1)
