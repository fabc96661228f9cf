"""The base class of a kernel's arrays, and the pattern of an access.

:mod:`memory` has the arrays of each space, and :mod:`access` finds the pattern of an access.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from functools import partial
from math import prod
from typing import Any, TypeVar

import numpy as np

from ..hardware import SECTOR_BYTES
from .arithmetic import later_if
from .lane_vector import LaneVector
from .masks import Mask, widened

Ints = np.ndarray[Any, np.dtype[np.int64]]
Result = TypeVar("Result")
#: Called at each access of an array with the site (:class:`~.access.Site`), the pattern, the base and the value.
Watcher = Callable[[Any, "Pattern", int, Any], None]


def c_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides in elements of a C-ordered array."""
    return tuple(prod(shape[d + 1 :]) for d in range(len(shape)))


def _number_if(compare: np.ufunc, old: Any, value: Any) -> Any:
    """The update of ``nanmax`` and ``nanmin``: a number replaces NaN, too."""
    return np.where(old != old, value, later_if(compare, old, value))


_UFUNCS: dict[str, np.ufunc] = {
    "add": np.add,
    "sub": np.subtract,
    "and_": np.bitwise_and,
    "or_": np.bitwise_or,
    "xor": np.bitwise_xor,
}
#: ``new = f(old, value)``, as in numba's ``___numba_atomic_*`` functions.
ATOMIC: dict[str, Callable[..., Any]] = {
    **_UFUNCS,
    "max": partial(later_if, np.greater),
    "min": partial(later_if, np.less),
    "nanmax": partial(_number_if, np.greater),
    "nanmin": partial(_number_if, np.less),
    "exch": lambda old, value: value,
    "inc": lambda old, value: np.where(old >= value, 0, old + 1).astype(old.dtype),
    "dec": lambda old, value: np.where((old == 0) | (old > value), value, old - 1).astype(old.dtype),
    **dict.fromkeys(("cas", "compare_and_swap"), lambda old, expected, value: np.where(old == expected, value, old)),
}
#: The same as NumPy ufuncs, which update repeated elements one after another; ATOMIC differs for NaN.
IN_PLACE = {**_UFUNCS, "nanmax": np.fmax, "nanmin": np.fmin}
IN_PLACE_OF_INTEGERS = IN_PLACE | {"max": np.maximum, "min": np.minimum}


