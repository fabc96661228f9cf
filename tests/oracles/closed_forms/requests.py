"""Requests of one warp instruction: 32-byte sectors, and wavefronts of shared memory.

The building blocks of the formulas. A warp's lanes access a few pieces of matrix rows, each piece contiguous; the ends
of pieces determine their sectors, so nothing is counted lane by lane. Matrices are C-ordered and begin on a sector
boundary. Terms are those of Nsight Compute.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from course_lib.simulator.counters.copy_passes import wide_copy
from course_lib.simulator.hardware import SECTOR_BYTES, WARP_SIZE

#: Positions, lanes or words.
Ints = np.ndarray[Any, np.dtype[np.int64]]
#: A piece of a warp's access: its row, and its first and past its last column.
Piece = tuple[int, int, int]
Pieces = list[Piece]
#: The same for many positions of the warp at once, as arrays that broadcast.
Run = tuple[Any, Any, Any]
#: The first row or column of a part of a matrix, and its end.
Span = tuple[int, int]


@dataclass(frozen=True)
class Count:
    """Counts of one array: accesses per thread, requests per warp, 32-byte sectors, shared wavefronts."""

    accesses: int = 0
    requests: int = 0
    sectors: int = 0
    wavefronts: int = 0

    def __add__(self, other: Count) -> Count:
        return Count(*(getattr(self, f) + getattr(other, f) for f in self.__dataclass_fields__))

    def __mul__(self, times: int) -> Count:
        return Count(*(int(getattr(self, f)) * times for f in self.__dataclass_fields__))


def count_copy(to: Ints, of: Ints) -> Count:
    """Count one asynchronous copy of 16 bytes by each lane of a full warp, between places counted in 16 bytes."""
    wavefronts, sectors = wide_copy(zip(to.tolist(), of.tolist(), strict=True))
    return Count(len(of), 1, sectors, wavefronts)


def count_patches(
    pitch: int,
    rows: Span,
    columns: Span,
    width: int,
    offsets: Sequence[int] = (0,),
    tops: Ints | None = None,
    itemsize: int = 4,
) -> Count:
    """Count one request per patch of a matrix with `pitch` elements per row.

    rows and columns are the (first, end) of the part that is accessed. From each row of `tops` (by default, all rows of
    the part) and each `width`-th column on, one warp takes the next `width` elements of the rows `offsets` below,
    except those beyond the part's end.
    """
    tops = np.arange(*rows) if tops is None else tops
    lefts = np.arange(columns[0], columns[1], width)
    return count_pieces([piece_of(tops, lefts, columns[1], (y, 0, width)) for y in offsets], pitch, rows[1], itemsize)


def count_quads(
    pitch: int,
    rows: Span,
    columns: Span,
    width: int,
    offsets: Sequence[int] = (0,),
    tops: Ints | None = None,
    wide: bool = True,
) -> Count:
    """Count the patches of `count_patches`, float32, with four neighbouring elements per lane.

    wide: each lane asks for all four in one access of 16 bytes. Else every fourth column in one request, then the
    columns right of those, in four requests.
    """
    if wide:
        whole = count_patches(pitch, rows, columns, width, offsets, tops)
        return replace(whole, accesses=whole.accesses // 4)
    tops = np.arange(*rows) if tops is None else tops
    lefts = np.arange(columns[0], columns[1], width)
    total = Count()
    for e in range(4):
        single = [(y, x, x + 1) for y in offsets for x in range(e, width, 4)]
        total += count_pieces([piece_of(tops, lefts, columns[1], piece) for piece in single], pitch, rows[1], 4)
    return total


def warps_of_block(width: int, height: int) -> Iterator[Pieces]:
    """Yield, for each warp of a width×height block, its pieces (ty, first tx, last tx + 1) in lane order."""
    for start in range(0, width * height, WARP_SIZE):
        stop = min(start + WARP_SIZE, width * height)
        rows = range(start // width, (stop - 1) // width + 1)
        yield [(ty, max(start - ty * width, 0), min(stop - ty * width, width)) for ty in rows]


def lanes_of(pieces: Pieces) -> tuple[Ints, Ints]:
    """Return (x, y) of the lanes of a warp, from its pieces."""
    x = np.concatenate([np.arange(x0, x1) for _, x0, x1 in pieces])
    return x, np.repeat([ty for ty, _, _ in pieces], [x1 - x0 for _, x0, x1 in pieces])


def warps_of_line(length: int, width: int) -> Iterator[Ints]:
    """Yield the positions of the lanes of each warp, where blocks of `width` threads cover a line."""
    for start in range(0, length, width):
        for first in range(start, min(start + width, length), WARP_SIZE):
            yield np.arange(first, min(first + WARP_SIZE, start + width, length))


def whole_and_edge(length: int, width: int) -> list[tuple[Ints, int]]:
    """Return (starts, extent) of the blocks that lie inside, and of the one across the edge if there is one."""
    inside = length // width * width
    return [(np.arange(0, inside, width), width), *([(np.array([inside]), length - inside)] if inside < length else [])]


def count_requests(lanes: Ints, steps: Ints, itemsize: int) -> Count:
    """Count one request per step, of the elements lanes + step, wherever they lie."""
    if not len(lanes) or not len(steps):
        return Count()
    sectors = np.sort((lanes[:, None] + steps) * itemsize // SECTOR_BYTES, axis=0)
    distinct = len(steps) + np.count_nonzero(np.diff(sectors, axis=0))
    return Count(len(lanes) * len(steps), len(steps), int(distinct))


#: Space, operation, array.
Key = tuple[str, str, str]
Traffic = dict[Key, Count]


def add_to(counts: Traffic, key: Key, count: Count) -> None:
    counts[key] = counts.get(key, Count()) + count


def of_global(A: Count, B: Count, C: Count) -> Traffic:
    """Return the traffic of a product with global memory."""
    return {("global", "load", "A"): A, ("global", "load", "B"): B, ("global", "store", "C"): C}


def clip(first: Ints | int, last: Ints | int, limit: int) -> tuple[Ints, Ints]:
    """Return the part of columns first..last below `limit`; an empty one has first == last."""
    return np.minimum(first, limit), np.minimum(last, limit)


def piece_of(row_starts: Ints, column_starts: Ints, columns: int, piece: Piece) -> Run:
    """Return one piece of a warp for every pair of a row of tiles and a column of tiles."""
    ty, x0, x1 = piece
    return (row_starts[:, None] + ty, *clip(column_starts + x0, column_starts + x1, columns))


def count_pieces(
    pieces: Sequence[Run],
    pitch: int,
    row_limit: int,
    itemsize: int,
    lanes: Sequence[Any] | None = None,
    accesses: int | None = None,
) -> Count:
    """Count one warp instruction for many positions at once.

    pieces: (row, first column, last column + 1), arrays that broadcast, in the order of rising addresses;
    pitch: elements per matrix row; lanes: threads per piece, where it is not one per column.
    """
    total: Any = 0
    sectors: Any = 0
    reached: Any = -1
    some: Any = False
    for i, (row, first, last) in enumerate(pieces):
        active = (row < row_limit) & (last > first)
        low = (row * pitch + first) * itemsize // SECTOR_BYTES
        high = ((row * pitch + last) * itemsize - 1) // SECTOR_BYTES
        sectors = sectors + np.where(active, np.maximum(high - np.maximum(low, reached + 1) + 1, 0), 0)
        reached = np.where(active, np.maximum(high, reached), reached)
        some = some | active
        total = total + np.where(active, (last - first) if lanes is None else lanes[i], 0).sum()
    total = total if accesses is None else accesses
    return Count(int(total), int(np.sum(some)), int(np.sum(sectors)))
