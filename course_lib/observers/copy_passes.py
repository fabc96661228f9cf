"""What an asynchronous copy from global to shared memory costs: its wavefronts and its sectors.

A copy takes its elements out of the first-level cache, which lies in the same 32 banks, and so waits for two places at
once. The rules were found by, and agree with, the access patterns that were measured on an H200
(``course_lib/measurements/nvidia-h200/patterns.json``, the names that begin with "copied"):

- Copies of 4 and 8 bytes, the latter half a warp at a time: a lane must go alone among all those that come from its
  bank or go to its bank, and the lane with the most such neighbours says how many wavefronts there are. It is as if
  a bank were taken or filled once in each wavefront, even with the same word, and nobody passed a lane that waits.
- Copies of 16 bytes pass by the cache and move sectors of 32 bytes. One wavefront moves sectors from one line of 128
  bytes to one line, each to another sector, in any order that keeps two things alike for all of them: whether they
  change between even and odd sectors, and whether their halves are exchanged (the lowest two bits of a place, counted
  in copies, change alike). It moves the same halves of all of them. Their sectors are counted where they go to, once
  for each line that they come from.

379 of those 380 patterns are counted exactly so. In one, where two sectors of a line go to two neighbouring sectors
each, the GPU needs 16 wavefronts and this rule says 8. The kernels on tensor cores, which turn the places of 16 bytes
by exclusive or and take them from rows that begin anywhere in a line, are counted exactly, too (``exact.json`` and
``counters.json``, beside the patterns).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..simulator.hardware import LINE_BYTES, WARP_SIZE, WORD_BYTES
from ..simulator.wide_copies import WIDE_BYTES, wide_copy

if TYPE_CHECKING:
    from ..simulator.lanes.access import Site
    from ..simulator.lanes.arrays import Pattern

#: Where a lane goes to and comes from, counted in copies.
Places = Sequence[tuple[int, int]]


class CopyPasses:
    """Remembers what patterns of places cost, whatever lines of 128 bytes they begin in."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, bytes], tuple[int, int]] = {}

    def of(self, to: np.ndarray, of: np.ndarray, active: np.ndarray, size: int) -> tuple[int, int]:
        """Return (wavefronts, sectors), summed over the columns: arrays (lanes, blocks) of places counted in copies.

        Sectors are those of copies of 16 bytes, and 0 for others, which are counted like any load.
        """
        in_line = LINE_BYTES // size
        columns = []
        for places in (to, of):
            first = np.where(active, places, np.iinfo(np.int64).max).min(axis=0) // in_line * in_line
            columns.append(np.where(active, places - first, -1))
        both = np.concatenate(columns).T
        if (both == both[0]).all():
            different, times = both[:1], np.array([len(both)])
        else:
            different, times = np.unique(both, axis=0, return_counts=True)
        total = np.zeros(2, np.int64)
        for row, count in zip(np.ascontiguousarray(different), times, strict=True):
            key = size, row.tobytes()
            if key not in self.known:
                lanes = list(zip(*np.split(row, 2), strict=True))
                self.known[key] = wide_copy(lanes) if size == WIDE_BYTES else (narrow(lanes, size), 0)
            total += np.multiply(self.known[key], count)
        return int(total[0]), int(total[1])


def copied_places(site: Site, pattern: Pattern, base: int, array: Any, index: Any) -> tuple[np.ndarray, ...]:
    """Return where the lanes of a copy go to and come from, and who takes part: arrays (lanes, blocks)."""
    vector, size = site.vector, pattern.access_bytes

    def flat(elements: Any, itemsize: int) -> np.ndarray:
        places = np.asarray(elements, np.int64) * itemsize // size
        return np.broadcast_to(places, vector.shape).reshape(vector.lanes.count, -1)

    of = sum(np.asarray(i, np.int64) * stride for i, stride in zip(index, array.strides, strict=True))
    active = vector.full(pattern.mask).reshape(vector.lanes.count, -1)
    return flat(pattern.elements(base), pattern.array.itemsize), flat(of, array.itemsize), active


def narrow(lanes: Places, size: int) -> int:
    """Return the wavefronts of a copy of 4 or 8 bytes a lane; places below 0 are lanes that take no part."""
    in_line = LINE_BYTES // size
    group = WARP_SIZE * WORD_BYTES // size
    total = 0
    for start in range(0, len(lanes), group):
        banks = [(to % in_line, of % in_line) for to, of in lanes[start : start + group] if to >= 0]
        filled, taken = (Counter(side) for side in zip(*banks, strict=True)) if banks else (Counter(), Counter())
        both = Counter(banks)
        total += max((filled[to] + taken[of] - both[to, of] for to, of in both), default=0)
    return total
