"""A trace as columns: one array for each property of every step, every access and every assignment.

In this form a launch of 58,000 statements takes a few megabytes, and NumPy finds what a picture needs, without a loop
over objects. Lanes are bits: bit l of a mask is lane l of the step's warp, thread 32 * warp + l of its block.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..simulator.hardware import WARP_SIZE

#: The tables, each with its columns and their types; ``step`` of the others is the row of the step to which an access,
#: assignment and so on belongs. A product of a warpgroup has the step that starts it, the one that has waited for it
#: (or NONE), and its group in the warp.
TABLES = {
    "step": {"block": "i4", "line": "i4", "warp": "i4", "lanes": "u4", "flags": "u1"},
    "access": {
        "step": "i4",
        "op": "u1",
        "array": "i4",
        "lanes": "u4",
        "width": "u1",
        "base": "i8",
        "pattern": "i4",
        "values": "i4",
        "old": "i4",
        "given": "i4",
        "operation": "i4",
        "sectors": "i4",
        "wavefronts": "i4",
        "conflicts": "i4",
    },
    "variable": {"step": "i4", "name": "i4", "values": "i4"},
    "test": {"step": "i4", "text": "i4", "lanes": "u4", "truth": "u4", "left": "i4", "right": "i4"},
    "outside": {"step": "i4", "op": "u1", "array": "i4", "lanes": "u4", "index": "i4"},
    "exchange": {"step": "i4", "operation": "i4", "lanes": "u4", "given": "i4", "source": "i4", "result": "i4"},
    "product": {"step": "i4", "end": "i4", "group": "i4"},
}
#: The kinds of requests; and of a change without a request: the arrival of a product of a warpgroup in a local array.
REQUESTS = ("load", "store", "atomic")
OPS = (*REQUESTS, "result")
#: The number of no list in ``access``: ``values`` of a load, unless it found what another block stored;
#: and, of all but an atomic, ``old`` (what a lane found), ``given`` (its operands, lane after lane) and ``operation``
#: (its name, in ``Columns.operations``); in ``exchange``, the ``source`` of a vote.
NONE = -1
#: Bits of ``step.flags``: the step arrives at a barrier; it begins an iteration of a loop, or is the last test of a
#: while; it continues a line after a device function that the line called has returned; an index in it is negative.
BARRIER, ITERATION, RESUMED, NEGATIVE = 1, 2, 4, 8

Table = dict[str, np.ndarray]


def joined(name: str, parts: list[Table]) -> Table:
    """Concatenate the rows of all parts of a table of `TABLES`."""
    return {
        column: np.concatenate([np.empty(0, kind), *(part[column] for part in parts)]).astype(kind, copy=False)
        for column, kind in TABLES[name].items()
    }


class Vectors:
    """Lists of numbers, each stored once and identified by its number; a list of length one may hold for all lanes."""

    def __init__(self) -> None:
        self.dtypes: list[np.dtype[Any]] = []
        self._places: dict[np.dtype[Any], int] = {}
        self._parts: list[list[bytes]] = []
        self._sizes: list[int] = []
        self._seen: dict[tuple[str, bytes], int] = {}
        self._kinds: list[int] = []
        self._starts: list[int] = []
        self._lengths: list[int] = []

    def add(self, row: np.ndarray) -> int:
        """Return the number of a list, given as a one-dimensional array."""
        data = row.tobytes()
        key = row.dtype.str, data
        number = self._seen.get(key)
        if number is None:
            number = self._seen[key] = len(self._kinds)
            place = self._places.get(row.dtype)
            if place is None:
                place = self._places[row.dtype] = len(self.dtypes)
                self.dtypes.append(row.dtype)
                self._parts.append([])
                self._sizes.append(0)
            self._kinds.append(place)
            self._starts.append(self._sizes[place])
            self._lengths.append(row.size)
            self._parts[place].append(data)
            self._sizes[place] += row.size
        return number

    def __len__(self) -> int:
        return len(self._kinds)

    def table(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return (kind, start, length) of every list; ``kind`` is the index of its pool."""
        return np.array(self._kinds, np.int64), np.array(self._starts, np.int64), np.array(self._lengths, np.int64)

    def pools(self) -> list[np.ndarray]:
        """Return the concatenated lists of each dtype, in the order of ``dtypes``."""
        return [np.frombuffer(b"".join(part), dtype) for part, dtype in zip(self._parts, self.dtypes, strict=True)]


