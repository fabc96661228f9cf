"""Requests, sectors and wavefronts of the first rungs, exact for every size, tile width and element size.

A warp's threads follow each other along x, so one memory instruction touches a few pieces of matrix rows,
each piece contiguous. Counting those pieces needs no simulation: their ends say which 32-byte sectors they meet.
Matrices are C-ordered and begin on a sector boundary. Terms are those of Nsight Compute.
"""

from dataclasses import dataclass

import numpy as np

from .counts import _ceil_div

WARP = 32
SECTOR_BYTES = 32
BANKS = 32


@dataclass(frozen=True)
class Count:
    """What one array is asked for: accesses per thread, requests per warp, 32-byte sectors, shared wavefronts."""

    accesses: int = 0
    requests: int = 0
    sectors: int = 0
    wavefronts: int = 0

    def __add__(self, other):
        return Count(*(getattr(self, f) + getattr(other, f) for f in self.__dataclass_fields__))

    def __mul__(self, times):
        return Count(*(int(getattr(self, f)) * times for f in self.__dataclass_fields__))


def traffic(name, M, N, K, **params):
    """Return {(space, op, array): Count} for the rung `name`; KeyError if this rung has no closed form."""
    return TRAFFIC[name](M, N, K, **params)


def naive(M, N, K, block_width=16, itemsize=4):
    """Count the naive kernel: inside the guard, K loads of A and of B and one store of C per thread."""
    grid_x, grid_y = max(1, _ceil_div(N, block_width)), max(1, _ceil_div(M, block_width))
    A = B = C = Count()
    ks = np.arange(K)
    for pieces in _warps(block_width, block_width):
        rows = [np.arange(grid_y) * block_width + ty for ty, _, _ in pieces]
        for bx in range(grid_x):
            spans = [_clip(bx * block_width + x0, bx * block_width + x1, N) for _, x0, x1 in pieces]
            # A[row, k]: all threads of a piece read one element; neighbouring rows are K elements apart.
            one = [(r[:, None], ks, ks + (b > a)) for r, (a, b) in zip(rows, spans, strict=True)]
            lanes = [b - a for a, b in spans]
            A += _count(one, K, M, itemsize, lanes)
            # B[k, col]: the pieces read the same row k, so only the union of their columns counts.
            active = np.array([[(r < M) & (b > a)] for r, (a, b) in zip(rows, spans, strict=True)])[:, 0]
            first = np.where(active, [[a] for a, _ in spans], N).min(axis=0)
            last = np.where(active, [[b] for _, b in spans], 0).max(axis=0)
            union = [(ks[:, None], first, np.maximum(first, last))]
            loads = (active * np.array(lanes)[:, None]).sum() * K
            B += _count(union, N, K, itemsize, accesses=loads)
            C += _count([(r, a, b) for r, (a, b) in zip(rows, spans, strict=True)], N, M, itemsize)
    return {("global", "load", "A"): A, ("global", "load", "B"): B, ("global", "store", "C"): C}


def uncoalesced(M, N, K, block_width=16, itemsize=4):
    """Count the kernel with x along the rows: the loads and the store of the naive one, in other warps."""
    A = B = C = Count()
    ks = np.arange(K)
    for pieces in _warps(block_width, block_width):
        x, y = _lanes(pieces)
        for tops, below in _whole_and_edge(M, block_width):
            for lefts, right in _whole_and_edge(N, block_width):
                rows, columns = x[(x < below) & (y < right)], y[(x < below) & (y < right)]
                for top in tops:
                    A += _requests((top + rows) * K, ks, itemsize) * len(lefts)
                    C += _requests((top + rows) * N + columns, lefts, itemsize)
                for left in lefts:
                    B += _requests(left + columns, ks * N, itemsize) * len(tops)
    return {("global", "load", "A"): A, ("global", "load", "B"): B, ("global", "store", "C"): C}


def per_row(M, N, K, block_width=128, itemsize=4):
    """Count the kernel of one thread per row: each of its warps goes through all columns."""
    A = B = C = Count()
    for rows in _lines(M, block_width):
        A += _requests(rows * K, np.arange(K), itemsize) * N
        B += Count(len(rows), 1, 1) * (K * N)
        C += _requests(rows * N, np.arange(N), itemsize)
    return {("global", "load", "A"): A, ("global", "load", "B"): B, ("global", "store", "C"): C}


