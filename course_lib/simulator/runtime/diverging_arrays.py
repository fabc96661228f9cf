"""Arrays of which the lanes of a vector have chosen different ones, as in ``x = a if i % 2 else b``."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

import numpy as np

from ..findings import UnsupportedKernelError
from .arrays import Array
from .masks import Mask, Vector, blend, intersection


class Choice:
    """The arrays, or parts of arrays, that one variable holds. An access of it is one of each, in its own lanes.

    ``parts``: (array, lanes), of one type and number of dimensions; no lane is in two of them.
    """

    def __init__(self, parts: tuple[tuple[Any, Mask], ...]) -> None:
        self.parts = parts
        self.ndim: int = parts[0][0].ndim
        self._latest: tuple[Mask, tuple[tuple[Any, Mask], ...]] = (False, ())

    def among(self, mask: Mask) -> tuple[tuple[Any, Mask], ...]:
        """The arrays of the lanes of ``mask``, each with its lanes: the same masks as for the latest ``mask``."""
        mask_then, found = self._latest
        if mask_then is not mask:
            here = ((array, intersection(lanes, mask)) for array, lanes in self.parts)
            found = tuple((array, lanes) for array, lanes in here if lanes is not False)
            self._latest = mask, found
        return found

    def of_each(self, function: Callable[[Any], Any]) -> Choice:
        """What ``function`` makes of each array, for its lanes."""
        return Choice(tuple((function(array), lanes) for array, lanes in self.parts))

    def blended(self, function: Callable[[Any], Any]) -> Any:
        """The number that ``function`` gives of each lane's array."""
        (first, _), *others = self.parts
        found = function(first)
        for array, lanes in others:
            other = function(array)
            if type(other) is np.ndarray or type(found) is np.ndarray or other != found:
                found = blend(lanes, np.int64(other), np.int64(found))
        return found

    @property
    def shape(self) -> tuple[Vector, ...]:
        return tuple(self.blended(partial(_size_in, d)) for d in range(self.ndim))

    @property
    def size(self) -> Vector:
        return prod(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        found: np.dtype[Any] = self.parts[0][0].dtype
        return found

    @property
    def name(self) -> str:
        return " or ".join(dict.fromkeys(array.name for array, _ in self.parts))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name not in SINGLE:
            raise AttributeError(name)
        raise UnsupportedKernelError(
            f"threads of one warp have chosen different arrays, {self.name}, where all of them need one; "
            "pass one array with an index that differs"
        )


def _size_in(dimension: int, array: Any) -> Vector:
    return array.shape[dimension]


#: What only a single array has.
SINGLE = {*vars(Array), "space", "strides", "itemsize", "watchers", "address", "host"}


def array_of(array: Any, mask: Mask) -> Any:
    """The array of the lanes of ``mask``: the one, if they have chosen the same."""
    if type(array) is not Choice:
        return array
    found = array.among(mask)
    return found[0][0] if len(found) == 1 else array
