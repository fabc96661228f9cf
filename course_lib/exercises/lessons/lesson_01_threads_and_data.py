"""The exercises of the lesson on threads and data: rows, columns, elements, addresses and guards."""

import ast
import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ...simulator.hardware import ceil_div
from ...simulator.repairs.kernel_syntax import Kernel
from ...simulator.repairs.table import Candidate, Texts, row
from ..grading.budgets import global_loads, global_stores
from ..grading.exercise import TILE, Array, Outcome, Task, fill_in, find_bug, write
from ..grading.explain import Explanation
from ..grading.grades import whole_numbers
from ..grading.lines import (
    enclosing_lines,
    outermost_sum_loops,
    store_lines,
    sum_lines,
    thread_number_lines,
    union_of_lines,
    with_lines,
)
from ..grading.matrix_product import (
    PRODUCT,
    grid_over,
    last_term_alone,
    last_term_missing,
    launch_per_element,
    one_array,
    result_is,
    shows,
)

_ONE_STORE = global_stores("M·N", "keep the sum in a variable of the thread, and store it once, after the loop.")


def _sums_run_on(outcome: Outcome) -> str | None:
    """acc is not set to zero between one row and the next."""
    A, B = outcome.inputs
    wanted = A @ B
    if wanted.shape[0] > 1 and np.array_equal(outcome.got, np.cumsum(wanted, axis=0)):
        advice = "each sum goes on where the row above ended: set acc to zero in every iteration of the loop over rows."
        return with_lines(outermost_sum_loops(outcome), advice)
    if wanted.shape[1] > 1 and np.array_equal(outcome.got, np.cumsum(wanted, axis=1)):
        advice = "each sum goes on where the column before ended: set acc to zero in every iteration of the loop."
        return with_lines(outermost_sum_loops(outcome), advice)
    return None


def _stored_after_the_loop(outcome: Outcome) -> str | None:
    """The store is after the loop instead of in it, so only the last iteration's value is stored."""
    stored = np.isfinite(outcome.got)
    rows, columns = np.flatnonzero(stored.any(axis=1)), np.flatnonzero(stored.any(axis=0))
    for loop, kept, size in (("rows", rows, stored.shape[0]), ("columns", columns, stored.shape[1])):
        if size > 1 and kept.tolist() == [size - 1]:
            advice = (
                f"only the last of the {loop} was stored: the store comes after the loop over the {loop}; move it into "
                "that loop, after the loop over k."
            )
            return with_lines(store_lines(outcome), advice)
    return None


_ROWS_LEFT_OUT = shows(
    lambda outcome: np.isfinite(outcome.got[0]).any() and np.isnan(outcome.got).all(axis=1).any(),
    "some rows of C were never stored: the loop over rows has A.shape[0] iterations, one for each row of A.",
    outermost_sum_loops,
)


#: The loop over the rows, in a thread that has its column.
COLUMN_THREAD = fill_in(
    "column-thread",
    PRODUCT.replace(
        shapes=((4, 6, 3), (7, 5, 2), (3, 4, 9), (1, 1, 1)),
        launch=lambda M, N, K: ((1, 1), (N, 1)),
        elements_per_thread=lambda M, N, K: M,
    ),
    global_loads("2·K·M", "a thread computes one column: M elements, with K elements of A and K of B for each."),
    _ONE_STORE,
    hints={
        "out-of-bounds": "a row of C is a row of A, and there are A.shape[0] of them; k runs over A.shape[1]. The row "
        "is the first index, the column the second.",
        "race": "all threads store into the same elements: the loop is over rows, and the column is the thread's own.",
    },
    diagnoses=(_sums_run_on, _stored_after_the_loop, last_term_alone, last_term_missing),
    symptoms=(_ROWS_LEFT_OUT,),
)


_THREADS_OF_ONE_BLOCK = shows(
    lambda outcome: np.isnan(outcome.got[4:]).all() and np.isnan(outcome.got[:, 8:]).all() and outcome.got.size > 32,
    "only the first block's elements were stored: add the columns, or rows, of all blocks before this one.",
    thread_number_lines,
)


#: Row and column from the block's number, its width and the thread's place in it.
OWN_ELEMENT = fill_in(
    "own-element",
    Task(
        ("A", "C"),
        one_array,
        lambda A: 2 * A,
        grid_over(4, 8),
        shapes=((8, 24), (16, 8), (4, 8), (12, 16)),
        element="C[row, col] = float32(2) * A[row, col]",
        sizes="(rows, columns)",
    ),
    global_loads("1", "each thread needs one element of A."),
    global_stores("one for each element", "each element has one thread.", limit="rows·columns"),
    hints={
        "out-of-bounds": "a thread has left the matrix. x counts columns and y counts rows. Blocks are 8 wide and 4 "
        "high, so a block's first column is blockIdx.x times 8, which is blockDim.x.",
        "race": "two threads store into the same element, so something is missing from row or col: the number of the "
        "block, times its width, plus the thread's place in it.",
    },
    diagnoses=(_THREADS_OF_ONE_BLOCK,),
)


