"""The order in which a warp loads, multiplies, stores and waits, read from a trace: prefetching changes only this."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .trace import Trace

ROWS = ("load A and B from global", "multiply and add", "store to shared", "barrier")


def timeline_rows(trace: Trace, block: tuple[int, int, int] = (0, 0, 0), warp: int = 0) -> dict[str, list[int]]:
    """Return the positions at which one warp loads from global memory, multiplies, stores to shared memory or waits.

    Positions count the statements that this warp executed and that do one of the four; a statement that does two of
    them (a load stored at once) is in two rows.
    """
    found: dict[str, list[int]] = {row: [] for row in ROWS}
    position = 0
    for step in trace.steps:
        if step.block != block or step.warp != warp:
            continue
        touched = {(trace.arrays[access.array].space, access.op) for access in step.accesses}
        does = [
            ("global", "load") in touched,
            ("shared", "load") in touched,
            ("shared", "store") in touched,
            step.barrier,
        ]
        for row, yes in zip(ROWS, does, strict=True):
            if yes:
                found[row].append(position)
        position += any(does)
    return found


def slacks(rows: Mapping[str, Sequence[int]]) -> list[int]:
    """Return for each global load the number of multiply statements before the store to shared that needs its value.

    A GPU can hide the latency of a load only by statements that do not need its value, so this is an opportunity, not a
    time. A load without a later store to shared memory is left out.
    """
    loads, multiplies, stores, _ = (rows[name] for name in ROWS)
    uses = {load: min((store for store in stores if store >= load), default=None) for load in loads}
    return [sum(load < multiply < use for multiply in multiplies) for load, use in uses.items() if use is not None]
