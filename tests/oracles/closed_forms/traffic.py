"""Requests, sectors and wavefronts of every rung, exact for every size, tile width and element size.

The kernels with one result per thread are here, those with several in `register_tiles`. Wavefronts are for elements of
4 bytes. `requests` has the building blocks of the formulas.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from course_lib.simulator.hardware import BANKS, WARP_SIZE, WORD_BYTES, ceil_div

from ..wavefronts import wavefronts_of
from . import register_tiles, tensor_cores
from .requests import (
    Count,
    Ints,
    Pieces,
    Traffic,
    add_to,
    clip,
    count_pieces,
    count_requests,
    lanes_of,
    of_global,
    piece_of,
    warps_of_block,
    warps_of_line,
    whole_and_edge,
)

#: The word of an element in a tile, from its row and column.
Word = Callable[[Any, Any], Any]


def traffic(name: str, M: int, N: int, K: int, **params: Any) -> Traffic:
    """Return {(space, op, array): Count} for the rung `name` of the ladder; KeyError if there is none."""
    return TRAFFIC[name](M, N, K, **params)


def naive(M: int, N: int, K: int, block_width: int = 16, itemsize: int = 4) -> Traffic:
    """Count the naive kernel: inside the guard, K loads of A and of B and one store of C per thread."""
    grid_x, grid_y = max(1, ceil_div(N, block_width)), max(1, ceil_div(M, block_width))
    A = B = C = Count()
    ks = np.arange(K)
    for pieces in warps_of_block(block_width, block_width):
        rows = [np.arange(grid_y) * block_width + ty for ty, _, _ in pieces]
        for bx in range(grid_x):
            spans = [clip(bx * block_width + x0, bx * block_width + x1, N) for _, x0, x1 in pieces]
            # A[row, k]: all threads of a piece read one element; neighbouring rows are K elements apart.
            one = [(r[:, None], ks, ks + (b > a)) for r, (a, b) in zip(rows, spans, strict=True)]
            lanes = [b - a for a, b in spans]
            A += count_pieces(one, K, M, itemsize, lanes)
            # B[k, col]: the pieces read the same row k, so only the union of their columns counts.
            active = np.array([[(r < M) & (b > a)] for r, (a, b) in zip(rows, spans, strict=True)])[:, 0]
            first = np.where(active, [[a] for a, _ in spans], N).min(axis=0)
            last = np.where(active, [[b] for _, b in spans], 0).max(axis=0)
            union = [(ks[:, None], first, np.maximum(first, last))]
            loads = (active * np.array(lanes)[:, None]).sum() * K
            B += count_pieces(union, N, K, itemsize, accesses=loads)
            C += count_pieces([(r, a, b) for r, (a, b) in zip(rows, spans, strict=True)], N, M, itemsize)
    return of_global(A, B, C)


def uncoalesced(M: int, N: int, K: int, block_width: int = 16, itemsize: int = 4) -> Traffic:
    """Count the kernel with x along the rows: the loads and the store of the naive one, in other warps."""
    A = B = C = Count()
    ks = np.arange(K)
    for pieces in warps_of_block(block_width, block_width):
        x, y = lanes_of(pieces)
        for tops, below in whole_and_edge(M, block_width):
            for lefts, right in whole_and_edge(N, block_width):
                rows, columns = x[(x < below) & (y < right)], y[(x < below) & (y < right)]
                for top in tops:
                    A += count_requests((top + rows) * K, ks, itemsize) * len(lefts)
                    C += count_requests((top + rows) * N + columns, lefts, itemsize)
                for left in lefts:
                    B += count_requests(left + columns, ks * N, itemsize) * len(tops)
    return of_global(A, B, C)


def per_row(M: int, N: int, K: int, block_width: int = 128, itemsize: int = 4) -> Traffic:
    """Count the kernel of one thread per row: each of its warps reads all columns."""
    A = B = C = Count()
    for rows in warps_of_line(M, block_width):
        A += count_requests(rows * K, np.arange(K), itemsize) * N
        B += Count(len(rows), 1, 1) * (K * N)
        C += count_requests(rows * N, np.arange(N), itemsize)
    return of_global(A, B, C)


def per_column(M: int, N: int, K: int, block_width: int = 128, itemsize: int = 4) -> Traffic:
    """Count the kernel of one thread per column: each of its warps reads all rows."""
    A = B = C = Count()
    for columns in warps_of_line(N, block_width):
        A += Count(len(columns), 1, 1) * (K * M)
        B += count_requests(columns, np.arange(K) * N, itemsize) * M
        C += count_requests(columns, np.arange(M) * N, itemsize)
    return of_global(A, B, C)


def per_element(M: int, N: int, K: int, itemsize: int = 4) -> Traffic:
    """Count the kernel of one block of N×M threads."""
    A = B = C = Count()
    for pieces in warps_of_block(N, M):
        columns, rows = lanes_of(pieces)
        A += count_requests(rows * K, np.arange(K), itemsize)
        B += count_requests(columns, np.arange(K) * N, itemsize)
        C += count_requests(rows * N + columns, np.arange(1), itemsize)
    return of_global(A, B, C)


def tiled(M: int, N: int, K: int, tile_width: int = 16, itemsize: int = 4) -> Traffic:
    """Count the tiled kernel: its global loads, and its shared loads and stores for 4-byte elements."""
    return _square_tiles(M, N, K, tile_width, itemsize, lambda k, column: k * tile_width + column)


def tiled_uncoalesced(M: int, N: int, K: int, tile_width: int = 16, itemsize: int = 4) -> Traffic:
    """Count the tiled kernel whose threads with neighbouring x load neighbouring rows of B."""
    return _square_tiles(M, N, K, tile_width, itemsize, lambda k, column: k * tile_width + column, down=True)


def bank_conflicts(M: int, N: int, K: int, tile_width: int = 16, itemsize: int = 4) -> Traffic:
    """Count the tiled kernel that keeps its tile of B transposed."""
    return _square_tiles(M, N, K, tile_width, itemsize, lambda k, column: column * tile_width + k)


def padded(M: int, N: int, K: int, tile_width: int = 16, itemsize: int = 4) -> Traffic:
    """Count the kernel with a transposed tile of B and a word of padding in each of its rows."""
    return _square_tiles(M, N, K, tile_width, itemsize, lambda k, column: column * (tile_width + 1) + k)


def _square_tiles(M: int, N: int, K: int, T: int, itemsize: int, word: Word, down: bool = False) -> Traffic:
    """Count a kernel with one T×T tile of A and one of B, where element (k, column) of B's lies at `word`.

    down: x runs down the rows of B when its tile is loaded, not along them.
    """
    blocks = max(1, ceil_div(N, T)) * max(1, ceil_div(M, T))
    counts = _tile_traffic(M, N, K, T, itemsize, down)
    A = B = A_loads = B_loads = Count()
    for pieces in warps_of_block(T, T) if K else ():
        x, y = lanes_of(pieces)
        k, column = (x, y) if down else (y, x)
        A += _stores(M, K, T, y, x, y * T + x) * max(1, ceil_div(N, T))
        B += _stores(K, N, T, k, column, word(k, column)) * max(1, ceil_div(M, T))
        steps = ceil_div(K, T) * T * blocks  # of the inner products; a step rotates all banks alike
        A_loads += Count(len(x), 1, 0, wavefronts_of(y * T)) * steps
        B_loads += Count(len(x), 1, 0, wavefronts_of(word(0, x))) * steps
    counts["shared", "store", "A_tile"], counts["shared", "store", "B_tile"] = A, B
    counts["shared", "load", "A_tile"], counts["shared", "load", "B_tile"] = A_loads, B_loads
    return counts


def _stores(rows: int, columns: int, T: int, row: Ints, column: Ints, words: Ints, copied: Ints | None = None) -> Count:
    """Count how one warp stores its part of every tile: the elements inside the matrix, then the zeros outside.

    The if and the else are two store instructions: a warp that takes both makes two requests. Tiles inside the matrix
    are all alike, so only those at the right and the bottom edge are counted separately.

    copied: the words of global memory from which asynchronous copies take the elements, one lane of a bank at a time.
    """
    total = Count()
    none = [((0,), 0)]  # an empty result still has one block, which stores zeros
    for tops, height in whole_and_edge(rows, T) if rows else none:
        for lefts, width in whole_and_edge(columns, T) if columns else none:
            inside = (row < height) & (column < width)
            for here in (inside, ~inside):
                if here.any():
                    passes = wavefronts_of(words[here])
                    if copied is not None and here is inside:
                        passes = max(passes, int(np.bincount(copied[here] % BANKS).max()))
                    total += Count(int(here.sum()), 1, 0, passes) * (len(tops) * len(lefts))
    return total


def single_block(M: int, N: int, K: int, width: int = 32, itemsize: int = 4) -> Traffic:
    """Count the single-block kernel; wavefronts are for 4-byte elements."""
    if max(M, N, K) > width:
        raise ValueError(f"single_block holds matrices up to {width}×{width}, not {M}×{K} times {K}×{N}")
    counts: Traffic = {}
    for pieces in warps_of_block(max(1, N, K), max(1, M, K)):
        for name, op, height, columns, pitch in (
            ("A", "load", M, K, K),
            ("B", "load", K, N, N),
            ("C", "store", M, N, N),
        ):
            clipped = [(np.array([ty]), *clip(np.array([x0]), np.array([x1]), columns)) for ty, x0, x1 in pieces]
            add_to(counts, ("global", op, name), count_pieces(clipped, pitch, height, itemsize))
            inside = [(ty, tx) for ty, x0, x1 in pieces for tx in range(x0, x1) if ty < height and tx < columns]
            if not inside:
                continue
            ty, tx = np.array(inside).T
            if op == "load":
                stored = Count(len(ty), 1, 0, wavefronts_of(ty * width + tx))
                add_to(counts, ("shared", "store", f"{name}_shared"), stored)
            else:
                add_to(counts, ("shared", "load", "A_shared"), Count(len(ty), 1, 0, wavefronts_of(ty * width)) * K)
                add_to(counts, ("shared", "load", "B_shared"), Count(len(ty), 1, 0, wavefronts_of(tx)) * K)
    return counts


def prefetched(M: int, N: int, K: int, tile_width: int = 16, itemsize: int = 4) -> Traffic:
    """Count the prefetched kernel: the global traffic of the tiled one, and one more pair of tiles stored."""
    T = tile_width
    blocks = max(1, ceil_div(N, T)) * max(1, ceil_div(M, T))
    tiles = ceil_div(K, T)
    counts = _tile_traffic(M, N, K, T, itemsize)
    warps = ceil_div(T * T, WARP_SIZE)
    for matrix in "AB":
        counts["shared", "store", f"{matrix}_tiles"] = Count(T * T, warps, 0, warps) * (blocks * (tiles + 1))
    counts["shared", "load", "A_tiles"], counts["shared", "load", "B_tiles"] = (
        c * (blocks * tiles) for c in _inner_product(T)
    )
    return counts


def pipelined(M: int, N: int, K: int, tile_width: int = 16, stages: int = 3, itemsize: int = 4) -> Traffic:
    """Count the pipelined kernel: a copy is a request to global memory and one to shared memory, as load and store.

    The traffic is that of the tiled kernel, for any number of stages: nothing after the last tile is copied. But a copy
    of 4 bytes reads each lane's word from its bank, where a load reads it once for all lanes.
    """
    counts = tiled(M, N, K, tile_width, itemsize)
    counts = {(space, op, name.replace("_tile", "_tiles")): count for (space, op, name), count in counts.items()}
    if itemsize == WORD_BYTES:
        stores = {"A": Count(), "B": Count()}
        for pieces in warps_of_block(tile_width, tile_width) if K else ():
            x, y = lanes_of(pieces)
            words = y * tile_width + x
            stores["A"] += _stores(M, K, tile_width, y, x, words, y * K + x) * max(1, ceil_div(N, tile_width))
            stores["B"] += _stores(K, N, tile_width, y, x, words, y * N + x) * max(1, ceil_div(M, tile_width))
        for matrix, count in stores.items():
            counts["shared", "store", f"{matrix}_tiles"] = count
    return counts


def _tile_traffic(M: int, N: int, K: int, T: int, itemsize: int, down_B: bool = False) -> Traffic:
    """Count the global traffic of blocks of T×T threads that load T×T tiles of A and B and store one of C.

    down_B: x runs down the rows of B, so that a warp accesses as many of them as it has different x.
    """
    A = B = C = Count()
    grid_x, grid_y = max(1, ceil_div(N, T)), max(1, ceil_div(M, T))
    down, along, across = (np.arange(ceil_div(size, T)) * T for size in (M, K, N))
    for pieces in warps_of_block(T, T):
        A += count_pieces([piece_of(down, along, K, p) for p in pieces], K, M, itemsize) * grid_x
        in_B = _turned(pieces) if down_B else pieces
        B += count_pieces([piece_of(along, across, N, p) for p in in_B], N, K, itemsize) * grid_y
        C += count_pieces([piece_of(down, across, N, p) for p in pieces], N, M, itemsize)
    return of_global(A, B, C)


def _turned(pieces: Pieces) -> Pieces:
    """Return the pieces of a warp with x and y exchanged: for each x, the range of its y."""
    x, y = lanes_of(pieces)
    return [(int(at), int(y[x == at].min()), int(y[x == at].max()) + 1) for at in np.unique(x)]


def _inner_product(T: int) -> tuple[Count, Count]:
    """Count one pass over a pair of T×T tiles of 4-byte elements by T×T threads: A_tile[ty, k], B_tile[k, tx]."""
    A = B = Count()
    for pieces in warps_of_block(T, T):
        lanes = sum(x1 - x0 for _, x0, x1 in pieces)
        rows = np.array([ty for ty, _, _ in pieces])
        A += Count(lanes * T, T, 0, T * wavefronts_of(rows * T))  # a step of k rotates all banks alike
        columns = np.unique(np.concatenate([np.arange(x0, x1) for _, x0, x1 in pieces]))
        B += Count(lanes * T, T, 0, T * wavefronts_of(columns))
    return A, B


#: By the names of the rungs.
TRAFFIC: dict[str, Callable[..., Traffic]] = {
    count.__name__: count
    for count in (
        *(per_row, per_column, per_element, uncoalesced, naive, single_block, tiled_uncoalesced, bank_conflicts),
        *(padded, tiled, prefetched, pipelined),
        *register_tiles.RUNGS,
        *tensor_cores.RUNGS,
    )
}
