"""Sectors per request: how many 32-byte pieces of global memory one warp-level access touches.

A request of a warp is split into the distinct 32-byte sectors that its active lanes touch (Nsight Compute's
``l1tex__t_sectors_pipe_lsu_mem_global_op_ld`` over ``…_requests_…``): 4 for 32 neighbouring floats, 32 for a
column of a wide matrix, 1 where all lanes read the same word.
"""

from __future__ import annotations

import numpy as np

from ..simulator.hardware import SECTOR_BYTES
from ..simulator.observer import Observer
from .traffic import key_of


class CoalescingObserver(Observer):
    """Counts distinct sectors, once for each pattern and each byte phase of its base."""

    def __init__(self):
        super().__init__()
        self.sectors: dict = {}

    def tallied(self, site, pattern):
        if pattern.array.space != "global":
            return
        total = sum(times * self._sectors(pattern, phase) for phase, times in pattern.tally.items())
        key = key_of(site, pattern)
        self.sectors[key] = self.sectors.get(key, 0) + total

    def _sectors(self, pattern, phase: int) -> int:
        if pattern.offsets is None:
            return pattern.vector.warps_active(pattern.mask)
        sector = (pattern.offsets * pattern.array.itemsize + phase) // SECTOR_BYTES
        return distinct_in_warps(sector, pattern.mask, pattern.vector)


def distinct_in_warps(numbers: np.ndarray, mask, vector) -> int:
    """Distinct ``numbers`` among the active lanes of each warp, summed over the warps of the vector."""
    if mask is False:
        return 0
    if mask is True:
        rows, columns = numbers.shape[2:]
        numbers = numbers.reshape(-1, rows * columns)
        repeats = vector.chunk.count // (rows * columns)
        steps = np.diff(numbers, axis=0)
        if steps.size and steps.min() < 0:
            steps = np.diff(np.sort(numbers, axis=0), axis=0)
        return repeats * (rows * columns + int(np.count_nonzero(steps)))
    shape = np.broadcast_shapes(numbers.shape, mask.shape)
    rows, columns = shape[2:]
    repeats = vector.chunk.count // (rows * columns)
    none = np.iinfo(np.int64).max
    kept = np.where(mask, numbers, none).reshape(-1, rows * columns)
    kept = np.sort(kept, axis=0)
    first = np.ones(kept.shape, bool)
    first[1:] = kept[1:] != kept[:-1]
    return repeats * int(np.count_nonzero(first & (kept != none)))
