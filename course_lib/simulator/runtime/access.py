"""Sites (the source expressions of a kernel that access memory) and the patterns of their accesses.

An access is a *pattern* plus a *base*: the pattern holds the element offsets that differ between lanes or
blocks, the base is the part that is the same for all of them. In ``B[k, col]`` the pattern is ``col`` and the base is
``k * N``: in a loop over k the pattern remains the same Python object, so its bounds, its sectors and its
bank conflicts are computed once, and each iteration costs one comparison, one gather and one tally.
In small launches, indices that are computed again, such as ``ty + 16 * i`` in a loop over i, are recognised by their
content, up to a shift that is the same for all lanes.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..findings import KernelError
from ..hardware import SECTOR_BYTES
from .arithmetic import cast
from .arrays import Array, Ints, Pattern
from .engine_interface import EngineInterface
from .masks import Mask, widened, without

#: For each dimension, one number or an array of numbers.
Index = tuple[Any, ...]


#: Indices of up to this many elements are compared by content with those of earlier accesses.
COMPARED = 2048
#: Limit for the index elements of the patterns that all sites of a launch cache together, about 16 bytes each.
CACHED_ELEMENTS = 4 * 1024 * 1024


class Update(NamedTuple):
    """What an atomic does; ``used``: the kernel reads the old element."""

    operation: str
    used: bool
    operand: Any


@dataclass(frozen=True, eq=False)
class SeenPattern:
    """A pattern that a site has used, and the shifts for which it stays in bounds.

    ``bounds`` holds, for each index, None if it is a number, else (low, end): if the first lane's index i is in
    low <= i < end, all lanes are in bounds, and the access is the pattern shifted by ``i - low``.
    """

    pattern: Pattern
    bounds: tuple[tuple[int, int] | None, ...]

    def shifted(self, firsts: list[int], limits: tuple[int, ...], strides: tuple[int, ...]) -> tuple[int, int] | None:
        """(shift, base) of an access with these first indices, see :class:`Site`; None if it is out of bounds."""
        shift = base = 0
        for first, bound, size, stride in zip(firsts, self.bounds, limits, strides):  # noqa: B905 (hot)
            if bound is None:
                if not 0 <= first < size:
                    return None
                base += first * stride
            else:
                low, end = bound
                if not low <= first < end:
                    return None
                shift += (first - low) * stride
        return shift, shift + base


class Site:
    """One expression of the kernel that accesses memory, in one warp.

    ``line`` is the line in the student's file, ``op`` "load", "store" or "atomic"; or "bulk" for the copy of a tile by
    the TMA (:mod:`mbarriers`). ``engine`` receives the counted patterns and the violated bounds.

    :meth:`begin_access` takes the cheapest pattern: the latest one, if array, mask and varying indices are the same
    objects; else one that was seen before, with the same content, possibly *shifted* (if the indices of all lanes are
    larger by the same number, the pattern is the same and only the base is larger); else a new one.
    """

    #: The variable that the source indexes, if it is one: several may be one array.
    variable = ""
    #: Of an atomic: what it does, as of its latest execution.
    update: "Update | None" = None
    #: In a wide access of shared memory, are neighbouring groups of lanes served as one if they load the same?
    in_pairs = True

    def __init__(
        self,
        line: int,
        op: str,
        engine: EngineInterface,
        cache_limit: int,
        width: int = 1,
        seen_by_all_warps: "dict[tuple[Any, ...], SeenPattern] | None" = None,
    ) -> None:
        """Make the site of an access in a line; ``seen_by_all_warps`` are the patterns that it shares with others."""
        self.line, self.op, self.engine, self.width = line, op, engine, width
        self.vector: Any = None  # the WarpVector that runs
        self.seen_patterns: dict[tuple[Any, ...], SeenPattern] = {}  # patterns of small vectors, by content
        self.seen_by_all_warps = (
            {} if seen_by_all_warps is None else seen_by_all_warps
        )  # the same, of all warps of a chunk that run this expression
        self.cache_limit, self.cached_elements = cache_limit, 0  # index elements that `seen_patterns` may have, and has
        self.large: Pattern | None = None  # the latest pattern of a large vector
        self.lanes_skipped = False  # by the latest access, because they were out of bounds?
        self.array: Array | None = None  # this and the following: of the latest access, if it may be repeated
        self.mask: Mask = None
        self.pattern: Any = None
        self.limits: tuple[int, ...] = ()
        self.wider: dict[int, WideSite] = {}
        self.last: tuple[Any, ...] = ()
        self.shift = 0  # what the varying indices add to the base

    @property
    def reads(self) -> bool:
        """Whether what the accessed elements hold has an effect."""
        replaces = self.update is not None and self.update.operation == "exch" and not self.update.used
        return self.op != "store" and not replaces

    def limits_of(self, array: Array) -> tuple[int, ...]:
        """The number of indices, in each dimension, at which an access may begin."""
        return array.shape

    def begin_access(self, array: Array, index: Index, mask: Mask) -> tuple[Pattern, int]:
        """Check the bounds of an access, count it, and return its (pattern, base)."""
        if array is self.array and mask is self.mask:
            base = self.shift
            for i, last, size, stride in zip(index, self.last, self.limits, array.strides):  # noqa: B905 (hot)
                if last is None:
                    if type(i) is np.ndarray:
                        break
                    i = int(i)
                    if not 0 <= i < size:
                        break
                    base += i * stride
                elif i is not last:
                    break
            else:
                pattern = self.pattern
                phase = (base * array.itemsize + array.origin) % SECTOR_BYTES
                tally = pattern.tally
                tally[phase] = tally.get(phase, 0) + 1
                return pattern, base
        return self._find_pattern(array, index, mask)

    def _find_pattern(self, array: Array, index: Index, mask: Mask) -> tuple[Pattern, int]:
        """Begin an access that differs from the latest one: look its pattern up by content, or create one."""
        self.limits = self.limits_of(array)
        firsts = [i.item(0) if type(i) is np.ndarray else int(i) for i in index]
        content = self._content(array, index, mask, firsts)
        seen = self._look_up(content, array, mask, firsts)
        place = None if seen is None else seen.shifted(firsts, self.limits, array.strides)
        if seen is None or place is None:
            seen = self._new_pattern(array, index, mask, firsts)
            place = None if seen is None else seen.shifted(firsts, self.limits, array.strides)
            if seen is None or place is None:
                return self._pattern_out_of_bounds(array, index, mask)
            self._cache(content, seen)
        self.lanes_skipped = False
        self.array, self.mask, self.pattern, (self.shift, base) = array, mask, seen.pattern, place
        self.last = tuple(i if type(i) is np.ndarray else None for i in index)
        seen.pattern.count(base)
        return seen.pattern, base

    def _look_up(
        self, content: tuple[Any, ...] | None, array: Array, mask: Mask, firsts: list[int]
    ) -> "SeenPattern | None":
        """The pattern with this content that this warp has used; else that of another warp of the block."""
        if content is None:
            return None
        seen = self.seen_patterns.get(content)
        if seen is None:
            other = self.seen_by_all_warps.get((self.width, self.vector.shape, content))
            if other is not None and other.shifted(firsts, self.limits, array.strides) is not None:
                seen = SeenPattern(other.pattern.of_warp(self.vector, mask), other.bounds)
                self._cache(content, seen)
        return seen

    def _cache(self, content: tuple[Any, ...] | None, seen: "SeenPattern") -> None:
        """Cache a pattern until the end of the chunk, or, of a large vector, until the next one."""
        if content is None or content in self.seen_patterns:
            self._replace_large(seen.pattern)
            return
        if self.cached_elements > self.cache_limit:
            self.flush()
        self.seen_patterns[content] = self.seen_by_all_warps[self.width, self.vector.shape, content] = seen
        self.cached_elements += (1 if seen.pattern.offsets is None else seen.pattern.offsets.size) + np.size(
            seen.pattern.mask
        )

    def _content(self, array: Array, index: Index, mask: Mask, firsts: list[int]) -> tuple[Any, ...] | None:
        """A key of all that a pattern depends on; None of a large vector: to compare it would cost more."""
        key: list[Any] = [array]
        if mask is not True:
            if mask.size > COMPARED:
                return None
            key += (mask.shape, mask.tobytes())
        for i, first in zip(index, firsts):  # noqa: B905 (hot)
            if type(i) is not np.ndarray:
                key.append(None)
            elif i.size > COMPARED:
                return None
            else:
                key += (i.dtype.num, i.shape, (i - first).tobytes())
        return tuple(key)

    def _replace_large(self, pattern: Pattern | None) -> None:
        if self.large is not None:
            self.engine.report("counted", self, self.large)
        self.large = pattern

    def _new_pattern(self, array: Array, index: Index, mask: Mask, firsts: list[int]) -> SeenPattern | None:
        """Create the pattern of this access, with offset 0 at the least indices; None if it is out of bounds."""
        offsets: Ints | None = None
        bounds: list[tuple[int, int] | None] = []
        for i, first, size, stride in zip(index, firsts, self.limits, array.strides, strict=True):
            if type(i) is not np.ndarray:
                bounds.append(None)
                continue
            least, most = int(i.min()), int(i.max())
            if mask is not True and (least < 0 or most >= size):  # perhaps only in inactive lanes
                shape = np.broadcast(i, mask).shape
                of_active = widened(i, shape)[widened(mask, shape)]
                least, most = int(of_active.min()), int(of_active.max())
                i = np.clip(i, least, most)
            if least < 0 or most >= size:
                return None
            part = (i - least).astype(np.int64) * stride
            offsets = part if offsets is None else offsets + part
            # the comparison is computed in the index's type, so no lane may exceed its range
            end = min(size, np.iinfo(i.dtype).max + 1) - (most - least)
            bounds.append((first - least, end + first - least))
        return SeenPattern(Pattern(array, self.vector, offsets, mask, self.width), tuple(bounds))

    def _pattern_out_of_bounds(self, array: Array, index: Index, mask: Mask) -> tuple[Pattern, int]:
        """The pattern of an access that is out of bounds in some lanes: wrap negative indices as numba does, and skip
        the lanes that are still outside.
        """
        self.array, self.lanes_skipped = None, True
        base, offsets, inside = 0, None, mask
        for d, (i, size, stride) in enumerate(zip(index, self.limits, array.strides, strict=True)):
            at, wraps, bad = self._wrapped(np.asarray(i), size, inside)
            for hook, lanes in (("negative_index", wraps), ("out_of_bounds", bad)):
                if lanes.any():
                    self.engine.report(hook, self, array, index, d, lanes)
            if bad.any():
                inside = without(inside, bad)
                if inside is False:
                    return Pattern(array, self.vector, None, False, self.width), 0
            at = at * stride
            if type(i) is np.ndarray:
                offsets = at if offsets is None else offsets + at
            else:
                base += int(at)
        if inside is not True:
            inside = inside.reshape((1,) * (4 - inside.ndim) + inside.shape)
        pattern = Pattern(array, self.vector, offsets, inside, self.width)
        pattern.count(base)
        self.engine.report("counted", self, pattern)
        return pattern, base

    def _wrapped(self, i: np.ndarray, size: int, mask: Mask) -> tuple[Ints, np.ndarray, np.ndarray]:
        """The positions that ``i`` means, put in bounds; the active lanes in which it wraps, and that are outside."""
        at = i.astype(np.int64)
        outside = (i < 0) | (i >= size)
        if self.width == 1 and i.dtype.kind == "i":  # vector accesses are not numba's indexing: nothing wraps
            at = np.where(at < 0, at + size, at)
            outside = (at < 0) | (at >= size)
        wraps = (i < 0) & ~outside
        return np.clip(at, 0, max(size - 1, 0)), active(wraps, mask), active(outside, mask)

    def of_width(self, width: int) -> "WideSite":
        """The same expression, where a lane's element consists of ``width`` elements of the array."""
        if width not in self.wider:
            self.wider[width] = WideSite(
                self.line, self.op, self.engine, self.cache_limit, width, self.seen_by_all_warps
            )
        self.wider[width].vector, self.wider[width].variable = self.vector, self.variable
        return self.wider[width]

    def flush(self) -> None:
        """Hand the counted patterns to the engine and forget them."""
        for wide in self.wider.values():
            wide.flush()
        for seen in self.seen_patterns.values():
            self.engine.report("counted", self, seen.pattern)
        self._replace_large(None)
        self.seen_patterns.clear()
        self.seen_by_all_warps.clear()
        self.cached_elements = 0
        self.array = None

    def load(self, array: Array, index: Index, mask: Mask) -> Any:
        """The elements at ``index``; lanes outside the array get 0."""
        if array.cells is not None and not array.watchers:
            base = array.cell(index)
            if base is not None and (array.written[base] is True or array.written[base] is mask):
                self._count_cell(array, index, mask)
                return array.cells[base]
        pattern, base = self.begin_access(array, index, mask)
        if pattern.mask is False:
            return array.dtype.type(0)
        value = self._get(pattern, base)
        if array.space == "local":
            self._check_written(array, pattern, base)
        return value

    def _get(self, pattern: Pattern, base: int) -> Any:
        """Load an element for each lane of a located access; lanes outside the array get 0."""
        array = pattern.array
        value = array.gather(pattern, base)
        if self.lanes_skipped:
            value = np.where(pattern.mask, value, array.dtype.type(0))
        for watch in array.watchers:
            watch(self, pattern, base, value)
        return value

    def put(self, pattern: Pattern, base: int, value: Any) -> None:
        """Store an element of each lane of a located access."""
        pattern.array.scatter(pattern, base, value)
        for watch in pattern.array.watchers:
            watch(self, pattern, base, value)

    def _count_cell(self, array: Array, index: Index, mask: Mask) -> None:
        """Count an access to an element of a local array; nothing but the number of accesses is needed."""
        if array is self.array and mask is self.mask and self.pattern.offsets is None:
            tally = self.pattern.tally
            tally[0] = tally.get(0, 0) + 1
        else:
            self.begin_access(array, index, mask)

    def _check_written(self, array: Array, pattern: Pattern, base: int) -> None:
        missing = array.unwritten(pattern, base)
        if missing is not False:
            self.engine.report("unwritten", self, pattern, base, missing)

    def store(self, array: Array, index: Index, value: Any, mask: Mask) -> None:
        """Store ``value``, converted to the array's type; if lanes store to one element, the highest lane's remains."""
        if value.dtype != array.dtype:
            value = cast(value, array.dtype)
        if array.cells is not None and mask is array.anchor and not array.watchers:
            base = array.cell(index)
            if base is not None:
                self._count_cell(array, index, mask)
                array.cells[base], array.written[base] = value, True
                return
        pattern, base = self.begin_access(array, index, mask)
        if pattern.mask is not False:
            self.put(pattern, base, value)

    def atomic(
        self,
        operation: str,
        array: Array,
        index: Index,
        values: tuple[Any, ...],
        mask: Mask,
        used: bool,
        *,
        dtype: np.dtype[Any] | None = None,
    ) -> Any:
        """Apply ``operation`` lane by lane; return each lane's old value, if ``used``."""
        pattern, base = self.begin_access(array, index, mask)
        if pattern.mask is False:
            return (dtype or array.dtype).type(0)
        if (update := self.update) is None or update.operand is not values[-1]:
            self.update = Update(operation, used, values[-1])
        if array.space == "local":
            self._check_written(array, pattern, base)
        observed = bool(self.engine.listeners["updated"])
        old = array.update(pattern, base, operation, values, used or observed, dtype or array.dtype)
        if observed:
            self.engine.report("updated", self, pattern, base, operation, values, old)
        for watch in array.watchers:
            watch(self, pattern, base, values[-1])
        return old


