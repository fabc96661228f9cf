"""One result for each thread, and a tile that is no power of two."""

from numba import cuda, float32

TILE, THREADS = (24, 24), (24, 24)


@cuda.jit
def mine(A, B, C):
    A_tile = cuda.shared.array((24, 24), float32)
    B_tile = cuda.shared.array((24, 24), float32)
    (M, K), N = A.shape, B.shape[1]
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * 24 + ty, cuda.blockIdx.x * 24 + tx
    acc = float32(0)
    for start in range(0, K, 24):
        A_tile[ty, tx] = A[row, start + tx] if row < M and start + tx < K else float32(0)
        B_tile[ty, tx] = B[start + ty, col] if start + ty < K and col < N else float32(0)
        cuda.syncthreads()
        for k in range(24):
            acc += A_tile[ty, k] * B_tile[k, tx]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = acc
