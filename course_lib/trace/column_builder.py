"""Conversion of the recording of a chunk of blocks into columns, for all blocks at once."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..simulator.hardware import SECTOR_BYTES, WARP_SIZE
from ..simulator.launch_shape import coordinates
from ..simulator.runtime.arrays import c_strides
from .columns import BARRIER, NONE, OPS, TABLES, Columns, Lists, Table, concatenated, rows_of
from .trace import TraceArray

WEIGHTS = np.uint32(1) << np.arange(WARP_SIZE, dtype=np.uint32)


@dataclass
class ChunkRecording:
    """The recording of a chunk of blocks, as references: an event is one statement of one warp in all of its blocks.

    The lists hold tuples: ``accesses`` (event, op, pattern, base, value, of an atomic (operation, what each lane found,
    operands), else None); ``variables`` (event, name, value, mask); ``tests`` (event, text, left, right, truth, mask);
    ``outside`` (event, op, index, array, lanes); ``exchanges`` (event, name, given, source, result, mask); ``arrivals``
    (event, mask); ``products`` (event, product, its ends: (event, lanes)). ``now`` is the event of each warp that is
    being recorded, ``latest`` the latest one of each (warp, line).
    """

    lines: list[int] = field(default_factory=list)
    warps: list[int] = field(default_factory=list)
    masks: list[Any] = field(default_factory=list)
    flags: list[int] = field(default_factory=list)
    accesses: list[tuple[int, str, Any, int, Any, Any]] = field(default_factory=list)
    variables: list[tuple[int, str, Any, Any]] = field(default_factory=list)
    tests: list[tuple[int, str, Any, Any, Any, Any]] = field(default_factory=list)
    outside: list[tuple[int, str, tuple[Any, ...], str, np.ndarray]] = field(default_factory=list)
    exchanges: list[tuple[int, str, Any, Any, Any, Any]] = field(default_factory=list)
    arrivals: list[tuple[int, Any]] = field(default_factory=list)
    products: list[tuple[int, Any, list[tuple[int, np.ndarray]]]] = field(default_factory=list)
    now: dict[int, int] = field(default_factory=dict)
    latest: dict[tuple[int, int], int] = field(default_factory=dict)


class LaneBits:
    """The lanes of one warp in the blocks of a chunk; converts masks over them to bits, one number for each block."""

    def __init__(self, vector: Any):
        self.vector, self.count, self.blocks = vector, vector.lanes.count, vector.chunk.count
        self.all = np.full(self.blocks, WEIGHTS[: self.count].sum(dtype=np.uint32))
        self._bits: dict[int, np.ndarray] = {}
        self._kept: list[Any] = []  # keeps them alive, so that no id is reused

    def flat(self, value: Any) -> np.ndarray:
        """Return a lane vector in the shape (lanes, blocks)."""
        value = np.asarray(value)
        whole = value if value.shape == self.vector.shape else np.broadcast_to(value, self.vector.shape)
        return whole.reshape(self.count, self.blocks)

    def bits(self, mask: Any) -> np.ndarray:
        if mask is True:
            return self.all
        found = self._bits.get(id(mask))
        if found is None:
            found = self._bits[id(mask)] = self.fresh_bits(mask)
            self._kept.append(mask)
        return found

    def fresh_bits(self, mask: Any) -> np.ndarray:
        """Return the bits of a mask, without caching them."""
        bits: np.ndarray = (self.flat(mask) * WEIGHTS[: self.count, None]).sum(axis=0, dtype=np.uint32)
        return bits


class ColumnBuilder:
    """Collects the columns of all chunks of a launch; ``figures`` is that of :class:`~.record.TraceObserver`."""

    def __init__(self, figures: Callable[[Any, int], tuple[np.ndarray, np.ndarray, np.ndarray]]):
        self._figures = figures
        #: the arrays that several blocks may access and change, row-major and as they were before the launch
        self.shared_by_blocks: dict[str, np.ndarray] = {}
        self.lists = Lists()
        self._names: dict[str, int] = {}
        self._texts: dict[str, int] = {}
        self._operations: dict[str, int] = {}
        self._steps = 0  # of all chunks so far
        self._chunks: list[dict[str, Table]] = []

    def add(self, chunk: ChunkRecording, vectors: Sequence[Any], arrays: Mapping[str, TraceArray]) -> None:
        """Convert one chunk; no reference to it is kept."""
        self._warps = [LaneBits(vector) for vector in vectors]
        numbers = {name: number for number, name in enumerate(arrays)}
        blocks = vectors[0].chunk.linear.reshape(-1)
        bits = np.array(
            [self._warps[warp].bits(mask) for warp, mask in zip(chunk.warps, chunk.masks, strict=True)], np.uint32
        )
        bits = bits.reshape(len(chunk.lines), len(blocks))
        flags = np.repeat(np.array(chunk.flags, np.uint8)[:, None], len(blocks), axis=1)
        for event, mask in chunk.arrivals:
            flags[event] |= np.where(self._warps[chunk.warps[event]].bits(mask) != 0, BARRIER, 0).astype(np.uint8)
        block, chosen = np.nonzero(bits.T)
        self._row = np.full((len(chunk.lines), len(blocks)), NONE)  # of the step of an event in a block
        self._row[chosen, block] = self._steps + np.arange(len(chosen))
        self._steps += len(chosen)
        step = {
            "block": blocks[block],
            "line": np.array(chunk.lines, np.int64)[chosen],
            "warp": np.array(chunk.warps, np.int64)[chosen],
            "lanes": bits[chosen, block],
            "flags": flags[chosen, block],
        }
        self._chunks.append(
            {
                "step": step,
                "access": self._accesses(chunk, numbers),
                "variable": self._variables(chunk),
                "test": self._tests(chunk),
                "outside": self._outside(chunk, numbers),
                "exchange": self._exchanges(chunk),
                "product": self._products(chunk),
            }
        )

    def build(self, launch: Any, arrays: list[str]) -> Columns:
        """Return the columns of all chunks together, in the order of the blocks."""
        whole: dict[str, Any] = {name: concatenated(name, [chunk[name] for chunk in self._chunks]) for name in TABLES}
        order = np.argsort(whole["step"]["block"], kind="stable")
        place = np.append(np.argsort(order), NONE).astype("i4")  # of each step, and of none
        whole["product"]["end"] = place[whole["product"]["end"]]
        for name in TABLES:
            if name != "step":
                whole[name]["step"] = step = place[whole[name]["step"]]
                whole[name] = rows_of(whole[name], np.argsort(step, kind="stable"))
        whole["step"] = rows_of(whole["step"], order)
        linear, block = np.unique(whole["step"]["block"], return_inverse=True)
        whole["step"]["block"] = block.astype("i4")
        return Columns(
            **whole,
            **self.lists.pooled(),
            blocks=np.stack(coordinates(linear.astype(np.int64), launch.grid), axis=1),
            names=list(self._names),
            arrays=arrays,
            texts=list(self._texts),
            operations=list(self._operations),
        )

    # --- values ------------------------------------------------------------------------------------------------

    def _value(self, lanes: LaneBits, bits: np.ndarray, value: Any) -> Any:
        """Return the numbers of the lists of active lanes' values: one for each block, or one for all.

        Of a tuple each lane has all the parts, side by side.
        """
        if isinstance(value, tuple):
            return self._by_block(lanes, bits, np.stack([lanes.flat(part) for part in value], axis=2))
        value = np.asarray(value)
        if value.size == 1:
            return self.lists.add(value)
        if value.shape[:2] == (1, 1):
            return [self.lists.add(each) for each in np.broadcast_to(value, (1, 1, *lanes.vector.chunk.shape)).flat]
        return self._by_block(lanes, bits, lanes.flat(value))

    def _by_block(self, lanes: LaneBits, bits: np.ndarray, flat: np.ndarray) -> list[int]:
        """Return the numbers of the lists of (lanes, blocks, ...) values; a lane's values are adjacent."""
        numbers = [NONE] * lanes.blocks
        for block, row in _active(bits, flat):
            numbers[block] = self.lists.add(row)
        return numbers

    # --- tables --------------------------------------------------------------------------------------------------

    def _table(self, items: Sequence[Any], lanes: np.ndarray | None = None, **columns: np.ndarray) -> Table:
        """Return the rows of items, whose events are their first parts: a row for each step in which lanes take part.

        ``lanes`` and ``columns`` have a number for each item, or for each item in each block.
        """
        step = self._row[np.array([item[0] for item in items], np.int64)]
        here = step >= 0
        if lanes is not None:
            columns["lanes"], here = lanes, here & (lanes != 0)
        block, item = np.nonzero(here.T)
        each = {name: column[item] if column.ndim == 1 else column[item, block] for name, column in columns.items()}
        return {"step": step[item, block], **each}

    def _accesses(self, chunk: ChunkRecording, numbers: Mapping[str, int]) -> Table:
        """Return the rows of all accesses: what each lane accesses and stores, and what the request costs.

        ``numbers``: the number of each array.
        """
        shape = len(chunk.accesses), self._row.shape[1]
        layouts, rows, bases = _AccessLayouts(self), np.zeros(shape[0], np.intp), np.zeros(shape[0], np.int64)
        values, old, given = np.full((3, *shape), NONE, np.int64)
        operation = np.full(shape[0], NONE)
        for i, (event, op, pattern, base, value, update) in enumerate(chunk.accesses):
            lanes = self._warps[chunk.warps[event]]
            rows[i], bases[i] = layouts.find(lanes, pattern, base)
            active = layouts.found[rows[i]].lanes
            if update is not None:
                name, before, operands = update
                operation[i] = self._operations.setdefault(name, len(self._operations))
                old[i] = self._stored(lanes, active, pattern, before)
                given[i] = self._value(lanes, active, operands)
            if op != "load":
                values[i] = self._stored(lanes, active, pattern, value)
        for i, blocks in self._from_other_blocks(chunk).items():
            event, _, pattern, _, value, _ = chunk.accesses[i]
            lanes, active = self._warps[chunk.warps[event]], layouts.found[rows[i]].lanes
            stored = self._stored(lanes, np.where(blocks, active, 0), pattern, value)
            values[i] = np.where(blocks, stored, NONE)
        layout = layouts.columns(shape[1])
        return self._table(
            chunk.accesses,
            layout["lanes"][rows],
            op=np.array([OPS.index(op) for _, op, *_ in chunk.accesses]),
            array=np.array([numbers[pattern.array.name] for _, _, pattern, *_ in chunk.accesses]),
            width=np.array([pattern.width for _, _, pattern, *_ in chunk.accesses]),
            base=bases[:, None] + layout["first"][rows],
            pattern=layout["pattern"][rows],
            values=values,
            old=old,
            given=given,
            operation=operation,
            sectors=layout["sectors"][rows],
            wavefronts=layout["wavefronts"][rows],
            conflicts=layout["conflicts"][rows],
        )

    def _from_other_blocks(self, chunk: ChunkRecording) -> dict[int, np.ndarray]:
        """Return the loads that find something else than the block knows, each with the blocks in which it does.

        A block knows what was there before the launch, and the value of its last access, whatever that was.
        """
        #: array -> (block, element, access, whether a load, value)
        entries: dict[str, list[tuple[np.ndarray, ...]]] = {}
        for i, (event, op, pattern, base, value, _) in enumerate(chunk.accesses):
            array = pattern.array
            if array.name not in self.shared_by_blocks:
                continue
            lanes = self._warps[chunk.warps[event]]
            at = np.asarray(pattern.elements(base))
            flat = lanes.flat(np.ravel_multi_index(array.index_of(at), array.shape))
            lane, block = np.nonzero(lanes.flat(pattern.mask))
            for part, each in enumerate(value if pattern.width > 1 else [value]):
                row = block, flat[lane, block] + part, np.full(len(lane), i), np.full(len(lane), op == "load")
                entries.setdefault(array.name, []).append((*row, lanes.flat(each)[lane, block].astype(array.dtype)))
        found: dict[int, np.ndarray] = {}
        for name, parts in entries.items():
            block, element, access, loads, value = map(np.concatenate, zip(*parts, strict=True))
            order = np.lexsort((element, block))  # stable: in the order of the accesses
            block, element, access, loads, value = (column[order] for column in (block, element, access, loads, value))
            known = np.roll(value, 1)
            first = np.ones(len(order), bool)
            first[1:] = (np.diff(block) != 0) | (np.diff(element) != 0)
            known[first] = self.shared_by_blocks[name][element[first]]
            other = loads & (value != known) & ~((value != value) & (known != known))
            for i, at in zip(access[other].tolist(), block[other].tolist(), strict=True):
                found.setdefault(i, np.zeros(self._row.shape[1], bool))[at] = True
        return found

    def layout(self, lanes: LaneBits, pattern: Any, base: int, phase: int) -> "AccessLayout":
        """Return the layout of an access by ``lanes``; ``base`` matters only in an array that is not in C order."""
        active = lanes.bits(pattern.mask)
        if _is_plain(pattern.array):
            flat = lanes.flat(0 if pattern.offsets is None else pattern.offsets)
        else:
            at = np.asarray(pattern.elements(base))
            flat = lanes.flat(np.ravel_multi_index(pattern.array.index_of(at), pattern.array.shape))
        first, lists = np.zeros(lanes.blocks, np.int64), np.full(lanes.blocks, NONE)
        for block, row in _active(active, flat):
            first[block] = row[0]
            beyond = (row - row[0]).astype(np.int32)
            lists[block] = self.lists.add(beyond if beyond.any() else beyond[:1])
        return AccessLayout(active, first, lists, *self._figures(pattern, phase))

    def _stored(self, lanes: LaneBits, bits: np.ndarray, pattern: Any, value: Any) -> Any:
        dtype = pattern.array.dtype
        if pattern.width == 1:
            return self._value(lanes, bits, np.asarray(value).astype(dtype, copy=False))
        parts = tuple(np.asarray(part).astype(dtype, copy=False) for part in value)
        if all(part.size == 1 for part in parts):
            return self.lists.add(np.array([part.reshape(()) for part in parts], dtype))
        return self._value(lanes, bits, parts)

    def _variables(self, chunk: ChunkRecording) -> Table:
        lanes, (values,) = self._lists(chunk, chunk.variables, 1)
        return self._table(chunk.variables, lanes, name=_numbered(self._names, chunk.variables), values=values)

    def _lists(self, chunk: ChunkRecording, items: Sequence[Any], count: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the lanes of items (event, name, ``count`` values, …, mask), and the lists of each of the values."""
        shape = len(items), self._row.shape[1]
        lanes, lists = np.zeros(shape, np.uint32), np.full((count, *shape), NONE, np.int64)
        for i, (event, _, *values, mask) in enumerate(items):
            warp = self._warps[chunk.warps[event]]
            lanes[i] = bits = warp.bits(mask)
            for part, value in zip(lists, values, strict=False):
                if value is not None:
                    part[i] = self._value(warp, bits, value)
        return lanes, lists

    def _tests(self, chunk: ChunkRecording) -> Table:
        lanes, (left, right) = self._lists(chunk, chunk.tests, 2)
        truth = lanes.copy()
        for i, (event, *_, holds, _) in enumerate(chunk.tests):
            if np.size(holds) > 1:
                truth[i] &= self._warps[chunk.warps[event]].fresh_bits(holds)
            elif not holds:
                truth[i] = 0
        text = _numbered(self._texts, chunk.tests)
        return self._table(chunk.tests, lanes, text=text, truth=truth, left=left, right=right)

    def _exchanges(self, chunk: ChunkRecording) -> Table:
        lanes, (given, source, result) = self._lists(chunk, chunk.exchanges, 3)
        operation = _numbered(self._operations, chunk.exchanges)
        return self._table(chunk.exchanges, lanes, operation=operation, given=given, source=source, result=result)

    def _outside(self, chunk: ChunkRecording, numbers: Mapping[str, int]) -> Table:
        lanes, (index,) = self._lists(chunk, chunk.outside, 1)
        op = np.array([OPS.index(op) for _, op, *_ in chunk.outside])
        array = np.array([numbers[array] for *_, array, _ in chunk.outside])
        return self._table(chunk.outside, lanes, op=op, array=array, index=index)

    def _products(self, chunk: ChunkRecording) -> Table:
        end, group = np.full((2, len(chunk.products), self._row.shape[1]), NONE, np.int64)
        for i, (_, product, ends) in enumerate(chunk.products):
            for at, lanes in ends:
                done = lanes.any(axis=(0, 1)).reshape(-1)
                end[i, done] = self._row[at, done]
            group[i] = product.group.max(axis=(0, 1)).reshape(-1)
        return self._table(chunk.products, end=end, group=group)


class AccessLayout(NamedTuple):
    """Where the lanes of a warp access an array, relative to the access's base, and what that costs; for each block.

    ``first``: the element of the first active lane; ``pattern``: the list of the lanes' elements relative to that.
    """

    lanes: np.ndarray
    first: np.ndarray
    pattern: np.ndarray
    sectors: np.ndarray
    wavefronts: np.ndarray
    conflicts: np.ndarray


class _AccessLayouts:
    """The layouts of a chunk's accesses, each made once.

    In an array in C order an access has the layout of any other with its pattern and its phase (the place of its first
    byte in a sector). In another array each base has layouts of its own.
    """

    def __init__(self, builder: ColumnBuilder):
        self.found: list[AccessLayout] = []
        self._builder = builder
        self._rows: dict[tuple[int, int], int] = {}
        self._plain: dict[str, bool] = {}
        self._kept: list[Any] = []  # patterns are kept alive, so that no id is reused

    def find(self, lanes: LaneBits, pattern: Any, base: int) -> tuple[int, int]:
        """Return the row of an access's layout, and the base to which that is relative."""
        array = pattern.array
        phase = (base * array.itemsize + array.origin) % SECTOR_BYTES if array.space != "local" else 0
        plain = self._plain.get(array.name)
        if plain is None:
            plain = self._plain[array.name] = _is_plain(array)
        key = (id(pattern), phase if plain else -1 - base)
        row = self._rows.get(key)
        if row is None:
            row = self._rows[key] = len(self.found)
            self._kept.append(pattern)
            self.found.append(self._builder.layout(lanes, pattern, base, phase))
        return row, base if plain else 0

    def columns(self, blocks: int) -> dict[str, np.ndarray]:
        """Return each field of the layouts, as (layouts, blocks)."""
        names, shape = AccessLayout._fields, (len(self.found), blocks)
        return {name: np.array([getattr(layout, name) for layout in self.found]).reshape(shape) for name in names}


def _is_plain(array: Any) -> bool:
    """Return whether an array is in C order without gaps."""
    return bool(array.strides == c_strides(array.shape))


def _active(bits: np.ndarray, flat: np.ndarray) -> Iterator[tuple[int, np.ndarray]]:
    """Yield each block in which lanes are active, with their rows of (lanes, blocks, ...) values."""
    for block, lanes in enumerate(bits.tolist()):
        if lanes:
            yield block, flat[_lanes(lanes, len(flat)), block]


@lru_cache(1024)
def _lanes(bits: int, count: int) -> np.ndarray | slice:
    """Return which of so many lanes are set."""
    active = np.uint32(bits) & WEIGHTS[:count] != 0
    return slice(None) if active.all() else active


def _numbered(known: dict[str, int], items: Sequence[tuple[Any, ...]]) -> np.ndarray:
    """Return the number of the name that is the second part of each item; a new name gets the next one."""
    return np.array([known.setdefault(item[1], len(known)) for item in items])