@dataclass
class Columns:
    """The columns of a trace; steps are ordered by block (x fastest) and, in a block, as they were executed.

    ``blocks`` (n, 3): the coordinates of the blocks, to which ``step["block"]`` is an index; ``first`` (n + 1,): the
    rows of ``step`` with which the blocks begin. ``names``, ``arrays``, ``texts`` and ``operations``: what the columns
    of these names are indices to.
    """

    step: Table
    access: Table
    variable: Table
    test: Table
    outside: Table
    exchange: Table
    vectors: Vectors
    blocks: np.ndarray
    names: list[str]
    arrays: list[str]
    texts: list[str]
    operations: list[str]
    product: Table

    @cached_property
    def first(self) -> np.ndarray:
        return np.searchsorted(self.step["block"], np.arange(len(self.blocks) + 1))

    @cached_property
    def vector_table(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        return self.vectors.table()

    @cached_property
    def _pools(self) -> list[np.ndarray]:
        return self.vectors.pools()

    def vector(self, number: int) -> np.ndarray:
        """Return the numbers of one list."""
        kind, start, length = (int(column[number]) for column in self.vector_table)
        return self._pools[kind][start : start + length]

    def rows(self, table: str, begin: int, end: int) -> slice:
        """Return the rows of ``table`` that belong to the steps ``begin`` to ``end - 1``."""
        steps = getattr(self, table)["step"]
        return slice(*np.searchsorted(steps, [begin, end]).tolist())

    def values(self, numbers: np.ndarray, row: np.ndarray, place: np.ndarray, dtype: Any = None) -> np.ndarray:
        """Return for each i item ``place[i]`` of list ``numbers[row[i]]`` (item 0 of a list of length one)."""
        kind, start, length = (column[numbers] for column in self.vector_table)
        at = start[row] + np.where(length[row] == 1, 0, place)
        kinds = np.unique(kind)
        dtype = dtype or np.result_type(*(self._pools[k].dtype for k in kinds)) if len(kinds) else dtype
        found = np.empty(len(row), dtype)
        for k in kinds.tolist():
            here = slice(None) if len(kinds) == 1 else kind[row] == k
            found[here] = self._pools[k][at[here]]
        return found


def lanes_of(masks: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (row, lane, rank) of every set bit: the row of ``masks``, the bit, the number of set bits below it."""
    bits = (masks[:, None] >> np.arange(WARP_SIZE, dtype=np.uint32)) & 1
    row, lane = np.nonzero(bits)
    rank = np.cumsum(bits, axis=1, dtype=np.int64)[row, lane] - 1
    return row, lane, rank


@dataclass(frozen=True)
class Touches:
    """Every element that a block's lanes accessed in one array, in order: columns of equal length.

    ``position`` counts steps from 1; ``element`` is row-major; ``store``: whether it was stored or updated atomically;
    ``atomic``: whether it was the latter; ``new``: whether the access stored the value, or found one that another block
    had stored; ``value``: the value after the access, if it is new. Lanes that access several neighbouring elements at
    once have an entry for each, of which ``first`` marks the first; it marks none of a result.
    """

    position: np.ndarray
    thread: np.ndarray
    element: np.ndarray
    store: np.ndarray
    atomic: np.ndarray
    new: np.ndarray
    value: np.ndarray
    first: np.ndarray

    def until(self, position: int) -> slice:
        """Return the entries of the first ``position`` steps."""
        return slice(0, int(np.searchsorted(self.position, position, side="right")))

    def at(self, position: int) -> slice:
        """Return the entries of one step."""
        return slice(*np.searchsorted(self.position, [position, position + 1]).tolist())
