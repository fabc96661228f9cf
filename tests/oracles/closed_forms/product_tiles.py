"""Requests, sectors and wavefronts of the tiles of `course_lib.machine.products.multiplication`, exact for every size.

A tile of C uses its rows of A and its columns of B, unit after unit of K; so the requests for A are those of every row
of tiles times those of every unit, and the same for B. The two are counted separately, as patterns against the 32-byte
sectors, of which there are few, and a block's share of the units is a difference of two sums. Some shapes have further
traffic: where several blocks share a multiprocessor the last unit is fetched twice, slices exchange sums through shared
memory, and the blocks that share a tile write and read their parts of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from course_lib.simulator.hardware import SECTOR_BYTES, WARP_SIZE, ceil_div

from ..wavefronts import wavefronts_of
from .register_tiles import LANE, narrow_request, wide_request
from .requests import Count, Ints, Traffic

#: float32 elements of a sector, and those that a warp requests at once, in accesses of 16 bytes.
SECTOR = SECTOR_BYTES // 4
AT_ONCE = 4 * WARP_SIZE
#: Elements along K of a slice of one unit, and the height of a band of tiles in rows of tiles: as in `tile`.
UNIT, BAND = 16, 8
#: Vectors of partial sums that a thread requests at once.
LOADS = 16


class Shape(Protocol):
    """The attributes of a `course_lib.machine.products.tile.Tile` that are used here; its properties explain them."""

    rows: int
    columns: int
    thread_rows: int
    thread_columns: int
    blocks: int
    lane_rows: int
    slices: int

    @property
    def depth(self) -> int: ...
    @property
    def threads(self) -> int: ...


class Lies(Protocol):
    """The attributes of a `course_lib.machine.products.tile_loads.LoadForm` that are used here."""

    along_k: bool
    wide: bool


@dataclass(frozen=True)
class StoredMatrix:
    """Rows and columns of a C-ordered float32 matrix that begins on a sector."""

    rows: int
    columns: int


@dataclass(frozen=True)
class TileKernel:
    """The parameters of `tile_kernel`: its tile, the forms of A and B, and its options, as described there."""

    tile: Shape
    a_form: Lies
    b_form: Lies
    c_wide: bool
    fits: bool
    onto: bool
    short: bool = False


#: Accesses, requests and sectors, for many rows of tiles (or one) and many units (or one).
Table = np.ndarray[Any, np.dtype[np.int64]]


def tile_traffic(
    kernel: TileKernel, A: StoredMatrix, B: StoredMatrix, C: StoredMatrix, M: int, N: int, whole: int, shares: int
) -> Traffic:
    """Return {(space, op, array): Count} of one launch for the first M rows and N columns of C.

    A, B and C as they are stored; `whole` blocks with a tile each and `shares` blocks that share the rest equally.
    Source of the shares: Osama et al., "Stream-K" (2023), as in `course_lib.machine.products.tile`.
    """
    tile = kernel.tile
    K = A.columns if kernel.a_form.along_k else A.rows
    units = max(1, ceil_div(K, tile.depth))
    down, across = ceil_div(M, tile.rows), ceil_div(N, tile.columns)
    number, begin, end = _segments(down * across, units, whole, shares)
    i, j = _places(number, down, across)
    # Of unit 0 only what there is of K; last, a whole unit from 0 on, which is fetched in the end where there is one.
    starts = np.append(K - tile.depth * (units - np.arange(units)), 0)
    limits = starts + tile.depth
    starts[0] = 0
    own_tops, own_lefts = np.arange(down) * tile.rows, np.arange(across) * tile.columns
    tops = _moved_back(own_tops, M - tile.rows, kernel.a_form)
    lefts = _moved_back(own_lefts, N - tile.columns, kernel.b_form)
    ragged = kernel.short & (begin == 0)  # segments whose first unit is multiplied alone, before the loop
    again = ((end - begin - ragged) > 0) & kernel.fits & (tile.blocks > 1)
    last = np.where(end > 1, end - 1, units)

    def fetched(X: StoredMatrix, form: Lies, width: int, firsts: Ints, which: Ints) -> Count:
        table = _fetches(X, form, width, tile.slices, firsts, starts, limits)
        sums = np.concatenate([np.zeros_like(table[:, :, :1]), table[:, :, :units].cumsum(axis=2)], axis=2)
        found = sums[:, which, end] - sums[:, which, begin] + table[:, which, last] * again
        return Count(*found.sum(axis=1).tolist())

    stored, passes = _results(kernel, C, (own_tops, tops, M), (own_lefts, lefts, N))
    counts = {
        ("global", "load", "A"): fetched(A, kernel.a_form, tile.rows, tops, i),
        ("global", "load", "B"): fetched(B, kernel.b_form, tile.columns, lefts, j),
        ("global", "store", "C"): stored,
    }
    if kernel.onto:
        counts["global", "load", "C"] = stored
    rounds = int((end - begin).sum())
    steps = len(number) + UNIT * (rounds - int(ragged.sum())) + int(limits[0]) * int(ragged.sum())
    counts |= _tiles_in_shared_memory(kernel, len(number), rounds, steps)
    if not kernel.c_wide:  # results go to C by way of B's tile
        columns, pitch = tile.columns, _pitch(tile.columns, kernel.b_form)
        lane_columns = WARP_SIZE // tile.lane_rows
        place = LANE // lane_columns * (lane_columns * tile.thread_columns) + LANE % lane_columns * 4
        rows = down * across * tile.threads // WARP_SIZE * (tile.thread_rows // tile.slices)
        counts["shared", "store", "B_tile"] += wide_request(place // columns * pitch + place % columns) * (
            rows * (tile.thread_columns // 4)
        )
        counts["shared", "load", "B_tile"] += Count(stored.accesses, stored.requests, 0, passes)
    _add_parts(counts, tile, number[end - begin < units])
    return counts


def _segments(tiles: int, units: int, whole: int, shares: int) -> tuple[Ints, Ints, Ints]:
    """Return the tile and the first and past the last unit of every part of a tile that a block multiplies."""
    cuts = np.arange(tiles + 1) * units
    if shares:
        rest = (tiles - whole) * units
        cuts = np.union1d(cuts, whole * units + np.arange(shares) * rest // shares)
    number = cuts[:-1] // units
    return number, cuts[:-1] - number * units, cuts[1:] - number * units


def _places(number: Ints, down: int, across: int) -> tuple[Ints, Ints]:
    """Return the row and the column of tiles: in bands of 8 rows, column after column."""
    band = number // (BAND * across)
    height = np.minimum(BAND, down - BAND * band)
    within = number - band * BAND * across
    return BAND * band + within % height, within // height


def _moved_back(own: Ints, last: int, form: Lies) -> Ints:
    """Return where tiles begin: at `own`, but at most at `last`, rounded up to loads of 16 bytes."""
    return np.maximum(0, np.minimum(own, ceil_div(last, 4) * 4 if form.wide and not form.along_k else last))


def _fetches(X: StoredMatrix, form: Lies, width: int, slices: int, firsts: Ints, starts: Ints, limits: Ints) -> Table:
    """Count the loads of `width` rows of an operand from each of `firsts` on, units from `starts` to `limits` of K.

    The result has 3 × len(firsts) × len(starts) elements.
    """
    each = 4 if form.wide else 1
    begins = starts[:, None] + UNIT * np.arange(slices)
    if form.along_k:
        lanes = np.clip(-(-(limits[:, None] - begins) // each), 0, UNIT // each)
        rows = np.minimum(firsts[:, None, None] + np.arange(width).reshape(-1, 2 * each), X.rows - 1)
        return count_spans(X, rows, np.full(rows.shape[:2], 2 * each), begins, begins + each * lanes, lanes)
    wide = min(width, WARP_SIZE * each)
    rows = begins[:, :, None] + np.arange(UNIT)
    rows = rows.reshape(len(starts), -1, WARP_SIZE * each // wide)
    inside = (rows < limits[:, None, None]).sum(axis=2)
    rows = np.clip(np.minimum(rows, limits[:, None, None] - 1), 0, None)
    left = firsts[:, None] + np.arange(0, width, wide)
    found = count_spans(
        X,
        rows,
        inside,
        np.minimum(left, X.columns - each),
        np.minimum(left + wide, X.columns),
        np.full(left.shape, wide // each),
    )
    return found.transpose(0, 2, 1)


def count_spans(X: StoredMatrix, rows: Ints, inside: Ints, lefts: Ints, rights: Ints, lanes: Ints) -> Table:
    """Count requests for columns of some rows of a matrix: every one of n × G groups of rows, with each of m × S spans.

    rows: n × G × h, rising, repeated where a lane's row lies outside; inside: n × G, the rows of a group that count;
    lefts, rights, lanes: m × S, first and past the last column of a span, and the lanes that it has in a row. The
    result is 3 × n × m: accesses, requests, sectors. Groups that lie alike in 8 rows, and spans alike in 8 columns,
    meet equally many sectors: so all are counted by their patterns.
    """
    height = rows.shape[2]
    groups = rows.reshape(-1, height)
    kinds, of_group = np.unique(groups - groups[:, :1] // SECTOR * SECTOR, axis=0, return_inverse=True)
    spans = np.stack([lefts % SECTOR, rights - lefts], axis=-1).reshape(-1, 2)
    widths, of_span = np.unique(spans, axis=0, return_inverse=True)
    first, past = widths[:, 0], widths.sum(axis=1)
    sectors = np.zeros((len(kinds), len(widths)), np.int64)
    reached = np.full_like(sectors, -1)
    for h in range(height):
        at = kinds[:, h, None] * X.columns
        low, high = (at + first) // SECTOR, (at + past - 1) // SECTOR
        sectors += np.maximum(high - np.maximum(low, reached + 1) + 1, 0)
        reached = np.maximum(reached, high)

    def occurrences(of: Ints, counted: Any, kinds: int) -> Ints:
        found = np.zeros((len(counted), kinds), np.int64)
        np.add.at(found, (np.arange(counted.size) // max(1, counted.shape[1]), of.ravel()), counted.ravel())
        return found

    some, full = inside > 0, lanes > 0
    of_kind, of_width = occurrences(of_group, some, len(kinds)), occurrences(of_span, full, len(widths))
    return np.stack(
        [
            np.multiply.outer(inside.sum(axis=1), lanes.sum(axis=1)),
            np.multiply.outer(some.sum(axis=1), full.sum(axis=1)),
            of_kind @ sectors @ of_width.T,
        ]
    )


def _results(
    kernel: TileKernel, C: StoredMatrix, down: tuple[Ints, Ints, int], across: tuple[Ints, Ints, int]
) -> tuple[Count, int]:
    """Count the stores of all results, each once, and the wavefronts of the loads from B's tile before, if they are so.

    down and across: where tiles begin, where they begin moved back, and the end of C.
    """
    tile = kernel.tile
    (own_tops, tops, M), (own_lefts, lefts, N) = down, across
    warp_columns = WARP_SIZE // tile.lane_rows * tile.thread_columns
    if kernel.c_wide:  # from registers, four columns a lane
        each, height, wide = 4, tile.lane_rows, 4 * WARP_SIZE // tile.lane_rows
    else:  # from shared memory, neighbours by neighbouring lanes
        each, wide = 1, min(WARP_SIZE, warp_columns)
        height = WARP_SIZE // wide
    # Every fourth row of as many as the lanes of a warp have, then those below.
    local = np.arange(tile.rows).reshape(-1, tile.lane_rows, 4).transpose(0, 2, 1).reshape(-1, height)
    rows = (tops[:, None, None] + local).reshape(-1, height)
    owned = (rows >= np.repeat(own_tops, len(local))[:, None]) & (rows < M)
    low, high = np.where(owned, rows, M).min(axis=1, keepdims=True), np.where(owned, rows, 0).max(axis=1, keepdims=True)
    left = (lefts[:, None] + np.arange(0, tile.columns, wide)).ravel()
    first = np.maximum(left, np.repeat(own_lefts, tile.columns // wide))
    past = np.maximum(first, np.minimum(left + wide, N))
    inside, lanes = owned.sum(axis=1), (past - first) // each
    found = count_spans(C, np.clip(rows, low, high)[None], inside[None], first[None], past[None], lanes[None])
    total = Count(*found.ravel().tolist())
    pitch, passes = _pitch(tile.columns, kernel.b_form), 0
    if tile.columns >= WARP_SIZE:
        return total, total.requests
    for some, rows_alike in zip(*np.unique(owned, axis=0, return_counts=True), strict=True):
        for (begin, end), alike in zip(
            *np.unique(np.stack([first - left, past - left], axis=1), axis=0, return_counts=True), strict=True
        ):
            words = np.add.outer(np.flatnonzero(some) * pitch, np.arange(begin, end)).ravel()
            passes += wavefronts_of(words) * int(rows_alike * alike) if len(words) else 0
    return total, passes


def _pitch(width: int, form: Lies) -> int:
    """Return the words from a row of a tile in shared memory to the next."""
    return width + (4 if form.along_k else 0)


def _tiles_in_shared_memory(kernel: TileKernel, segments: int, rounds: int, steps: int) -> Traffic:
    """Count the tiles that are kept, one pair more than rounds in each segment, and fragments of `steps` in each slice.

    Slices exchange their sums in B's tile; a block alone on a multiprocessor keeps three numbers out of its registers.
    """
    tile = kernel.tile
    warps, kept = tile.threads // WARP_SIZE, rounds + segments
    asked = steps * warps
    lane_columns, pitch = WARP_SIZE // tile.lane_rows, _pitch(tile.columns, kernel.b_form)
    counts = {
        ("shared", "store", "A_tile"): _kept(kernel.a_form, tile.rows) * (kept * tile.slices),
        ("shared", "store", "B_tile"): _kept(kernel.b_form, tile.columns) * (kept * tile.slices),
        ("shared", "load", "A_tile"): wide_request(LANE // lane_columns * 4) * (asked * tile.thread_rows // 4),
        ("shared", "load", "B_tile"): wide_request(LANE % lane_columns * 4) * (asked * tile.thread_columns // 4),
    }
    # Two slices exchange half of their sums, and four a quarter once more.
    rows = sum(tile.thread_rows // share for share in (2, 4) if share <= tile.slices)
    exchanged = wide_request(4 * LANE // tile.columns * pitch + 4 * LANE % tile.columns)
    for op in ("store", "load"):
        counts["shared", op, "B_tile"] += exchanged * (segments * warps * rows * tile.thread_columns // 4)
    if tile.blocks == 1:
        counts["shared", "store", "progress"] = Count(1, 1, 0, 1) * (3 * segments)
        counts["shared", "load", "progress"] = Count(WARP_SIZE, 1, 0, 1) * (3 * segments * warps)
    return counts


def _kept(form: Lies, width: int) -> Count:
    """Count the stores of one slice of an operand's tile, K first, so that A's is transposed on the way."""
    requests = UNIT * width // WARP_SIZE
    if form.along_k:
        along = LANE % 4 * 4 if form.wide else LANE % UNIT
        return narrow_request(along * _pitch(width, form) + LANE // (4 if form.wide else UNIT)) * requests
    return wide_request(4 * LANE) * (requests // 4) if form.wide else narrow_request(LANE) * requests


def _add_parts(counts: Traffic, tile: Shape, number: Ints) -> None:
    """Add the traffic of the blocks of shared tiles, given the tile of every part: partial stores, tickets, the sum.

    The last block reads all parts, a few at once; the last batch is filled up with the last part.
    """
    if not len(number):
        return
    kept, warps = tile.thread_rows // tile.slices, tile.threads // WARP_SIZE
    vectors = kept * tile.thread_columns // 4
    at_once = max(1, LOADS // vectors)
    parts = np.unique(number, return_counts=True)[1]
    quad = Count(WARP_SIZE, 1, AT_ONCE // SECTOR) * (warps * vectors)
    counts["global", "store", "partial"] = quad * len(number)
    counts["global", "load", "partial"] = quad * int((-(-parts // at_once) * at_once).sum())
    add_tickets(counts, len(number), warps)


def add_tickets(counts: Traffic, blocks: int, warps: int) -> None:
    """Add the tickets of `blocks` blocks: one thread takes it, and all read it."""
    counts["global", "atomic", "tickets"] = Count(1, 1, 1) * blocks
    counts["shared", "store", "ticket"] = Count(1, 1, 0, 1) * blocks
    counts["shared", "load", "ticket"] = Count(WARP_SIZE, 1, 0, 1) * (blocks * warps)
