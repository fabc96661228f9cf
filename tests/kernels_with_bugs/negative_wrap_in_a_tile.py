"""The halo of a tile is forgotten at its left edge, where the index -1 reads the tile's last column."""

import numpy as np
from numba import cuda, float32

GRID, BLOCK = 1, (8, 4)
EXPECTED = [("negative-index", "read", None, "tile")]


@cuda.jit
def bug(A, out):
    tile = cuda.shared.array((4, 8), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    tile[ty, tx] = A[ty, tx]
    cuda.syncthreads()
    out[ty, tx] = tile[ty, tx - 1]  # bug  # <- read
    # twin: if tx > 0:
        # twin: out[ty, tx] = tile[ty, tx - 1]


def arguments(rng):
    return rng.standard_normal((4, 8), np.float32), np.zeros((4, 8), np.float32)


def answer(A, out):
    return {1: np.pad(A[:, :-1], ((0, 0), (1, 0)))}
