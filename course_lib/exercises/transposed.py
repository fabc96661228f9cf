"""Lesson 2, exercise 1: one thread per element of C = A·Bᵀ, with B stored as N×K."""

from __future__ import annotations

import numpy as np

from .grading import Budget, Exercise, Outcome, eighths
from .matrices import launch_per_element


def _inputs(rng, M, N, K):
    return eighths(rng, M, K), eighths(rng, N, K)


def _last_term_missing(outcome: Outcome) -> str | None:
    A, B = outcome.inputs
    if np.array_equal(outcome.got, A[:, :-1] @ B[:, :-1].T):
        return "each sum lacks its last term: range(K) already stops at K - 1."
    return None


def _not_transposed(outcome: Outcome) -> str | None:
    A, B = outcome.inputs
    if A.shape == B.shape == (A.shape[0],) * 2 and np.array_equal(outcome.got, A @ B):
        return "this is A·B: element (row, col) of A·Bᵀ takes row `col` of B, not its column."
    return None


def _row_and_column_swapped(outcome: Outcome) -> str | None:
    # A warp is 4 rows of 8 threads. With x along columns its store touches at most 2 sectors a row, 8 in all.
    if outcome.count("sectors", "store", "C") > 8 * outcome.count("requests", "store", "C"):
        return "x and y look swapped: the column comes from blockIdx.x and threadIdx.x, the row from y."
    if np.isnan(outcome.got).any() and not np.isnan(outcome.got[:8, :8]).any() and outcome.shape[0] != outcome.shape[1]:
        return "part of C was never stored: the launch counts columns in x and rows in y. Does your kernel?"
    return None


EXERCISE = Exercise(
    name="transposed",
    parameters=("A", "B", "C"),
    shapes=((16, 16, 16), (13, 21, 10), (19, 6, 5), (1, 1, 1)),
    inputs=_inputs,
    answer=lambda A, B: A @ B.T,
    launch=launch_per_element,
    budgets=(
        Budget(
            "global loads per thread",
            "2·K",
            Outcome.loads_per_thread,
            lambda shape: 2 * shape[2],
            "one element of A and one of B per step of the loop are enough.",
        ),
        Budget(
            "stores of C",
            "M·N",
            lambda outcome: outcome.count("accesses", "store", "C"),
            lambda shape: shape[0] * shape[1],
            "sum in a variable of the thread and store it once, after the loop.",
        ),
    ),
    hints={
        "out-of-bounds": "the last blocks reach beyond C: only a thread with row < M and col < N may load or store. "
        "If it has a guard, look at the order of B's indices: B is N×K.",
    },
    diagnoses=(_not_transposed, _row_and_column_swapped, _last_term_missing),
)
