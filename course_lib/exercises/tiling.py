"""The exercises of the lesson on tiling."""

from __future__ import annotations

import numpy as np

from course_lib.simulator.hardware import ceil_div

from .budgets import iterations
from .exercise import Array, Budget, Exercise, Outcome
from .grading import eighths
from .matrices import TILE, last_tile_missing, launch_per_element, product, product_inputs, turns_of_tiles


def _stops_one_short(outcome: Outcome) -> str | None:
    A, B = outcome.inputs
    kept = [k for k in range(A.shape[1]) if k % TILE != TILE - 1]
    if len(kept) < A.shape[1] and np.array_equal(outcome.got, A[:, kept] @ B[kept]):
        return "the last element of every tile is left out: range(T) already stops at T - 1."
    return None


def _only_last_tile(outcome: Outcome) -> str | None:
    A, B = outcome.inputs
    last = (A.shape[1] - 1) // TILE * TILE
    if last > 0 and np.array_equal(outcome.got, A[:, last:] @ B[last:]):
        return "only the last pair of tiles is in the sums: acc must keep its value from tile to tile."
    return None


#: The heart of the tiled kernel, with exactly the barriers that it needs.
BARRIERS = Exercise(
    name="barriers",
    parameters=("A", "B", "C"),
    shapes=((16, 16, 16), (13, 21, 26), (5, 9, 19), (1, 1, 1)),
    inputs=product_inputs,
    answer=product,
    launch=launch_per_element,
    budgets=(
        Budget(
            "global loads per thread",
            "2·⌈K/T⌉",
            Outcome.loads_per_thread,
            lambda shape: 2 * ceil_div(shape[2], TILE),
            "multiply the elements of A_tile and B_tile, in shared memory, and leave A and B alone.",
        ),
        Budget(
            "barriers per warp",
            "2·⌈K/T⌉",
            Outcome.barriers,
            lambda shape: 2 * ceil_div(shape[2], TILE),
            "a barrier inside the loop over k makes the whole block wait T times; nothing is written in that loop, "
            "so one barrier before it and one after it are enough.",
        ),
        iterations(
            "⌈K/T⌉·(T + 1)",
            turns_of_tiles,
            "one loop goes from tile to tile, and one inside it along the tile: T turns for each tile, no more.",
        ),
    ),
    hints={
        "race": "one thread writes a tile while another still reads it: two moments need a barrier, when the tiles "
        "have been filled, and when everybody has finished with them.",
        "uninitialized-read": "a thread multiplies elements that nobody has stored yet: wait until the tiles are full.",
        "barrier-divergence": "every thread of the block must reach the barrier: keep it out of any if on row, col, "
        "tx or ty.",
    },
    diagnoses=(_stops_one_short, _only_last_tile, last_tile_missing),
)


def _inputs(rng: np.random.Generator, M: int, N: int, K: int) -> tuple[Array, ...]:
    return (eighths(rng, M, K),)


def _square(outcome: Outcome) -> str | None:
    (A,) = outcome.inputs
    if A.shape[0] == A.shape[1] and np.array_equal(outcome.got, A @ A):
        return "this is A·A: element (row, col) of A·Aᵀ multiplies row `row` of A with row `col` of A."
    return None


def _diagonal_tiles_only(outcome: Outcome) -> str | None:
    got, want = outcome.got, outcome.want
    tiles = np.arange(len(want)) // TILE
    diagonal = tiles[:, None] == tiles
    if not diagonal.all() and np.array_equal(got[diagonal], want[diagonal]):
        return (
            "only the tiles on the diagonal are right: the second tile holds the rows of A that start at "
            "blockIdx.x * T, not at blockIdx.y * T."
        )
    return None


def _sectors_per_request(outcome: Outcome) -> float:
    return outcome.count("sectors", "load", "A") / max(1, outcome.count("requests", "load", "A"))


#: C = A·Aᵀ by tiles; both tiles come from A.
GRAM = Exercise(
    name="gram",
    parameters=("A", "C"),
    shapes=((16, 16, 16), (13, 13, 26), (21, 21, 5), (24, 24, 32), (1, 1, 1)),  # C is M×M, so N = M
    inputs=_inputs,
    answer=lambda A: A @ A.T,
    launch=launch_per_element,
    budgets=(
        Budget(
            "global loads per thread",
            "2·⌈K/T⌉",
            Outcome.loads_per_thread,
            lambda shape: 2 * ceil_div(shape[2], TILE),
            "load one element of each tile per thread, and read the rest from shared memory.",
        ),
        Budget(
            "sectors per load request",
            "one per row of the tile: 4",
            _sectors_per_request,
            lambda shape: 4 if shape[2] % TILE == 0 and shape[0] % TILE == 0 else None,
            "neighbouring threads (tx) load from different rows of A. Let tx run along the row, as in the first tile, "
            "and exchange the indices when you read the tile.",
        ),
        Budget(
            "barriers per warp",
            "2·⌈K/T⌉",
            Outcome.barriers,
            lambda shape: 2 * ceil_div(shape[2], TILE),
            "two barriers per pair of tiles are enough: one when the tiles are full, one when they are used.",
        ),
        iterations(
            "⌈K/T⌉·(T + 1)",
            turns_of_tiles,
            "one loop goes from tile to tile, and one inside it along the tile: T turns for each tile, no more.",
        ),
    ),
    hints={
        "race": "one thread writes a tile while another still reads it: wait when the tiles have been filled, and "
        "again when everybody has finished with them.",
        "out-of-bounds": "the guard of the second tile must test the row that it really loads from: not `row`.",
    },
    diagnoses=(_square, _diagonal_tiles_only),
)


EXERCISES = (BARRIERS, GRAM)
