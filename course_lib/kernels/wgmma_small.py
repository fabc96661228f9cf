"""The steps of a small wgmma kernel in TF32, for a lesson: a warpgroup computes 64×64 results from tiles 32 deep.

Both tiles are stored alike: row r of A's, and column r of B's, is 128 bytes, 32 numbers, and its eight pieces of four
change places with r. So one function places the elements of both, and the tensor cores read both with the same
distances. A and B are float32; the tensor cores cut their elements off to TF32.
Launch: blocks of 128 threads, one for each 64×64 tile of C. 64 divides M and N, and 32 divides K.
"""

from numba import cuda

from .warpgroup import TF32, THREADS, commit_products, descriptor, products, wait_for_products

#: The rows and columns of C of a block, the depth of the tiles, and the elements of one.
SIDE, DEPTH = 64, 32
TILE = SIDE * DEPTH
multiply_64, wait_64 = products(TF32, SIDE), wait_for_products(SIDE)


@cuda.jit(device=True)
def place(row, k):
    """Return where element k of a row of A, or of a column of B, is in its tile."""
    return row * DEPTH + (k ^ row % 8 * 4)


@cuda.jit(device=True)
def store_tiles(A, B, A_tile, B_tile, first, start):
    """Store 32 columns of A and 32 rows of B, from `start` on, to the tiles that begin at element `first`."""
    top, left = cuda.blockIdx.y * SIDE, cuda.blockIdx.x * SIDE
    for i in range(cuda.threadIdx.x, TILE, THREADS):
        row, k = i // DEPTH, i % DEPTH
        A_tile[first + place(row, k)] = A[top + row, start + k]
        B_tile[first + place(row, k)] = B[start + k, left + row]


@cuda.jit(device=True)
def multiply_tiles(A_tile, B_tile, first, acc, add):
    """Start the products of two tiles, four of 8 columns of A and 8 rows of B, as one group."""
    for k in range(0, DEPTH, 8):
        a = descriptor(A_tile, first + k, 0, 1024, 128)
        b = descriptor(B_tile, first + k, 0, 1024, 128)
        multiply_64(acc, a, b, add + k > 0)
    commit_products()


@cuda.jit(device=True)
def store_64(C, acc):
    """Store the block's 64×64 results."""
    lane = cuda.threadIdx.x % 32
    row = cuda.blockIdx.y * SIDE + cuda.threadIdx.x // 32 * 16 + lane // 4
    col = cuda.blockIdx.x * SIDE + lane % 4 * 2
    for i in range(SIDE // 2):
        C[row + i // 2 % 2 * 8, col + i // 4 * 8 + i % 2] = acc[i]
