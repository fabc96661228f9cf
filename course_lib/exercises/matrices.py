"""What the exercises on C = A·B share: inputs, launch shapes, and mistakes that many answers make."""

from __future__ import annotations

import numpy as np

from course_lib.simulator.hardware import ceil_div

from .exercise import Array, Outcome, Shape
from .grading import eighths

#: Blocks are 8×8 threads, two warps: a barrier that is missing between warps shows.
TILE = 8


def product_inputs(rng: np.random.Generator, M: int, N: int, K: int) -> tuple[Array, Array]:
    """A of M×K and B of K×N."""
    return eighths(rng, M, K), eighths(rng, K, N)


def product(A: Array, B: Array) -> Array:
    """A·B by NumPy."""
    return A @ B


def launch_per_element(M: int, N: int, K: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """One thread per element of an M×N result, in blocks of TILE×TILE."""
    return (ceil_div(N, TILE), ceil_div(M, TILE)), (TILE, TILE)


def turns_of_tiles(shape: Shape) -> int:
    """The turns of a loop from tile to tile along K, with a loop along the tile inside it."""
    return ceil_div(shape[2], TILE) * (TILE + 1)


def last_term_missing(outcome: Outcome) -> str | None:
    """The sums stop at k = K - 2."""
    A, B = outcome.inputs
    if np.array_equal(outcome.got, A[:, :-1] @ B[:-1]):
        return "each sum lacks its last term: range(K) already stops at K - 1."
    return None


def last_term_alone(outcome: Outcome) -> str | None:
    """The sums hold the product of k = K - 1 and nothing else."""
    A, B = outcome.inputs
    if A.shape[1] > 1 and np.array_equal(outcome.got, A[:, -1:] @ B[-1:]):
        return "only the last product is in each sum: acc is set to zero again in every step of the innermost loop."
    return None


def last_tile_missing(outcome: Outcome) -> str | None:
    """The sums stop where the last tile of A and of B begins."""
    A, B = outcome.inputs
    whole = (A.shape[1] - 1) // TILE * TILE
    if np.array_equal(outcome.got, A[:, :whole] @ B[:whole]):
        return "the last pair of tiles is missing from every sum: after which round is the last pair multiplied?"
    return None