def per_column(M, N, K, block_width=128, itemsize=4):
    """Count the kernel of one thread per column: each of its warps goes through all rows."""
    A = B = C = Count()
    for columns in _lines(N, block_width):
        A += Count(len(columns), 1, 1) * (K * M)
        B += _requests(columns, np.arange(K) * N, itemsize) * M
        C += _requests(columns, np.arange(M) * N, itemsize)
    return {("global", "load", "A"): A, ("global", "load", "B"): B, ("global", "store", "C"): C}


def per_element(M, N, K, itemsize=4):
    """Count the kernel of one block of N×M threads."""
    A = B = C = Count()
    for pieces in _warps(N, M):
        columns, rows = _lanes(pieces)
        A += _requests(rows * K, np.arange(K), itemsize)
        B += _requests(columns, np.arange(K) * N, itemsize)
        C += _requests(rows * N + columns, np.arange(1), itemsize)
    return {("global", "load", "A"): A, ("global", "load", "B"): B, ("global", "store", "C"): C}


def tiled(M, N, K, tile_width=16, itemsize=4):
    """Count the tiled kernel: its global loads, and its shared loads and stores for 4-byte elements."""
    T = tile_width
    grid_x, grid_y = max(1, _ceil_div(N, T)), max(1, _ceil_div(M, T))
    tiles = _ceil_div(K, T)
    counts = _tile_traffic(M, N, K, T, itemsize)
    down, along, across = (np.arange(_ceil_div(size, T)) * T for size in (M, K, N))
    outside_A = outside_B = 0
    for pieces in _warps(T, T):
        outside_A += _partly_outside([_piece(down, along, K, p) for p in pieces], M, pieces) * grid_x
        outside_B += _partly_outside([_piece(along, across, N, p) for p in pieces], K, pieces) * grid_y
    for matrix, outside in (("A", outside_A), ("B", outside_B)):
        # The if and the else are two store instructions: a warp that takes both makes two requests, of one
        # wavefront each, since a warp's part of a tile is consecutive words.
        requests = counts["global", "load", matrix].requests + outside
        accesses = grid_x * grid_y * tiles * T * T
        counts["shared", "store", f"{matrix}_tile"] = Count(accesses, requests, 0, requests)
    counts["shared", "load", "A_tile"], counts["shared", "load", "B_tile"] = (
        c * (grid_x * grid_y * tiles) for c in _inner_product(T)
    )
    return counts


def single_block(M, N, K, width=32, itemsize=4):
    """Count the single-block kernel; wavefronts are for 4-byte elements."""
    if max(M, N, K) > width:
        raise ValueError(f"single_block holds matrices up to {width}×{width}, not {M}×{K} times {K}×{N}")
    counts = {}
    for pieces in _warps(max(1, N, K), max(1, M, K)):
        for name, op, height, columns, pitch in (
            ("A", "load", M, K, K),
            ("B", "load", K, N, N),
            ("C", "store", M, N, N),
        ):
            clipped = [(np.array([ty]), *_clip(np.array([x0]), np.array([x1]), columns)) for ty, x0, x1 in pieces]
            _add(counts, ("global", op, name), _count(clipped, pitch, height, itemsize))
            inside = [(ty, tx) for ty, x0, x1 in pieces for tx in range(x0, x1) if ty < height and tx < columns]
            if not inside:
                continue
            ty, tx = np.array(inside).T
            if op == "load":
                stored = Count(len(ty), 1, 0, _passes(ty * width + tx))
                _add(counts, ("shared", "store", f"{name}_shared"), stored)
            else:
                _add(counts, ("shared", "load", "A_shared"), Count(len(ty), 1, 0, _passes(ty * width)) * K)
                _add(counts, ("shared", "load", "B_shared"), Count(len(ty), 1, 0, _passes(tx)) * K)
    return counts


def prefetched(M, N, K, tile_width=16, itemsize=4):
    """Count the prefetched kernel: the global traffic of the tiled one, and one more pair of tiles stored."""
    T = tile_width
    blocks = max(1, _ceil_div(N, T)) * max(1, _ceil_div(M, T))
    tiles = _ceil_div(K, T)
    counts = _tile_traffic(M, N, K, T, itemsize)
    warps = _ceil_div(T * T, WARP)
    for matrix in "AB":
        counts["shared", "store", f"{matrix}_tiles"] = Count(T * T, warps, 0, warps) * (blocks * (tiles + 1))
    counts["shared", "load", "A_tiles"], counts["shared", "load", "B_tiles"] = (
        c * (blocks * tiles) for c in _inner_product(T)
    )
    return counts


