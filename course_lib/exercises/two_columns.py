"""Lesson 2, exercise 2: each thread computes two neighbouring elements of C and loads A only once for both."""

from __future__ import annotations

import numpy as np

from course_lib.simulator.hardware import ceil_div

from .grading import Budget, Exercise, Outcome
from .matrices import TILE, last_term_missing, product, product_inputs


def _launch(M, N, K):
    return (ceil_div(N, 2 * TILE), ceil_div(M, TILE)), (TILE, TILE)


def _same_column_twice(outcome: Outcome) -> str | None:
    if outcome.got.shape[1] > 1 and np.array_equal(outcome.got[:, 0::2], outcome.got[:, 1::2]):
        return "both columns hold the same sums: the right one needs B[k, left + 1]."
    return None


EXERCISE = Exercise(
    name="two-columns",
    parameters=("A", "B", "C"),
    shapes=((16, 16, 16), (13, 22, 10), (19, 6, 5), (1, 2, 1)),  # N is even, as the exercise promises
    inputs=product_inputs,
    answer=product,
    launch=_launch,
    budgets=(
        Budget(
            "global loads per thread",
            "3·K",
            Outcome.loads_per_thread,
            lambda shape: 3 * shape[2],
            "A[row, k] is loaded twice: keep it in a variable, which lives in a register, and use it in both sums.",
        ),
    ),
    hints={"out-of-bounds": "the columns of this thread are left and left + 1, and k runs over range(K)."},
    diagnoses=(_same_column_twice, last_term_missing),
)
