"""8×16 results for each thread, vector loads and two buffers: the next tiles come while these are multiplied."""

from numba import cuda, float32

from course_lib.kernels import load4, load4_or_zeros, store4, store4_inside

TILE, THREADS = (128, 256), (256, 1)


@cuda.jit
def mine(A, B, C):
    A_tiles = cuda.shared.array((16, 132), float32)  # two of 8 rows, transposed, with 4 columns of padding
    B_tiles = cuda.shared.array((16, 256), float32)
    acc = cuda.local.array((8, 16), float32)
    a = cuda.local.array(8, float32)
    b = cuda.local.array(16, float32)
    K, thread = A.shape[1], cuda.threadIdx.x
    warp, lane = thread // 32, thread % 32
    m, n = warp // 4 * 64 + lane // 4 * 4, warp % 4 * 64 + lane % 4 * 4
    top, left = cuda.blockIdx.y * 128, cuda.blockIdx.x * 256
    a_row, a_k = thread // 2, thread % 2 * 4
    b_k, b_col = thread // 32, thread % 32 * 4
    for i in range(8):
        for j in range(16):
            acc[i, j] = 0
    a4 = load4_or_zeros(A, top + a_row, a_k)
    b4 = load4_or_zeros(B, b_k, left + b_col)
    right4 = load4_or_zeros(B, b_k, left + b_col + 128)
    now = 0
    for start in range(0, K, 8):
        A_tiles[now + a_k, a_row], A_tiles[now + a_k + 1, a_row] = a4[0], a4[1]
        A_tiles[now + a_k + 2, a_row], A_tiles[now + a_k + 3, a_row] = a4[2], a4[3]
        store4(B_tiles, now + b_k, b_col, b4)
        store4(B_tiles, now + b_k, b_col + 128, right4)
        cuda.syncthreads()
        a4 = load4_or_zeros(A, top + a_row, start + 8 + a_k)  # the next pair, while this one is multiplied
        b4 = load4_or_zeros(B, start + 8 + b_k, left + b_col)
        right4 = load4_or_zeros(B, start + 8 + b_k, left + b_col + 128)
        for k in range(8):
            for i in range(2):
                a[4 * i], a[4 * i + 1], a[4 * i + 2], a[4 * i + 3] = load4(A_tiles, now + k, m + 32 * i)
            for i in range(4):
                b[4 * i], b[4 * i + 1], b[4 * i + 2], b[4 * i + 3] = load4(B_tiles, now + k, n + 16 * i)
            for i in range(8):
                for j in range(16):
                    acc[i, j] += a[i] * b[j]
        now = 8 - now
    for i in range(8):
        row = top + m + i // 4 * 32 + i % 4
        for j in range(4):
            results = acc[i, 4 * j], acc[i, 4 * j + 1], acc[i, 4 * j + 2], acc[i, 4 * j + 3]
            store4_inside(C, row, left + n + 16 * j, results)
