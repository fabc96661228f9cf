"""4×4 results for each thread, read from shared memory one by one."""

from numba import cuda, float32

TILE, THREADS = (64, 64), (16, 16)


@cuda.jit
def mine(A, B, C):
    A_tile = cuda.shared.array((64, 16), float32)
    B_tile = cuda.shared.array((16, 64), float32)
    acc = cuda.local.array((4, 4), float32)
    a = cuda.local.array(4, float32)
    b = cuda.local.array(4, float32)
    (M, K), N = A.shape, B.shape[1]
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = cuda.blockIdx.y * 64, cuda.blockIdx.x * 64
    for i in range(4):
        for j in range(4):
            acc[i, j] = 0
    for start in range(0, K, 16):
        for i in range(4):
            row, col = top + ty + 16 * i, start + tx
            A_tile[ty + 16 * i, tx] = A[row, col] if row < M and col < K else float32(0)
            row, col = start + ty, left + tx + 16 * i
            B_tile[ty, tx + 16 * i] = B[row, col] if row < K and col < N else float32(0)
        cuda.syncthreads()
        for k in range(16):
            for i in range(4):
                a[i] = A_tile[ty + 16 * i, k]
                b[i] = B_tile[k, tx + 16 * i]
            for i in range(4):
                for j in range(4):
                    acc[i, j] += a[i] * b[j]
        cuda.syncthreads()
    for i in range(4):
        for j in range(4):
            row, col = top + ty + 16 * i, left + tx + 16 * j
            if row < M and col < N:
                C[row, col] = acc[i, j]
