"""Accesses to shared memory while an asynchronous copy to it may not have arrived."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..findings import Finding
from ..lanes.memory import SharedArray
from ..observer import Observer


class CopiesObserver(Observer):
    """Stores, for each word of the shared arrays, the line of the copy not yet waited for; 0 for none."""

    def start(self, prepared: Any) -> None:
        super().start(prepared)
        self.copying = prepared.unit.copies
        self.lines: dict[Any, np.ndarray] = {}
        self.outstanding: dict[Any, int] = {}

    def watch(self, array: Any) -> Callable[..., None] | None:
        if not self.copying or not isinstance(array, SharedArray):
            return None
        self.lines[array] = np.zeros(array.words(), np.int64)
        self.outstanding[array] = 0
        return self._accessed

    def copy_started(self, site: Any, pattern: Any, base: int, values: tuple[Any, ...]) -> None:
        array = pattern.array
        for element in range(pattern.width):
            keys = np.unique(pattern.words(base + element)[0])
            if self.outstanding[array]:
                self._check(site, pattern, base + element)
            self.outstanding[array] += int(np.count_nonzero(self.lines[array][keys] == 0))
            self.lines[array][keys] = site.line

    def copy_arrived(self, site: Any, pattern: Any, base: int) -> None:
        array = pattern.array
        for element in range(pattern.width):
            keys = np.unique(pattern.words(base + element)[0])
            self.outstanding[array] -= int(np.count_nonzero(self.lines[array][keys]))
            self.lines[array][keys] = 0

    def end_of_chunk(self, vectors: Any) -> None:
        for array in [array for array in self.lines if array.chunk is vectors[0].chunk]:
            del self.lines[array], self.outstanding[array]

    def _accessed(self, site: Any, pattern: Any, base: int, value: Any) -> None:
        if self.outstanding.get(pattern.array):
            self._check(site, pattern, base)

    def _check(self, site: Any, pattern: Any, base: int) -> None:
        array, vector = pattern.array, site.vector
        keys = np.broadcast_to(array.keys(vector, pattern, base), vector.shape)
        lines = self.lines[array][keys]
        lanes = (lines != 0) & vector.full(pattern.mask)
        if not lanes.any():
            return
        first = vector.first_lane(lanes)
        thread, index, copied = vector.first_thread(lanes), pattern.index_at(base, first), int(lines[first])
        does = "reads" if site.op == "load" else "writes"
        text = (
            f"{self.name(thread)} {does} {array.element_name(index)} while the asynchronous copy to it that line "
            f"{copied} started may be on its way; wait for the copy's group first, then synchronize"
        )
        count = int(np.count_nonzero(lanes))
        self.add(Finding("unfinished-copy", site.line, text, copied, array.name, index, (thread,), count))
