"""Statements that store to all elements of an array, one after another: ``tile[:] = 0``, ``np.sin(x, out)``."""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..findings import KernelError, UnsupportedKernelError
from .access import Site
from .array_views import View, as_view, contiguous, load_through, store_through
from .arrays import Array
from .diverging_arrays import Choice
from .loops import IterationBudget
from .masks import Mask, Vector, blend, split


def elementwise(
    budget: IterationBudget,
    sites: list[Site],
    target: Array | View | Choice,
    function: Callable[..., Vector],
    inputs: tuple[Any, ...],
    mask: Mask,
    *,
    line: int,
    exact: bool = False,
) -> None:
    """Store ``function(*inputs)`` in all elements of ``target``, in C order.

    An input is a number (a lane vector), or an array whose shape broadcasts to that of the target; if ``exact``, it is
    the same, and the elements are neighbours. ``sites`` are those of the arrays, then that of the target.
    """
    *loads, site = sites
    target = as_view(target)
    arrays = [as_view(array) for array in inputs if isinstance(array, (Array, View, Choice))]
    for array in arrays:
        _check_shape(array, target, site.vector.full(mask), exact, line)
        if exact and not contiguous(array):
            raise UnsupportedKernelError(
                f"numba copies arrays without gaps alone, and this part of {array.name} has gaps; copy single elements",
                line,
            )
    most = [_largest(size, site.vector.full(mask)) for size in target.shape]
    for index in np.ndindex(*most):
        budget.spend(line)
        here = mask
        for i, size in zip(index, target.shape, strict=True):
            if type(size) is np.ndarray:
                here, _ = split(here, i < size)
        if here is False:
            continue
        own = zip(loads, arrays, strict=True)
        found = iter([load_through(load, array, _broadcast(index, array), here) for load, array in own])
        values = [next(found) if isinstance(i, (Array, View, Choice)) else i for i in inputs]
        store_through(site, target, tuple(map(np.int64, index)), function(*values), here)


def summed(
    budget: IterationBudget, site: Site, array: Array | View | Choice, dtype: np.dtype[Any], mask: Mask, line: int
) -> Vector:
    """The sum of all elements of an array, in C order, in ``dtype``."""
    array = as_view(array)
    total: Vector = dtype.type(0)
    for index in np.ndindex(*(_largest(size, site.vector.full(mask)) for size in array.shape)):
        budget.spend(line)
        here = mask
        for i, size in zip(index, array.shape, strict=True):
            if type(size) is np.ndarray:
                here, _ = split(here, i < size)
        if here is not False:
            value = load_through(site, array, tuple(map(np.int64, index)), here).astype(dtype)
            total = blend(here, total + value, total)
    return total


def _largest(size: Vector, lanes: np.ndarray) -> int:
    return int(np.broadcast_to(np.asarray(size), lanes.shape)[lanes].max(initial=0))


def _broadcast(index: tuple[int, ...], array: Any) -> tuple[Vector, ...]:
    """Map ``index`` of the target to an index of ``array``: 0 in dimensions of one element."""
    own = index[len(index) - array.ndim :]
    found = []
    for i, size in zip(own, array.shape, strict=True):
        found.append(np.where(np.asarray(size) == 1, 0, i)[()])
    return tuple(found)


def _check_shape(array: Any, target: Any, lanes: np.ndarray, exact: bool, line: int) -> None:
    sizes = zip(array.shape, target.shape[target.ndim - array.ndim :], strict=True)
    for have, want in sizes:
        size = np.asarray(have)
        unfit = size != want
        if not exact:
            unfit = unfit & (size != 1)
        wrong = np.broadcast_to(unfit, lanes.shape) & lanes
        if wrong.any():
            raise KernelError(
                f"a dimension of {array.name} has {_largest(have, wrong)} elements, and that of {target.name} "
                f"{_largest(want, wrong)}, in which they are to be stored; use parts of one shape",
                line=line,
            )