def _tile_traffic(M, N, K, T, itemsize):
    """Count the global traffic of blocks of T×T threads that load T×T tiles of A and B and store one of C."""
    A = B = C = Count()
    grid_x, grid_y = max(1, _ceil_div(N, T)), max(1, _ceil_div(M, T))
    down, along, across = (np.arange(_ceil_div(size, T)) * T for size in (M, K, N))
    for pieces in _warps(T, T):
        A += _count([_piece(down, along, K, p) for p in pieces], K, M, itemsize) * grid_x
        B += _count([_piece(along, across, N, p) for p in pieces], N, K, itemsize) * grid_y
        C += _count([_piece(down, across, N, p) for p in pieces], N, M, itemsize)
    return {("global", "load", "A"): A, ("global", "load", "B"): B, ("global", "store", "C"): C}


def _inner_product(T):
    """Count one pass over a pair of T×T tiles of 4-byte elements by T×T threads: A_tile[ty, k], B_tile[k, tx]."""
    A = B = Count()
    for pieces in _warps(T, T):
        lanes = sum(x1 - x0 for _, x0, x1 in pieces)
        rows = np.array([ty for ty, _, _ in pieces])
        A += Count(lanes * T, T, 0, T * _passes(rows * T))  # moving by k turns all banks alike
        columns = np.unique(np.concatenate([np.arange(x0, x1) for _, x0, x1 in pieces]))
        B += Count(lanes * T, T, 0, T * _passes(columns))
    return A, B


def _passes(words):
    """Return the wavefronts of one request: the most distinct 4-byte words that fall in one of the 32 banks."""
    return int(np.bincount(np.unique(words) % BANKS).max())


def _warps(width, height):
    """Yield, for each warp of a width×height block, its pieces (ty, first tx, last tx + 1) in lane order."""
    for start in range(0, width * height, WARP):
        stop = min(start + WARP, width * height)
        rows = range(start // width, (stop - 1) // width + 1)
        yield [(ty, max(start - ty * width, 0), min(stop - ty * width, width)) for ty in rows]


def _lanes(pieces):
    """Return (x, y) of the lanes of a warp, from its pieces."""
    x = np.concatenate([np.arange(x0, x1) for _, x0, x1 in pieces])
    return x, np.repeat([ty for ty, _, _ in pieces], [x1 - x0 for _, x0, x1 in pieces])


def _lines(length, width):
    """Yield the positions of the lanes of each warp, where blocks of `width` threads cover a line."""
    for start in range(0, length, width):
        for first in range(start, min(start + width, length), WARP):
            yield np.arange(first, min(first + WARP, start + width, length))


def _whole_and_edge(length, width):
    """Return (starts, extent) of the blocks that lie inside, and of the one across the edge if there is one."""
    inside = length // width * width
    return [(np.arange(0, inside, width), width), *([(np.array([inside]), length - inside)] if inside < length else [])]


def _requests(lanes, steps, itemsize):
    """Count one request per step, of the elements lanes + step, wherever they lie."""
    if not len(lanes) or not len(steps):
        return Count()
    sectors = np.sort((lanes[:, None] + steps) * itemsize // SECTOR_BYTES, axis=0)
    distinct = len(steps) + np.count_nonzero(np.diff(sectors, axis=0))
    return Count(len(lanes) * len(steps), len(steps), int(distinct))


def _add(counts, key, count):
    counts[key] = counts.get(key, Count()) + count


def _partly_outside(clipped, row_limit, pieces):
    """Return in how many positions a warp has at least one thread outside the matrix."""
    inside = sum(np.where(row < row_limit, last - first, 0) for row, first, last in clipped)
    return int((inside < sum(x1 - x0 for _, x0, x1 in pieces)).sum())


def _clip(first, last, limit):
    """Return the part of columns first..last that lies below `limit`; empty as first == last."""
    return np.minimum(first, limit), np.minimum(last, limit)


def _piece(row_starts, column_starts, columns, piece):
    """Return one piece of a warp for every pair of a row of tiles and a column of tiles."""
    ty, x0, x1 = piece
    return (row_starts[:, None] + ty, *_clip(column_starts + x0, column_starts + x1, columns))


def _count(pieces, pitch, row_limit, itemsize, lanes=None, accesses=None):
    """Count one warp instruction for many positions at once.

    pieces: (row, first column, last column + 1), arrays that broadcast, in the order of rising addresses;
    pitch: elements per matrix row; lanes: threads per piece, where it is not one per column.
    """
    total, sectors, reached, some = 0, 0, -1, False
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


TRAFFIC = {
    "per_row": per_row,
    "per_column": per_column,
    "per_element": per_element,
    "uncoalesced": uncoalesced,
    "naive": naive,
    "single_block": single_block,
    "tiled": tiled,
    "prefetched": prefetched,
}
