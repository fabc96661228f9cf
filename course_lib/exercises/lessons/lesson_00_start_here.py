"""The exercises of the first lesson: three loops on one thread."""

import ast

import numpy as np

from ..grading.budgets import global_loads, global_stores
from ..grading.exercise import Outcome, Task, fill_in, find_bug, write
from ..grading.explain import Explanation
from ..grading.lines import enclosing_lines, innermost_sum_loops, store_lines, with_lines
from ..grading.matrix_product import PRODUCT, last_term_alone, last_term_missing, one_array, result_is


def _first_terms_missing(outcome: Outcome) -> str | None:
    """The sums begin at k = 1, or later, but take more than the last term."""
    A, B = outcome.inputs
    if any(np.array_equal(outcome.got, A[:, first:] @ B[first:]) for first in range(1, A.shape[1] - 1)):
        advice = "the first products of every sum are missing: with which k does the innermost loop begin?"
        return with_lines(innermost_sum_loops(outcome), advice)
    return None


def _last_term_of_many(outcome: Outcome) -> str | None:
    """`last_term_alone`, except for few terms, of which a loop that begins too late also leaves only the last."""
    return last_term_alone(outcome) if outcome.inputs[0].shape[1] > 4 else None


_ADDED = result_is(
    lambda A, B: A.sum(axis=1)[:, None] + B.sum(axis=0),
    "the two elements are added to each other: in each step multiply them, and add the product to acc.",
)

_ALL_ZERO = result_is(
    lambda A, B: np.zeros((len(A), B.shape[1])),
    "every element is 0: acc stays at zero. Add to acc in the innermost loop; it is stored after the loop.",
    lines=store_lines,
)

#: One thread for all of C.
_ALONE = PRODUCT.replace(
    shapes=((2, 4, 3), (5, 3, 4), (3, 7, 6), (1, 1, 1)),
    launch=lambda M, N, K: ((1, 1), (1, 1)),
    max_steps=8_000,
    elements_per_thread=lambda M, N, K: M * N,
)

#: The innermost line of the host's product.
TRIPLE_LOOP = fill_in(
    "triple-loop",
    _ALONE,
    global_loads("2·M·N·K", "one element of A and one of B for each step of the innermost loop are enough."),
    hints={
        "out-of-bounds": "in step k the elements are A[row, k] and B[k, col]: the row comes first, and k counts along "
        "the row of A and down the column of B.",
    },
    diagnoses=(_ADDED, _ALL_ZERO, last_term_alone, last_term_missing),
)

#: The innermost loop begins at 1.
LOST_TERM = find_bug(
    "lost-term",
    _ALONE,
    """def lost_term(A, B, C):
    for row in range(A.shape[0]):
        for col in range(B.shape[1]):
            acc = float32(0)
            for k in range(1, A.shape[1]):
                acc += A[row, k] * B[k, col]
            C[row, col] = acc
""",
    global_loads("2·M·N·K", "load each element once in each sum."),
    global_stores("M·N", "store each element once, after its loop."),
    hints={
        "out-of-bounds": "k counts the columns of A, from 0 to A.shape[1] - 1: in which iteration is it "
        "outside, and with "
        "which k does the loop begin?",
    },
    diagnoses=(_first_terms_missing, _last_term_of_many, last_term_missing),
)


def _one_half_stored(outcome: Outcome) -> str | None:
    stored = np.isfinite(outcome.got)
    half = np.tri(len(stored), dtype=bool)
    if len(stored) > 1 and (np.array_equal(stored, half) or np.array_equal(stored, half.T)):
        advice = "only one half of C was stored: each sum belongs in C[row, col] and in C[col, row]."
        return with_lines(store_lines(outcome), advice)
    if len(stored) > 1 and not stored.diagonal().any() and (stored | np.eye(len(stored), dtype=bool)).all():
        advice = "the diagonal was never stored: each row needs the product with itself, too."
        return with_lines(enclosing_lines(ast.For, store_lines)(outcome), advice)
    return None


#: C = A·Aᵀ equals its own transpose: half of the loads are enough.
MIRRORED = write(
    "mirrored",
    Task(
        ("A", "C"),
        one_array,
        lambda A: A @ A.T,
        lambda M, K: ((1, 1), (1, 1)),
        shapes=((2, 3), (5, 4), (3, 7), (1, 1)),
        element="C[row, col] = sum(A[row, k] * A[col, k] for k in range(A.shape[1]))",
        sizes="(M, K)",
        elements_per_thread=lambda M, K: M * M,
        max_steps=40_000,
    ),
    global_loads(
        "M·M·K",
        "C[col, row] has the same sum as C[row, col], so compute only one of them. On the diagonal both factors are "
        "the same number: load it once.",
        known_costs={
            "M·(M + 1)·K": "only the diagonal costs too much: there both factors are the same number, so load it once, "
            "and store each of its elements once."
        },
    ),
    global_stores("M·M", "store each element once, those on the diagonal, too."),
    hints={
        "out-of-bounds": "A has M rows and K columns, and the row comes first: element k of row `row` is A[row, k], "
        "and that of row `col` is A[col, k]."
    },
    diagnoses=(_one_half_stored,),
)

FORTY_EIGHT = Explanation(
    name="forty-eight",
    model="Each element of A belongs to N = 4 inner products, one for each column of C, and each element of B to "
    "M = 2. Nothing is kept from one inner product to the next, so it is loaded again each time: 6·4 + 12·2 = 48.",
    ideas=(
        "a number belongs to several inner products",
        "it is loaded again each time, because it is not kept",
    ),
)

EXERCISES = (TRIPLE_LOOP, LOST_TERM, FORTY_EIGHT)
OPTIONAL = (MIRRORED,)
