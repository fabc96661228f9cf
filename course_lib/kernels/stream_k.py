"""Blocks that share the sums of their tiles: equal work for every multiprocessor, in one launch.

Idea: the sum of a tile of C runs over K in units of TILE. The units of all tiles are numbered, tile after tile, and
each block takes an equal share of them, wherever a tile begins or ends. So every multiprocessor works, however few
tiles there are, and no block has more than one unit more than another.
Work: a block that has all units of a tile stores it. The other blocks of a tile store partial sums, and each takes a
ticket; the block with the last ticket adds the partial sums, in their order. No block waits, and no second launch is
needed.
Launch: any number of blocks of TILE×TILE threads, one result a thread: stream_k[blocks, (TILE, TILE)](A, B, C, *memory)
with the arrays that `workspace` returns.
Source: Osama et al., "Stream-K: work-centric parallel decomposition for dense matrix-matrix multiplication on the GPU"
(2023). The tiles are those of `tiled`.
"""

import numpy as np
from numba import cuda, float32, uint32

TILE = 32


@cuda.jit
def stream_k(A, B, C, partial, tickets):
    """Compute C = A·B, float32 and of any shape; `partial` and `tickets` are those of `workspace`."""
    A_tile = cuda.shared.array((TILE, TILE), float32)
    B_tile = cuda.shared.array((TILE, TILE), float32)
    ticket = cuda.shared.array(1, uint32)
    tx, ty, block, blocks = cuda.threadIdx.x, cuda.threadIdx.y, cuda.blockIdx.x, cuda.gridDim.x
    (M, K), N = A.shape, B.shape[1]
    across = (N + TILE - 1) // TILE
    units = max(1, (K + TILE - 1) // TILE)  # of a tile
    work = (M + TILE - 1) // TILE * across * units
    unit, last = block * work // blocks, (block + 1) * work // blocks
    while unit < last:
        tile = unit // units
        begin, end = unit - tile * units, min(units, last - tile * units)
        row, col = tile // across * TILE + ty, tile % across * TILE + tx
        acc = float32(0)
        for start in range(begin * TILE, end * TILE, TILE):
            A_tile[ty, tx] = A[row, start + tx] if row < M and start + tx < K else float32(0)
            B_tile[ty, tx] = B[start + ty, col] if start + ty < K and col < N else float32(0)
            cuda.syncthreads()
            for k in range(TILE):
                acc += A_tile[ty, k] * B_tile[k, tx]
            cuda.syncthreads()  # no thread reads the tiles any more
        whole = end - begin == units
        if not whole:
            # Of a block's partial tiles one begins at its tile's first unit; the other one is the end of a tile, or a
            # part in its middle.
            partial[2 * block + (1 if begin == 0 else 0), ty, tx] = acc
            one = ((tile * units + 1) * blocks - 1) // work  # the block with the tile's first unit
            other = ((tile + 1) * units * blocks - 1) // work  # the block with its last unit
            cuda.syncthreads()
            # The fences make the block's stores visible to the block that takes a later ticket, and theirs to it.
            if tx == 0 and ty == 0:
                cuda.threadfence()
                ticket[0] = cuda.atomic.inc(tickets, tile, other - one)  # after the last comes 0
                cuda.threadfence()
            cuda.syncthreads()
            whole = ticket[0] == other - one
            if whole:
                acc = float32(0)
                for part in range(one, other + 1):
                    acc += partial[2 * part + (1 if part == one else 0), ty, tx]
        if whole and row < M and col < N:
            C[row, col] = acc
        unit = tile * units + end


def workspace(M, N, blocks):
    """Return (partial, tickets) for an M×N result and so many blocks.

    partial: float32, of any values; a block has at most two partial tiles. tickets: uint32, zero before and after.
    """
    tiles = -(-M // TILE) * -(-N // TILE)
    return np.zeros((2 * blocks, TILE, TILE), np.float32), np.zeros(max(1, tiles), np.uint32)
