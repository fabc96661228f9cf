"""8×8 results for each thread of small blocks, without vectors."""

from numba import cuda, float32

TILE, THREADS = (64, 64), (8, 8)


@cuda.jit
def mine(A, B, C):
    A_tile = cuda.shared.array((16, 65), float32)  # transposed, with padding for its stores
    B_tile = cuda.shared.array((16, 64), float32)
    acc = cuda.local.array((8, 8), float32)
    a = cuda.local.array(8, float32)
    b = cuda.local.array(8, float32)
    (M, K), N = A.shape, B.shape[1]
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    thread = ty * 8 + tx
    top, left = cuda.blockIdx.y * 64, cuda.blockIdx.x * 64
    for i in range(8):
        for j in range(8):
            acc[i, j] = 0
    for start in range(0, K, 16):
        for i in range(16):
            row, col = top + thread // 16 + 4 * i, start + thread % 16
            A_tile[thread % 16, thread // 16 + 4 * i] = A[row, col] if row < M and col < K else float32(0)
            row, col = start + i, left + thread
            B_tile[i, thread] = B[row, col] if row < K and col < N else float32(0)
        cuda.syncthreads()
        for k in range(16):
            for i in range(8):
                a[i] = A_tile[k, ty + 8 * i]
                b[i] = B_tile[k, tx + 8 * i]
            for i in range(8):
                for j in range(8):
                    acc[i, j] += a[i] * b[j]
        cuda.syncthreads()
    for i in range(8):
        for j in range(8):
            row, col = top + ty + 8 * i, left + tx + 8 * j
            if row < M and col < N:
                C[row, col] = acc[i, j]
