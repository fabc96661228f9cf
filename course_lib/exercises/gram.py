"""Lesson 4, exercise 2: C = A·Aᵀ by tiles; both tiles come from A."""

from __future__ import annotations

import numpy as np

from course_lib.simulator.hardware import ceil_div

from .grading import Budget, Exercise, Outcome, eighths
from .matrices import TILE, launch_per_element


def _inputs(rng, M, N, K):
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


EXERCISE = Exercise(
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
    ),
    hints={
        "race": "one thread writes a tile while another still reads it: wait when the tiles have been filled, and "
        "again when everybody has finished with them.",
        "out-of-bounds": "the guard of the second tile must test the row that it really loads from: not `row`.",
    },
    diagnoses=(_square, _diagonal_tiles_only),
)
