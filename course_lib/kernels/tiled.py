"""Tiles of A and B through shared memory: any size, with the traffic divided by the tile width.

Idea: a block computes a T×T tile of C. It walks along a row of tiles of A and down a column of tiles of B;
each thread loads one element of both tiles, and T threads use it.
Launch: blocks of T×T threads, rounded up to cover C. Outside the matrices the tiles hold zeros, which add nothing.
Loads: 2 K / T per element of C from global memory, 2 K from shared memory; T/4 flop per byte in float32.
Source: Paul Richmond's lab notes (the tiled kernel) and the blog post with 4×4 matrices in 2×2 blocks.
"""

from functools import lru_cache

from numba import cuda, float32

from .rung import Rung, square_blocks


@lru_cache
def tiled(tile_width=16, dtype=float32):
    """Return the kernel for tiles of tile_width×tile_width elements `dtype`: `kernel[grid, block](A, B, C)`."""
    T = tile_width

    @cuda.jit
    def tiled(A, B, C):
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
                B_tile[ty, tx] = B[start + ty, col]
            else:
                B_tile[ty, tx] = 0
            cuda.syncthreads()  # both tiles are complete
            for k in range(T):
                acc += A_tile[ty, k] * B_tile[k, tx]
            cuda.syncthreads()  # no thread reads the tiles any more
        if row < M and col < N:
            C[row, col] = acc

    return tiled


RUNG = Rung(
    "tiled",
    "Tiles in shared memory",
    tiled,
    square_blocks,
    params={"tile_width": 16},
    lesson="04_tiling",
    change="naive, improved, with tiles in shared memory",
)
