"""Global, shared and local memory: the arrays a kernel sees, and how lane vectors read and write them.

Where an access goes is a ``pattern`` and a ``base`` (see :mod:`access`), known to lie inside the array.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..findings import LaunchError
from .masks import Mask, unite, widened

if TYPE_CHECKING:
    from ..observer import Watcher
    from .access import Pattern
    from .geometry import Chunk
    from .warp import WarpVector


def c_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides in elements of a C-ordered array."""
    return tuple(prod(shape[d + 1 :]) for d in range(len(shape)))


def replaced_if(comparison: Callable[[Any, Any], Any], nan_too: bool) -> Callable[[Any, Any], Any]:
    """``old``, or ``value`` where the comparison holds; where ``old`` is NaN, ``value`` only if ``nan_too``.

    Source: numba's ``___numba_atomic_*`` functions. A comparison with NaN is false, so a NaN never replaces a number.
    """

    def update(old: Any, value: Any) -> Any:
        better = comparison(value, old)
        return np.where(better | (old != old) if nan_too else better, value, old)

    return update


#: ``new = f(old, value)``.
ATOMIC: dict[str, Callable[..., Any]] = {
    "add": np.add,
    "sub": np.subtract,
    "and_": np.bitwise_and,
    "or_": np.bitwise_or,
    "xor": np.bitwise_xor,
    "max": replaced_if(np.greater, nan_too=False),
    "min": replaced_if(np.less, nan_too=False),
    "nanmax": replaced_if(np.greater, nan_too=True),
    "nanmin": replaced_if(np.less, nan_too=True),
    "exch": lambda old, value: value,
    "inc": lambda old, value: np.where(old >= value, 0, old + 1).astype(old.dtype),
    "dec": lambda old, value: np.where((old == 0) | (old > value), value, old - 1).astype(old.dtype),
    "cas": lambda old, expected, value: np.where(old == expected, value, old),
    "compare_and_swap": lambda old, expected, value: np.where(old == expected, value, old),
}
#: The same as NumPy's ufuncs, which update repeated elements one after another; ATOMIC differs for NaN.
IN_PLACE: dict[str, np.ufunc] = {
    "add": np.add,
    "sub": np.subtract,
    "and_": np.bitwise_and,
    "or_": np.bitwise_or,
    "xor": np.bitwise_xor,
    "nanmax": np.fmax,
    "nanmin": np.fmin,
}
IN_PLACE_OF_INTEGERS = IN_PLACE | {"max": np.maximum, "min": np.minimum}


class Array:
    """What a kernel sees as an array. ``strides`` are in elements; ``watchers`` see each access in order.

    The spaces say how lanes ``gather`` and ``scatter`` elements. ``keys`` number the words of memory, so that two
    accesses meet where their keys are equal: blocks have shared words of their own, and threads local ones.
    """

    space = ""
    #: The elements of a local array, one lane vector each; None where the array is kept otherwise.
    cells: list[Any] | None = None
    #: Which lanes have written them; and those that executed the declaration (local arrays alone have these).
    written: Any = None
    anchor: Mask = False

    def __init__(self, name: str, dtype: Any, shape: tuple[int, ...], strides: tuple[int, ...] | None = None) -> None:
        self.name, self.dtype, self.shape = name, np.dtype(dtype), tuple(int(s) for s in shape)
        self.ndim, self.size = len(self.shape), prod(self.shape)
        self.strides = c_strides(self.shape) if strides is None else strides
        self.itemsize = self.dtype.itemsize
        self.watchers: tuple[Watcher, ...] = ()

    def gather(self, vector: WarpVector, pattern: Pattern, base: int) -> Any:
        """What the lanes load: a vector, or one value for all."""
        raise NotImplementedError

    def scatter(self, vector: WarpVector, pattern: Pattern, base: int, value: Any) -> None:
        """Store what the lanes bring; where they meet the last one stays."""
        raise NotImplementedError

    def keys(self, vector: WarpVector, pattern: Pattern, base: int) -> Any:
        """The number of the word that each lane means."""
        raise NotImplementedError

    def storage(self) -> np.ndarray:
        """All elements, in the order that ``keys`` number them."""
        raise NotImplementedError

    def cell(self, index: tuple[Any, ...]) -> int | None:
        """See LocalArray."""
        return None

    def unwritten(self, vector: WarpVector, pattern: Pattern, base: int) -> Mask:
        """See LocalArray."""
        return False

    def element_name(self, index: Any) -> str:
        """``A[1, 2]``, for messages."""
        return f"{self.name}[{', '.join(map(str, index)) or '()'}]"

    def update(
        self, vector: WarpVector, pattern: Pattern, base: int, operation: str, values: Sequence[Any], used: bool
    ) -> Any:
        """Read, change and write elements as atomics do; where lanes meet, the lower lane goes first."""
        keys = self.keys(vector, pattern, base)
        shape = vector.shape
        keys = np.broadcast_to(keys, shape)
        mask = np.broadcast_to(np.asarray(pattern.mask), shape)
        order = np.argsort(vector.ids[mask], kind="stable")
        keys = keys[mask][order]
        values = [np.broadcast_to(v, shape)[mask][order] for v in values]
        data = self.storage()
        in_place = IN_PLACE if self.dtype.kind in "fc" else IN_PLACE_OF_INTEGERS
        if not used and operation in in_place:
            with np.errstate(all="ignore"):
                in_place[operation].at(data, keys, values[0])
            return self.dtype.type(0)
        by_key = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.r_[True, np.diff(keys[by_key]) != 0])
        rank = np.empty(len(keys), np.int64)
        rank[by_key] = np.arange(len(keys)) - np.repeat(starts, np.diff(np.r_[starts, len(keys)]))
        old = np.empty(len(keys), self.dtype)
        rounds = np.argsort(rank, kind="stable")
        edges = np.r_[0, np.cumsum(np.bincount(rank))]
        for a, b in zip(edges[:-1], edges[1:], strict=True):
            lanes = rounds[a:b]
            old[lanes] = data[keys[lanes]]
            with np.errstate(all="ignore"):
                data[keys[lanes]] = ATOMIC[operation](old[lanes], *(v[lanes] for v in values))
        result = np.zeros(shape, self.dtype)
        back = np.empty(len(keys), self.dtype)
        back[order] = old
        result[mask] = back
        return result

    def index_of(self, offset: int) -> tuple[int, ...]:
        """The index, one number a dimension, of the element at ``offset``; for an array of offsets, arrays of them."""
        index = [0] * self.ndim
        for d in sorted(range(self.ndim), key=lambda d: (-self.strides[d], d)):
            if self.shape[d] > 1 and self.strides[d]:
                index[d], offset = divmod(offset, self.strides[d])
        return tuple(index)


