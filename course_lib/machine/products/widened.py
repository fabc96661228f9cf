"""Copies of matrices with rows that begin on 16-byte boundaries, padded with zeros.

Idea: rows of 4,095 elements begin on 4-byte boundaries, so a kernel can load them only element by element, each four
times: once for every tile above, below or beside. Copied once into rows of 4,096, they are loaded four at a time. The
copy reads and writes M K + K N elements; the product of large matrices takes far longer.
Launch: blocks of 256 threads, each for 32 columns; each of its 8 warps has 8 rows in flight at once.
"""

from numba import cuda, float32, uint64

from ...kernels.vector import element_or_zero

THREADS, COLUMNS, AHEAD = 256, 32, 8
#: Rows of a block, and the most blocks that a grid has in y.
ROWS, MOST = 64, 65535


@cuda.jit
def widened(X, Y):
    """Copy X into the upper left of Y, both float32 and C-ordered, and zeros into the rest of Y."""
    values = cuda.local.array(AHEAD, float32)
    warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
    column = cuda.blockIdx.x * COLUMNS + lane
    for top in range(cuda.blockIdx.y * ROWS + warp, Y.shape[0], cuda.gridDim.y * ROWS):
        for i in range(AHEAD):
            values[i] = element_or_zero(X, top + 8 * i, column)
        for i in range(AHEAD):
            if top + 8 * i < Y.shape[0] and column < Y.shape[1]:
                Y[uint64(top + 8 * i), uint64(column)] = values[i]


def launch(rows, columns):
    """Return (grid, block) for a Y of `rows` rows and `columns` columns."""
    return (max(1, -(-columns // COLUMNS)), min(MOST, max(1, -(-rows // ROWS)))), (THREADS, 1)
