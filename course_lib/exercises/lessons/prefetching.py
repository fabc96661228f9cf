"""The exercises of the lesson on prefetching."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ...simulator.hardware import ceil_div
from ...trace.reading import slacks, timeline_rows
from ...trace.record import TraceObserver
from ..grading.budgets import barriers, global_loads, shared_stores
from ..grading.exercise import FILL_IN, Budget, Outcome, fill_in
from ..grading.matrices import (
    ITERATIONS_OF_TILES,
    PRODUCT,
    iterations_of_tiles,
    last_tile_missing,
    sums_take,
    two_each_tile,
    width,
)
from ..grading.routines import Case, Routine


def _another_round(rng: np.random.Generator) -> tuple[tuple[int, int], int]:
    turn, buffers = int(rng.integers(50, 90)), int(rng.integers(4, 8))
    return (turn, buffers), (turn + 1) % buffers


#: The buffer that a round of the prefetching loop writes.
BUFFER_OF_A_ROUND = Routine(
    name="buffer-of-a-round",
    another=_another_round,
    kind=FILL_IN,
    parameters=("turn", "buffers"),
    cases=(
        Case("round 0 of 2 buffers", (0, 2), 1, "round 0 reads buffer 0, and writes the other one."),
        Case("round 1 of 2 buffers", (1, 2), 0, "in round 1 they change places: it reads buffer 1, and writes 0."),
        Case("round 4 of 2 buffers", (4, 2), 1, "every second round writes the same buffer; there is no buffer 5."),
        Case("round 1 of 3 buffers", (1, 3), 2, "with three buffers, round 1 reads buffer 1 and writes buffer 2."),
        Case("round 2 of 3 buffers", (2, 3), 0, "after the last of three buffers comes the first: a remainder, %."),
    ),
)

_ITERATIONS = replace(
    ITERATIONS_OF_TILES, formula="⌈K/T⌉·(T + 1) + 1", limit=lambda shape: iterations_of_tiles(shape) + 1
)


def _hidden_behind_too_little(outcome: Outcome) -> int:
    """The number of loads, after the first pair, with fewer than T multiplies before their value is used."""
    gaps = slacks(timeline_rows(outcome.run.trace))
    return sum(gap < width() for gap in gaps[2:])


#: Each pair is overwritten by the next one before it is multiplied.
_FIRST_TILE_MISSING = sums_take(
    lambda K: range(width(), K) or None,
    "the first pair of tiles is missing from every sum: the next pair was stored over it before it was multiplied. "
    "Store a_next and b_next into the tiles after the loop over k.",
)

#: Prefetch into registers, with a single pair of tiles in shared memory.
ONE_BUFFER = fill_in(
    "one-buffer",
    PRODUCT,
    budgets=(
        global_loads(
            "2·⌈K/T⌉",
            two_each_tile,
            "each thread loads one element of each tile, once.",
        ),
        Budget(
            "loads after the first pair that are used before T multiplies",
            "none",
            _hidden_behind_too_little,
            lambda shape: 0,
            "load into a_next and b_next before the multiplies, and store those two to the tiles after them.",
            traced=TraceObserver,
        ),
        barriers(
            "2·(⌈K/T⌉ + 1)",
            lambda shape: 2 * (ceil_div(shape[2], width()) + 1),
            "two barriers per round: one before the tiles are overwritten, one after.",
        ),
        _ITERATIONS,
    ),
    hints={
        "out-of-bounds": "the last round fetches a tile that does not exist: load only where start + tx < K (for A) "
        "and start + ty < K (for B), and inside the rows of A and the columns of B.",
        "race": "with a single pair of tiles the block must wait twice: before the new elements overwrite the tiles, "
        "and before anybody reads them.",
        "barrier-divergence": "every thread of the block must reach the barrier: keep it out of any if on row, col, "
        "tx or ty.",
    },
    diagnoses=(last_tile_missing, _FIRST_TILE_MISSING),
)


#: The double-buffered kernel without the stores and the barrier that its last round wastes.
LAST_ROUND = fill_in(
    "last-round",
    PRODUCT,
    budgets=(
        shared_stores(
            "2·⌈K/T⌉",
            two_each_tile,
            "the round in which start has reached K has fetched nothing: there is nothing to store.",
        ),
        barriers(
            "⌈K/T⌉",
            lambda shape: ceil_div(shape[2], width()),
            "if nothing was stored, nobody needs to wait: the barrier of the last round can be skipped, too.",
        ),
        _ITERATIONS,
    ),
    hints={
        "barrier-divergence": "the test must have the same result in every thread of the block: use start, which is "
        "the same in all threads, not tx, ty, row or col.",
        "race": "a round stores into the buffer that no thread reads now, so exchange the buffers before you store; "
        "and every round that stores must also wait.",
        "uninitialized-read": "some thread skipped a store that another thread needs: the test must be the same for "
        "the whole block, so ask about start alone.",
    },
    diagnoses=(last_tile_missing,),
)

EXERCISES = (BUFFER_OF_A_ROUND, ONE_BUFFER, LAST_ROUND)