def _squares(outcome: Outcome) -> tuple[Array, Array]:
    first, second = (array.reshape(2 * (math.isqrt(array.size),)) for array in outcome.inputs)
    return first, second


def _flat_product(A: Array, B: Array) -> Array:
    width = math.isqrt(A.size)
    return A.reshape(width, width) @ B.reshape(width, width)


def _read_elsewhere(outcome: Outcome) -> str | None:
    A, B = _squares(outcome)
    # what A[row + k] and B[k + col] read
    near = [X.ravel()[np.add.outer(np.arange(len(X)), np.arange(len(X)))] for X in (A, B)]
    if any(np.array_equal(outcome.got, wrong) for wrong in (near[0] @ near[1], near[0] @ B, A @ near[1])):
        return "`* width` is missing: to the next row it is width places, so the number of a row is times width."
    if np.array_equal(outcome.got, A @ B.T):
        return "this reads B by rows: element k of column col is k whole rows further on, at B[k * width + col]."
    if np.array_equal(outcome.got, A.T @ B):
        return "this reads A by columns: element k of a row is k places after its first one, at A[row * width + k]."
    if np.array_equal(outcome.got, A.T @ B.T):
        return "both are the wrong way round: along a row the place grows by 1, down a column by width."
    if np.array_equal(outcome.got, np.broadcast_to((A * B).sum(axis=1)[:, None], A.shape)):
        return (
            "B is read along the row of the thread, and col is not used: element k of its column is B[k * width + col]."
        )
    if np.array_equal(outcome.got, np.broadcast_to((A * B.T).sum(axis=1)[:, None], A.shape)):
        return (
            "every thread of a row reads the same column of B: element k of this thread's column is B[k * width + col]."
        )
    return None


def _other_place(outcome: Outcome) -> str | None:
    advice = _read_elsewhere(outcome)
    return with_lines(sum_lines(outcome), advice) if advice else None


#: The inner product on matrices that are lines of memory.
FLAT = fill_in(
    "flat",
    Task(
        ("A", "B", "C"),
        lambda rng, width: (whole_numbers(rng, width * width), whole_numbers(rng, width * width)),
        _flat_product,
        lambda width: launch_per_element(width, width),
        shapes=((8,), (16,), (24,)),
        element="C[row, col] = sum(A[row * C.shape[1] + k] * B[k * C.shape[1] + col] for k in range(C.shape[1]))",
        sizes="width",
    ),
    global_loads("2·width", "one element of A and one of B for each step."),
    hints={
        "out-of-bounds": "an index is beyond the end of the line, which is at width·width - 1. A and B have one "
        "index here, and k is less than width.",
    },
    diagnoses=(_other_place,),
)


def _rows_without_thread(outcome: Outcome) -> str | None:
    stored = np.asarray(np.isfinite(outcome.got).any(axis=1))
    if len(stored) > TILE and stored[:TILE].all() and not stored[TILE:].any():
        advice = "only the first block's rows were stored: the number of the block is missing from the row."
        return with_lines(thread_number_lines(outcome), advice)
    if stored[0] and not stored.all():
        advice = (
            "some rows of C were never stored, and M of them exist: which rows do your threads and your guard reach?"
        )
        return with_lines(thread_number_lines(outcome), advice)
    return None


#: One thread per row, for any number of rows.
GUARDED_ROWS = write(
    "guarded-rows",
    PRODUCT.replace(
        shapes=((8, 8, 8), (13, 6, 5), (21, 3, 4), (1, 1, 1)),
        launch=lambda M, N, K: ((ceil_div(M, TILE), 1), (TILE, 1)),
        elements_per_thread=lambda M, N, K: N,
    ),
    global_loads("2·K·N", "2·K for each of the N elements of a row."),
    _ONE_STORE,
    hints={
        "out-of-bounds": "row M is already outside: only threads with row < M may load and store. If yours do, "
        "look at the "
        "indices of A, B and C: the row comes first.",
        "race": "several threads store into the same row. A row of its own needs three numbers, all in direction x: "
        "the number of the block, its width, and the thread's place.",
    },
    diagnoses=(_sums_run_on, _stored_after_the_loop, last_term_alone, last_term_missing),
    symptoms=(_rows_without_thread,),
)


_TOO_MUCH_GUARDED = shows(
    lambda outcome: np.isnan(outcome.got).any() and np.isfinite(outcome.got).any(),
    "some elements of C have no thread that stores them: the guard must let every thread with row < M and col < N do "
    "its work.",
    enclosing_lines(ast.If, store_lines),
)


