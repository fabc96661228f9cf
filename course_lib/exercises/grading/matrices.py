"""The common parts of exercises on C = A·B: inputs, launch shapes, and frequent mistakes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import numpy as np

from ...simulator.hardware import ceil_div
from .budgets import iterations
from .exercise import Array, Launch, Outcome, Shape, Task
from .grades import whole_numbers

#: Blocks are 8×8 threads, two warps, so that a missing barrier between warps has an effect.
TILE = 8
_WIDTH = ContextVar("the width of the tiles", default=TILE)


def width() -> int:
    """The width of the tiles that are judged now: `TILE`, or that of a student's variant."""
    return _WIDTH.get()


@contextmanager
def tiles_of(other: int) -> Iterator[None]:
    """Judge with tiles and blocks of another width, where an exercise names no other size."""
    token = _WIDTH.set(other)
    try:
        yield
    finally:
        _WIDTH.reset(token)


def product_inputs(rng: np.random.Generator, M: int, N: int, K: int) -> tuple[Array, Array]:
    """A of M×K and B of K×N."""
    return whole_numbers(rng, M, K), whole_numbers(rng, K, N)


def transposed_inputs(rng: np.random.Generator, M: int, N: int, K: int) -> tuple[Array, Array]:
    """A of M×K and B of N×K, for A·Bᵀ."""
    return whole_numbers(rng, M, K), whole_numbers(rng, N, K)


def product(A: Array, B: Array) -> Array:
    """A·B by NumPy."""
    return A @ B


def grid_over(rows: int, columns: int, block: tuple[int, int] | None = None) -> Callable[..., Launch]:
    """Return the launch shape as a function of M and N, if a block computes ``rows`` × ``columns`` elements of C.

    ``block`` is (width, height), by default a thread for each element.
    """

    def launch(M: int, N: int, K: int = 0) -> Launch:
        return (ceil_div(N, columns), ceil_div(M, rows)), block or (columns, rows)

    return launch


def launch_per_element(M: int, N: int, K: int = 0) -> Launch:
    """One thread per element of an M×N result, in blocks as wide as a tile."""
    return grid_over(width(), width())(M, N)


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
)


# ---- limits of costs ------------------------------------------------------------------------------------------


def each_element(shape: Shape) -> int:
    """One for each element of C, which is M×N."""
    return shape[0] * shape[1]


def two_each_step(shape: Shape) -> int:
    """One of A and one of B for each step along K."""
    return 2 * shape[2]


def two_each_tile(shape: Shape) -> int:
    """Two for each pair of tiles along K."""
    return 2 * ceil_div(shape[2], width())


def iterations_of_tiles(shape: Shape) -> int:
    """The iterations of a loop over the tiles along K, with a loop along the tile inside it."""
    return ceil_div(shape[2], width()) * (width() + 1)


#: One loop from tile to tile, and one inside it along the tile.
ITERATIONS_OF_TILES = iterations(
    "⌈K/T⌉·(T + 1)",
    iterations_of_tiles,
    "one loop goes from tile to tile, and one inside it along the tile: only T iterations for each tile.",
)


# ---- mistakes -------------------------------------------------------------------------------------------------


def last_term_missing(outcome: Outcome) -> str | None:
    """The sums stop at k = K - 2."""
    A, B = outcome.inputs
    if A.shape[1] > 1 and np.array_equal(outcome.got, A[:, :-1] @ B[:-1]):
        return "each sum lacks its last term: range(K) already stops at K - 1."
    return None


def last_term_alone(outcome: Outcome) -> str | None:
    """The sums hold only the product of k = K - 1."""
    A, B = outcome.inputs
    if A.shape[1] > 1 and np.array_equal(outcome.got, A[:, -1:] @ B[-1:]):
        return "only the last product is in each sum: acc is set to zero again in every step of the innermost loop."
    return None


def last_tile_missing(outcome: Outcome) -> str | None:
    """The sums stop before the last tile of A and of B."""
    A, B = outcome.inputs
    whole = (A.shape[1] - 1) // width() * width()
    if whole > 0 and np.array_equal(outcome.got, A[:, :whole] @ B[:whole]):
        return "the last pair of tiles is missing from every sum: after which iteration is the last pair multiplied?"
    return None


def last_of_each_tile_missing(outcome: Outcome) -> str | None:
    """The sums lack the last column of each of A's tiles."""
    A, B = outcome.inputs
    kept = [k for k in range(A.shape[1]) if (k + 1) % width()]
    if len(kept) < A.shape[1] and np.array_equal(outcome.got, A[:, kept] @ B[kept]):
        return "the last element of every tile is left out: range(TILE) already stops at TILE - 1."
    return None


def right_on_the_diagonal_alone(outcome: Outcome) -> bool:
    """Are the tiles of C on the diagonal right, and others wrong?"""
    rows, columns = (np.arange(size) // width() for size in outcome.want.shape)
    diagonal = rows[:, None] == columns
    return not diagonal.all() and np.array_equal(outcome.got[diagonal], outcome.want[diagonal])