class WideSite(Site):
    """A vector access: each lane takes ``width`` neighbouring elements of the last dimension in one instruction.

    Its address must be a multiple of its size; a misaligned access is reported and, unlike on a GPU, performed.
    """

    def limits_of(self, array: Array) -> tuple[int, ...]:
        return (*array.shape[:-1], max(0, array.shape[-1] - self.width + 1))

    def check_alignment(self, pattern: Pattern, base: int) -> None:
        """Report the lanes whose address is not a multiple of the access's size."""
        phase = (base * pattern.array.itemsize + pattern.array.origin) % pattern.access_bytes
        lanes = pattern.once(("misaligned", phase), lambda: misaligned(pattern, phase))
        if lanes.any():
            self.engine.report("misaligned", self, pattern, base, lanes)

    def load(self, array: Array, index: Index, mask: Mask) -> Any:
        """Return a tuple of ``width`` lane vectors."""
        pattern, base = self.begin_access(array, index, mask)
        if pattern.mask is False:
            return (array.dtype.type(0),) * self.width
        self.check_alignment(pattern, base)
        return tuple(self._get(pattern, base + element) for element in range(self.width))

    def store(self, array: Array, index: Index, values: tuple[Any, ...], mask: Mask) -> None:
        pattern, base = self.begin_access(array, index, mask)
        if pattern.mask is False:
            return
        self.check_alignment(pattern, base)
        for element, value in enumerate(values):
            self.put(pattern, base + element, value)


class MatrixSite(WideSite):
    """A load of matrices from shared memory: each lane loads a row of one of four matrices."""

    in_pairs = False

    def load(self, array: Array, index: Index, mask: Mask) -> Any:
        """Return ``width`` lane vectors: the elements of each lane's row."""
        if array.space != "shared":
            raise KernelError(
                f"line {self.line}: matrices are loaded from shared memory, and {array.name} is in {array.space} "
                "memory; copy the tile to shared memory first"
            )
        return super().load(array, index, mask)


def misaligned(pattern: Pattern, phase: int) -> np.ndarray:
    """The active lanes whose address is not a multiple of the access's size; ``phase``: the base modulo that size."""
    offsets = np.asarray(0 if pattern.offsets is None else pattern.offsets)
    return active((offsets * pattern.array.itemsize + phase) % pattern.access_bytes != 0, pattern.mask)


def active(condition: np.ndarray, mask: Mask) -> np.ndarray:
    return condition if mask is True else condition & mask
