"""Views: parts of arrays, such as ``A[i]``, ``A[1:-1, ::2]`` and ``A.T``, and accesses through them.

A view holds no elements. An access through it is an access to its array, at the true address. The bounds of the view
are checked first, lane by lane, because they may differ between lanes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, wraps
from math import prod
from typing import Any

import numpy as np

from ..findings import KernelError, UnsupportedKernelError
from .access import Site
from .arithmetic import cast
from .arrays import Array
from .diverging_arrays import Choice
from .masks import UNDEFINED, Mask, Vector, blend, intersection, union, without


@dataclass(frozen=True, eq=False)
class View:
    """A part of ``base``, an array or a view.

    For each dimension of the base, ``selection`` has an index, or (dimension of the view, first index, step). ``shape``
    holds numbers, or lane vectors if lanes have views of different sizes.
    """

    base: Array | View
    selection: tuple[Any, ...]
    shape: tuple[Vector, ...]

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
    def root(self) -> Array:
        """The array that it is a part of."""
        return self.base.root if isinstance(self.base, View) else self.base

    @property
    def name(self) -> str:
        return self.base.name

    @property
    def missing(self) -> bool:
        return self.base.missing

    def element_name(self, index: tuple[int, ...]) -> str:
        """``element [1, 2] of a view of A``, for messages."""
        return f"element [{', '.join(map(str, index))}] of a view of {self.name}"

    def inside(self, index: tuple[Any, ...]) -> tuple[Any, ...]:
        """The index of the base that ``index`` of this view means."""
        found = []
        for part in self.selection:
            if isinstance(part, tuple):
                dimension, first, step = part
                found.append((index[dimension] * step + first)[()])
            else:
                found.append(part)
        return tuple(found)

    def of_array(self, index: tuple[Any, ...]) -> tuple[Any, ...]:
        """The index of the array that ``index`` of this view means."""
        return self.base.of_array(self.inside(index))

    def at(self, lane: tuple[int, ...], shape: tuple[int, ...]) -> View:
        """The view of the lane at the position ``lane`` of a vector of this shape; its sizes are numbers."""
        sizes = tuple(int(np.broadcast_to(np.asarray(size), shape)[lane]) for size in self.shape)
        return type(self)(self.base, self.selection, sizes)

    def blended(self, mask: Mask, old: View) -> View | None:
        """The view that is this one in the lanes of ``mask``, and ``old`` in the others; None if there is none."""
        if type(old) is not type(self) or old.base is not self.base or len(old.selection) != len(self.selection):
            return None
        selection = []
        for new, before in zip(self.selection, old.selection, strict=True):
            if isinstance(new, tuple) != isinstance(before, tuple):
                return None
            if not isinstance(new, tuple):
                selection.append(blend(mask, new, before))
                continue
            dimension, first, step = new
            dimension_before, first_before, step_before = before
            if dimension != dimension_before:
                return None
            selection.append((dimension, blend(mask, first, first_before), blend(mask, step, step_before)))
        sizes = (blend(mask, a, b) for a, b in zip(self.shape, old.shape, strict=True))
        return type(self)(self.base, tuple(selection), tuple(sizes))


class Reshaped(View):
    """All elements of ``base``, in C order, in another shape."""

    def inside(self, index: tuple[Any, ...]) -> tuple[Any, ...]:
        number: Any = np.int64(0)
        place: list[Any] = []
        for i, size in zip(index, self.shape, strict=True):
            number = number * size + i
        for size in reversed(self.base.shape[1:]):
            place.append((number % np.maximum(size, 1))[()])
            number = number // np.maximum(size, 1)
        return (number[()], *reversed(place)) if self.base.ndim else ()


class Retyped(View):
    """The elements of ``base`` as those of another type, which ``selection`` holds.

    In one dimension it may be a larger type: each of its elements then consists of several of ``base``.
    """

    @property
    def dtype(self) -> np.dtype[Any]:
        found: np.dtype[Any] = self.selection[0]
        return found

    @property
    def times(self) -> int:
        """How many elements of the base an element consists of."""
        return self.dtype.itemsize // self.base.dtype.itemsize

    def inside(self, index: tuple[Any, ...]) -> tuple[Any, ...]:
        return index if self.times == 1 else ((index[0] * self.times)[()],)

    def blended(self, mask: Mask, old: View) -> View | None:
        if type(old) is not Retyped or old.selection != self.selection:
            return None
        base = one_array(mask, self.base, old.base)
        return None if base is None else retyped(base, self.dtype.name)


def joined(parts: Any, dtype: np.dtype[Any]) -> np.ndarray:
    """Return the elements whose parts in memory these are."""
    return np.stack(np.broadcast_arrays(*parts), axis=-1).view(dtype)[..., 0]


def parted(value: Vector, dtype: np.dtype[Any], part: np.dtype[Any]) -> tuple[np.ndarray, ...]:
    """Return the parts of elements in memory."""
    whole = np.asarray(cast(value, dtype))
    return tuple(np.moveaxis(whole[..., None].copy().view(part), -1, 0))


def one_array(mask: Mask, new: Array | View, old: Array | View) -> Array | View | None:
    """The array, or part of one, that is ``new`` in the lanes of ``mask`` and ``old`` in the others, if it is one."""
    if new is old:
        return new
    if isinstance(new, Array) and isinstance(old, Array):
        return None
    return whole(new).blended(mask, whole(old))


def choose(mask: Mask, new: Any, old: Any) -> Any:
    """:func:`blend` for values that may be arrays, or tuples of them."""
    if mask is True or old is UNDEFINED or new is old:
        return new
    if new is UNDEFINED:
        return old
    if isinstance(new, tuple):
        return tuple(choose(mask, n, o) for n, o in zip(new, old, strict=True))
    if isinstance(new, (np.ndarray, np.generic)):
        return blend(mask, new, old)
    found: list[tuple[Any, Mask]] = []
    mine = ((array, intersection(lanes, mask)) for array, lanes in parts_of(new))
    others = ((array, without(lanes, mask)) for array, lanes in parts_of(old))
    for array, lanes in (*mine, *others):
        if lanes is False:
            continue
        for number, (other, there) in enumerate(found):
            if (one := one_array(lanes, array, other)) is not None:
                found[number] = one, union(there, lanes)
                break
        else:
            found.append((array, lanes))
    return found[0][0] if len(found) == 1 else Choice(tuple(found))


def item_at(items: tuple[Any, ...], index: Any, full: Callable[[Any], Any], mask: Mask, line: int, text: str) -> Any:
    """``items[index]`` of a tuple whose items have one type, for an index computed at run time."""
    count = len(items)
    wrong = full((index < -count) | (index >= count)) & full(mask)
    if wrong.any():
        found = np.broadcast_to(index, wrong.shape)[wrong][0]
        raise KernelError(
            f"the index of {text} is {found}, and the tuple has {count} items; keep it below {count}, with an if or %",
            line=line,
        )
    if type(index) is not np.ndarray:
        return items[int(index)]
    result = items[0]
    for i in range(1, count):
        result = choose((index == i) | (index == i - count), items[i], result)
    return result


def parts_of(array: Any) -> tuple[tuple[Any, Mask], ...]:
    return array.parts if isinstance(array, Choice) else ((array, True),)


def of_each(function: Callable[..., Any]) -> Callable[..., Any]:
    """Let a function of an array take a choice of several, too, or none."""

    @wraps(function)
    def lifted(array: Any, *rest: Any) -> Any:
        if array is UNDEFINED:
            return array
        if isinstance(array, Choice):
            return array.of_each(lambda part: function(part, *rest))
        return function(array, *rest)

    return lifted


@of_each
def view(array: Array | View, parts: tuple[Any, ...], line: int) -> View:
    """``array[parts]``: an index, or (start, stop, step) of a slice, for each dimension; None for a new one."""
    selection: list[Any] = []
    shape: list[Vector] = []
    for part in parts:
        if part is None:
            shape.append(np.int64(1))
        elif isinstance(part, tuple):
            first, last, by = part
            start, length, step = bounds(first, last, by, array.shape[len(selection)], line)
            selection.append((len(shape), start, step))
            shape.append(length)
        else:
            selection.append(part)
    return View(array, tuple(selection), tuple(shape))


@of_each
def transposed(array: Array | View) -> View:
    last = array.ndim - 1
    zero, one = np.int64(0), np.int64(1)
    selection = tuple((last - d, zero, one) for d in range(array.ndim))
    return View(array, selection, tuple(reversed(array.shape)))


def reshaped(array: Any, sizes: tuple[Vector, ...], full: Any, mask: Mask, line: int) -> View | Choice:
    """``array.reshape(sizes)``; as in numba, of an array without gaps, and one size may be -1."""
    if isinstance(array, Choice):
        among = array.among(mask)
        return Choice(tuple((reshaped(part, sizes, full, lanes, line), lanes) for part, lanes in among))
    if not contiguous(array):
        raise UnsupportedKernelError(
            f"numba reshapes arrays without gaps in C order alone, and {array.name} here is a part or a transposed "
            "array that is not; index it directly",
            line,
        )
    lanes = full(mask)
    wild = [np.asarray(size) < 0 for size in sizes]
    known = prod(np.where(w, 1, s) for w, s in zip(wild, sizes, strict=True))
    many = sum(each.astype(np.int64) for each in wild) > 1
    rest = array.size // np.maximum(known, 1)
    shape = tuple(np.where(w, rest, s)[()] for w, s in zip(wild, sizes, strict=True))
    bad = np.broadcast_to(many | (np.asarray(prod(shape)) != array.size), lanes.shape) & lanes
    if bad.any():
        asked, have = (int(np.broadcast_to(np.asarray(n), lanes.shape)[bad][0]) for n in (known, array.size))
        raise KernelError(
            f"{array.name} has {have} elements, which do not fill a shape of {asked}; reshape keeps their number",
            line=line,
        )
    return Reshaped(array, (), shape)


@of_each
def flattened(array: Array | View) -> View:
    """``array.flat``."""
    return Reshaped(array, (), (np.asarray(array.size, np.int64)[()],))


@of_each
def retyped(array: Array | View, dtype: str) -> View:
    """``array.view(dtype)`` of a type of the same size, or, of an array of one dimension, of a larger one."""
    times = np.dtype(dtype).itemsize // array.dtype.itemsize
    return Retyped(array, (np.dtype(dtype),), (array.size // times,) if times > 1 else tuple(array.shape))


def contiguous(array: Any, axis: int = 0) -> bool:
    """Whether the elements are neighbours in memory, in C order, along ``axis`` and the dimensions after it."""
    if isinstance(array, Choice):
        return all(contiguous(part, axis) for part, _ in array.parts)
    if isinstance(array, (Reshaped, Retyped)):
        return contiguous(array.base, axis * isinstance(array, Retyped))
    if not isinstance(array, View):
        wanted, gaps = 1, False
        for size, stride in zip(reversed(array.shape[axis:]), reversed(array.strides[axis:]), strict=True):
            gaps |= size > 1 and stride != wanted
            wanted *= size
        return not gaps
    order = [part[0] for part in array.selection if isinstance(part, tuple)]
    if order != sorted(order):
        return False
    first = 0  # the first dimension of the base with a slice of these dimensions
    while first < len(array.selection) and not _is_slice_from(array.selection[first], axis):
        first += 1
    slices = [part for part in array.selection[first:] if isinstance(part, tuple)]
    if len(slices) < len(array.selection) - first:  # after the first slice there is an index
        return False
    if not all(np.all(np.asarray(step) == 1) for _, _, step in slices):
        return False
    sizes = [array.shape[dimension] for dimension, _, _ in slices[1:]]
    wholes = zip(sizes, array.base.shape[first + 1 :], strict=False)
    if not all(np.all(np.asarray(size) == whole) for size, whole in wholes):
        return False
    return contiguous(array.base, first)


def _is_slice_from(part: Any, axis: int) -> bool:
    """Whether a part of a view's selection is a slice, along ``axis`` or a dimension after it."""
    return isinstance(part, tuple) and part[0] >= axis


