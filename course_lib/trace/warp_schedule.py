"""The order in which a warp loads, multiplies, stores and waits, read from a trace: prefetching changes only this."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from .columns import BARRIER
from .replay import Timeline

if TYPE_CHECKING:
    from .trace import Trace

ROWS = ("load A and B from global", "multiply and add", "store to shared", "barrier")


def timeline_rows(trace: Trace) -> dict[str, list[int]]:
    """Return where warp 0 of block (0, 0, 0) loads from global memory, multiplies, stores to shared memory or waits.

    Positions count the statements that this warp executed and that do one of the four; a statement that does two of
    them (a load stored at once) is in two rows.
    """
    timeline = Timeline.of(trace, (0, 0, 0))
    accesses = (("global", "load"), ("shared", "load"), ("shared", "store"))
    does = np.array([*(timeline.does(*access) for access in accesses), timeline.flags & BARRIER != 0])
    does = does[:, timeline.warps == 0]
    position = np.cumsum(does.any(axis=0)) - 1
    return {row: position[yes].tolist() for row, yes in zip(ROWS, does, strict=True)}


def uses(rows: Mapping[str, Sequence[int]]) -> dict[int, int]:
    """Return for each global load the store to shared that needs its value; a load without one is left out.

    Of loads that come together the first one is stored first.
    """
    loads, _, stores, _ = (rows[name] for name in ROWS)
    found: dict[int, int] = {}
    for load in loads:
        later = [store for store in stores if store >= load]
        run = [store for store in later if not any(later[0] < other <= store for other in loads)]
        if run:
            taken = sum(use in run for use in found.values())
            found[load] = run[min(taken, len(run) - 1)]
    return found


def slacks(rows: Mapping[str, Sequence[int]]) -> list[int]:
    """Return for each global load the number of multiply statements before the store to shared that needs its value.

    A GPU can hide the latency of a load only by statements that do not need its value, so this is an opportunity, not a
    time.
    """
    return [sum(load < multiply < use for multiply in rows[ROWS[1]]) for load, use in uses(rows).items()]
