"""Views: parts of arrays, such as ``A[i]``, ``A[1:-1, ::2]`` and ``A.T``, and accesses through them.

A view holds no elements. An access through it is an access to its array, at the true address. The bounds of the view
are checked first, lane by lane, because they may differ between lanes.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from ..findings import KernelError
from .access import Site
from .arrays import Array
from .masks import DifferentArrays, Mask, Vector, blend


class View:
    """A part of ``base``, an array or a view.

    For each dimension of the base, ``places`` has an index, or (dimension of the view, first index, step). ``shape``
    holds numbers, or lane vectors if lanes have views of different sizes.
    """

    __slots__ = ("base", "places", "shape")

    def __init__(self, base: Array | View, places: tuple[Any, ...], shape: tuple[Vector, ...]):
        self.base, self.places, self.shape = base, places, shape

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> Vector:
        return prod(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.base.dtype

    @property
    def name(self) -> str:
        return self.base.name

    def element_name(self, index: tuple[int, ...]) -> str:
        """``element [1, 2] of a view of A``, for messages."""
        return f"element [{', '.join(map(str, index))}] of a view of {self.name}"

    def at(self, place: tuple[int, ...], shape: tuple[int, ...]) -> View:
        """The view of the lane at ``place`` of a vector of this shape; its sizes are numbers."""
        sizes = tuple(int(np.broadcast_to(np.asarray(size), shape)[place]) for size in self.shape)
        return View(self.base, self.places, sizes)

    def blended(self, mask: Mask, old: Any, line: int) -> View:
        """This view in the lanes of ``mask``, and ``old`` in the others."""
        if not isinstance(old, View) or old.base is not self.base or len(old.places) != len(self.places):
            raise different_arrays(line)
        places = []
        for new, before in zip(self.places, old.places, strict=True):
            if isinstance(new, tuple) != isinstance(before, tuple) or (isinstance(new, tuple) and new[0] != before[0]):
                raise different_arrays(line)
            if isinstance(new, tuple):
                places.append((new[0], blend(mask, new[1], before[1]), blend(mask, new[2], before[2])))
            else:
                places.append(blend(mask, new, before))
        sizes = (blend(mask, a, b) for a, b in zip(self.shape, old.shape, strict=True))
        return View(self.base, tuple(places), tuple(sizes))


def different_arrays(line: int) -> DifferentArrays:
    return DifferentArrays(
        "threads of one warp choose parts of different arrays, or of different form, for one variable", line
    )


# --- making views --------------------------------------------------------------------------------------------------


def view(array: Array | View, parts: tuple[Any, ...], line: int) -> View:
    """``array[parts]``: an index, or (start, stop, step) of a slice, for each dimension."""
    places: list[Any] = []
    shape: list[Vector] = []
    for part, size in zip(parts, array.shape, strict=True):
        if isinstance(part, tuple):
            first, last, by = part
            start, length, step = bounds(first, last, by, size, line)
            places.append((len(shape), start, step))
            shape.append(length)
        else:
            places.append(part)
    return View(array, tuple(places), tuple(shape))


def transposed(array: Array | View) -> View:
    """``array.T``."""
    last = array.ndim - 1
    zero, one = np.int64(0), np.int64(1)
    places = tuple((last - d, zero, one) for d in range(array.ndim))
    return View(array, places, tuple(reversed(array.shape)))


def as_view(array: Array | View) -> View:
    """The whole of an array, as a view."""
    return array if isinstance(array, View) else view(array, ((None, None, None),) * array.ndim, 0)


def bounds(start: Any, stop: Any, step: Any, size: Vector, line: int) -> tuple[Vector, Vector, Vector]:
    """First index, length and step of a slice, by Python's rules, in a dimension of this size."""
    step = np.int64(1) if step is None else np.asarray(step).astype(np.int64)[()]
    if np.any(step == 0):
        raise KernelError("the step of a slice is 0; give it another", line=line)
    size = np.asarray(size).astype(np.int64)[()]
    up = step > 0
    low, high = np.where(up, 0, -1), np.where(up, size, size - 1)

    def clipped(bound: Any, default: Vector) -> Vector:
        if bound is None:
            return default
        bound = np.asarray(bound).astype(np.int64)
        return np.clip(np.where(bound < 0, bound + size, bound), low, high)

    first = clipped(start, np.where(up, 0, size - 1))
    end = clipped(stop, np.where(up, size, -1))
    length = np.maximum(0, np.where(up, (end - first + step - 1) // step, (first - end - step - 1) // -step))
    first, length = (np.asarray(v).astype(np.int64)[()] for v in (first, length))
    return first, length, step


# --- accesses --------------------------------------------------------------------------------------------------------


def through(site: Site, array: View, index: tuple[Any, ...], mask: Mask) -> tuple[Any, tuple[Any, ...], Mask]:
    """Convert an access at ``index`` of a view to (array, index, mask); report and remove lanes outside the view."""
    inside = [np.asarray(i) for i in index]
    for d, size in enumerate(array.shape):
        at, where = inside[d].astype(np.int64), site.vector.full(mask)
        negative = (at < 0) & (at + size >= 0) & where
        if negative.any():
            first = site.vector.first_lane(negative)
            site.engine.tell("negative_index", site, array.at(first, site.vector.shape), index, d, negative)
        at = np.where(at < 0, at + size, at)
        bad = ((at < 0) | (at >= size)) & where
        if bad.any():
            first = site.vector.first_lane(bad)
            site.engine.tell("out_of_bounds", site, array.at(first, site.vector.shape), index, d, bad)
            mask = where & ~bad
            if not mask.any():
                mask = False
        inside[d] = np.clip(at, 0, np.maximum(size - 1, 0))
    place = tuple((inside[p[0]] * p[2] + p[1])[()] if isinstance(p, tuple) else p for p in array.places)
    if mask is False or not isinstance(array.base, View):
        return array.base, place, mask
    return through(site, array.base, place, mask)


def load_through(site: Site, array: View, index: tuple[Any, ...], mask: Mask) -> Vector:
    """The elements at ``index`` of a view; lanes outside of it get 0."""
    base, place, lanes = through(site, array, index, mask)
    if lanes is False:
        return array.dtype.type(0)
    value = site.load(base, place, lanes)
    return value if lanes is mask else np.where(lanes, value, array.dtype.type(0))


def store_through(site: Site, array: View, index: tuple[Any, ...], value: Vector, mask: Mask) -> None:
    """Store ``value`` at ``index`` of a view."""
    base, place, lanes = through(site, array, index, mask)
    if lanes is not False:
        site.store(base, place, value, lanes)


def atomic_through(
    site: Site, operation: str, array: View, index: tuple[Any, ...], values: tuple[Any, ...], mask: Mask, used: bool
) -> Vector:
    """Apply an atomic at ``index`` of a view."""
    base, place, lanes = through(site, array, index, mask)
    if lanes is False:
        return array.dtype.type(0)
    return site.atomic(operation, base, place, values, lanes, used)
