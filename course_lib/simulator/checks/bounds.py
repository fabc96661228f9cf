"""Indices outside an array, and negative ones that numba wraps silently."""

from typing import Any

import numpy as np

from ..findings import Finding
from ..language.types.value_types import FromEnd
from ..observer import Observer
from ..runtime.access import Index, Site
from ..runtime.array_views import View
from ..runtime.arrays import Pattern
from ..runtime.masks import Mask


class BoundsObserver(Observer):
    """Reports accesses outside an array (they are not performed) and negative indices (they wrap).

    A negative constant is meant, and not reported.
    """

    #: The latest index with a negative number, and the lanes in which it was reported.
    _wrapped: tuple[Index | None, Mask] = (None, False)

    def _first(self, site: Site, index: Index, lanes: Mask) -> tuple[int, ...]:
        vector = site.vector
        lane = vector.first_lane(lanes)
        return tuple(int(np.broadcast_to(np.asarray(i), vector.shape)[lane]) for i in index)

    def out_of_bounds(self, site: Site, array: Any, index: Index, dimension: int, lanes: Mask) -> None:
        if array.missing:
            return
        numbers = self._first(site, index, lanes)
        size = site.limits_of(array)[dimension]
        verb = {"load": "reads", "store": "writes", "atomic": "updates"}[site.op]
        inside = f"0 to {size - 1}" if size else "none: the array is empty"
        dim = "" if array.ndim == 1 else f" in dimension {dimension}"
        element = array.element_name(numbers)
        if site.width == 1:
            what = f"{verb} {element}, outside its shape {array.shape}: valid indices{dim} are {inside}"
        else:
            what = (
                f"{verb} {site.width} elements from {element} on, not all inside its shape {array.shape}: such an "
                f"access may begin{dim} at " + (f"0 to {size - 1}" if size > 0 else "no index")
            )
        what += "; guard the access with an if"
        index = self._first(site, array.of_array(index), lanes)
        self.add_finding("out-of-bounds", site.line, site.vector, lanes, what, array=array.name, index=index)

    def misaligned(self, site: Site, pattern: Pattern, base: int, lanes: Mask) -> None:
        said = (
            f"accesses {pattern.access_bytes} bytes at {{}}, which is no "
            f"multiple of {pattern.access_bytes} bytes from the array's start; align the index, or use single elements"
        )
        self.add_access_finding("misaligned-access", site, pattern, base, lanes, said)

    def negative_index(self, site: Site, array: Any, index: Index, dimension: int, lanes: Mask) -> None:
        if isinstance(index[dimension], FromEnd):
            return
        numbers = self._first(site, index, lanes)
        wrapped = numbers[dimension] + array.shape[dimension]
        vector, full, (latest_index, before) = site.vector, site.vector.full(lanes), self._wrapped
        thread, count = vector.first_thread(lanes), int(np.count_nonzero(full))
        if latest_index is index:  # another dimension of the same index: a thread is counted once
            count = int(np.count_nonzero(full & ~before))
            full = full | before
        self._wrapped = index, full
        dim = "" if array.ndim == 1 else f" in dimension {dimension}"
        text = (
            f"{self.launch.format_thread(thread)} uses {array.element_name(numbers)}; numba wraps the negative "
            f"index{dim} silently to {wrapped}: guard it if that is not meant"
        )
        if isinstance(array, View):
            numbers = tuple(n + size if n < 0 else n for n, size in zip(numbers, array.shape, strict=True))
            numbers = self._first(site, array.of_array(numbers), lanes)
        self.add(Finding("negative-index", site.line, text, None, array.name, numbers, (thread,), count))
