"""The exercises of the lesson on the naive kernel."""

import ast
from dataclasses import replace

import numpy as np

from ..grading.budgets import global_loads, global_stores
from ..grading.exercise import TILE, Outcome, fill_in, find_bug, make_cheaper
from ..grading.explain import Explanation
from ..grading.lines import (
    enclosing_lines,
    innermost_sum_loops,
    load_lines,
    store_lines,
    thread_number_lines,
    with_lines,
)
from ..grading.matrix_product import (
    PRODUCT,
    PRODUCT_OF_ROWS,
    advice_on_the_last_term,
    grid_over,
    last_term_alone,
    last_term_missing,
    result_is,
    shows,
)

_SHAPES = ((16, 16, 16), (13, 21, 10), (19, 6, 5), (1, 1, 1))


_LAST_TERM_MISSING = result_is(
    lambda A, B: A[:, :-1] @ B[:, :-1].T if A.shape[1] > 1 else None,
    advice_on_the_last_term,
    lines=innermost_sum_loops,
)

_NOT_TRANSPOSED = result_is(
    lambda A, B: A @ B if len({*A.shape, *B.shape}) == 1 else None,
    "this is A·B: element (row, col) of A·Bᵀ uses row `col` of B, not column `col`.",
    lines=load_lines("B"),
)


def _row_and_column_swapped(outcome: Outcome) -> str | None:
    # A warp is 4 rows of 8 threads. With x along columns its store touches at most 2 sectors a row, 8 in all.
    if outcome.count("sectors", "store", "C") > 8 * outcome.count("requests", "store", "C"):
        advice = "x and y look swapped: the column comes from blockIdx.x and threadIdx.x, the row from y."
        return with_lines(thread_number_lines(outcome), advice)
    return None


def _part_not_stored(outcome: Outcome) -> str | None:
    if np.isnan(outcome.got).any() and not np.isnan(outcome.got[:8, :8]).any() and outcome.shape[0] != outcome.shape[1]:
        advice = (
            "part of C was never stored: C has M rows and N columns, x counts columns, and y counts rows. Which "
            "threads does your guard stop?"
        )
        return with_lines(enclosing_lines(ast.If, store_lines)(outcome), advice)
    return None


#: One thread per element of C = A·Bᵀ, with B stored as N×K.
TRANSPOSED = fill_in(
    "transposed",
    PRODUCT_OF_ROWS.replace(shapes=_SHAPES),
    global_loads("2·K", "one element of A and one of B per step of the loop are enough."),
    global_stores("M·N", "keep the sum in a variable of the thread, and store it once, after the loop."),
    hints={
        "out-of-bounds": "an index is outside its matrix: only a thread with row < M and col < N may load or store, "
        "and row `row` of A, which is M×K, is multiplied with row `col` of B, which is N×K.",
    },
    diagnoses=(_NOT_TRANSPOSED, _row_and_column_swapped, _LAST_TERM_MISSING),
    symptoms=(_part_not_stored,),
)


_FIRST_OF_A_ALONE = result_is(
    lambda A, B: A[:, :1] * B.sum(axis=0),
    "every step multiplies with the same element of A: load A[row, k] once in each iteration.",
    lines=load_lines("A"),
)


_SAME_COLUMN_TWICE = shows(
    lambda outcome: np.array_equal(outcome.got[:, 0::2], outcome.got[:, 1::2]),
    "both columns hold the same sums: the right one needs B[k, left + 1].",
    load_lines("B"),
)


#: Each thread computes two neighbouring elements of C and loads A only once for both.
TWO_COLUMNS = fill_in(
    "two-columns",
    PRODUCT.replace(
        shapes=((16, 16, 16), (13, 22, 10), (19, 6, 5), (1, 2, 1)),  # N is even, as the exercise promises
        launch=grid_over(TILE, 2 * TILE, block=(TILE, TILE)),
        elements_per_thread=lambda M, N, K: 2,
    ),
    global_loads(
        "3·K", "A[row, k] is loaded twice: keep it in a variable, which is in a register, and use it in both sums."
    ),
    hints={
        "out-of-bounds": "both sums use row `row` of A. The columns of B are left and left + 1, and k is less than "
        "A.shape[1]."
    },
    diagnoses=(_SAME_COLUMN_TWICE, _FIRST_OF_A_ALONE, last_term_missing),
)

#: The sum grows in C, in global memory.
SUM_IN_REGISTER = make_cheaper(
    "sum-in-register",
    PRODUCT.replace(shapes=_SHAPES),
    """@cuda.jit
def sum_in_C(A, B, C):
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if row < C.shape[0] and col < C.shape[1]:
        C[row, col] = 0
        for k in range(A.shape[1]):
            C[row, col] += A[row, k] * B[k, col]
""",
    replace(
        global_loads(
            "2·K",
            "C is still loaded, by `C[row, col] += …` or by a variable that begins with it. Keep the sum in a "
            "variable that "
            "begins with 0.",
        ),
        lines=load_lines("C"),
    ),
    global_stores(
        "M·N", "C is stored more than once: store it after the loop, with the indentation of the line `for k …`."
    ),
    hints={"out-of-bounds": "keep the guard around the loads and the store."},
    diagnoses=(last_term_alone, last_term_missing),
)


_ROWS_OF_B = result_is(
    lambda A, B: A @ B.T,
    "this is A·Bᵀ: column y of B is B[k, y], and B[y, k] goes along its row y.",
    lines=load_lines("B"),
)

#: The device kernel of Sankar's report: guarded loop, unguarded store, B by rows.
REPORT_KERNEL = find_bug(
    "report-kernel",
    PRODUCT.replace(shapes=((16, 16, 16), (13, 13, 13), (21, 21, 21), (1, 1, 1))),
    """@cuda.jit
def mat_mul_dev(A, B, C):
    x = cuda.threadIdx.y + cuda.blockIdx.y * cuda.blockDim.y
    y = cuda.threadIdx.x + cuda.blockIdx.x * cuda.blockDim.x
    n = C.shape[0]
    total = float32(0)
    if x < n and y < n:
        for k in range(n):
            total += A[x, k] * B[y, k]
    C[x, y] = total
""",
    global_loads("2·n", "one element of A and one of B for each step.", limit="2·K"),
    global_stores("n²", "each element of C is stored once, after the loop.", limit="M·N"),
    hints={
        "out-of-bounds": "a thread outside C reaches a line that loads or stores: the guard x < n and y < n must be "
        "around all of them, also around the store.",
    },
    diagnoses=(_ROWS_OF_B, last_term_alone, last_term_missing),
)

QUARTER = Explanation(
    name="quarter",
    model="Each step of the loop makes 2 flop, a multiplication and an addition, and loads two elements of 4 bytes, 8 "
    "bytes in all: 2/8. All steps are the same. A larger n means more of these steps, so flop and bytes grow by the "
    "same factor.",
    ideas=(
        "a step makes 2 flop",
        "a step loads 8 bytes",
        "every step is the same, so the ratio does not depend on n",
    ),
)

EXERCISES = (SUM_IN_REGISTER, TRANSPOSED, TWO_COLUMNS, QUARTER)
OPTIONAL = (REPORT_KERNEL,)