class Array:
    """An array of a kernel. ``strides`` are in elements; ``watchers`` see each access in order.

    Subclasses define how lanes ``gather`` and ``scatter`` elements. A word is the memory of one element, whatever its
    size; ``keys`` identify them: two accesses touch the same word if their keys are equal. Each block has its own
    shared words, each thread its own local ones.
    """

    space = ""
    #: The byte of its allocation at which the array begins.
    origin = 0
    #: The elements of a local array, one lane vector each; None for other arrays, and for dense local ones.
    cells: list[Any] | None = None
    #: Of local arrays: the lanes that have written each element, and those that executed the declaration.
    written: Any = None
    anchor: Mask = False
    #: Whether it only takes the place of an array that the kernel never made: the variable's use has been reported.
    missing = False

    def __init__(self, name: str, dtype: Any, shape: tuple[int, ...], strides: tuple[int, ...] | None = None) -> None:
        self.name, self.dtype, self.shape = name, np.dtype(dtype), tuple(int(s) for s in shape)
        self.ndim, self.size = len(self.shape), prod(self.shape)
        self.strides = c_strides(self.shape) if strides is None else strides
        self.itemsize = self.dtype.itemsize
        self.watchers: tuple[Watcher, ...] = ()

    def gather(self, pattern: Pattern, base: int) -> Any:
        """Load the lanes' elements: a vector, or one value for all."""
        return self.storage().take(self.keys(pattern, base))

    def scatter(self, pattern: Pattern, base: int, value: Any) -> None:
        """Store the lanes' values; if several store to one element, the last one remains."""
        keys, value = spread(self.keys(pattern, base), value, pattern.mask)
        self.storage()[keys] = value

    def keys(self, pattern: Pattern, base: int) -> Any:
        """The key of the word that each lane accesses."""
        raise NotImplementedError

    def storage(self) -> np.ndarray:
        """All elements, in the order of their keys."""
        raise NotImplementedError

    def cell(self, index: tuple[Any, ...]) -> int | None:
        return None

    def unwritten(self, pattern: Pattern, base: int) -> Mask:
        return False

    def of_array(self, index: tuple[Any, ...]) -> tuple[Any, ...]:
        return index

    def element_name(self, index: Any) -> str:
        """``A[1, 2]``, for messages."""
        return f"{self.name}[{', '.join(map(str, index)) or '()'}]"

    def update(
        self, pattern: Pattern, base: int, operation: str, values: Sequence[Any], used: bool, dtype: np.dtype[Any]
    ) -> Any:
        """Read, change and write elements as an atomic; on one element, the lower lane comes first.

        ``dtype``: as elements of this type, of the same size.
        """
        keys = self.keys(pattern, base)
        shape = pattern.vector.shape
        data = self.storage().view(dtype)
        if (lane := pattern.only_lane) is not None:
            key, *given = (_at(value, lane) for value in (keys, *values))
            old = data[key]
            data[key] = ATOMIC[operation](old, *given)
            return old
        keys = np.broadcast_to(keys, shape)
        mask = np.broadcast_to(np.asarray(pattern.mask), shape)
        order = np.argsort(pattern.vector.ids[mask], kind="stable")
        keys = keys[mask][order]
        values = [np.broadcast_to(value, shape)[mask][order] for value in values]
        in_place = IN_PLACE if data.dtype.kind in "fc" else IN_PLACE_OF_INTEGERS
        if not used and operation in in_place:
            with np.errstate(all="ignore"):
                in_place[operation].at(data, keys, values[0])
            return data.dtype.type(0)
        by_key = np.argsort(keys, kind="stable")
        starts = np.flatnonzero(np.concatenate(([True], np.diff(keys[by_key]) != 0)))
        if len(starts) == 1 and operation in in_place:  # all lanes meet in one word
            with np.errstate(all="ignore"):
                states = in_place[operation].accumulate(
                    np.concatenate((data[keys[:1]], values[0]), dtype=data.dtype), dtype=data.dtype
                )
            data[keys[0]] = states[-1]
            return self._by_lane(states[:-1], mask, order)
        rank = np.empty(len(keys), np.intp)
        lanes_of_word = np.diff(np.r_[starts, len(keys)])
        rank[by_key] = np.arange(len(keys)) - np.repeat(starts, lanes_of_word)
        old = np.empty(len(keys), data.dtype)
        rounds = np.argsort(rank, kind="stable")
        edges = np.r_[0, np.cumsum(np.bincount(rank))]
        with np.errstate(all="ignore"):
            for a, b in zip(edges[:-1], edges[1:], strict=True):
                lanes = rounds[a:b]
                old[lanes] = data[keys[lanes]]
                data[keys[lanes]] = ATOMIC[operation](old[lanes], *(value[lanes] for value in values))
        return self._by_lane(old, mask, order)

    def _by_lane(self, values: np.ndarray, mask: np.ndarray, order: Ints) -> np.ndarray:
        """Put ``values``, given in the ``order`` of threads, at the positions of the lanes of ``mask``."""
        result = np.zeros(mask.shape, values.dtype)
        back = np.empty(len(values), values.dtype)
        back[order] = values
        result[mask] = back
        return result

    def index_of(self, offset: int) -> tuple[int, ...]:
        """The index (one number a dimension) of the element at ``offset``; for an array of offsets, arrays."""
        index = [0] * self.ndim
        backward = [self.shape[d] > 1 and self.strides[d] < 0 for d in range(self.ndim)]  # counted from the last one
        for d in range(self.ndim):
            if backward[d]:
                offset = offset - (self.shape[d] - 1) * self.strides[d]
        for d in sorted(range(self.ndim), key=lambda d: (-abs(self.strides[d]), d)):
            if self.shape[d] > 1 and self.strides[d]:
                index[d], offset = divmod(offset, abs(self.strides[d]))
                if backward[d]:
                    index[d] = self.shape[d] - 1 - index[d]
        return tuple(index)


