"""8×8 results for each thread, vector loads, one buffer: loads and multiplications take turns."""

from numba import cuda, float32

from course_lib.kernels import load4, load4_or_zeros, store4, store4_inside

TILE, THREADS = (128, 128), (16, 16)


@cuda.jit
def mine(A, B, C):
    A_tile = cuda.shared.array((16, 132), float32)  # transposed, with 4 columns of padding
    B_tile = cuda.shared.array((16, 128), float32)
    acc = cuda.local.array((8, 8), float32)
    a = cuda.local.array(8, float32)
    b = cuda.local.array(8, float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    thread = ty * 16 + tx
    top, left = cuda.blockIdx.y * 128, cuda.blockIdx.x * 128
    for i in range(8):
        for j in range(8):
            acc[i, j] = 0
    for start in range(0, A.shape[1], 16):
        for i in range(2):
            row, k = thread // 4 + 64 * i, thread % 4 * 4
            a0, a1, a2, a3 = load4_or_zeros(A, top + row, start + k)
            A_tile[k, row], A_tile[k + 1, row], A_tile[k + 2, row], A_tile[k + 3, row] = a0, a1, a2, a3
            row, col = thread // 32 + 8 * i, thread % 32 * 4
            store4(B_tile, row, col, load4_or_zeros(B, start + row, left + col))
        cuda.syncthreads()
        for k in range(16):
            for i in range(2):
                a[4 * i], a[4 * i + 1], a[4 * i + 2], a[4 * i + 3] = load4(A_tile, k, 4 * ty + 64 * i)
                b[4 * i], b[4 * i + 1], b[4 * i + 2], b[4 * i + 3] = load4(B_tile, k, 4 * tx + 64 * i)
            for i in range(8):
                for j in range(8):
                    acc[i, j] += a[i] * b[j]
        cuda.syncthreads()
    for i in range(8):
        row = top + 4 * ty + i // 4 * 64 + i % 4
        for j in range(2):
            results = acc[i, 4 * j], acc[i, 4 * j + 1], acc[i, 4 * j + 2], acc[i, 4 * j + 3]
            store4_inside(C, row, left + 4 * tx + 64 * j, results)
