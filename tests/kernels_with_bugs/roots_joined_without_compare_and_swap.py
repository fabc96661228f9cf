"""Each thread joins the sets of an edge's ends: it looks for both roots, and hangs the larger root on the smaller one.

Between the look and the store another thread may hang that root elsewhere; a compare-and-swap notices it, and the
thread looks again.
"""

import numpy as np
from numba import cuda

GRID, BLOCK = 3, 16
EXPECTED = [("race", "join", "look", "parent")]
ALSO = ["race"]


@cuda.jit(device=True)
def root(parent, i):
    above = cuda.atomic.add(parent, i, 0)  # <- look
    while above != i:
        i = above
        above = cuda.atomic.add(parent, i, 0)  # <- look
    return i


@cuda.jit
def bug(edges, parent):
    e = cuda.grid(1)
    a = root(parent, edges[e, 0])
    b = root(parent, edges[e, 1])
    if a != b:  # bug
        parent[max(a, b)] = min(a, b)  # bug  # <- join
    # twin: while a != b and cuda.atomic.cas(parent, max(a, b), max(a, b), min(a, b)) != max(a, b):
    # twin:     a = root(parent, a)
    # twin:     b = root(parent, b)


def arguments(rng):
    return rng.integers(0, 24, (48, 2)), np.arange(24)


def answer(edges, parent):
    return {}
