"""Requests, sectors and wavefronts of every launch of `machine.products.multiplication`, exact for every plan.

A plan's launches are copies into wider rows, tiles or `best`, and inner products; `steps` of that module lists them,
with each kernel's parameters and arguments, and here is a formula for each. In a kernel of inner products a warp loads
the long operand in pieces of rows, and the short one in as many elements: both are the same in all blocks of a grid
row, so they are counted along K once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Protocol

import numpy as np

from course_lib.simulator.hardware import WARP_SIZE, ceil_div

from .product_tiles import SECTOR, StoredMatrix, TileKernel, add_tickets, count_spans, tile_traffic
from .register_tiles import best
from .requests import Count, Ints, Traffic

#: As in `machine.products.inner_products`: warps of a block and its rows; for `across` also the rows that a thread
#: loads before it uses the first.
WARPS, ROWS = 8, 8
WARPS_ACROSS, COLUMNS, AHEAD = 32, 32, 4


class ProductStep(Protocol):
    """The attributes of a `course_lib.machine.products.multiplication.LaunchStep` that are used here."""

    @property
    def kernel(self) -> str: ...
    @property
    def made(self) -> tuple[Any, ...]: ...
    @property
    def grid(self) -> Any: ...
    @property
    def arguments(self) -> tuple[Any, ...]: ...


def product_traffic(steps: Iterable[ProductStep]) -> list[Traffic]:
    """Return {(space, op, array): Count} of each of `course_lib.machine.products.multiplication.steps`, in order.

    The names of arrays are the kernels' own. Only their shapes are read, so empty arrays suffice; all begin on a
    sector. Counts are as written in the source; `test_product.py` compares them with the simulator's.
    """
    return [{key: count for key, count in FORMS[step.kernel](step).items() if count.requests} for step in steps]


def _matrix(X: Any) -> StoredMatrix:
    rows, columns = X.shape
    return StoredMatrix(rows, columns)


def _tiles(step: ProductStep) -> Traffic:
    A, B, C, M, N, _, _, whole, shares, *_ = step.arguments
    stored = _matrix(A), _matrix(B), _matrix(C)
    return tile_traffic(TileKernel(*step.made), *stored, M, N, whole, shares)


def _best(step: ProductStep) -> Traffic:
    A, B, C = step.arguments
    return best(C.shape[0], C.shape[1], A.shape[1])


def _widened(step: ProductStep) -> Traffic:
    """Count the copies: 32 columns of a row at a time, all of the copy stored and the original loaded."""
    X, Y = map(_matrix, step.arguments)
    return {
        ("global", "load", "X"): _pieces(X, np.arange(X.rows), X.columns, WARP_SIZE),
        ("global", "store", "Y"): _pieces(Y, np.arange(Y.rows), Y.columns, WARP_SIZE),
    }


def _pieces(X: StoredMatrix, rows: Ints, columns: int, width: int) -> Count:
    """Count the first `columns` of some rows of a matrix, `width` elements in a request."""
    left = np.arange(0, columns, width)[None]
    past = np.minimum(left + width, columns)
    found = count_spans(X, rows[None, :, None], np.ones((1, len(rows)), int), left, past, past - left)
    return Count(*found.ravel().tolist())


def _asked(elements: Ints, active: Any) -> Count:
    """Count one request per row, for these elements, counted from a 32-byte boundary, in the active lanes."""
    sectors = np.sort(np.where(active, elements // SECTOR, -1), axis=1)
    distinct = (sectors[:, 0] >= 0) + ((np.diff(sectors, axis=1) > 0) & (sectors[:, 1:] >= 0)).sum(axis=1)
    return Count(int(active.sum()), int(active.any(axis=1).sum()), int(distinct.sum()))


def _at(S: StoredMatrix, k: Ints, c: int, along_k: bool) -> Ints:
    """Return the position in S of the element of row or column c at k."""
    return c * S.columns + k if along_k else k * S.columns + c


def _result(C: StoredMatrix, w: Ints, c: Any, flipped: bool) -> Ints:
    """Return the position of the result of row or column w of the long operand with c of the short one."""
    return np.asarray(c * C.columns + w if flipped else w * C.columns + c)


def _stored(stored: Count, onto: bool) -> Traffic:
    """Return the stores of C, and its loads if they add to it."""
    return {("global", op, "C"): stored for op in (("load", "store") if onto else ("store",))}


def _along_k(step: ProductStep) -> Traffic:
    """Count inner products of 8 rows of L with `count` columns of S, 32 lanes along K, four elements each if `wide`."""
    count, wide, short_along_k, flipped, onto = step.made
    long, short, results, _, _, end, first, _, partial, _ = step.arguments
    L, S, C, P = map(_matrix, (long, short, results, partial))
    side, parts = step.grid
    each, products = 4 if wide else 1, ROWS * count
    rows = np.minimum(np.arange(side * ROWS), end - 1)
    loads = _pieces(L, rows, L.columns, each * WARP_SIZE)
    k = np.arange(ceil_div(L.columns, each * WARP_SIZE) * each * WARP_SIZE).reshape(-1, WARP_SIZE, each)
    asked = sum((_asked(_at(S, k[:, :, e], first + c, short_along_k), k[:, :, e] < L.columns)
                 for c in range(count) for e in range(each)), Count())  # fmt: skip
    counts: Traffic = {
        ("global", "load", "L"): Count(loads.accesses // each, loads.requests, loads.sectors),
        ("global", "load", "S"): asked * (ROWS * side),
        ("shared", "store", "shared"): Count(1, 1, 0, 1) * (WARPS * products * side * parts),
    }
    # The first threads of a block have a result each, from the sums of its 8 warps.
    thread = np.arange(ceil_div(products, WARP_SIZE) * WARP_SIZE)
    w, c = np.arange(side)[:, None] * ROWS + thread // count, thread % count
    inside = ((thread < products) & (w < end)).reshape(-1, WARP_SIZE)
    summed = int(inside.any(axis=1).sum()) * WARPS * parts
    counts["shared", "load", "shared"] = Count(int(inside.sum()) * WARPS * parts, summed, 0, summed)
    if parts == 1:
        stored = _asked(_result(C, w, first + c, flipped).reshape(-1, WARP_SIZE), inside)
    else:
        part = np.arange(parts)[:, None, None]
        into = ((part * count + c) * P.columns + w).reshape(-1, WARP_SIZE)
        counts["global", "store", "partial"] = _asked(into, np.tile(inside, (parts, 1)))
        # Then a warp has a result, its lanes every 32nd part.
        part = np.arange(ceil_div(parts, WARP_SIZE) * WARP_SIZE).reshape(-1, WARP_SIZE)
        rows, columns = (x[..., None, None] for x in np.meshgrid(np.arange(end), np.arange(count), indexing="ij"))
        of = (part * count + columns) * P.columns + rows
        there = np.broadcast_to(part < parts, of.shape)
        counts["global", "load", "partial"] = _asked(of.reshape(-1, WARP_SIZE), there.reshape(-1, WARP_SIZE))
        stored = Count(1, 1, 1) * (end * count)
        add_tickets(counts, side * parts, WARPS)
    return counts | _stored(stored, onto)


def _across(step: ProductStep) -> Traffic:
    """Count inner products of 32 columns of L with `count` columns of S: a warp takes one row of K, or four if `wide`.

    A thread loads four rows of K, `groups` apart, before it uses the first; beyond the last it loads the last again.
    """
    count, wide, short_along_k, flipped, onto = step.made
    long, short, results, _, _, end, first, chunk, partial, _ = step.arguments
    L, S, C, P = map(_matrix, (long, short, results, partial))
    side, parts = step.grid
    each, height = (4, 4) if wide else (1, 1)  # elements a lane, and rows of K a warp
    groups = WARPS_ACROSS * height
    lefts = np.arange(side)[None] * COLUMNS
    loads = asked = Count()
    for begin in range(0, parts * chunk, chunk):
        stop = min(begin + chunk, L.rows)
        # The rows at which warps begin, without the repetitions after the first round.
        start = np.arange(begin, begin + ceil_div(stop - begin, height) * height).reshape(-1, height)
        start = start[(start[:, 0] - begin) // groups % AHEAD == 0]
        here = start[:, None] + groups * np.arange(AHEAD)[:, None]
        rows = np.minimum(here, stop - 1).reshape(1, -1, height)
        inside = np.broadcast_to((start < stop).sum(axis=1)[:, None], here.shape[:2]).reshape(1, -1)
        rights, lanes = np.minimum(lefts + COLUMNS, L.columns), np.full(lefts.shape, COLUMNS // each)
        found = count_spans(L, rows, inside, np.minimum(lefts, L.columns - each), rights, lanes)
        loads += Count(*found.ravel().tolist())
        k = here.reshape(-1, height)
        for c in range(count):
            one = _asked(_at(S, k, first + c, short_along_k), k < stop)
            asked += Count(one.accesses * (WARP_SIZE // height), one.requests, one.sectors) * side
    per_block = WARPS_ACROSS * count * side * parts
    counts: Traffic = {
        ("global", "load", "L"): loads,
        ("global", "load", "S"): asked,
        ("shared", "store", "shared"): Count(COLUMNS, each, 0, each) * per_block,
        ("shared", "load", "shared"): Count(end, side, 0, side) * (WARPS_ACROSS * count * parts),
    }
    w = np.arange(side * COLUMNS).reshape(-1, WARP_SIZE)
    stored = sum((_asked(_result(C, w, first + c, flipped), w < end) for c in range(count)), Count())
    if parts > 1:
        both = _pieces(P, np.arange(parts * count), end, COLUMNS)
        counts["global", "store", "partial"] = counts["global", "load", "partial"] = both
        add_tickets(counts, side * parts, WARPS_ACROSS)
    return counts | _stored(stored, onto)


def _direct(step: ProductStep) -> Traffic:
    """Count a launch without shared memory, thread by thread: lanes across C, then down, then warps, then blocks."""
    shape, a_along_k, b_along_k, onto = step.made
    a, b, c, _, _, K, chunk, partial, _ = step.arguments
    A, B, C = map(_matrix, (a, b, c))
    down, across, parts = step.grid
    block, lane = np.arange(down * across)[:, None, None], np.arange(WARP_SIZE)
    warp = np.arange(WARPS)[:, None]
    group = block % down * (WARPS // shape.slices) + warp // shape.slices
    top = (group * (WARP_SIZE // shape.lanes) + lane // shape.lanes) * shape.rows
    left = block // down * shape.width + lane % shape.lanes
    rows = [top + i for i in range(shape.rows)]
    columns = [left + shape.lanes * j + 0 * top for j in range(shape.columns)]
    counts: Traffic = {}
    for name, X, along_k, places, last in (("A", A, a_along_k, rows, C.rows), ("B", B, b_along_k, columns, C.columns)):
        loads = Count()
        for begin in range(0, parts * chunk, chunk):
            end = min(begin + chunk, K)
            k = np.arange(begin, begin + ceil_div(end - begin, AHEAD) * AHEAD)[:, None, None, None]
            mine = np.broadcast_to(
                (k - begin) // AHEAD % shape.slices == warp % shape.slices, (*k.shape[:1], *top.shape)
            )
            k = np.minimum(k, end - 1)  # beyond the last it loads the last again
            for place in places:
                at = np.minimum(place, last - 1)
                where = np.broadcast_to(at * X.columns + k if along_k else k * X.columns + at, mine.shape)
                loads += _asked(where.reshape(-1, WARP_SIZE), mine.reshape(-1, WARP_SIZE))
        counts["global", "load", name] = loads
    stored, summed = Count(), 0
    into: dict[str, Count] = {"partial": Count(), "C": Count()}
    for i, row in enumerate(rows):
        for j, column in enumerate(columns):
            # With slices, every eighth result is that of one warp, for all of them.
            mine = (warp == (i * shape.columns + j) % shape.slices) if shape.slices > 1 else np.ones_like(warp, bool)
            inside = np.broadcast_to((row < C.rows) & (column < C.columns) & mine, top.shape).reshape(-1, WARP_SIZE)
            at = np.broadcast_to(row * C.columns + column, top.shape).reshape(-1, WARP_SIZE)
            into["C"] += _asked(at, inside)
            for part in range(parts):
                into["partial"] += _asked(part * C.rows * C.columns + at, inside)
            summed += down * across
    if shape.slices > 1:
        sums = summed * parts
        counts["shared", "store", "sums"] = Count(WARP_SIZE, 1, 0, 1) * (sums * shape.slices)
        counts["shared", "load", "sums"] = Count(WARP_SIZE, 1, 0, 1) * (sums * shape.slices)
    if parts > 1:
        counts["global", "store", "partial"] = counts["global", "load", "partial"] = into["partial"]
        add_tickets(counts, down * across * parts, WARPS)
    stored = into["C"]
    return counts | _stored(stored, onto)


FORMS: dict[str, Callable[[ProductStep], Traffic]] = {
    "widened": _widened,
    "tiles": _tiles,
    "best": _best,
    "along_k": _along_k,
    "across": _across,
    "direct": _direct,
}