def stride(array: Any, axis: int) -> Vector:
    """The bytes from one element to the next in a dimension."""
    if isinstance(array, Choice):
        return array.blended(lambda part: stride(part, axis))
    if isinstance(array, Retyped):
        return stride(array.base, axis) * np.int64(array.times)
    if isinstance(array, Reshaped):
        return np.int64(array.dtype.itemsize * prod(array.shape[axis + 1 :]))
    if isinstance(array, View):
        for dimension, part in enumerate(array.selection):
            if isinstance(part, tuple) and part[0] == axis:
                step = part[2]
                return stride(array.base, dimension) * step
        return np.int64(0)  # of a new dimension
    return np.int64(array.strides[axis] * array.itemsize)


@of_each
def as_view(array: Array | View) -> View:
    """The whole of an array, as a view."""
    return whole(array)


def whole(array: Array | View) -> View:
    if isinstance(array, View):
        return array
    found: View = view(array, ((None, None, None),) * array.ndim, 0)
    return found


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
    first, length = (np.asarray(value).astype(np.int64)[()] for value in (first, length))
    return first, length, step


def through(site: Site, array: View, index: tuple[Any, ...], mask: Mask) -> tuple[Any, tuple[Any, ...], Mask]:
    """Convert an access at ``index`` of a view to (array, index, mask); report and remove lanes outside the view."""
    inside = [np.asarray(i) for i in index]
    for d, size in enumerate(array.shape):
        at, where = inside[d].astype(np.int64), site.vector.full(mask)
        negative = (at < 0) & (at + size >= 0) & where
        at = np.where(at < 0, at + size, at)
        bad = ((at < 0) | (at >= size)) & where
        for hook, lanes in (("negative_index", negative), ("out_of_bounds", bad)):
            if lanes.any():
                first = site.vector.first_lane(lanes)
                site.engine.report(hook, site, array.at(first, site.vector.shape), index, d, lanes)
        if bad.any():
            mask = without(mask, bad)
        inside[d] = np.clip(at, 0, np.maximum(size - 1, 0))
    place = array.inside(tuple(inside))
    if mask is False or not isinstance(array.base, View):
        return array.base, place, mask
    return through(site, array.base, place, mask)


