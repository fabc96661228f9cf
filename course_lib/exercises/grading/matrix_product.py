"""The common parts of exercises on C = A·B: inputs, launch shapes, and frequent mistakes."""

import ast
from collections.abc import Callable, Sequence

import numpy as np

from ...simulator.hardware import ceil_div
from .budgets import iterations
from .exercise import TILE, Array, Diagnosis, GridAndBlock, Outcome, Task
from .grades import whole_numbers
from .lines import (
    LineFinder,
    innermost_sum_loops,
    outermost_sum_loops,
    restarted_sum_lines,
    store_lines,
    sum_lines,
    with_lines,
)


def product_inputs(rng: np.random.Generator, M: int, N: int, K: int) -> tuple[Array, Array]:
    """A of M×K and B of K×N."""
    return whole_numbers(rng, M, K), whole_numbers(rng, K, N)


def product(A: Array, B: Array) -> Array:
    """A·B by NumPy."""
    return A @ B


def grid_over(rows: int, columns: int, block: tuple[int, int] | None = None) -> Callable[..., GridAndBlock]:
    """Return the launch shape as a function of M and N, if a block computes ``rows`` × ``columns`` elements of C.

    ``block`` is (width, height), by default a thread for each element.
    """

    def launch(M: int, N: int, K: int = 0) -> GridAndBlock:
        return (ceil_div(N, columns), ceil_div(M, rows)), block or (columns, rows)

    return launch


def launch_per_element(M: int, N: int, K: int = 0) -> GridAndBlock:
    """One thread per element of an M×N result, in blocks as wide as a tile."""
    return grid_over(TILE, TILE)(M, N)


def one_array(rng: np.random.Generator, *shape: int) -> tuple[Array]:
    """A single array of the launch's sizes."""
    return (whole_numbers(rng, *shape),)


#: C = A·B with one thread per element, on whole tiles, on ragged edges and on a single element.
PRODUCT = Task(
    ("A", "B", "C"),
    product_inputs,
    product,
    launch_per_element,
    shapes=((16, 16, 16), (13, 21, 26), (5, 9, 19), (1, 1, 1)),
    element="C[row, col] = sum(A[row, k] * B[k, col] for k in range(A.shape[1]))",
)

#: C = A·Bᵀ, with B of N×K.
PRODUCT_OF_ROWS = PRODUCT.replace(
    inputs=lambda rng, M, N, K: (whole_numbers(rng, M, K), whole_numbers(rng, N, K)),
    answer=lambda A, B: A @ B.T,
    element="C[row, col] = sum(A[row, k] * B[col, k] for k in range(A.shape[1]))",
)

#: One loop from tile to tile, and one inside it along the tile.
ITERATIONS_OF_TILES = iterations(
    "⌈K/T⌉·(T + 1)",
    "one loop goes from tile to tile, and one inside it along the tile: only T iterations for each tile.",
)


# ---- mistakes -------------------------------------------------------------------------------------------------


#: Advice, or how it follows from what a kernel's text shows.
Advice = str | Callable[[Outcome], str]


def result_is(
    wrong: Callable[..., Array | None], advice: Advice, id: str = "diagnosis", lines: LineFinder = sum_lines
) -> Diagnosis:
    """Recognise a result that equals ``wrong(*inputs)``, which is None for inputs that do not show the mistake.

    The advice names the ``lines``. One without an ``id`` has the name of the variable that it is assigned to.
    """

    def diagnosis(outcome: Outcome) -> str | None:
        result = wrong(*outcome.inputs)
        if result is None or not np.array_equal(outcome.got, result):
            return None
        return _named(lines, outcome, advice if isinstance(advice, str) else advice(outcome))

    diagnosis.__name__ = id
    return diagnosis


def shows(condition: Callable[[Outcome], object], advice: str, lines: LineFinder = sum_lines) -> Diagnosis:
    """Recognise a mistake by what is true of a wrong outcome; the advice names the ``lines``."""

    def diagnosis(outcome: Outcome) -> str | None:
        return _named(lines, outcome, advice) if condition(outcome) else None

    return diagnosis


def _named(lines: LineFinder, outcome: Outcome, advice: str) -> str:
    """Advice with these lines, or with those of the stores if there are none of the others."""
    return with_lines(list(lines(outcome)) or store_lines(outcome), advice)


def sums_take(
    terms: Callable[[int], Sequence[int] | None],
    advice: Advice,
    id: str = "diagnosis",
    lines: LineFinder = innermost_sum_loops,
) -> Diagnosis:
    """Recognise sums that take only the ``terms(K)`` of 0, …, K - 1, or some of them twice."""

    def taken(A: Array, B: Array) -> Array | None:
        k = terms(A.shape[1])
        return None if k is None else A[:, list(k)] @ B[list(k)]

    return result_is(taken, advice, id, lines)


def advice_on_the_last_term(outcome: Outcome) -> str:
    """Why a sum stops at k = K - 2: its loop ends too early, or counts from 1 up to less than K."""
    kernel = outcome.source.kernel if outcome.source else None
    for node in kernel.nodes_of(ast.BinOp) if kernel else ():
        match node:
            case ast.BinOp(ast.Name(counter), ast.Sub(), ast.Constant(1)) if kernel and counter in kernel.counters(
                node
            ):
                return (
                    f"each sum lacks its last term: `{ast.unparse(node)}` is the index, so {counter} must go from 1 up "
                    f"to K, and range(1, n) ends with n - 1. Simpler: count from 0, with {counter} as the index."
                )
    return "each sum lacks its last term, that of k = K - 1: range(n) ends with n - 1."


#: The sums stop at k = K - 2.
last_term_missing = sums_take(lambda K: range(K - 1) or None, advice_on_the_last_term)

#: The sums hold only the product of k = K - 1.
last_term_alone = sums_take(
    lambda K: [K - 1] if K > 1 else None,
    "only the last product is in each sum: acc is set to zero again in every step of the innermost loop.",
    lines=restarted_sum_lines,
)

#: The sums stop before the last tile of A and of B.
last_tile_missing = sums_take(
    lambda K: range((K - 1) // TILE * TILE) or None,
    "the last pair of tiles is missing from every sum: is it multiplied before the loop over the tiles ends, or after "
    "it?",
    lines=outermost_sum_loops,
)

#: The sums lack the last column of each of A's tiles.
last_of_each_tile_missing = sums_take(
    lambda K: [k for k in range(K) if (k + 1) % TILE],
    "the last element of every tile is left out: range(TILE) already stops at TILE - 1.",
)
