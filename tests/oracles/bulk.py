"""What the kernels with bugs of bulk copies share: tiles of 64×64 elements of 16 bits, read in their own order."""

import numpy as np
from numba import cuda

from course_lib.kernels.bulk_copy import tile_copy

SIDE = 64
ELEMENTS = SIDE * SIDE
BYTES = 2 * ELEMENTS
copy = tile_copy(SIDE, SIDE)


@cuda.jit(device=True)
def place(row, col):
    """Return where the element of a tile is: the eight pieces of a row change places."""
    return row * 64 + (col ^ row % 8 * 8)


def matrices(rng, tiles):
    """Return a row of so many tiles, and a result of zeros of the same shape."""
    A = rng.integers(0, 2**16, (SIDE, tiles * SIDE)).astype(np.uint16)
    return A, np.zeros_like(A)


def unchanged(A, C):
    """Return {1: A}: the kernels copy."""
    return {1: A}
