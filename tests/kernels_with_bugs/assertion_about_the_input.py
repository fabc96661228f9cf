"""An index from the input is asserted to be positive, and one is zero."""

import numpy as np
from numba import cuda

GRID, BLOCK = 1, 32
EXPECTED = [("failed-assertion", "assert", None, None)]


@cuda.jit(debug=True, opt=False)
def bug(x, out):
    i = cuda.grid(1)
    assert x[i] > 0  # bug  # <- assert
    # twin: assert x[i] >= 0
    out[i] = x[i]


def arguments(rng):
    x = rng.integers(1, 9, 32, np.int32)
    x[5] = 0
    return x, np.zeros(32, np.int32)


def answer(x, out):
    return {1: x}
