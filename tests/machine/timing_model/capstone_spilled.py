"""16×14 results for each thread, more than its registers hold."""

from numba import cuda, float32

TILE, THREADS = (128, 112), (8, 8)


@cuda.jit
def mine(A, B, C):  # noqa: C901 (a kernel)
    A_tile = cuda.shared.array((8, 128), float32)
    B_tile = cuda.shared.array((8, 112), float32)
    acc = cuda.local.array((16, 14), float32)
    a = cuda.local.array(16, float32)
    b = cuda.local.array(14, float32)
    (M, K), N = A.shape, B.shape[1]
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = cuda.blockIdx.y * 128, cuda.blockIdx.x * 112
    for i in range(16):
        for j in range(14):
            acc[i, j] = 0
    for start in range(0, K, 8):
        for i in range(16):
            row = ty + 8 * i
            A_tile[tx, row] = A[top + row, start + tx] if top + row < M and start + tx < K else float32(0)
        for j in range(14):
            col = tx + 8 * j
            B_tile[ty, col] = B[start + ty, left + col] if start + ty < K and left + col < N else float32(0)
        cuda.syncthreads()
        for k in range(8):
            for i in range(16):
                a[i] = A_tile[k, ty + 8 * i]
            for j in range(14):
                b[j] = B_tile[k, tx + 8 * j]
            for i in range(16):
                for j in range(14):
                    acc[i, j] += a[i] * b[j]
        cuda.syncthreads()
    for i in range(16):
        for j in range(14):
            if top + ty + 8 * i < M and left + tx + 8 * j < N:
                C[top + ty + 8 * i, left + tx + 8 * j] = acc[i, j]
