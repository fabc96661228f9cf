"""Tiles loaded from consecutive addresses, but B's stored transposed: bank conflicts.

Idea: load B in the order of memory, and keep its tile transposed, so that a thread reads both tiles along k.
The loads are coalesced now. But the threads of a warp read B_tile[tx, k], elements T words apart: with T = 32
all in one bank, and the request takes 32 wavefronts instead of 1. (With T = 16, two rows of 16 threads, 8.)
Launch: blocks of T×T threads, rounded up to cover C.
Loads: 2 K / T per element of C from global memory; 2 K from shared memory, in many times the wavefronts.
Source: the TU Eindhoven 5KK73 page (coalesced listing).
"""

from functools import lru_cache

from numba import cuda, float32

from .rung import Rung, square_blocks


@lru_cache
def bank_conflicts(tile_width=16, dtype=float32):
    """Return the kernel for tiles of tile_width×tile_width elements `dtype`: `kernel[grid, block](A, B, C)`."""
    T = tile_width

    @cuda.jit
    def bank_conflicts(A, B, C):
        """Compute C = A @ B; A is M×K, B is K×N, C is M×N, in blocks of T×T threads."""
        A_tile = cuda.shared.array((T, T), dtype)
        B_tile = cuda.shared.array((T, T), dtype)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        row, col = cuda.blockIdx.y * T + ty, cuda.blockIdx.x * T + tx
        M, K = A.shape
        N = B.shape[1]
        acc = dtype(0)
        for start in range(0, K, T):
            if row < M and start + tx < K:
                A_tile[ty, tx] = A[row, start + tx]
            else:
                A_tile[ty, tx] = 0
            if start + ty < K and col < N:
                B_tile[tx, ty] = B[start + ty, col]
            else:
                B_tile[tx, ty] = 0
            cuda.syncthreads()  # both tiles are complete
            for k in range(T):
                acc += A_tile[ty, k] * B_tile[tx, k]
            cuda.syncthreads()  # no thread reads the tiles any more
        if row < M and col < N:
            C[row, col] = acc

    return bank_conflicts


RUNG = Rung(
    "bank_conflicts",
    "Tiles, B coalesced but transposed",
    bank_conflicts,
    square_blocks,
    params={"tile_width": 16},
    lesson="07_bank_conflicts",
    change="tiled, with the tile of B transposed",
)
