"""The guard lets one vertex too many pass: the end of its list of edges is beyond the array."""

import numpy as np
from numba import cuda

GRID, BLOCK = 1, 64
EXPECTED = [("out-of-bounds", "end", None, "first")]
ALSO = ["out-of-bounds"]


@cuda.jit
def bug(first, degree):
    v = cuda.grid(1)
    if v < first.size:  # bug
    # twin: if v < first.size - 1:
        degree[v] = first[v + 1] - first[v]  # <- end


def arguments(rng):
    first = np.concatenate([[0], rng.integers(0, 5, 50).cumsum()]).astype(np.int32)
    return first, np.zeros(50, np.int32)


def answer(first, degree):
    return {1: np.diff(first)}