def spread(keys: Any, value: Any, mask: Mask) -> tuple[Any, Any]:
    """Broadcast keys, value and mask to one shape, and return the keys and values of the active lanes."""
    if mask is True:
        shape = np.broadcast(keys, value).shape
        return widened(keys, shape), widened(value, shape)
    shape = np.broadcast(keys, value, mask).shape
    mask = widened(mask, shape)
    return widened(keys, shape)[mask], widened(value, shape)[mask]


def _at(value: Any, lane: tuple[int, ...]) -> Any:
    """The value of the lane at the position ``lane`` of a vector, whose axes may have length 1."""
    if type(value) is not np.ndarray or value.ndim == 0:
        return value
    return value[tuple(each if size > 1 else 0 for each, size in zip(lane, value.shape, strict=True))]


class Pattern:
    """The part of an access that differs between lanes or blocks.

    ``offsets`` are in elements (None if all lanes have the same), and in bounds once a base is added; ``mask`` holds
    the lanes that take part; ``tally`` counts the accesses with this pattern, by the position in bytes of their base
    within a 32-byte sector. A lane accesses ``width`` neighbouring elements at once.
    """

    __slots__ = ("array", "vector", "offsets", "mask", "tally", "same_in_blocks", "width", "_known")

    def __init__(self, array: Array, vector: LaneVector, offsets: Ints | None, mask: Mask, width: int = 1) -> None:
        self.array, self.vector, self.offsets, self.mask, self.width = array, vector, offsets, mask, width
        self.tally: dict[int, int] = {}
        self._known: dict[Hashable, Any] = {}
        self.same_in_blocks = offsets is None or offsets.shape[2:] == (1, 1)

    def of_warp(self, vector: LaneVector, mask: Mask) -> Pattern:
        """The same pattern in another warp of the block, of the same shape; ``mask`` holds the same lanes."""
        pattern = Pattern(self.array, vector, self.offsets, mask, self.width)
        pattern._known = self._known
        return pattern

    @property
    def only_lane(self) -> tuple[int, ...] | None:
        """The place in the vector of the lane that takes part, if there is only one."""
        vector, mask = self.vector, self.mask
        return self.once("only lane", lambda: vector.first_lane(mask) if vector.count(mask) == 1 else None)

    def once(self, what: Hashable, compute: Callable[[], Result]) -> Result:
        """Return ``compute()``, computed once, then looked up.

        It depends on ``what``, on the array, the offsets and the lanes, not on which warp of the block accesses them.
        """
        if what not in self._known:
            self._known[what] = compute()
        result: Result = self._known[what]
        return result

    def count(self, base: int) -> None:
        """Tally one access at ``base``."""
        phase = (base * self.array.itemsize + self.array.origin) % SECTOR_BYTES
        self.tally[phase] = self.tally.get(phase, 0) + 1

    def elements(self, base: int) -> Any:
        """The offset of each lane's element in the array; a single number if it is the same for all."""
        return base if self.offsets is None else self.offsets + base

    def keys_and_lanes(self, base: int) -> tuple[Ints, np.ndarray]:
        """The keys of the words that the active lanes access, and these lanes, as a mask of the whole vector."""
        lanes = self.vector.full(self.mask)
        return widened(self.array.keys(self, base), self.vector.shape)[lanes], lanes

    def index_at(self, base: int, lane: tuple[int, ...]) -> tuple[int, ...]:
        """The array index that the lane at the position ``lane`` of the vector accesses."""
        offsets = 0 if self.offsets is None else self.offsets
        return self.array.index_of(base + int(np.broadcast_to(offsets, self.vector.shape)[lane]))

    @property
    def access_bytes(self) -> int:
        """Bytes of one lane's access."""
        return self.array.itemsize * self.width
