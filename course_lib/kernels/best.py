"""Everything together, and tuned: 128 results per thread, fragments fetched one step ahead.

Idea: 8×16 results per thread reuse every element of a fragment 8 or 16 times. The fragments of step k + 1 are
loaded while step k multiplies, in two sets of registers whose names are fixed when compiling, so nothing is
indexed at run time; the sixteen steps of a tile are written out in pairs. One buffer in shared memory is
enough: the next tiles wait in registers until everyone has finished reading.
Launch: blocks of 256 threads, 2×4 warps of 64×64, for a 128×256 tile of C; the tiles of A and B are 16 deep.
One block fills the register file of a multiprocessor: 255 registers per thread.
Loads: K (1/128 + 1/256) per element of C from global memory, K (1/8 + 1/16) from shared memory.
The other block shapes, depths, orders of multiplication and asynchronous copies that were tried gave less;
course_lib/measurements holds the figures.
"""

from numba import cuda, float32, uint64

from .vector import element_or_zero, load4, store4

ROWS = 128
COLUMNS = 256
DEPTH = 16
PITCH = ROWS + 4
THREADS = 256


@cuda.jit(device=True)
def load_fragments(A_tile, B_tile, k, m, n, a, b):
    """Load the thread's 8 elements of column k of A_tile and 16 of row k of B_tile."""
    for i in range(2):
        a[4 * i], a[4 * i + 1], a[4 * i + 2], a[4 * i + 3] = load4(A_tile, k, m + 32 * i)
    for j in range(4):
        b[4 * j], b[4 * j + 1], b[4 * j + 2], b[4 * j + 3] = load4(B_tile, k, n + 16 * j)


@cuda.jit(device=True)
def add_outer_product(a, b, acc):
    """Add the products of two fragments to the thread's 8×16 results.

    Down one column and up the next, so that each multiplication shares an operand with the one before: a
    register that was just read need not be read again. Measured: 2 % over row by row.
    """
    for j in range(16):
        for i in range(8):
            row = i if j % 2 == 0 else 7 - i
            acc[row, j] += a[row] * b[j]


@cuda.jit(device=True)
def two_steps(A_tile, B_tile, k, m, n, a0, b0, a1, b1, acc):
    """Multiply steps k and k + 1, each while the fragments of the following one are on their way."""
    load_fragments(A_tile, B_tile, k + 1, m, n, a1, b1)
    add_outer_product(a0, b0, acc)
    load_fragments(A_tile, B_tile, k + 2, m, n, a0, b0)
    add_outer_product(a1, b1, acc)


@cuda.jit(device=True)
def fetch(A, B, whole, top, left, start, a_next, b_next):
    """Load the thread's part of the tiles at `start` into registers, zeros outside the matrices.

    Inside, with whole rows of vectors, a row or column beyond the edge is replaced by the last one: it only
    reaches results that are never stored. Then 6 loads of 16 bytes need no test each. (selp is min() written as
    numba's own CUDA target compiles it too; as an if-expression it costs 7 %, for reasons inside the compiler.)
    """
    a_row, a_k = cuda.threadIdx.x // 4, cuda.threadIdx.x % 4 * 4
    b_k, b_col = cuda.threadIdx.x // 64, cuda.threadIdx.x % 64 * 4
    if whole and start + DEPTH <= A.shape[1]:
        for i in range(2):
            row, last_row = top + a_row + 64 * i, A.shape[0] - 1
            row = cuda.selp(last_row < row, last_row, row)
            a_next[4 * i], a_next[4 * i + 1], a_next[4 * i + 2], a_next[4 * i + 3] = load4(A, row, start + a_k)
        col, last_col = left + b_col, B.shape[1] - 4
        col = cuda.selp(last_col < col, last_col, col)
        for j in range(4):
            k = start + b_k + 4 * j
            b_next[4 * j], b_next[4 * j + 1], b_next[4 * j + 2], b_next[4 * j + 3] = load4(B, k, col)
    else:
        for e in range(4):
            for i in range(2):
                a_next[4 * i + e] = element_or_zero(A, top + a_row + 64 * i, start + a_k + e)
            for j in range(4):
                b_next[4 * j + e] = element_or_zero(B, start + b_k + 4 * j, left + b_col + e)


