"""Global, shared and local memory: the arrays a kernel sees, and how lane vectors read and write them.

The elements of an access are given by a ``pattern`` and a ``base`` (see :mod:`access`); they are inside the array.
"""

from math import prod
from typing import Any, Literal

import numpy as np

from ..findings import LaunchError
from ..launch_shape import Chunk
from .arrays import Array, Pattern, c_strides, spread
from .lane_vector import LaneVector
from .masks import Mask, union, widened


class GlobalArray(Array):
    """An argument of the launch; shares the memory of the caller's NumPy array.

    ``memory``: the array whose keys it shares, of another argument in the same allocation; else the array itself.
    ``written``: for each word, its bytes that are written, if some are not.
    """

    space = "global"
    #: The key of the element at index 0.
    first = 0
    written: np.ndarray | None = None

    def __init__(self, name: str, array: np.ndarray) -> None:
        strides = tuple(s // array.itemsize for s in array.strides)
        super().__init__(name, array.dtype, array.shape, strides)
        self.host = array
        self.memory: GlobalArray = self
        self.names: tuple[str, ...] = (name,)  # of all arguments that share its keys
        self.aliases: str | None = None  # another argument that shares this memory, but not the keys
        order: Literal["C", "F"] = "C" if array.flags.c_contiguous else "F"
        self.flat = self._elements(array, order)
        if array.size and order == "C":
            self.strides = c_strides(self.shape)

    def _elements(self, array: np.ndarray, order: Literal["C", "F"]) -> np.ndarray:
        """Return all words of its memory."""
        return array.reshape(-1, order=order)

    def gather(self, pattern: Pattern, base: int) -> Any:
        if pattern.offsets is None:
            return self.flat[base + self.first]
        return self.flat[base + self.first :].take(pattern.offsets)

    def scatter(self, pattern: Pattern, base: int, value: Any) -> None:
        if pattern.offsets is None and pattern.mask is True:  # all lanes store to one element: the last lane's value
            self.storage()[base + self.first] = value.item(-1) if type(value) is np.ndarray else value
        else:
            super().scatter(pattern, base, value)

    def storage(self) -> np.ndarray:
        """All elements, in the order of their keys. Raises LaunchError if the kernel may not store to them."""
        if self.aliases:
            raise LaunchError(
                f"the arguments {self.aliases!r} and {self.name!r} share memory and the kernel writes it; a GPU gets a "
                "copy of each host array, so pass two separate arrays, or one array of cuda.to_device twice"
            )
        if not self.flat.flags.writeable:
            raise LaunchError(f"the kernel writes {self.name!r}, which is read-only; pass a copy")
        return self.flat

    def keys(self, pattern: Pattern, base: int) -> np.ndarray:
        return np.asarray(pattern.elements(base + self.first))

    def word_count(self) -> int:
        """The number of words, each of which has a key."""
        return self.flat.size

    def index_of_key(self, key: int) -> tuple[int, ...]:
        return self.index_of(int(key) - self.first)


class AllocatedArray(GlobalArray):
    """An argument in a GPU's memory: a part of an allocation, whose words have the keys.

    ``memory`` holds the bytes of the allocation, ``written`` which of them were written. ``copied``: a GPU gets a copy.
    """

    def __init__(
        self, name: str, array: np.ndarray, memory: np.ndarray, written: np.ndarray, offset: int, copied: bool = False
    ) -> None:
        skipped = slice(offset % array.itemsize, None)
        whole = memory[skipped]
        self._words = whole[: whole.size // array.itemsize * array.itemsize].view(array.dtype)
        super().__init__(name, array)
        self.origin, self.first = offset, offset // array.itemsize
        self.strides = tuple(stride // array.itemsize for stride in array.strides)
        self.allocation, self.copied = memory, copied
        if not written.all():
            self.written = written[skipped][: self._words.nbytes].reshape(-1, array.itemsize)

    def _elements(self, array: np.ndarray, order: Literal["C", "F"]) -> np.ndarray:
        return self._words

    def gather(self, pattern: Pattern, base: int) -> Any:
        if pattern.offsets is None or min(self.strides, default=0) >= 0:
            return super().gather(pattern, base)
        return self.flat.take(self.keys(pattern, base))

    def shares_keys(self, other: GlobalArray) -> bool:
        """Whether equal keys are equal addresses: of elements of one type in one allocation."""
        return (
            isinstance(other, AllocatedArray)
            and self.allocation is other.allocation
            and not self.copied
            and self.dtype == other.dtype
            and (self.origin - other.origin) % self.itemsize == 0
        )


class FieldArray(GlobalArray):
    """A field of an array of records: its elements, at their true addresses."""

    def __init__(self, name: str, records: np.ndarray, field: str, written: np.ndarray | None = None) -> None:
        whole, self.origin = records.dtype.fields[field][:2]  # type: ignore[index]
        dtype = whole.base
        order: Literal["C", "F"] = "C" if records.flags.c_contiguous else "F"
        super().__init__(name, records[field])
        self.records, self.strides = records, tuple(s // dtype.itemsize for s in records.strides)
        self.strides += c_strides(whole.shape)
        of_bytes = records.reshape(-1, order=order).view(np.uint8)[self.origin :]
        self.flat = of_bytes[: of_bytes.size // dtype.itemsize * dtype.itemsize].view(dtype)
        if written is not None and not written.all():
            self.written = written[self.origin :][: self.flat.nbytes].reshape(-1, dtype.itemsize)


class SharedArray(Array):
    """A shared array of every block of a chunk: ``data`` is (elements, block rows, block columns)."""

    space = "shared"

    def __init__(
        self,
        name: str,
        dtype: Any,
        shape: tuple[int, ...],
        chunk: Chunk,
        strides: tuple[int, ...] | None = None,
        extent: int | None = None,
    ) -> None:
        super().__init__(name, dtype, shape, strides)
        self.chunk = chunk
        self.extent = self.size if extent is None else extent  # elements from its first to its last
        self.data = np.full((self.extent, *chunk.shape), poison(self.dtype), dtype=self.dtype)
        self.address = 0  # of its first byte, in the block's shared memory
        self.alignment = 0  # bytes, as the kernel asks for them
        self.block_numbers = chunk.block_numbers

    def gather(self, pattern: Pattern, base: int) -> Any:
        offsets = pattern.offsets
        if offsets is None:
            return self.data[base].copy()[None, None]
        if pattern.same_in_blocks:
            return self.data[base:].take(offsets[:, :, 0, 0], axis=0)
        return super().gather(pattern, base)

    def scatter(self, pattern: Pattern, base: int, value: Any) -> None:
        if pattern.mask is True and pattern.same_in_blocks and pattern.offsets is not None:
            offsets = widened(pattern.offsets, (*pattern.vector.lanes.shape, 1, 1)).reshape(-1) + base
            self.data[offsets] = widened(value, pattern.vector.shape).reshape(-1, *self.chunk.shape)
        else:
            super().scatter(pattern, base, value)

    def keys(self, pattern: Pattern, base: int) -> Any:
        return pattern.elements(base) * self.chunk.count + self.block_numbers

    def storage(self) -> np.ndarray:
        return self.data.reshape(-1)

    def word_count(self) -> int:
        return self.extent * self.chunk.count

    def index_of_key(self, key: int) -> tuple[int, ...]:
        return self.index_of(int(key) // self.chunk.count)


class SharedField(SharedArray):
    """A field of a shared array of records, at its true addresses: byte ``origin`` of each record of ``size`` bytes."""

    def __init__(
        self, name: str, dtype: Any, shape: tuple[int, ...], chunk: Chunk, *, origin: int, size: int, ndim: int
    ) -> None:
        step, records = size // dtype.itemsize, shape[:ndim]
        strides = (*(step * s for s in c_strides(records)), *c_strides(shape[ndim:]))
        super().__init__(name, dtype, shape, chunk, strides, prod(records) * step - origin // dtype.itemsize)
        self.origin = origin


class LocalArray(Array):
    """A local array: each thread has its own.

    As long as every index is the same for all lanes (as in unrolled and counted loops), an element is one immutable
    lane vector in ``cells``, and a store only replaces it. The first index that differs between lanes converts
    the cells to one dense ``data`` array.
    """

    space = "local"

    def __init__(self, name: str, dtype: Any, shape: tuple[int, ...], vector: LaneVector, mask: Mask) -> None:
        super().__init__(name, dtype, shape)
        self.vector, self.anchor = vector, mask
        self.cells = [poison(self.dtype)] * self.size
        self.written = [False] * self.size
        self.data: Any = None

    def extend(self, mask: Mask) -> None:
        """Add lanes that execute the declaration."""
        if self.anchor is True:
            return
        if mask is not True and not (mask & ~self.anchor).any():
            return
        if self.cells is not None:
            self.written = [self.anchor if written is True else written for written in self.written]
        self.anchor = union(self.anchor, mask)

    def _densify(self) -> None:
        if self.cells is None:
            return
        shape = self.vector.shape
        self.data = np.empty((self.size, *shape), self.dtype)
        written = np.empty((self.size, *shape), bool)
        for i, (cell, mask) in enumerate(zip(self.cells, self.written, strict=True)):
            self.data[i], written[i] = cell, mask
        self.written, self.cells = written, None

    def gather(self, pattern: Pattern, base: int) -> Any:
        if pattern.offsets is None:
            return self.cells[base] if self.cells is not None else self.data[base].copy()
        return super().gather(pattern, base)

    def scatter(self, pattern: Pattern, base: int, value: Any) -> None:
        if pattern.offsets is None and self.cells is not None:
            whole = pattern.mask is self.anchor
            self.cells[base] = value if whole else np.where(pattern.mask, value, self.cells[base])
            self.written[base] = True if whole else union(self.written[base], pattern.mask)
            return
        self._densify()
        keys, value = spread(self.keys(pattern, base), value, pattern.mask)
        self.data.reshape(-1)[keys] = value
        self.written.reshape(-1)[keys] = True

    def cell(self, index: tuple[Any, ...]) -> int | None:
        """The offset of the element at an index that is the same for all lanes and in bounds, else None."""
        base = 0
        for i, size, stride in zip(index, self.shape, self.strides):  # noqa: B905 (hot)
            if type(i) is np.ndarray:
                return None
            i = int(i)
            if not 0 <= i < size:
                return None
            base += i * stride
        return base

    def keys(self, pattern: Pattern, base: int) -> Any:
        vector = self.vector
        return pattern.elements(base) * vector.size + np.arange(vector.size).reshape(vector.shape)

    def storage(self) -> np.ndarray:
        self._densify()
        return self.data.reshape(-1)

    def unwritten(self, pattern: Pattern, base: int) -> Any:
        """Mask of the active lanes that read an element they have not written; False for none."""
        if self.cells is not None and pattern.offsets is None:
            written = self.written[base]
            if written is True or written is pattern.mask:
                return False
            missing = np.broadcast_to(~np.asarray(written), self.vector.shape) & pattern.mask
        else:
            self._densify()
            missing = ~self.written.reshape(-1).take(self.keys(pattern, base)) & pattern.mask
        return missing if missing.any() else False


def poison(dtype: np.dtype) -> Any:
    """The initial value of shared and local memory: NaN (in both parts), the largest integer, or True."""
    if dtype.kind in "fc":
        return dtype.type(np.nan) if dtype.kind == "f" else dtype.type(complex(np.nan, np.nan))
    return dtype.type(True) if dtype.kind == "b" else dtype.type(np.iinfo(dtype).max)
