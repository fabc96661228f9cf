"""Accesses and requests, by line, array, space and operation, and per thread.

An element in the source is one access of its size: 8 bytes for a complex64, 16 for a complex128. Numba loads and stores
the two parts of a complex number one by one. In global memory an H200 executes them as two accesses of half the size,
and counts two requests with the same sectors; in shared memory the compiler joins them to one access, of 16 bytes for
a complex128.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..geometry import Chunk
from ..lanes.access import Site
from ..lanes.arrays import Pattern
from ..lanes.warp import WarpVector
from ..observer import Observer

Key = tuple[int, str, str, str, int]  # line, array, space, op, bytes of an access


def key_of(site: Site, pattern: Pattern) -> Key:
    return site.line, pattern.array.name, pattern.array.space, site.op, pattern.access_bytes


@dataclass
class Tally:
    """The traffic of one line, array and operation."""

    accesses: int = 0
    requests: int = 0
    #: (warp, chunk) -> accesses of each thread, if all lanes took part
    whole: dict[tuple[int, Chunk], int] = field(default_factory=dict)
    #: id(mask) -> [vector, mask, times], if only some did; added to ``dense`` at the end of a chunk
    partial: dict[int, Any] = field(default_factory=dict)
    dense: np.ndarray | None = None


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

    def __init__(self) -> None:
        super().__init__()
        self.counts: dict[Key, Tally] = {}

    def columns(self) -> dict[str, dict[Key, int]]:
        return {name: {key: getattr(t, name) for key, t in self.counts.items()} for name in ("accesses", "requests")}

    def counted(self, site: Site, pattern: Pattern) -> None:
        vector, mask = pattern.vector, pattern.mask
        count = self.counts.setdefault(key_of(site, pattern), Tally())
        times = sum(pattern.tally.values())
        count.accesses += times * vector.count(mask)
        count.requests += times * vector.warps_active(mask)
        if mask is True:
            place = (vector.warp, vector.chunk)
            count.whole[place] = count.whole.get(place, 0) + times
        elif mask is not False:
            count.partial.setdefault(id(mask), [vector, mask, 0])[2] += times
            if len(count.partial) > 64:
                self._fold(count)

    def _fold(self, count: Tally) -> None:
        if not count.partial:
            return
        if count.dense is None:
            count.dense = np.zeros(self.launch.blocks * self.launch.threads_per_block, np.int64)
        for vector, mask, times in count.partial.values():
            count.dense[vector.ids[vector.full(mask)]] += times
        count.partial.clear()

    def end_of_chunk(self, vectors: Sequence[WarpVector]) -> None:
        for count in self.counts.values():
            self._fold(count)

    def per_thread(self, keys: Iterable[Key]) -> np.ndarray:
        """Accesses of each thread, by linear id in the grid, summed over ``keys``."""
        total = np.zeros(self.launch.blocks * self.launch.threads_per_block, np.int64)
        for key in keys:
            count = self.counts[key]
            if count.dense is not None:
                total += count.dense
            for (warp, chunk), times in count.whole.items():
                ids = chunk.linear * self.launch.threads_per_block + self.launch.warps[warp].linear
                total[ids] += times
        return total
