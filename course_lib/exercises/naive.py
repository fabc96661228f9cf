"""The exercises of the lesson on the naive kernel."""

from __future__ import annotations

import numpy as np

from course_lib.simulator.hardware import ceil_div

from .exercise import Array, Budget, Exercise, Outcome
from .grading import eighths
from .matrices import TILE, last_term_missing, launch_per_element, product, product_inputs


def _inputs(rng: np.random.Generator, M: int, N: int, K: int) -> tuple[Array, ...]:
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


#: One thread per element of C = A·Bᵀ, with B stored as N×K.
TRANSPOSED = Exercise(
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


def _launch(M: int, N: int, K: int) -> tuple[tuple[int, int], tuple[int, int]]:
    return (ceil_div(N, 2 * TILE), ceil_div(M, TILE)), (TILE, TILE)


def _same_column_twice(outcome: Outcome) -> str | None:
    if outcome.got.shape[1] > 1 and np.array_equal(outcome.got[:, 0::2], outcome.got[:, 1::2]):
        return "both columns hold the same sums: the right one needs B[k, left + 1]."
    return None


#: Each thread computes two neighbouring elements of C and loads A only once for both.
TWO_COLUMNS = Exercise(
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


EXERCISES = (TRANSPOSED, TWO_COLUMNS)
