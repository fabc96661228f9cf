"""The exercises of the lesson on many shapes: waves of tiles, and shares of a sum."""

import ast
from collections.abc import Callable

import numpy as np

from ...simulator.hardware import ceil_div
from ..grading.budgets import barriers, global_loads, global_stores, shared_loads
from ..grading.exercise import FILL_IN, TILE, Array, Diagnosis, Outcome, Task, fill_in
from ..grading.explain import Explanation
from ..grading.grades import whole_numbers
from ..grading.lines import enclosing_lines, last_sum_loop, load_lines, with_lines
from ..grading.matrix_product import PRODUCT, launch_per_element, product_inputs, result_is
from ..grading.routines import Case, routine

#: The blocks that share a sum, each with a part of K.
SHARES = 4


#: Which share of a GPU works while tiles are dealt out to it.
BUSY = routine(
    "busy",
    ("tiles", "at_once"),
    Case((132, 132), 1.0, "a single full wave: all multiprocessors work until the end."),
    Case((8, 132), 8 / 132, "one wave, and only 8 of its 132 places are taken."),
    Case(
        (133, 132),
        133 / 264,
        "one tile is left over. It needs a second wave, which takes as long as the first: round the waves up.",
    ),
    Case((264, 132), 1.0, "two full waves, and no place is empty: 264 / 132 is 2, not 3."),
    Case((512, 132), 512 / 528, "four waves have 4·132 places."),
    Case((100, 40), 100 / 120, "the number of places is `at_once`, on any GPU."),
    kind=FILL_IN,
)


#: The loop over the terms of a share.
_LOOP = enclosing_lines(ast.For, load_lines("A", "B"))
#: The terms of a share, from its number and K.
_Part = Callable[[int, int], slice]


def _sums(A: Array, B: Array, part: _Part) -> Array:
    """P[s] = A·B over ``part(s, K)``, for each of SHARES shares."""
    parts = [part(s, A.shape[1]) for s in range(SHARES)]
    return np.stack([A[:, k] @ B[k] for k in parts])


def _shares_are(part: _Part, id: str, advice: str) -> Diagnosis:
    """Recognise other shares; those of a small K are too much alike."""
    return result_is(lambda A, B: _sums(A, B, part) if A.shape[1] >= 2 * SHARES else None, advice, id, _LOOP)


