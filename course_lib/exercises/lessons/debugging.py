"""The exercises of the lesson on debugging: published listings with mistakes, to be fixed."""

from __future__ import annotations

import numpy as np

from ..grading.budgets import barriers, global_loads, global_stores, iterations
from ..grading.exercise import Outcome, find_bug
from ..grading.explain import Explanation
from ..grading.matrices import (
    PRODUCT,
    each_element,
    iterations_of_tiles,
    last_of_each_tile_missing,
    last_tile_missing,
    right_on_the_diagonal_alone,
    two_each_step,
    two_each_tile,
    width,
)

_ROWS_OF_B = """
def rows_of_b(A, B, C):
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    acc = float32(0)
    if row < C.shape[0] and col < C.shape[1]:
        for k in range(A.shape[1]):
            acc += A[row, k] * B[col, k]
    C[row, col] = acc
"""


def _transposed(outcome: Outcome) -> str | None:
    A, B = outcome.inputs
    if A.shape[1] == B.shape[1] and np.array_equal(outcome.got, A @ B.T):
        return "this is A·Bᵀ: the loop goes along a row of B. Element (row, col) needs column `col` of B."
    return None


#: Two mistakes in six lines: B is read by rows, and the store is outside the guard.
ROWS_OF_B = find_bug(
    "rows-of-b",
    PRODUCT,
    given="from numba import cuda, float32\n" + _ROWS_OF_B,
    budgets=(
        global_loads("2·K", two_each_step, "one element of A and one of B in each iteration are enough."),
        global_stores("M·N", each_element, "each element of C is stored once."),
    ),
    hints={
        "out-of-bounds": "three things can reach beyond an array here: indices in the wrong order (a matrix takes its "
        "row first), a store that the guard does not cover, and a guard that lets one row or column too many in.",
    },
    diagnoses=(_transposed,),
)

_LAST_OF_TILE = """
def wrong_tile_of_b(A, B, C):
    A_tile = cuda.shared.array((TILE, TILE), float32)
    B_tile = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * TILE + tx
    left = cuda.blockIdx.y * TILE
    (M, K), N = A.shape, B.shape[1]
    acc = float32(0)
    for start in range(0, K, TILE):
        A_tile[ty, tx] = A[row, start + tx] if row < M and start + tx < K else float32(0)
        B_tile[ty, tx] = B[start + ty, left + tx] if start + ty < K and left + tx < N else float32(0)
        cuda.syncthreads()
        for k in range(TILE - 1):
            acc += A_tile[ty, k] * B_tile[k, tx]
        cuda.syncthreads()
    if row < M and col < N:
        C[row, col] = acc
"""


def _columns_of_block_y(outcome: Outcome) -> str | None:
    """Only tiles on the diagonal, for which blockIdx.x equals blockIdx.y, are right."""
    if not np.isnan(outcome.got).any() and right_on_the_diagonal_alone(outcome):
        return (
            "the tiles on the diagonal of C are right and the others are not: B's column must come from blockIdx.x, as "
            "the column of C does."
        )
    return None


#: Two mistakes of two published listings in one kernel: the last element of a tile, and the column of B.
WRONG_TILE_OF_B = find_bug(
    "wrong-tile-of-b",
    PRODUCT,
    given="from numba import cuda, float32\nTILE = 8\n" + _LAST_OF_TILE,
    budgets=(
        global_loads("2·⌈K/8⌉", two_each_tile, "one element of each tile per thread is enough."),
        iterations("⌈K/8⌉·9", iterations_of_tiles, "8 iterations along each tile, and one for the tile itself."),
    ),
    hints={
        "out-of-bounds": "the guard of B must ask about the row and the column that are loaded.",
        "race": "two barriers for each pair of tiles: when they are full, and when they have been used.",
        "barrier-divergence": "every thread of the block must come to the barrier: keep it out of the if.",
    },
    diagnoses=(last_of_each_tile_missing, _columns_of_block_y),
)

