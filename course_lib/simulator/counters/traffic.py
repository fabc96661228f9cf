"""Accesses and requests, by line, array, space and operation, and per thread.

An element in the source is one access of its size: 8 bytes for a complex64, 16 for a complex128. Numba loads and stores
the two parts of a complex number one by one. In global memory an H200 executes them as two accesses of half the size,
and counts two requests with the same sectors; in shared memory the compiler joins them to one access, of 16 bytes for
a complex128.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..launch_shape import Chunk
from ..observer import Observer
from ..runtime.access import Site
from ..runtime.arrays import Pattern
from ..runtime.warp import WarpVector

Key = tuple[int, str, str, str, int]  # line, array, space, op, bytes of an access
#: Limit for the masks that are kept until the end of a chunk.
MOST_MASKS = 256


def key_of(site: Site, pattern: Pattern) -> Key:
    return site.line, pattern.array.name, pattern.array.space, site.op, pattern.access_bytes


def active(pattern: Pattern) -> tuple[int, int]:
    """The active lanes and the warps of an access."""
    vector, mask = pattern.vector, pattern.mask
    return pattern.once("active", lambda: (vector.count(mask), vector.warps_active(mask)))


class Counter(Observer):
    """Adds up counts, by ``names`` of columns of the traffic."""

    names: tuple[str, ...] = ()

    def __init__(self) -> None:
        super().__init__()
        self._columns: dict[str, dict[Key, int]] = {name: {} for name in self.names}

    def columns(self) -> dict[str, dict[Key, int]]:
        """The counts by name of the column and key of the row of traffic."""
        return self._columns

    def add_counts(self, key: Key, *more: int) -> None:
        """Add one number to each column."""
        for column, count in zip(self._columns.values(), more, strict=True):
            column[key] = column.get(key, 0) + count


class TrafficObserver(Counter):
    """Counts thread-level accesses and warp-level requests."""

    names = ("accesses", "requests")

    def __init__(self) -> None:
        super().__init__()
        #: (key, warp, chunk) -> accesses of each thread, if all lanes took part
        self.whole: dict[tuple[Key, int, Chunk], int] = {}
        #: (key, id(mask)) -> [vector, mask, times], if only some did; added to ``dense`` at the end of a chunk
        self.partial: dict[tuple[Key, int], Any] = {}
        self.dense: dict[Key, np.ndarray] = {}

    def counted(self, site: Site, pattern: Pattern) -> None:
        vector, mask, key = pattern.vector, pattern.mask, key_of(site, pattern)
        times = sum(pattern.tally.values())
        lanes, warps = active(pattern)
        self.add_counts(key, times * lanes, times * warps)
        if mask is True:
            place = key, vector.warp_number, vector.chunk
            self.whole[place] = self.whole.get(place, 0) + times
        elif mask is not False:
            self.partial.setdefault((key, id(mask)), [vector, mask, 0])[2] += times
            if len(self.partial) > MOST_MASKS:
                self.end_of_chunk()

    def end_of_chunk(self, vectors: Sequence[WarpVector] = ()) -> None:
        for (key, _), (vector, mask, times) in self.partial.items():
            if key not in self.dense:
                self.dense[key] = np.zeros(self.launch.blocks * self.launch.threads_per_block, np.int64)
            self.dense[key][vector.ids[vector.full(mask)]] += times
        self.partial.clear()

    def per_thread(self, keys: Iterable[Key]) -> np.ndarray:
        """Accesses of each thread, by linear id in the grid, summed over ``keys``."""
        wanted = {*keys}
        total = np.zeros(self.launch.blocks * self.launch.threads_per_block, np.int64)
        for key in wanted & self.dense.keys():
            total += self.dense[key]
        for (key, warp, chunk), times in self.whole.items():
            if key in wanted:
                total[chunk.linear * self.launch.threads_per_block + self.launch.warps[warp].linear] += times
        return total