#: The partial sums of one share of K, in the elements of P that belong to the block.
SHARE_OF_K = fill_in(
    "share-of-k",
    Task(
        ("A", "B", "P"),
        product_inputs,
        lambda A, B: _sums(A, B, lambda s, K: slice(s * K // SHARES, (s + 1) * K // SHARES)),
        lambda M, N, K: ((ceil_div(N, TILE), ceil_div(M, TILE), SHARES), (TILE, TILE)),
        shapes=((8, 8, 16), (13, 11, 10), (5, 9, 19), (1, 1, 3)),
        element="P[s, row, col] = sum(A[row, k] * B[k, col] for k in range(s * A.shape[1] // 4, (s + 1) * A.shape[1] "
        "// 4))",
    ),
    global_loads("2·⌈K/4⌉", "a block sums over its share of K only."),
    global_stores("4·M·N", "every element of P is stored once: sum in acc, and store after the loop.", array="P"),
    hints={
        "out-of-bounds": "P has three indices: the share comes first, then row and column, as in P[share, row, col].",
        "race": "a block must not wait for another one: each stores into its own matrix P[share].",
    },
    diagnoses=(
        _shares_are(
            lambda s, K: slice(K),
            "all of K",
            "every block sums all of K. It should sum its share only, from s·K // 4 up to (s + 1)·K // 4.",
        ),
        _shares_are(
            lambda s, K: slice(K // SHARES),
            "the first share",
            "every block sums the first share of K. Block (x, y, s) begins at s·K // 4, and ends before "
            "(s + 1)·K // 4.",
        ),
        _shares_are(
            lambda s, K: slice(s * (K // SHARES), (s + 1) * (K // SHARES)),
            "divided first",
            "four times K // 4 may be less than K: the last elements are in no share. Multiply first, then divide.",
        ),
        _shares_are(
            lambda s, K: slice(-(-K // SHARES) * s, -(-K // SHARES) * (s + 1)),
            "rounded up",
            "shares of ⌈K/4⌉ are as good, but here the shares begin at s·K // 4.",
        ),
        _shares_are(
            lambda s, K: slice(s, K, SHARES),
            "every fourth",
            "block (x, y, s) sums every fourth element of K. Its share is contiguous, from s·K // 4 up to "
            "(s + 1)·K // 4.",
        ),
        _shares_are(
            lambda s, K: slice(s * K // SHARES, s + K // SHARES),
            "no parentheses",
            "Python multiplies before it adds: the end of a share is (share + 1) * K // SHARES, with parentheses.",
        ),
    ),
)


def _one_share_alone(outcome: Outcome) -> str | None:
    (P,) = outcome.inputs
    for number, partial in enumerate(P):
        if np.array_equal(outcome.got, partial) and not np.array_equal(outcome.got, outcome.want):
            advice = f"only the partial sums of share {number} are in C: add those of all {SHARES} shares."
            return with_lines(load_lines("P")(outcome), advice)
    return None


#: The second launch: the partial sums of all shares become C.
ADD_SHARES = fill_in(
    "add-shares",
    Task(
        ("P", "C"),
        lambda rng, M, N: (whole_numbers(rng, SHARES, M, N),),
        lambda P: P.sum(axis=0),
        launch_per_element,
        shapes=((16, 16), (13, 11), (5, 9), (1, 1)),
        element="C[row, col] = sum(P[s, row, col] for s in range(4))",
        sizes="(M, N)",
    ),
    global_loads("4", "each thread loads its element of every share once, and sums in acc."),
    global_stores("M·N", "every element of C is stored once, after the loop."),
    hints={
        "out-of-bounds": "P has three indices: the share comes first, then row and column, as in P[share, row, col].",
        "race": "each thread stores its own element of C: row and col, without the share.",
    },
    diagnoses=(_one_share_alone,),
)

ONE_SHAPE = Explanation(
    name="one-shape",
    model="At n = 1024 there are 16 tiles, so 16 blocks: most of 132 multiprocessors have nothing to do. Smaller tiles "
    "give more blocks, but each multiplication then needs more loads. So keep several shapes, and choose by the sizes. "
    "Where K is long, several blocks can share the sum of one tile.",
    ideas=(
        "too few blocks for the multiprocessors",
        "smaller tiles give more blocks",
        "they need more loads, or K can be split",
    ),
)


#: Slices of K inside a block: four threads for each element of C.
SLICED = fill_in(
    "sliced",
    PRODUCT.replace(
        launch=lambda M, N, K: ((ceil_div(N, TILE), ceil_div(M, TILE)), (TILE, TILE, SHARES)),
        shapes=((16, 16, 16), (13, 21, 26), (5, 9, 19), (1, 1, 3)),
    ),
    global_loads("2·⌈K/4⌉", "a thread sums over its slice of K only."),
    global_stores("M·N", "one of the four threads of an element adds their sums, and stores the element."),
    shared_loads("3", "the thread that adds has its own sum in acc: it reads those of the others."),
    barriers("1", "one barrier is enough: between storing the sums and reading them."),
    hints={
        "race": "a thread reads sums that other threads store: all must wait in between. And only one of the four "
        "threads of an element may store it.",
        "barrier-divergence": "every thread of the block must reach the barrier, also those outside C: keep it out of "
        "any if.",
        "uninitialized-read": "every thread stores its sum in parts, also one outside C, before the barrier.",
        "out-of-bounds": "parts has three indices: the slice, then ty and tx. C, A and B need a guard of row and col.",
    },
    diagnoses=(
        result_is(
            lambda A, B: A[:, : A.shape[1] // SHARES] @ B[: A.shape[1] // SHARES],
            "C contains the sums of slice 0 only: after the barrier, add those of the other three slices.",
            "slice 0 alone",
            last_sum_loop,
        ),
        result_is(
            lambda A, B: SHARES * (A @ B),
            "each thread sums all of K. It should sum its slice only, from part·K // 4 up to (part + 1)·K // 4.",
            "all of K",
            _LOOP,
        ),
        result_is(
            lambda A, B: A[:, : A.shape[1] // SHARES * SHARES] @ B[: A.shape[1] // SHARES * SHARES],
            "four times K // 4 may be less than K: the last elements are in no slice. Multiply first, then divide.",
            "divided first",
            _LOOP,
        ),
    ),
)

EXERCISES = (BUSY, SHARE_OF_K, ADD_SHARES, ONE_SHAPE)
OPTIONAL = (SLICED,)
