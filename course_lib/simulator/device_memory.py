"""Arrays in a GPU's memory: parts of allocations, in which it is known what was written.

A launch takes an :class:`AllocationView` as it takes a NumPy array. It keeps its place in its allocation, so its
addresses are the true ones; two arguments may be parts of one allocation; and a read of what nothing wrote is a
finding.
"""

from __future__ import annotations

import weakref
from math import prod
from typing import Any

import numpy as np

from .runtime.memory import poison as poison


class Allocation:
    """Memory of a GPU: its bytes, and for each of them 1 if it was written, else 0."""

    #: The allocations that there are, to find that of an address.
    _all: weakref.WeakSet[Allocation] = weakref.WeakSet()

    def __init__(self, memory: np.ndarray, written: bool) -> None:
        self.bytes = memory
        self.written = np.full(memory.size, written, np.uint8)
        self._all.add(self)

    @property
    def address(self) -> int:
        """The address of the first byte."""
        return int(self.bytes.__array_interface__["data"][0])

    def holds(self, array: np.ndarray) -> bool:
        """Whether all elements of an array are here."""
        first, last = _bounds(array.shape, array.strides, array.itemsize)
        begin = array.__array_interface__["data"][0] - self.address
        return bool(begin + first >= 0 and begin + last <= self.bytes.size)

    @classmethod
    def of(cls, array: np.ndarray) -> Allocation | None:
        """Return the allocation that an array is in, or None."""
        return next((each for each in cls._all if array.size and each.holds(array)), None)


class AllocationView:
    """A part of an allocation: ``offset`` is the byte of its first element, ``strides`` are in bytes.

    ``copied``: a launch gets a copy of it, as of each array of the host. ``output``: no copy, but memory that nothing
    wrote, which is copied to the host after the launch, as of ``cuda.Out(array)``.
    """

    def __init__(self, allocation: Allocation, values: np.ndarray, copied: bool = False, output: bool = False) -> None:
        self.allocation, self.copied, self.output = allocation, copied, output
        self.shape, self.strides, self.dtype = values.shape, values.strides, values.dtype
        self.offset = int(values.__array_interface__["data"][0]) - allocation.address if values.size else 0

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return prod(self.shape)

    @property
    def values(self) -> np.ndarray:
        """The elements, as a NumPy array in the allocation."""
        return self._view(self.allocation.bytes, self.dtype)

    @property
    def flags(self) -> np.ndarray:
        """For each element, its bytes of ``Allocation.written``; as opaque elements, to be assigned."""
        return self._view(self.allocation.written, np.dtype((np.void, self.dtype.itemsize)))

    @property
    def written(self) -> np.ndarray:
        """Whether each element was written."""
        of_bytes = np.frombuffer(self.flags.tobytes(), np.uint8)
        return np.asarray(of_bytes.reshape(*self.shape, self.dtype.itemsize).all(axis=-1))

    def mark(self) -> None:
        """Note that all elements are written."""
        self.flags[...] = np.void(b"\x01" * self.dtype.itemsize)

    def forget(self) -> None:
        """Make of all elements what nothing wrote."""
        self.flags[...] = np.void(bytes(self.dtype.itemsize))
        self.values[...] = unwritten(self.dtype)

    def _view(self, memory: np.ndarray, dtype: np.dtype[Any]) -> np.ndarray:
        return np.ndarray(self.shape, dtype, memory, self.offset, self.strides)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.array(self.values, dtype) if copy else np.asarray(self.values, dtype)

    def __repr__(self) -> str:
        return f"AllocationView({self.shape}, {self.dtype.str}, strides={self.strides}, offset={self.offset})"


def allocate(shape: Any, dtype: Any, strides: Any = None, order: Any = "C") -> AllocationView:
    """Return an array in an allocation of its own, that nothing wrote: NaN, the largest integer, or True."""
    made = np.dtype(dtype)
    extent = (shape,) if np.ndim(shape) == 0 else tuple(shape)
    if strides is None:
        strides = np.empty(extent, made, order).strides
    else:
        strides = (strides,) if np.ndim(strides) == 0 else tuple(strides)
    first, last = _bounds(extent, strides, made.itemsize)
    memory = np.full(last - first, 0xFF, np.uint8)
    if made.subdtype is None and memory.size % made.itemsize == 0:
        memory.view(made)[...] = unwritten(made)
    values = np.ndarray(extent, made, memory, -first, strides)
    return AllocationView(Allocation(memory, False), values)


def unwritten(dtype: np.dtype[Any]) -> Any:
    """Return what an element holds that nothing wrote: NaN, the largest integer, or True; else bytes of 255."""
    return poison(dtype) if dtype.kind in "biufc" else np.frombuffer(b"\xff" * dtype.itemsize, dtype)[0]


def bytes_of(array: np.ndarray) -> np.ndarray:
    """Return the memory of an array without gaps, byte by byte."""
    return array.ravel(order="K").view(np.uint8) if array.size else np.zeros(0, np.uint8)


def _bounds(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int) -> tuple[int, int]:
    """Return the first and the last byte, plus 1, of an array, counted from its first element."""
    if 0 in shape:
        return 0, 0
    ends = [(size - 1) * stride for size, stride in zip(shape, strides, strict=True)]
    first = sum(min(end, 0) for end in ends)
    last = sum(max(end, 0) for end in ends)
    return first, last + itemsize
