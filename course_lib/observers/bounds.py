"""Indices outside an array, and negative ones that numba wraps silently."""

from __future__ import annotations

import numpy as np

from ..simulator.findings import Finding
from ..simulator.observer import Observer


class BoundsObserver(Observer):
    """Reports accesses that missed the array (they are not performed) and negative indices (they wrap)."""

    def _first(self, site, index, lanes):
        vector = site.vector
        lanes = vector.full(lanes)
        ids = np.where(lanes, vector.ids, np.iinfo(np.int64).max)
        place = np.unravel_index(int(ids.argmin()), vector.shape)
        numbers = tuple(int(np.broadcast_to(np.asarray(i), vector.shape)[place]) for i in index)
        return numbers, vector.name_thread(ids[place]), int(np.count_nonzero(lanes))

    def out_of_bounds(self, site, array, index, dimension, lanes):
        numbers, thread, count = self._first(site, index, lanes)
        size = array.shape[dimension]
        verb = {"load": "reads", "store": "writes", "atomic": "updates"}[site.op]
        inside = f"0 to {size - 1}" if size else "none: the array is empty"
        dim = "" if array.ndim == 1 else f" in dimension {dimension}"
        self.add(Finding("out-of-bounds", "error", site.line, None, array.name, numbers, (thread,),
                         f"{self.name(thread)} {verb} {array.name}[{', '.join(map(str, numbers))}], outside its "
                         f"shape {array.shape}: valid indices{dim} are {inside}; guard the access with an if", count))

    def negative_index(self, site, array, index, dimension, lanes):
        numbers, thread, count = self._first(site, index, lanes)
        wrapped = numbers[dimension] + array.shape[dimension]
        self.add(Finding("negative-index", "warning", site.line, None, array.name, numbers, (thread,),
                         f"{self.name(thread)} uses {array.name}[{', '.join(map(str, numbers))}]; numba wraps the "
                         f"negative index silently to {wrapped}: guard it if that is not meant", count))
