"""The steps of a traced block's warps, as lowering needs them: lines, names and accesses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...simulator.counters.banks import busiest, in_groups
from ...simulator.hardware import BANKS, SECTOR_BYTES, WARP_SIZE, WORD_BYTES, ceil_div
from ...simulator.lanes.arrays import c_strides
from ...trace.columns import BARRIER, OPS, RESUMED
from ...trace.trace import Trace

NONE = np.zeros(0, np.int64)
#: The largest access of a lane.
WIDE_BYTES = 16


@dataclass(eq=False)
class TracedAccess:
    """An access as lowering needs it: `words` are the lanes' first elements, in the order of the array's memory."""

    op: str
    array: str
    space: str
    itemsize: int
    lanes: int
    width: int
    counted: int  # wavefronts that the trace has counted, else 0
    element: int
    pattern: int
    words: np.ndarray
    plain: bool  # whether elements are stored in the order in which they are counted

    @cached_property
    def lowering_key(self) -> tuple[Any, ...]:
        """The properties of this access that affect lowering; for a shared-memory load also the offset from others."""
        if self.space == "local":
            return self.op, self.place
        alike = self.op, self.array, self.lanes, self.width, self.wavefronts
        if self.space == "global" or self.op != "load":
            return alike
        return *alike, self.pattern, self.aligned if self.plain else self.element

    @cached_property
    def place(self) -> tuple[str, str, int]:
        """The key of the value at this element of a thread-private array."""
        return "local", self.array, self.element

    @cached_property
    def aligned(self) -> bool:
        """Whether every lane's first element is aligned to 16 bytes."""
        return bool((self.words * self.itemsize % WIDE_BYTES == 0).all())

    @property
    def bytes(self) -> int:
        """Bytes that a lane moves."""
        return self.width * self.itemsize

    @cached_property
    def places(self) -> np.ndarray:
        """The 4-byte word that contains each lane's first element."""
        return self.words * self.itemsize // WORD_BYTES

    @cached_property
    def wavefronts(self) -> int:
        """Passes through shared memory or the first-level cache."""
        if self.counted:
            return self.counted
        if self.bytes == WIDE_BYTES and len(self.places) == WARP_SIZE:
            return self.wide_wavefronts()
        if self.width > 1:
            return ceil_div(len(self.places) * self.bytes, BANKS * WORD_BYTES)
        each = ceil_div(self.bytes, WORD_BYTES)  # lanes whose words fill all banks are served together
        return sum(int(busiest(part[:, None], each)[0]) for part in np.array_split(self.places, each))

    def wide_wavefronts(self) -> int:
        """The passes of a full warp whose lanes access 16 bytes each, from these first elements on."""
        return int(in_groups(self.places[:, None], WIDE_BYTES // WORD_BYTES)[0][0])

    @cached_property
    def sectors(self) -> tuple[tuple[str, int], ...]:
        """The sectors of global memory that it touches, each with the array's name."""
        first = self.words * self.itemsize
        whole = np.unique(np.concatenate([first, first + (self.width - 1) * self.itemsize]) // SECTOR_BYTES)
        return tuple((self.array, sector) for sector in whole.tolist())


@dataclass(slots=True)
class TracedStep:
    """A step as lowering needs it: its line, whether a barrier follows, the names assigned, the accesses.

    resumed: whether it continues a statement after a function called by it has returned.
    """

    line: int
    barrier: bool
    resumed: bool
    variables: list[str]
    accesses: list[TracedAccess]


def steps_of(trace: Trace, block: tuple[int, int, int], pitch: int | None = None) -> dict[int, list[TracedStep]]:
    """Return the steps of each warp of a block, read from the trace's columns; `pitch` as in `programs`.

    Equal accesses are one object. Raise ValueError for a block that was not launched, or in which nothing ran.
    """
    columns = trace.columns
    if np.shape(block) != (3,):
        raise ValueError(f"block is {block!r}; give its place in the grid as (x, y, z), such as (0, 0, 0)")
    at = np.flatnonzero((columns.blocks == block).all(axis=1))
    if any(not 0 <= place < size for place, size in zip(block, trace.grid, strict=True)):
        raise ValueError(f"block {block} was not launched; the grid is {trace.grid}")
    begin, end = (columns.first[at[0]], columns.first[at[0] + 1]) if len(at) else (0, 0)
    count = end - begin
    if not count:
        raise ValueError(f"{trace.kernel_name} has no statement that ran in block {block}; trace one that has some")
    of_variable, of_access = (columns.rows(table, begin, end) for table in ("variable", "access"))
    short = [name.rpartition(".")[2] for name in columns.names]
    names = [short[name] for name in columns.variable["name"][of_variable].tolist()]
    named = np.searchsorted(columns.variable["step"][of_variable] - begin, np.arange(count + 1)).tolist()
    order = {name: trace.arrays[name].strides for name in columns.arrays}
    if pitch:
        matrices = (name for name, a in trace.arrays.items() if a.space == "global" and len(a.shape) == 2)
        order |= dict.fromkeys(matrices, (pitch, 1))
    kinds = ("op", "array", "lanes", "width", "wavefronts", "base", "pattern")
    rows = list(zip(*(columns.access[kind][of_access].tolist() for kind in kinds), strict=True))
    known = {row: _access(trace, order, *row) for row in set(rows)}
    accesses = [known[row] for row in rows]
    accessed = np.searchsorted(columns.access["step"][of_access] - begin, np.arange(count + 1)).tolist()
    lines, warps = columns.step["line"][begin:end].tolist(), columns.step["warp"][begin:end].tolist()
    flags = columns.step["flags"][begin:end]
    barriers, resumed = ((flags & flag).astype(bool).tolist() for flag in (BARRIER, RESUMED))
    found: dict[int, list[TracedStep]] = {warp: [] for warp in set(warps)}
    for step, (line, warp, barrier) in enumerate(zip(lines, warps, barriers, strict=True)):
        variables, touched = names[named[step] : named[step + 1]], accesses[accessed[step] : accessed[step + 1]]
        found[warp].append(TracedStep(line, barrier, resumed[step], variables, touched))
    return found


def _access(
    trace: Trace,
    order: Mapping[str, Any],
    op: int,
    array: int,
    lanes: int,
    width: int,
    wavefronts: int,
    base: int,
    pattern: int,
) -> TracedAccess:
    """Return an access from its row of the trace, with the places of its elements by the strides of `order`."""
    columns = trace.columns
    label = columns.arrays[array]
    info = trace.arrays[label]
    count, itemsize = lanes.bit_count(), np.dtype(info.dtype).itemsize
    words = columns.vector(pattern) + base
    element = int(words[0]) if count else 0
    if info.space == "local":  # each thread has its own, at the same place: the first one's is enough
        return TracedAccess(
            OPS[op], label, info.space, itemsize, count, width, wavefronts, element, pattern, NONE, True
        )
    if len(words) == 1:
        words = np.repeat(words, count)
    strides = order[label]
    if strides is not None and info.shape:
        index = np.unravel_index(words, info.shape)
        words = sum((i * stride for i, stride in zip(index, strides, strict=True)), np.zeros(count, np.int64))
    plain = strides is None or strides == c_strides(info.shape)
    return TracedAccess(OPS[op], label, info.space, itemsize, count, width, wavefronts, element, pattern, words, plain)


def lowering_key_of(steps: Sequence[TracedStep]) -> tuple[Any, ...]:
    """Return a key that two warps share if their programs differ only in the sectors that they touch."""
    first: dict[tuple[int, str], int] = {}
    key: list[Any] = []
    for step in steps:
        key.append((step.line, step.barrier, step.resumed, *step.variables))
        for access in step.accesses:
            key.append(access.lowering_key)
            if access.space == "shared" and access.op == "load":
                key.append(access.element - first.setdefault((step.line, access.array), access.element))
    return tuple(key)