class GlobalArray(Array):
    """An argument of the launch; shares the memory of the caller's NumPy array."""

    space = "global"

    def __init__(self, name: str, array: np.ndarray) -> None:
        strides = tuple(s // array.itemsize for s in array.strides)
        super().__init__(name, array.dtype, array.shape, strides)
        self.host = array
        order: Literal["C", "F"] = "C" if array.flags.c_contiguous else "F"
        self.flat = array.reshape(-1, order=order)
        self.aliases: str | None = None  # another argument that shares this memory
        if array.size and order == "C":
            self.strides = c_strides(self.shape)

    def gather(self, vector: WarpVector, pattern: Pattern, base: int) -> Any:
        if pattern.offsets is None:
            return self.flat[base]
        return self.flat[base:].take(pattern.offsets)

    def scatter(self, vector: WarpVector, pattern: Pattern, base: int, value: Any) -> None:
        self._check_writable()
        if pattern.offsets is None and pattern.mask is True:  # all lanes store to one element, and the last one stays
            self.flat[base] = value.item(-1) if type(value) is np.ndarray else value
            return
        keys, value = spread(pattern.elements(base), value, pattern.mask)
        self.flat[keys] = value

    def _check_writable(self) -> None:
        if self.aliases:
            raise LaunchError(
                f"the arguments {self.aliases!r} and {self.name!r} share memory and the kernel writes "
                "it; a GPU gets a copy of each host array, so pass two separate arrays"
            )
        if not self.flat.flags.writeable:
            raise LaunchError(f"the kernel writes the array {self.name!r}, which is read-only; pass a copy")

    def keys(self, vector: WarpVector, pattern: Pattern, base: int) -> np.ndarray:
        return np.asarray(pattern.elements(base))

    def storage(self) -> np.ndarray:
        self._check_writable()
        return self.flat

    def words(self) -> int:
        """How many keys there are."""
        return self.size

    def index_of_key(self, key: int) -> tuple[int, ...]:
        """The index of the element that has this key."""
        return self.index_of(int(key))


class ConstantArray(GlobalArray):
    """An array from outside the kernel, which its code holds as it was when it was compiled: nobody writes it."""

    space = "constant"


class SharedArray(Array):
    """A shared array of every block of a chunk: ``data`` is (elements, block rows, block columns)."""

    space = "shared"

    def __init__(self, name: str, dtype: Any, shape: tuple[int, ...], chunk: Chunk) -> None:
        super().__init__(name, dtype, shape)
        self.chunk = chunk
        self.data = np.full((self.size, *chunk.shape), poison(self.dtype), dtype=self.dtype)
        self.address = 0  # of its first byte, in the block's shared memory
        self.alignment = 0  # bytes, as the kernel asks for them
        self.places = chunk.places

    def gather(self, vector: WarpVector, pattern: Pattern, base: int) -> Any:
        offsets = pattern.offsets
        if offsets is None:
            return self.data[base].copy()[None, None]
        if pattern.same_in_blocks:
            return self.data[base:].take(offsets[:, :, 0, 0], axis=0)
        return self.data.reshape(-1).take(self.keys(vector, pattern, base))

    def scatter(self, vector: WarpVector, pattern: Pattern, base: int, value: Any) -> None:
        if pattern.mask is True and pattern.same_in_blocks and pattern.offsets is not None:
            offsets = np.broadcast_to(pattern.offsets, (*vector.lanes.shape, 1, 1)).reshape(-1) + base
            self.data[offsets] = np.broadcast_to(value, vector.shape).reshape(-1, *self.chunk.shape)
            return
        keys, value = spread(self.keys(vector, pattern, base), value, pattern.mask)
        self.data.reshape(-1)[keys] = value

    def keys(self, vector: WarpVector, pattern: Pattern, base: int) -> Any:
        return pattern.elements(base) * self.chunk.count + self.places

    def storage(self) -> np.ndarray:
        return self.data.reshape(-1)

    def words(self) -> int:
        return self.size * self.chunk.count

    def index_of_key(self, key: int) -> tuple[int, ...]:
        return self.index_of(int(key) // self.chunk.count)


class LocalArray(Array):
    """An array of every thread's own.

    While every index is the same for all lanes (as in unrolled and counted loops) an element is one immutable
    lane vector in ``cells``, and storing it costs nothing. The first index that differs between lanes turns
    the cells into one dense ``data`` array.
    """

    space = "local"

    def __init__(self, name: str, dtype: Any, shape: tuple[int, ...], vector: WarpVector, mask: Mask) -> None:
        super().__init__(name, dtype, shape)
        self.vector, self.anchor = vector, mask
        self.cells = [poison(self.dtype)] * self.size
        self.written = [False] * self.size
        self.data: Any = None

    def extend(self, mask: Mask) -> None:
        """The declaration is executed again, in lanes that may be others."""
        if self.anchor is True or mask is not True and not (mask & ~self.anchor).any():
            return
        if self.cells is not None:
            self.written = [self.anchor if written is True else written for written in self.written]
        self.anchor = unite(self.anchor, mask)

    def _densify(self) -> None:
        if self.cells is None:
            return
        shape = self.vector.shape
        self.data = np.empty((self.size, *shape), self.dtype)
        written = np.empty((self.size, *shape), bool)
        for i, (cell, mask) in enumerate(zip(self.cells, self.written, strict=True)):
            self.data[i], written[i] = cell, mask
        self.written, self.cells = written, None

    def gather(self, vector: WarpVector, pattern: Pattern, base: int) -> Any:
        if pattern.offsets is None:
            return self.cells[base] if self.cells is not None else self.data[base].copy()
        self._densify()
        return self.data.reshape(-1).take(self.keys(vector, pattern, base))

    def scatter(self, vector: WarpVector, pattern: Pattern, base: int, value: Any) -> None:
        if pattern.offsets is None:
            if self.cells is not None:
                whole = pattern.mask is self.anchor
                self.cells[base] = value if whole else np.where(pattern.mask, value, self.cells[base])
                self.written[base] = True if whole else unite(self.written[base], pattern.mask)
                return
        self._densify()
        keys, value = spread(self.keys(vector, pattern, base), value, pattern.mask)
        self.data.reshape(-1)[keys] = value
        self.written.reshape(-1)[keys] = True

    def cell(self, index: tuple[Any, ...]) -> int | None:
        """The number of the element at an index that all lanes share and that lies inside, else None."""
        base = 0
        for i, size, stride in zip(index, self.shape, self.strides):  # noqa: B905 (hot)
            if type(i) is np.ndarray:
                return None
            i = int(i)
            if not 0 <= i < size:
                return None
            base += i * stride
        return base

    def keys(self, vector: WarpVector, pattern: Pattern, base: int) -> Any:
        return pattern.elements(base) * vector.size + np.arange(vector.size).reshape(vector.shape)

    def storage(self) -> np.ndarray:
        self._densify()
        return self.data.reshape(-1)

    def unwritten(self, vector: WarpVector, pattern: Pattern, base: int) -> Any:
        """Mask of the active lanes that read an element they have not written; False for none."""
        if self.cells is not None and pattern.offsets is None:
            written = self.written[base]
            if written is True or written is pattern.mask:
                return False
            missing = np.broadcast_to(~np.asarray(written), vector.shape) & pattern.mask
        else:
            self._densify()
            missing = ~self.written.reshape(-1).take(self.keys(vector, pattern, base)) & pattern.mask
        return missing if missing.any() else False


def poison(dtype: np.dtype) -> Any:
    """What unwritten shared and local memory holds here: NaN (in both parts), or the largest integer."""
    if dtype.kind in "fc":
        return dtype.type(np.nan) if dtype.kind == "f" else dtype.type(complex(np.nan, np.nan))
    return dtype.type(True) if dtype.kind == "b" else dtype.type(np.iinfo(dtype).max)


def spread(keys: Any, value: Any, mask: Mask) -> tuple[Any, Any]:
    """Broadcast keys, value and mask against each other and keep the active lanes."""
    if mask is True:
        shape = np.broadcast_shapes(np.shape(keys), np.shape(value))
        return widened(keys, shape), widened(value, shape)
    shape = np.broadcast_shapes(np.shape(keys), np.shape(value), np.shape(mask))
    mask = widened(mask, shape)
    return widened(keys, shape)[mask], widened(value, shape)[mask]
