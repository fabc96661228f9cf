"""The last block to take a ticket adds up what all blocks stored, and the fence between orders one block only."""

import numpy as np
from numba import cuda, int32

GRID, BLOCK = 5, 32
EXPECTED = [("race", "read", "store", "partial")]


@cuda.jit
def bug(x, partial, tickets, out):
    ticket = cuda.shared.array(1, int32)
    t, b = cuda.threadIdx.x, cuda.blockIdx.x
    if t == 0:
        partial[b] = x[2 * b] + x[2 * b + 1]  # <- store
        cuda.threadfence_block()  # bug
        # twin: cuda.threadfence()
        ticket[0] = cuda.atomic.add(tickets, 0, 1)
    cuda.syncthreads()
    if ticket[0] == cuda.gridDim.x - 1 and t < cuda.gridDim.x:
        cuda.atomic.add(out, 0, partial[t])  # <- read


def arguments(rng):
    return rng.integers(-9, 9, 10, np.int32), np.zeros(5, np.int32), np.zeros(1, np.int32), np.zeros(1, np.int32)


def answer(x, partial, tickets, out):
    return {3: np.array([x.sum()], np.int32)}