_ONE_BARRIER = """
def one_barrier(A, B, C):
    A_tile = cuda.shared.array((TILE, TILE), float32)
    B_tile = cuda.shared.array((TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * TILE + tx
    (M, K), N = A.shape, B.shape[1]
    acc = float32(0)
    for start in range(0, K, TILE):
        A_tile[ty, tx] = A[row, start + tx] if row < M and start + tx < K else float32(0)
        B_tile[ty, tx] = B[start + ty, col] if start + ty < K and col < N else float32(0)
        cuda.syncthreads()
        for k in range(TILE):
            acc += A_tile[ty, k] * B_tile[k, tx]
        if row < M and col < N:
            C[row, col] = acc
"""

#: The tiled kernel of a report: no second barrier, and C stored once for every tile.
ONE_BARRIER = find_bug(
    "one-barrier",
    PRODUCT,
    given="from numba import cuda, float32\nTILE = 8\n" + _ONE_BARRIER,
    budgets=(
        global_loads("2·⌈K/8⌉", two_each_tile, "one element of each tile per thread is enough."),
        barriers(
            "2·⌈K/8⌉",
            two_each_tile,
            "two barriers for each pair of tiles are enough: when they are full, and when they have been used.",
        ),
        global_stores(
            "M·N",
            each_element,
            "C is stored once for every pair of tiles; only the last store has the whole sum. Store after the loop.",
        ),
    ),
    hints={
        "race": "a fast warp stores the next pair of tiles while a slow one still multiplies: what keeps it from doing "
        "so? (cuda.syncwarp() orders the lanes of one warp, not two warps.)",
        "barrier-divergence": "every thread of the block must come to the barrier: keep it out of the if.",
    },
    diagnoses=(last_tile_missing,),
)

_TOO_FAR = """
def too_far(A, B, C):
    A_tiles = cuda.shared.array((2, TILE, TILE), float32)
    B_tiles = cuda.shared.array((2, TILE, TILE), float32)
    tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
    row, col = cuda.blockIdx.y * TILE + ty, cuda.blockIdx.x * TILE + tx
    A_tiles[0, ty, tx] = A[row, tx]
    B_tiles[0, ty, tx] = B[ty, col]
    cuda.syncthreads()
    acc, now = float32(0), 0
    for start in range(0, A.shape[1], TILE):
        A_tiles[1 - now, ty, tx] = A[row, start + TILE + tx]
        B_tiles[1 - now, ty, tx] = B[start + TILE + ty, col]
        for k in range(TILE):
            acc += A_tiles[now, ty, k] * B_tiles[now, k, tx]
        cuda.syncthreads()
        now = 1 - now
    C[row, col] = acc
"""

#: A prefetching loop that fetches one tile too many.
TOO_FAR = find_bug(
    "too-far",
    PRODUCT.but(shapes=((16, 16, 16), (8, 24, 32), (24, 8, 8))),  # multiples of 8, as the exercise promises
    given="from numba import cuda, float32\nTILE = 8\n" + _TOO_FAR,
    budgets=(
        global_loads(
            "2·K/8",
            two_each_tile,
            "each thread loads one element of each tile, and there are K/8 pairs.",
        ),
        barriers(
            "K/8 + 1",
            lambda shape: shape[2] // width() + 1,
            "one barrier before the loop and one in each iteration are enough.",
        ),
    ),
    hints={
        "out-of-bounds": "in the last iteration there is no next pair of tiles: test whether start + TILE < K.",
        "barrier-divergence": "ask about start, which is the same for the whole block, and leave the barrier outside "
        "the if.",
        "race": "the other pair may be overwritten only when everybody has finished with it: keep the barrier in every "
        "iteration.",
    },
    diagnoses=(last_tile_missing,),
)

LUCKY = Explanation(
    name="lucky",
    question="A kernel lacks a barrier, and its result was right in a thousand launches. Why is that no proof?",
    model="Without the barrier nothing decides which of two warps comes first: one may read an element before or after "
    "the other writes it. Which order a GPU takes depends on timing: on the size, the load, the GPU, the compiler. In "
    "a thousand launches it may always have been the harmless one. Only an order that a barrier enforces is safe; "
    "so one looks for accesses that nothing orders, and not for wrong results.",
    ideas=(
        "nothing orders the two accesses",
        "the order depends on timing",
        "a barrier would enforce it",
    ),
)

EXERCISES = (ROWS_OF_B, WRONG_TILE_OF_B, ONE_BARRIER, TOO_FAR, LUCKY)
