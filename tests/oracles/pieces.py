"""The tensor cores' own reads of shared memory: the banks of each piece, and the products in flight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from course_lib.simulator.hardware import BANKS, WARP_SIZE, WORD_BYTES, ceil_div
from course_lib.trace.columns import NONE
from course_lib.trace.replay import Timeline
from course_lib.trace.trace import Pieces, Step, Trace

#: The bytes of a piece, the pieces that are read at the same time, and the rows of them that are shown.
PIECE, AT_ONCE, MOST = 16, 8, 16
#: The places for a piece in one row of all banks.
PLACES = BANKS * WORD_BYTES // PIECE


@dataclass
class Read:
    """A matrix as a warp's instruction reads it: ``rows`` has, for each pass, what is in each four banks."""

    title: str
    rows: list[list[str]]


def reads_of(trace: Trace, step: Step, matrices: tuple[Pieces, ...]) -> list[Read]:
    """Return the reads of a step's first instruction, one for each matrix; none if the step reads no pieces."""
    loads = [
        access
        for access in step.accesses
        if access.op == "load"
        and trace.arrays[access.array].space == "shared"
        and access.width * np.dtype(trace.arrays[access.array].dtype).itemsize == PIECE
        and len(access.threads) == WARP_SIZE
    ]
    found = []
    for matrix in matrices:
        count = ceil_div(len(matrix.first), WARP_SIZE)
        mine, loads = loads[:count], loads[count:]
        if len(mine) < count:
            return []
        array = trace.arrays[mine[0].array]
        strides = np.array(array.strides, np.int64)
        starts = np.concatenate([access.index @ strides for access in mine]) * np.dtype(array.dtype).itemsize
        rows = [[""] * PLACES for _ in range(min(MOST, ceil_div(len(matrix.first), AT_ONCE)))]
        for number, first in enumerate(matrix.first[: AT_ONCE * MOST]):
            row, place = rows[number // AT_ONCE], int(starts[number]) // PIECE % PLACES
            row[place] = f"{row[place]} {first // matrix.columns},{first % matrix.columns}".strip()
        found.append(Read(f"{matrix.name}, {matrix.rows}×{matrix.columns}, in {array.name}", rows))
    return found


def products_in_flight(timeline: Timeline, position: int) -> str:
    """A sentence with the groups of products of the step's warp that are in flight after it; "" without products."""
    columns = timeline.trace.columns
    if not position or not len(columns.product["step"]):
        return ""
    step, steps, table = timeline.first + position - 1, columns.step, columns.product
    of = table["step"]
    mine = (steps["block"][of] == steps["block"][step]) & (steps["warp"][of] == steps["warp"][step])
    busy = mine & (of <= step) & ((table["end"] == NONE) | (table["end"] > step))
    found = sorted(set(zip(table["group"][busy].tolist(), steps["line"][of[busy]].tolist(), strict=True)))
    groups = ", ".join(f"group {group + 1} (line {line})" for group, line in found)
    return f"Products of warp {columns.step['warp'][step]} in flight: {groups or 'none'}."
