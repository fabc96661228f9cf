"""A trace as columns: one array for each property of every step, every access and every assignment.

In this form a launch of 58,000 statements takes a few megabytes, and NumPy finds what a picture needs, without a loop
over objects. Lanes are bits: bit l of a mask is lane l of the step's warp, thread 32 * warp + l of its block.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..simulator.findings import LaunchError
from ..simulator.hardware import WARP_SIZE
from ..simulator.run import REQUESTS

#: The tables, each with its columns and their types, which are those that the browser gets. ``step`` of the others is
#: the row of the step to which an access, assignment and so on belongs. A product of a warpgroup has the step that
#: starts it, the one that has waited for it (or NONE), and its group in the warp.
TABLES = {
    "step": {"block": "i4", "line": "u4", "warp": "u2", "lanes": "u4", "flags": "u1"},
    "access": {
        "step": "i4",
        "op": "u1",
        "array": "u2",
        "lanes": "u4",
        "width": "u1",
        "base": "i4",
        "pattern": "i4",
        "values": "i4",
        "old": "i4",
        "given": "i4",
        "operation": "i1",
        "sectors": "u2",
        "wavefronts": "u2",
        "conflicts": "u2",
    },
    "variable": {"step": "i4", "name": "u2", "values": "i4"},
    "test": {"step": "i4", "text": "u2", "lanes": "u4", "truth": "u4", "left": "i4", "right": "i4"},
    "outside": {"step": "i4", "op": "u1", "array": "u2", "lanes": "u4", "index": "i4"},
    "exchange": {"step": "i4", "operation": "u2", "lanes": "u4", "given": "i4", "source": "i4", "result": "i4"},
    "product": {"step": "i4", "end": "i4", "group": "i4"},
}
#: The kinds of requests, and a change without a request: the arrival of a product of a warpgroup in a local array.
OPS = (*REQUESTS, "result")
#: The number of no list in ``access``: ``values`` of a load, unless it found what another block stored;
#: and, of all but an atomic, ``old`` (what a lane found), ``given`` (its operands, lane after lane) and ``operation``
#: (its name, in ``Columns.operations``); in ``exchange``, the ``source`` of a vote.
NONE = -1
#: Bits of ``step.flags``: the step arrives at a barrier; it begins an iteration of a loop, or is the last test of a
#: while; it continues a line after a device function that the line called has returned; an index in it is negative.
BARRIER, ITERATION, RESUMED, NEGATIVE = 1, 2, 4, 8

Table = dict[str, np.ndarray]


def concatenated(name: str, parts: list[Table]) -> Table:
    """Concatenate the rows of all parts of a table of `TABLES`.

    Raises LaunchError for a number that its column cannot hold.
    """
    table = {}
    for column, kind in TABLES[name].items():
        numbers = np.concatenate([np.empty(0, kind), *(part[column] for part in parts)])
        table[column] = numbers.astype(kind, copy=False)
        if not np.array_equal(table[column], numbers):
            raise LaunchError(
                f"this launch has a {name} whose {column} is {numbers[table[column] != numbers][0]:,}, and a trace "
                f"holds at most {np.iinfo(kind).max:,}; trace a smaller launch"
            )
    return table


def rows_of(table: Table, rows: Any) -> Table:
    """Return these rows of a table: a slice, their numbers, or a mask."""
    return {name: column[rows] for name, column in table.items()}


class Lists:
    """Lists of numbers, each stored once and identified by its number; a list of length one may hold for all lanes."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[np.dtype[Any], bytes], int] = {}

    def add(self, row: np.ndarray) -> int:
        """Return the number of a list: the elements of an array, in C order."""
        return self._numbers.setdefault((row.dtype, row.tobytes()), len(self._numbers))

    def pooled(self) -> dict[str, Any]:
        """Return `Columns.lists` and `Columns.pools`."""
        parts: dict[np.dtype[Any], list[bytes]] = {}
        for dtype, data in self._numbers:
            parts.setdefault(dtype, []).append(data)
        places = {dtype: place for place, dtype in enumerate(parts)}
        pool = np.array([places[dtype] for dtype, _ in self._numbers], np.int64)
        length = np.array([len(data) // dtype.itemsize for dtype, data in self._numbers], np.int64)
        start = np.zeros_like(length)
        for place in places.values():
            mine = pool == place
            start[mine] = np.cumsum(length[mine]) - length[mine]
        pools = [np.frombuffer(b"".join(part), dtype) for dtype, part in parts.items()]
        return {"lists": (pool, start, length), "pools": pools}


@dataclass
class Columns:
    """The columns of a trace; steps are ordered by block (x fastest) and, in a block, as they were executed.

    ``lists``: (pool, start, length) of every list of numbers; ``pools``: the lists of each dtype, one after another.
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
    product: Table
    lists: tuple[np.ndarray, np.ndarray, np.ndarray]
    pools: list[np.ndarray]
    blocks: np.ndarray
    names: list[str]
    arrays: list[str]
    texts: list[str]
    operations: list[str]

    @cached_property
    def first(self) -> np.ndarray:
        return np.searchsorted(self.step["block"], np.arange(len(self.blocks) + 1))

    def vector(self, number: int) -> np.ndarray:
        """Return the numbers of one list."""
        pool, start, length = (int(column[number]) for column in self.lists)
        return self.pools[pool][start : start + length]

    def rows(self, table: str, begin: int, end: int) -> slice:
        """Return the rows of ``table`` that belong to the steps ``begin`` to ``end - 1``."""
        return slice(*self._starts[table][[begin, end]].tolist())

    @cached_property
    def _starts(self) -> dict[str, np.ndarray]:
        steps = np.arange(len(self.step["line"]) + 1)
        names = ("access", "variable", "test", "outside", "exchange", "product")
        return {name: np.searchsorted(getattr(self, name)["step"], steps) for name in names}

    def values(self, numbers: np.ndarray, row: np.ndarray, place: np.ndarray, dtype: Any = None) -> np.ndarray:
        """Return for each i item ``place[i]`` of list ``numbers[row[i]]`` (item 0 of a list of length one)."""
        pool, start, length = (column[numbers] for column in self.lists)
        at = start[row] + np.where(length[row] == 1, 0, place)
        pools = np.unique(pool).tolist()
        if dtype is None and pools:
            dtype = np.result_type(*(self.pools[number].dtype for number in pools))
        found = np.empty(len(row), dtype)
        for number in pools:
            here = slice(None) if len(pools) == 1 else pool[row] == number
            found[here] = self.pools[number][at[here]]
        return found


def lanes_of(masks: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (row, lane, rank) of every set bit: the row of ``masks``, the bit, the number of set bits below it."""
    bits = (masks[:, None] >> np.arange(WARP_SIZE, dtype=np.uint32)) & 1
    row, lane = np.nonzero(bits)
    rank = np.cumsum(bits, axis=1, dtype=np.int64)[row, lane] - 1
    return row, lane, rank


@dataclass(frozen=True)
class ElementAccesses:
    """Every element that a block's lanes accessed in one array, in order: columns of equal length.

    ``position`` counts steps from 1; ``element`` is row-major; ``store``: whether it was stored or updated atomically;
    ``atomic``: whether it was the latter; ``new``: whether the access stored the value, or found one that another block
    had stored; ``value``: the value after the access, if it is new. Lanes that access several neighbouring elements at
    once have an entry for each.
    """

    position: np.ndarray
    thread: np.ndarray
    element: np.ndarray
    store: np.ndarray
    atomic: np.ndarray
    new: np.ndarray
    value: np.ndarray

    def between(self, begin: int, end: int) -> slice:
        """Return the entries of the steps after position ``begin``, up to ``end``."""
        return slice(*np.searchsorted(self.position, [begin, end], side="right").tolist())
