"""Kernels that copy numbers and use them in ways of their own, and races; for counts and frames of animations."""

import numpy as np
from numba import cuda, float32

T = 4


def copies_tiles(A, B, C):
    """Fill tiles as for a product, and multiply nothing."""
    A_tile = cuda.shared.array((T, T), float32)
    B_tile = cuda.shared.array((T, T), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    for start in range(0, A.shape[1], T):
        A_tile[ty, tx] = A[row, start + tx]
        B_tile[ty, tx] = B[start + ty, col]
        cuda.syncthreads()
        C[row, col] = A_tile[ty, tx]
        cuda.syncthreads()


def every_other(A, B, C):
    """Leave every other k out."""
    col, row = cuda.grid(2)
    acc = 0.0
    for k in range(0, A.shape[1], 2):
        acc += A[row, k] * B[k, col]
    C[row, col] = acc


def two_at_once(A, B, C):
    """Add two products in a statement."""
    col, row = cuda.grid(2)
    acc = 0.0
    for k in range(0, A.shape[1], 2):
        acc = acc + A[row, k] * B[k, col] + A[row, k + 1] * B[k + 1, col]
    C[row, col] = acc


def guarded(A, B, C):
    """Multiply zeros beyond the edges."""
    A_tile = cuda.shared.array((T, T), float32)
    B_tile = cuda.shared.array((T, T), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    col, row = cuda.grid(2)
    acc = 0.0
    for start in range(0, A.shape[1], T):
        A_tile[ty, tx] = A[row, start + tx] if row < A.shape[0] and start + tx < A.shape[1] else 0.0
        if start + ty < B.shape[0] and col < B.shape[1]:
            B_tile[ty, tx] = B[start + ty, col]
        else:
            B_tile[ty, tx] = 0.0
        cuda.syncthreads()
        for k in range(T):
            acc += A_tile[ty, k] * B_tile[k, tx]
        cuda.syncthreads()
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = acc


def in_registers(A, B, C):
    """Keep numbers in variables and in a local array, and use each for several results."""
    column = cuda.local.array(T, float32)
    sums = cuda.local.array((T, T), float32)
    for i in range(T):
        for j in range(T):
            sums[i, j] = 0.0
    for k in range(A.shape[1]):
        for i in range(T):
            column[i] = A[i, k]
        for j in range(T):
            b = B[k, j + T * cuda.threadIdx.x]
            for i in range(T):
                sums[i, j] += column[i] * b
    for i in range(T):
        for j in range(T):
            C[i, j + T * cuda.threadIdx.x] = sums[i, j]


def sums_rows(A, B, C):
    """Add, and multiply nothing."""
    col, row = cuda.grid(2)
    acc = 0.0
    for k in range(A.shape[1]):
        acc += A[row, k]
    C[row, col] = acc


def uses_again(A, B, C):
    """Use a number twice, a computed one twice more, and load one that is never used."""
    col, row = cuda.grid(2)
    a, unused = A[row, col], B[row, col]
    square = a * a
    C[row, col] = square + square
    C[row, col] = unused


@cuda.jit(device=True)
def plus_product(acc, a, b):
    return acc + a * b


def by_a_function(A, B, C):
    """Multiply in a device function."""
    col, row = cuda.grid(2)
    acc = 0.0
    for k in range(A.shape[1]):
        acc = plus_product(acc, A[row, k], B[k, col])
    C[row, col] = acc


def races_over(x, y):
    """Read what another warp stores, with no barrier."""
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    y[t] = s[(t + 32) % 64] + 1


def races_in_a_loop(x, y):
    """Read what another warp stores, in each iteration."""
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    acc = 0.0
    for k in range(4):
        s[t] = x[64 * k + t]
        acc += s[(t + 32) % 64]
    y[t] = acc


def lacks_the_second_barrier(x, y):
    """Store the next numbers while another warp still reads these."""
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    acc = 0.0
    for k in range(4):
        s[t] = x[64 * k + t]
        cuda.syncthreads()
        acc += s[63 - t]
    y[t] = acc


def races_in_global_memory(x, y):
    """Store at the neighbour's place, and read one's own: a warp reads what the one before stores."""
    t = cuda.threadIdx.x
    y[t] = x[t]
    y[(t + 32) % 64] = y[t] + x[t + 64]


def counts_atomically(x, y):
    """Update the same elements in each of several iterations, in order: no race."""
    t = cuda.threadIdx.x
    for k in range(3):
        cuda.atomic.add(y, t % 8, x[64 * k + t])


def in_order(x, y):
    """The same as races_over, with a barrier."""
    s = cuda.shared.array(64, float32)
    t = cuda.threadIdx.x
    s[t] = x[t]
    cuda.syncthreads()
    y[t] = s[(t + 32) % 64] + 1


PRODUCTS = (copies_tiles, every_other, two_at_once, guarded, in_registers, sums_rows, uses_again, by_a_function)
RACES = (races_over, races_in_a_loop, lacks_the_second_barrier, races_in_global_memory)
ORDERED = (counts_atomically, in_order)


def arguments_of(kernel):
    """Return grid, block and arguments; no size of a guarded product is a multiple of the tile's."""
    numbers = np.random.default_rng(5).integers(1, 10, 512).astype(np.float32)
    if kernel not in PRODUCTS:
        return 1, 64, (numbers[:256], np.zeros(64, np.float32))
    M, K, N = (5, 7, 6) if kernel is guarded else (8, 8, 8)
    A, B, C = numbers[: M * K].reshape(M, K), numbers[100 : 100 + K * N].reshape(K, N), np.zeros((M, N), np.float32)
    return (1, 2, (A, B, C)) if kernel is in_registers else ((2, 2), (T, T), (A, B, C))