#: The rows are guarded, and the columns are not.
HALF_A_GUARD = find_bug(
    "half-a-guard",
    PRODUCT.replace(shapes=((16, 16, 16), (13, 21, 10), (19, 6, 5), (1, 1, 1))),
    """@cuda.jit
def half_a_guard(A, B, C):
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    M, K = A.shape
    N = B.shape[1]
    if row < M:
        acc = float32(0)
        for k in range(K):
            acc += A[row, k] * B[k, col]
        C[row, col] = acc
""",
    global_loads("2·K", "one element of A and one of B for each step."),
    _ONE_STORE,
    hints={
        "out-of-bounds": "a thread outside C still loads or stores. It is outside if its row or its column is too "
        "large, so the guard needs row < M and col < N, around the loads and the store.",
        "race": "two threads store into the same element: a thread outside C has no element, and must neither load nor "
        "store. The guard needs row < M and col < N.",
    },
    symptoms=(_TOO_MUCH_GUARDED,),
)


#: The threads of the launch, for every size of C.
_FEW = 64


_FIRST_ELEMENTS_ALONE = shows(
    lambda outcome: (
        outcome.got.size > _FEW
        and np.isnan(outcome.got).ravel().nonzero()[0].tolist() == [*range(_FEW, outcome.got.size)]
    ),
    f"only the first {_FEW} elements were stored: C has more, so a thread needs a loop over its elements.",
    store_lines,
)


def _run_on(A: Array, B: Array) -> Array:
    """The sums if acc is not set to zero between one element of a thread and the next."""
    sums = (A @ B).ravel()
    for i in range(_FEW, sums.size):
        sums[i] += sums[i - _FEW]
    return sums.reshape(len(A), -1)


_SUMS_RUN_ON_BY_THREAD = result_is(
    _run_on,
    "each sum goes on where the thread's element before ended: set acc to zero for every element.",
    lines=outermost_sum_loops,
)


@row(
    "race",
    same_number_in_each_block=Texts(
        hint="`{number}` is the same in both blocks, so two threads take the same element: the number of the block "
        f"is missing, and from one of a thread's elements to the next it is {_FEW} places."
    ),
)
def _same_number_in_each_block(make: Any, kernel: Kernel, _: Any) -> Iterator[Candidate]:
    """A range that begins with the place of the thread in its block."""
    for loop in kernel.nodes_of(ast.For):
        match loop.iter:
            case ast.Call(ast.Name("range"), [start, *_]) if "threadIdx" in ast.unparse(start):
                if "blockIdx" not in ast.unparse(start):
                    yield make("same-number-in-each-block", loop, certain=True, number=ast.unparse(start))


#: A launch of 64 threads for every size: a thread takes several elements, found by their places in memory.
FEW_THREADS = write(
    "few-threads",
    PRODUCT.replace(
        shapes=((8, 8, 8), (13, 6, 5), (9, 21, 4), (1, 1, 1)),
        launch=lambda M, N, K: ((_FEW // 32, 1), (32, 1)),
        elements_per_thread=lambda M, N, K: ceil_div(M * N, _FEW),
    ),
    replace(
        global_loads(
            "2·K·⌈M·N/64⌉",
            "some threads have more elements than others: number the elements 0, 1, 2, … along the rows, and divide "
            "these numbers among all 64 threads.",
        ),
        lines=union_of_lines(outermost_sum_loops, enclosing_lines(ast.For, store_lines)),
    ),
    _ONE_STORE,
    hints={
        "out-of-bounds": "a thread has left the matrix: the places of C end at M·N - 1, and with rows of N elements "
        "place i is in row i // N and column i % N.",
        "race": "two threads take the same element: a thread's number needs the number of its block, and from one of "
        "its elements to the next it is 64 places. With rows of N elements place i is in row i // N, column i % N.",
    },
    diagnoses=(_FIRST_ELEMENTS_ALONE, _SUMS_RUN_ON_BY_THREAD, last_term_alone, last_term_missing),
    rows=(_same_number_in_each_block,),
)

ROUNDING_UP = Explanation(
    name="rounding-up",
    model="Rounded down, the last rows and columns of C would have no thread, and would never be stored. Rounded up, "
    "the last blocks reach beyond C: some threads are outside, and a guard must keep them from loading and storing.",
    ideas=(
        "rounded down, some elements would have no thread",
        "rounded up, some threads are outside C",
        "a guard keeps them from loading and storing",
    ),
)


EXERCISES = (COLUMN_THREAD, OWN_ELEMENT, FLAT, GUARDED_ROWS, HALF_A_GUARD, ROUNDING_UP)
OPTIONAL = (FEW_THREADS,)
