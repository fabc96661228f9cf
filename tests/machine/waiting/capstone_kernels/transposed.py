"""2×2 results for each thread, and a transposed tile of B without padding: its reads have bank conflicts."""

from numba import cuda, float32

TILE, THREADS = (32, 32), (16, 16)


@cuda.jit
def mine(A, B, C):
    A_tile = cuda.shared.array((32, 32), float32)
    B_tile = cuda.shared.array((32, 32), float32)  # a column of B is a row of it
    (M, K), N = A.shape, B.shape[1]
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    top, left = cuda.blockIdx.y * 32, cuda.blockIdx.x * 32
    upper_left, upper_right, lower_left, lower_right = float32(0), float32(0), float32(0), float32(0)
    for start in range(0, K, 32):
        for i in range(ty, 32, 16):
            for j in range(tx, 32, 16):
                A_tile[i, j] = A[top + i, start + j] if top + i < M and start + j < K else float32(0)
                B_tile[j, i] = B[start + i, left + j] if start + i < K and left + j < N else float32(0)
        cuda.syncthreads()
        for k in range(32):
            a, below = A_tile[ty, k], A_tile[ty + 16, k]
            b, right = B_tile[tx, k], B_tile[tx + 16, k]
            upper_left += a * b
            upper_right += a * right
            lower_left += below * b
            lower_right += below * right
        cuda.syncthreads()
    row, col = top + ty, left + tx
    if row < M and col < N:
        C[row, col] = upper_left
    if row < M and col + 16 < N:
        C[row, col + 16] = upper_right
    if row + 16 < M and col < N:
        C[row + 16, col] = lower_left
    if row + 16 < M and col + 16 < N:
        C[row + 16, col + 16] = lower_right
