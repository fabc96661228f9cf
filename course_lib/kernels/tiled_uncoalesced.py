"""Tiles whose part of B is loaded down the columns: coalescing lost.

Idea: let the thread that needs a column of B load down that column. x now runs along the rows of B, so the
threads of a warp read elements a whole row apart: 32 sectors per request instead of 4. The element is stored
where it belongs, B_tile[tx, ty], with T threads of the warp in one bank.
Launch: blocks of T×T threads, rounded up to cover C.
Loads: 2 K / T per element of C from global memory, as many as tiled, but in eight times the sectors for B.
Source: the TU Eindhoven 5KK73 page (first tiled listing), with its column of B taken from threadIdx.y.
"""

from functools import lru_cache

from numba import cuda, float32

from .rung import Rung, square_blocks


@lru_cache
def tiled_uncoalesced(tile_width=16, dtype=float32):
    """Return the kernel for tiles of tile_width×tile_width elements `dtype`: `kernel[grid, block](A, B, C)`."""
    T = tile_width

    @cuda.jit
    def tiled_uncoalesced(A, B, C):
        """Compute C = A @ B; A is M×K, B is K×N, C is M×N, in blocks of T×T threads."""
        A_tile = cuda.shared.array((T, T), dtype)
        B_tile = cuda.shared.array((T, T), dtype)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        row, col = cuda.blockIdx.y * T + ty, cuda.blockIdx.x * T + tx
        left = cuda.blockIdx.x * T
        M, K = A.shape
        N = B.shape[1]
        acc = dtype(0)
        for start in range(0, K, T):
            if row < M and start + tx < K:
                A_tile[ty, tx] = A[row, start + tx]
            else:
                A_tile[ty, tx] = 0
            if start + tx < K and left + ty < N:
                B_tile[tx, ty] = B[start + tx, left + ty]
            else:
                B_tile[tx, ty] = 0
            cuda.syncthreads()  # both tiles are complete
            for k in range(T):
                acc += A_tile[ty, k] * B_tile[k, tx]
            cuda.syncthreads()  # no thread reads the tiles any more
        if row < M and col < N:
            C[row, col] = acc

    return tiled_uncoalesced


RUNG = Rung(
    "tiled_uncoalesced",
    "Tiles, B loaded down its columns",
    tiled_uncoalesced,
    square_blocks,
    params={"tile_width": 16},
    lesson="06_coalescing",
    change="tiled, with B loaded down its columns",
)
