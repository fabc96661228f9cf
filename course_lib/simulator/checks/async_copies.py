"""Accesses to memory that an asynchronous operation still reads or writes.

README.md in this folder says who reads or writes what, and until when.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..observer import Observer
from ..runtime.memory import GlobalArray, SharedArray


class CopiesObserver(Observer):
    """Stores, for each word of the shared arrays, the line of the copy not yet waited for; 0 for none."""

    def start(self, prepared: Any) -> None:
        super().start(prepared)
        self.copying = prepared.compiled.copies
        self.compiled = prepared.compiled
        self.sources: dict[Any, list[Any]] = {}  # by global array
        self.lines: dict[Any, np.ndarray] = {}
        self.outstanding: dict[Any, int] = {}

    def watch(self, array: Any) -> Callable[..., None] | None:
        if self.copying and isinstance(array, GlobalArray) and self.compiled.may_write(*array.names):
            return self._source_accessed
        if not self.copying or not isinstance(array, SharedArray):
            return None
        self.lines[array] = np.zeros(array.word_count(), np.int64)
        self.outstanding[array] = 0
        return self._accessed

    def copy_started(self, site: Any, pattern: Any, base: int, values: tuple[Any, ...]) -> None:
        array = pattern.array
        for element in range(pattern.width):
            keys = np.unique(pattern.keys_and_lanes(base + element)[0])
            if self.outstanding[array]:
                self._check(site, pattern, base + element)
            self.outstanding[array] += int(np.count_nonzero(self.lines[array][keys] == 0))
            self.lines[array][keys] = site.line

    def copy_arrived(self, site: Any, pattern: Any, base: int) -> None:
        array = pattern.array
        for element in range(pattern.width):
            keys = np.unique(pattern.keys_and_lanes(base + element)[0])
            self.outstanding[array] -= int(np.count_nonzero(self.lines[array][keys]))
            self.lines[array][keys] = 0

    def end_of_chunk(self, vectors: Any) -> None:
        for array in [array for array in self.lines if array.chunk is vectors[0].chunk]:
            del self.lines[array], self.outstanding[array]
        self.sources.clear()

    def source_in_use(self, use: Any) -> None:
        self.sources.setdefault(use.array, []).append(use)

    def barrier(self, arrivals: Any, complete: bool) -> None:
        for array, readings in self.sources.items():
            self.sources[array] = [reading for reading in readings if reading.in_use().any() or not complete]

    def _source_accessed(self, site: Any, pattern: Any, base: int, value: Any) -> None:
        """Find the lanes of a store, or an atomic, to words of an array that a copy may still read."""
        readings = self.sources.get(pattern.array)
        if not readings or site.op == "load":
            return
        self.sources[pattern.array] = readings = [
            reading for reading in readings if reading.waited is not None or reading.in_use().any()
        ]
        array, vector = pattern.array, site.vector
        writes = np.broadcast_to(array.keys(pattern, base), vector.shape).reshape(-1, vector.chunk.count)
        blocks = np.arange(vector.chunk.count)
        for reading in readings:
            if reading.site.vector.chunk is not vector.chunk:
                continue
            if reading.waited is not None and vector.warp_number in reading.waited:
                continue
            read = reading.lanes
            if reading.waited is None:
                read = read & reading.in_use()
            words_in_use = (reading.words * len(blocks) + blocks)[read]
            hit = np.isin(writes * len(blocks) + blocks, words_in_use).reshape(vector.shape)
            hit &= vector.full(pattern.mask)
            if not hit.any():
                continue
            line = reading.site.line
            said = (
                f"writes {{}} while the asynchronous copy that line {line} "
                "started may still read it, so the tile can get either value; wait for the copy first"
            )
            self.add_access_finding("unfinished-copy", site, pattern, base, hit, said, other=line)

    def _accessed(self, site: Any, pattern: Any, base: int, value: Any) -> None:
        if self.outstanding.get(pattern.array):
            self._check(site, pattern, base)

    def _check(self, site: Any, pattern: Any, base: int) -> None:
        array, vector = pattern.array, site.vector
        keys = np.broadcast_to(array.keys(pattern, base), vector.shape)
        lines = self.lines[array][keys]
        lanes = (lines != 0) & vector.full(pattern.mask)
        if not lanes.any():
            return
        copied = int(lines[vector.first_lane(lanes)])
        said = (
            f"{'reads' if site.op == 'load' else 'writes'} {{}} while the asynchronous copy to it that line "
            f"{copied} started may be on its way; wait for the copy's group first, then synchronize"
        )
        self.add_access_finding("unfinished-copy", site, pattern, base, lanes, said, other=copied)
