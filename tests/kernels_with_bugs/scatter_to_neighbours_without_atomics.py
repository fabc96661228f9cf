"""Each vertex of a graph adds its value to its neighbours; two vertices may have one neighbour."""

import numpy as np
from numba import cuda

GRID, BLOCK = 2, 32
EXPECTED = [("race", "add", "add", "total")]


@cuda.jit
def bug(first, neighbours, value, total):
    v = cuda.grid(1)
    if v < value.size:
        for e in range(first[v], first[v + 1]):
            total[neighbours[e]] += value[v]  # bug  # <- add
            # twin: cuda.atomic.add(total, neighbours[e], value[v])


def arguments(rng):
    degree = rng.integers(0, 5, 50)
    first = np.concatenate([[0], degree.cumsum()]).astype(np.int32)
    return first, rng.integers(0, 50, first[-1], np.int32), rng.integers(1, 9, 50, np.int32), np.zeros(50, np.int32)


def answer(first, neighbours, value, total):
    sources = np.repeat(np.arange(50), np.diff(first))
    return {3: np.bincount(neighbours, weights=value[sources], minlength=50).astype(np.int32)}