def of_parts(
    site: Site, array: Choice, index: tuple[Any, ...], mask: Mask, access: Callable[[Any, tuple[Any, ...], Mask], Any]
) -> Any:
    """Access each of the arrays in the lanes that have chosen it, or a part of it; return each lane's value."""
    accesses: list[tuple[Any, tuple[Any, ...], Mask]] = []
    for part, lanes in array.among(mask):
        place = index
        if isinstance(part, View) and part.root.dtype == part.dtype:
            part, place, lanes = through(site, part, index, lanes)
        for number, (other, at, there) in enumerate(accesses if lanes is not False else ()):
            if other is part:
                pairs = zip(place, at, strict=True)
                one = tuple(blend(lanes, np.int64(new), np.int64(old)) for new, old in pairs)
                accesses[number] = part, one, union(there, lanes)
                break
        else:
            accesses += [(part, place, lanes)] * (lanes is not False)
    zero = array.dtype.type(0)
    found = zero if site.width == 1 else (zero,) * site.width
    for part, place, lanes in accesses:
        value = access(part, place, lanes)
        found = found if value is None else choose(lanes, value, found)
    site.array = None  # which is not the only one: `WarpVector.check_progress`
    return found


def load_through(site: Site, array: Any, index: tuple[Any, ...], mask: Mask) -> Any:
    """The elements at ``index`` of a view, or of the arrays that the lanes have chosen; lanes outside of it get 0."""
    if isinstance(array, Choice):
        return of_parts(site, array, index, mask, partial(load_through, site))
    if not isinstance(array, View):
        return site.load(array, index, mask)
    base, place, lanes = through(site, array, index, mask)
    if lanes is False:
        return array.dtype.type(0)
    times = array.dtype.itemsize // base.dtype.itemsize
    if times > 1:
        value = joined(site.of_width(times).load(base, place, lanes), array.dtype)
    else:
        value = site.load(base, place, lanes)
        if base.dtype != array.dtype:
            value = value.view(array.dtype)
    return value if lanes is mask else np.where(lanes, value, array.dtype.type(0))


