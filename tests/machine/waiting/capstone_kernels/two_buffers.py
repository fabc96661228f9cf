"""8×8 results for each thread and two buffers, of the tiles and of the elements that a step multiplies."""

from numba import cuda, float32

from course_lib.kernels import load4, load4_or_zeros, store4, store4_inside

TILE, THREADS = (128, 128), (256, 1)


@cuda.jit(device=True)
def read(A_tiles, B_tiles, k, m, n, a, b):
    for i in range(2):
        a[4 * i], a[4 * i + 1], a[4 * i + 2], a[4 * i + 3] = load4(A_tiles, k, m + 32 * i)
        b[4 * i], b[4 * i + 1], b[4 * i + 2], b[4 * i + 3] = load4(B_tiles, k, n + 16 * i)


@cuda.jit(device=True)
def multiply(a, b, acc):
    for i in range(8):
        for j in range(8):
            acc[i, j] += a[i] * b[j]


@cuda.jit
def mine(A, B, C):
    A_tiles = cuda.shared.array((32, 132), float32)  # two of 16 rows, transposed, with 4 columns of padding
    B_tiles = cuda.shared.array((32, 128), float32)
    acc = cuda.local.array((8, 8), float32)
    a = cuda.local.array(8, float32)
    b = cuda.local.array(8, float32)
    next_a = cuda.local.array(8, float32)
    next_b = cuda.local.array(8, float32)
    K, thread = A.shape[1], cuda.threadIdx.x
    warp, lane = thread // 32, thread % 32
    m, n = warp // 4 * 64 + lane // 4 * 4, warp % 4 * 32 + lane % 4 * 4
    top, left = cuda.blockIdx.y * 128, cuda.blockIdx.x * 128
    a_row, a_k = thread // 2, thread % 2 * 4
    b_k, b_col = thread // 32, thread % 32 * 4
    for i in range(8):
        for j in range(8):
            acc[i, j] = 0
    a4, far_a4 = load4_or_zeros(A, top + a_row, a_k), load4_or_zeros(A, top + a_row, a_k + 8)
    b4, far_b4 = load4_or_zeros(B, b_k, left + b_col), load4_or_zeros(B, b_k + 8, left + b_col)
    now = 0
    for start in range(16, K + 16, 16):
        at = now + a_k
        A_tiles[at, a_row], A_tiles[at + 1, a_row], A_tiles[at + 2, a_row], A_tiles[at + 3, a_row] = a4
        at += 8
        A_tiles[at, a_row], A_tiles[at + 1, a_row], A_tiles[at + 2, a_row], A_tiles[at + 3, a_row] = far_a4
        store4(B_tiles, now + b_k, b_col, b4)
        store4(B_tiles, now + b_k + 8, b_col, far_b4)
        cuda.syncthreads()
        a4 = load4_or_zeros(A, top + a_row, start + a_k)  # the next pair, while this one is multiplied
        far_a4 = load4_or_zeros(A, top + a_row, start + a_k + 8)
        b4 = load4_or_zeros(B, start + b_k, left + b_col)
        far_b4 = load4_or_zeros(B, start + b_k + 8, left + b_col)
        read(A_tiles, B_tiles, now, m, n, a, b)
        for k in range(now, now + 14, 2):
            read(A_tiles, B_tiles, k + 1, m, n, next_a, next_b)
            multiply(a, b, acc)
            read(A_tiles, B_tiles, k + 2, m, n, a, b)
            multiply(next_a, next_b, acc)
        read(A_tiles, B_tiles, now + 15, m, n, next_a, next_b)
        multiply(a, b, acc)
        multiply(next_a, next_b, acc)
        now = 16 - now
    for i in range(8):
        row = top + m + i // 4 * 32 + i % 4
        for j in range(2):
            results = acc[i, 4 * j], acc[i, 4 * j + 1], acc[i, 4 * j + 2], acc[i, 4 * j + 3]
            store4_inside(C, row, left + n + 16 * j, results)
