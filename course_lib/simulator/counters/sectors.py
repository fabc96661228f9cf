"""Sectors: the number of 32-byte pieces of global memory that a request of a warp accesses.

They are the distinct 32-byte sectors of its active lanes (Nsight Compute's
``l1tex__t_sectors_pipe_lsu_mem_global_op_ld`` over ``…_requests_…``): 4 for 32 neighbouring floats, 32 for a
column of a wide matrix, 1 if all lanes read the same word. Asynchronous copies of 16 bytes are counted
differently, see :mod:`copy_wavefronts`.
"""

from functools import partial
from typing import Any

import numpy as np

from ..hardware import SECTOR_BYTES
from ..runtime.access import Site
from ..runtime.arrays import Pattern
from ..runtime.masks import Mask
from .copy_wavefronts import WIDE_BYTES, copied_places, copy_costs
from .traffic import Counter, key_of


class SectorsObserver(Counter):
    """Counts distinct sectors, computed once for each pattern and each position of its base in a sector."""

    names = ("sectors",)

    def counted(self, site: Site, pattern: Pattern) -> None:
        if pattern.array.space != "global":
            return
        total = 0
        for phase, times in pattern.tally.items():
            total += times * pattern.once(("sectors", phase), partial(sectors, pattern, phase))
        self.add_counts(key_of(site, pattern), total)

    def copied(self, site: Site, pattern: Pattern, base: int, array: Any, index: Any) -> None:
        """Correct the sectors of a copy of 16 bytes, which was counted as a load so far."""
        if pattern.access_bytes != WIDE_BYTES:
            return
        to, of, active = copied_places(site, pattern, base, array, index)
        loaded = distinct(np.expand_dims(of, (1, 2)) * WIDE_BYTES // SECTOR_BYTES, np.expand_dims(active, (1, 2)))
        key = site.line, array.name, array.space, "load", WIDE_BYTES
        self.add_counts(key, copy_costs(to, of, active, WIDE_BYTES)[1] - int(loaded.sum()))


def sectors_of(pattern: Pattern, phase: int) -> np.ndarray:
    """The number of the sector in which each lane's access begins."""
    offsets = np.zeros((1, 1, 1, 1), np.int64) if pattern.offsets is None else pattern.offsets
    numbers: np.ndarray = (offsets * pattern.array.itemsize + phase) // SECTOR_BYTES
    return numbers


def sectors(pattern: Pattern, phase: int) -> int:
    """Sectors of one access, summed over the warps of the vector."""
    return pattern.vector.sum_over_blocks(sectors_by_block(pattern, phase))


def sectors_by_block(pattern: Pattern, phase: int) -> np.ndarray:
    """Sectors of one access, for each block: an array that broadcasts to (block rows, block columns)."""
    return distinct(sectors_of(pattern, phase), pattern.mask)


def distinct(numbers: np.ndarray, mask: Mask) -> np.ndarray:
    """The number of distinct ``numbers`` in the active lanes, for each column of the last two axes."""
    none = np.int64(np.iinfo(np.int64).max)  # of an idle lane: the last one, when sorted
    kept = numbers if mask is True else np.where(mask, numbers, none)
    blocks = kept.shape[2:]
    kept = kept.reshape(-1, blocks[0] * blocks[1])
    steps = np.diff(kept, axis=0)
    if (steps < 0).any():
        kept = np.sort(kept, axis=0)
        steps = np.diff(kept, axis=0)
    return (1 + np.count_nonzero(steps, axis=0) - (kept[-1] == none)).reshape(blocks)