def store_through(site: Site, array: Any, index: tuple[Any, ...], value: Any, mask: Mask) -> None:
    """Store ``value`` at ``index`` of a view, or of the arrays that the lanes have chosen."""
    if isinstance(array, Choice):
        of_parts(site, array, index, mask, lambda part, at, lanes: store_through(site, part, at, value, lanes))
        return
    if not isinstance(array, View):
        site.store(array, index, value, mask)
        return
    base, place, lanes = through(site, array, index, mask)
    if lanes is not False:
        times = array.dtype.itemsize // base.dtype.itemsize
        if times > 1:
            site.of_width(times).store(base, place, parted(value, array.dtype, base.dtype), lanes)
            return
        if base.dtype != array.dtype:
            value = cast(value, array.dtype).view(base.dtype)
        site.store(base, place, value, lanes)


def atomic_through(
    site: Site, operation: str, array: Any, index: tuple[Any, ...], values: tuple[Any, ...], mask: Mask, *, used: bool
) -> Any:
    """Apply an atomic at ``index`` of a view, or of the arrays that the lanes have chosen."""
    if isinstance(array, Choice):
        update = partial(atomic_through, site, operation, values=values, used=used)
        return of_parts(site, array, index, mask, lambda part, at, lanes: update(part, at, mask=lanes))
    if not isinstance(array, View):
        return site.atomic(operation, array, index, values, mask, used)
    base, place, lanes = through(site, array, index, mask)
    if lanes is False:
        return array.dtype.type(0)
    if base.dtype.itemsize != array.dtype.itemsize:
        raise UnsupportedKernelError(
            "the simulator runs no atomic on dynamic shared memory that has smaller elements, too; use one size",
            site.line,
        )
    return site.atomic(operation, base, place, values, lanes, used, dtype=array.dtype)
