"""The starting point: three nested loops on the host.

Every output element is the inner product of one row of A and one column of B, so each costs 2 K loads.
The GPU kernels that follow keep the inner loop and replace the outer two by the grid.

Source: Goli Uma Sankar's report (host multiplication) and the TU Eindhoven 5KK73 page (naive CPU version).
"""


def matmul_host(A, B, C):
    """Compute C = A @ B in place; A is M×K, B is K×N, C is M×N. Runs as it is, or under `numba.njit`."""
    M, K = A.shape
    N = B.shape[1]
    for row in range(M):
        for col in range(N):
            acc = C.dtype.type(0)
            for k in range(K):
                acc += A[row, k] * B[k, col]
            C[row, col] = acc