@cuda.jit(device=True)
def keep(A_tile, B_tile, a_next, b_next):
    """Store what `fetch` loaded into the tiles, A's transposed."""
    a_row, a_k = cuda.threadIdx.x // 4, cuda.threadIdx.x % 4 * 4
    b_k, b_col = cuda.threadIdx.x // 64, cuda.threadIdx.x % 64 * 4
    for i in range(2):
        for e in range(4):
            A_tile[uint64(a_k + e), uint64(a_row + 64 * i)] = a_next[4 * i + e]
    for j in range(4):
        values = b_next[4 * j], b_next[4 * j + 1], b_next[4 * j + 2], b_next[4 * j + 3]
        store4(B_tile, b_k + 4 * j, b_col, values)


@cuda.jit
def best(A, B, C):
    """Compute C = A @ B; A is M×K, B is K×N, C is M×N, all float32 and C-ordered, in blocks of 256 threads."""
    A_tile = cuda.shared.array((DEPTH, PITCH), float32)
    B_tile = cuda.shared.array((DEPTH, COLUMNS), float32)
    acc = cuda.local.array((8, 16), float32)
    a0 = cuda.local.array(8, float32)
    a1 = cuda.local.array(8, float32)
    a_next = cuda.local.array(8, float32)
    b0 = cuda.local.array(16, float32)
    b1 = cuda.local.array(16, float32)
    b_next = cuda.local.array(16, float32)
    K, N = B.shape
    whole = K % 4 == 0 and N % 4 == 0
    warp, lane = cuda.threadIdx.x // 32, cuda.threadIdx.x % 32
    m, n = warp // 4 * 64 + lane // 4 * 4, warp % 4 * 64 + lane % 4 * 4
    top, left = cuda.blockIdx.y * ROWS, cuda.blockIdx.x * COLUMNS
    for i in range(8):
        for j in range(16):
            acc[i, j] = 0
    fetch(A, B, whole, top, left, 0, a_next, b_next)
    keep(A_tile, B_tile, a_next, b_next)
    cuda.syncthreads()
    load_fragments(A_tile, B_tile, 0, m, n, a0, b0)
    for start in range(DEPTH, K + DEPTH, DEPTH):
        two_steps(A_tile, B_tile, 0, m, n, a0, b0, a1, b1, acc)
        fetch(A, B, whole, top, left, start, a_next, b_next)
        two_steps(A_tile, B_tile, 2, m, n, a0, b0, a1, b1, acc)
        two_steps(A_tile, B_tile, 4, m, n, a0, b0, a1, b1, acc)
        two_steps(A_tile, B_tile, 6, m, n, a0, b0, a1, b1, acc)
        two_steps(A_tile, B_tile, 8, m, n, a0, b0, a1, b1, acc)
        two_steps(A_tile, B_tile, 10, m, n, a0, b0, a1, b1, acc)
        two_steps(A_tile, B_tile, 12, m, n, a0, b0, a1, b1, acc)
        load_fragments(A_tile, B_tile, 15, m, n, a1, b1)
        add_outer_product(a0, b0, acc)
        cuda.syncthreads()  # nobody reads the tiles any more
        keep(A_tile, B_tile, a_next, b_next)
        cuda.syncthreads()  # the next tiles are complete
        load_fragments(A_tile, B_tile, 0, m, n, a0, b0)
        add_outer_product(a1, b1, acc)
    if N % 4 == 0:
        for i in range(8):
            row = top + m + i // 4 * 32 + i % 4
            for j in range(4):
                col = left + n + 16 * j
                if row < C.shape[0] and col < N:
                    store4(C, row, col, (acc[i, 4 * j], acc[i, 4 * j + 1], acc[i, 4 * j + 2], acc[i, 4 * j + 3]))
    else:
        for i in range(8):
            row = top + m + i // 4 * 32 + i % 4
            for j in range(16):
                col = left + n + j // 4 * 16 + j % 4
                if row < C.shape[0] and col < N:
                    C[uint64(row), uint64(col)] = acc[i, j]


def launch(M, N, K):
    """Return (grid, block) for an M×N result: 256 threads per 128×256 tile of C."""
    return (max(1, -(-N // COLUMNS)), max(1, -(-M // ROWS))), (THREADS, 1)


def shared_bytes(itemsize=4):
    """Return the bytes of shared memory per block: one tile of A with its padding and one of B."""
    return DEPTH * (PITCH + COLUMNS) * itemsize
