"""Lesson 4, exercise 1: the heart of the tiled kernel, with exactly the barriers that it needs."""

from __future__ import annotations

import numpy as np

from course_lib.simulator.hardware import ceil_div

from .grading import Budget, Exercise, Outcome
from .matrices import TILE, last_tile_missing, launch_per_element, product, product_inputs


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


EXERCISE = Exercise(
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
