"""Lesson 3, exercise 2: the double-buffered kernel without the stores and the barrier that its last round wastes."""

from __future__ import annotations

from course_lib.simulator.hardware import ceil_div

from .grading import Budget, Exercise, Outcome
from .matrices import TILE, last_tile_missing, launch_per_element, product, product_inputs


def _shared_stores_per_thread(outcome: Outcome) -> int:
    return int(outcome.run.traffic.per_thread(space="shared", op="store").max(initial=0))


EXERCISE = Exercise(
    name="last-round",
    parameters=("A", "B", "C"),
    shapes=((16, 16, 16), (13, 21, 26), (5, 9, 19), (1, 1, 1)),
    inputs=product_inputs,
    answer=product,
    launch=launch_per_element,
    budgets=(
        Budget(
            "shared stores per thread",
            "2·⌈K/T⌉",
            _shared_stores_per_thread,
            lambda shape: 2 * ceil_div(shape[2], TILE),
            "the round in which start has reached K has fetched nothing: there is nothing to store.",
        ),
        Budget(
            "barriers per warp",
            "⌈K/T⌉",
            Outcome.barriers,
            lambda shape: ceil_div(shape[2], TILE),
            "when nothing was stored, nobody needs to wait: the barrier of the last round can go too.",
        ),
    ),
    hints={
        "barrier-divergence": "the test must come out the same for every thread of the block: ask about start, "
        "which all threads share, and not about tx, ty, row or col.",
        "race": "the other buffer may be read only after a barrier: every round that stores must also wait.",
        "uninitialized-read": "some thread skipped a store that another thread needs: the test must be the same for "
        "the whole block, so ask about start alone.",
    },
    diagnoses=(last_tile_missing,),
)
