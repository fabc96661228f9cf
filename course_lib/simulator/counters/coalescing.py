"""Sectors: the number of 32-byte pieces of global memory that a request of a warp accesses.

They are the distinct 32-byte sectors of its active lanes (Nsight Compute's
``l1tex__t_sectors_pipe_lsu_mem_global_op_ld`` over ``…_requests_…``): 4 for 32 neighbouring floats, 32 for a
column of a wide matrix, 1 if all lanes read the same word. Asynchronous copies of 16 bytes are counted
differently, see :mod:`copy_wavefronts`.
"""

from typing import Any

import numpy as np

from ..hardware import SECTOR_BYTES
from ..lanes.access import Site
from ..lanes.arrays import Pattern
from ..lanes.masks import Mask
from .copy_wavefronts import WIDE_BYTES, copied_places, copy_costs
from .traffic import Counter, key_of


class CoalescingObserver(Counter):
    """Counts distinct sectors, computed once for each pattern and each position of its base in a sector."""

    names = ("sectors",)

    def counted(self, site: Site, pattern: Pattern) -> None:
        if pattern.array.space != "global":
            return
        total = sum(times * self._sectors(pattern, phase) for phase, times in pattern.tally.items())
        self.add_counts(key_of(site, pattern), total)

    def copied(self, site: Site, pattern: Pattern, base: int, array: Any, index: Any) -> None:
        """Correct the sectors of a copy of 16 bytes, which was counted as a load so far."""
        if pattern.access_bytes != WIDE_BYTES:
            return
        to, of, active = copied_places(site, pattern, base, array, index)
        loaded = distinct(np.expand_dims(of, (1, 2)) * WIDE_BYTES // SECTOR_BYTES, np.expand_dims(active, (1, 2)))
        key = site.line, array.name, array.space, "load", WIDE_BYTES
        self.add_counts(key, copy_costs(to, of, active, WIDE_BYTES)[1] - int(loaded.sum()))

    def _sectors(self, pattern: Pattern, phase: int) -> int:
        if pattern.offsets is None:
            return pattern.vector.warps_active(pattern.mask)
        if pattern.mask is False:
            return 0
        always, steps, blocks = starts(sectors_of(pattern, phase), pattern.mask)
        columns = blocks[0] * blocks[1]
        return (always * columns + int(np.count_nonzero(steps))) * (pattern.vector.chunk.count // columns)


def sectors_of(pattern: Pattern, phase: int) -> np.ndarray:
    """The number of the sector in which each lane's access begins."""
    offsets = np.zeros((1, 1, 1, 1), np.int64) if pattern.offsets is None else pattern.offsets
    numbers: np.ndarray = (offsets * pattern.array.itemsize + phase) // SECTOR_BYTES
    return numbers


def sectors_by_block(pattern: Pattern, phase: int) -> np.ndarray:
    """Sectors of one access, for each block: an array that broadcasts to (block rows, block columns)."""
    if pattern.mask is False:
        return np.zeros((1, 1), np.int64)
    return distinct(sectors_of(pattern, phase), pattern.mask)


def distinct(numbers: np.ndarray, mask: Mask) -> np.ndarray:
    """The number of distinct ``numbers`` in the active lanes, for each column of the last two axes."""
    always, steps, blocks = starts(numbers, mask)
    return always + np.count_nonzero(steps, axis=0).reshape(blocks)


def starts(numbers: np.ndarray, mask: Mask) -> tuple[int, np.ndarray, tuple[int, ...]]:
    """Sort the numbers of each column of the last two axes, and mark where a new number begins.

    Returns (always, steps, shape of the columns): a column has ``always`` distinct numbers, plus one for each nonzero
    step.
    """
    if mask is True:
        blocks = numbers.shape[2:]
        numbers = numbers.reshape(-1, blocks[0] * blocks[1])
        steps = np.diff(numbers, axis=0)
        if steps.size and steps.min() < 0:
            steps = np.diff(np.sort(numbers, axis=0), axis=0)
        return 1, steps, blocks
    none = np.iinfo(np.int64).max
    kept = np.where(mask, numbers, none)
    blocks = kept.shape[2:]
    kept = np.sort(kept.reshape(-1, blocks[0] * blocks[1]), axis=0)
    first = np.ones(kept.shape, bool)
    first[1:] = kept[1:] != kept[:-1]
    return 0, first & (kept != none), blocks
