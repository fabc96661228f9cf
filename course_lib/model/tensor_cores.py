"""The traffic of the kernels on tensor cores, in closed form; wavefronts as Nsight Compute counts those of ldmatrix."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..simulator.hardware import WARP_SIZE, ceil_div
from .requests import Count, Ints, Span, Traffic, _count, _passes, _patches, _piece

#: The tile of C of a block of `tensor_cores`, and of the two tiled ones, whose four warps have 64×64 each.
SMALL, LARGE = 32, 128
WARPS = 4


def tensor_cores(M: int, N: int, K: int, itemsize: int = 4) -> Traffic:
    """Count the kernel of one mma a warp and step: a warp loads a row of a 32×32 tile, and no bank is asked twice.

    Results lie among the lanes as mma leaves them, so a warp stores its 16×8 of them in four requests.
    """
    T, A_pitch, B_pitch = SMALL, 36, 40
    grid_x, grid_y = max(1, ceil_div(N, T)), max(1, ceil_div(M, T))
    tiles = ceil_div(K, T) * grid_x * grid_y
    stored = Count(WARP_SIZE, 1, 0, 1) * (T * tiles)
    lane = np.arange(WARP_SIZE)
    q, t = lane // 4, lane % 4
    multiplications = (T // 16) * (T // 8) * (T // 8) * tiles
    return {
        ("global", "load", "A"): _patches(K, (0, M), (0, K), T, itemsize=itemsize) * grid_x,
        ("global", "load", "B"): _patches(N, (0, K), (0, N), T, itemsize=itemsize) * grid_y,
        ("global", "store", "C"): _results(M, N, range(8), range(0, 8, 2), (8, 8), 1),
        ("shared", "store", "A_tile"): stored,
        ("shared", "store", "B_tile"): stored,
        # The 4 items of A and the 2 of B lie in other rows and columns, which turns all banks alike.
        ("shared", "load", "A_tile"): Count(WARP_SIZE, 1, 0, _passes(q * A_pitch + t)) * (4 * multiplications),
        ("shared", "load", "B_tile"): Count(WARP_SIZE, 1, 0, _passes(t * B_pitch + q)) * (2 * multiplications),
    }


def tensor_cores_tiled(M: int, N: int, K: int, rounded: bool = False) -> Traffic:
    """Count TF32 from tiles 16 deep: fragments of A by ldmatrix, of B in 8 bytes a lane."""
    C = _results(M, N, range(0, 8, 2), range(0, 16, 2), (8, 16), 2)
    return _tiled(M, N, K, 4, 16, 2, (Count(WARP_SIZE, 1, 0, 4) * 4, Count(WARP_SIZE, 1, 0, 2) * 8), C)


def tensor_cores_bf16(M: int, N: int, K: int) -> Traffic:
    """Count bfloat16 from tiles 32 deep: fragments of A and B by ldmatrix; a row of A is 32 elements."""
    four = Count(WARP_SIZE, 1, 0, 4) * 4
    return _tiled(M, N, K, 2, 32, 1, (four, four), _results(M, N, range(8), range(0, 8, 2), (8, 8), 1))


def _results(M: int, N: int, rows: range, columns: range, apart: tuple[int, int], second: int) -> Count:
    """Count the stores of C: a request takes 32 elements, in every second column and in every `second` row.

    rows and columns are theirs, counted from the first; apart: how many rows and columns further the next ones begin.
    """
    total = Count()
    for down in range(second):
        for right in range(2):
            tops, lefts = np.arange(0, M, apart[0]) + down, np.arange(0, N, apart[1]) + right
            pieces = [_piece(tops, lefts, N, (y, x, x + 1)) for y in rows for x in columns]
            total += _count(pieces, N, M, 4)
    return total


def _tiled(
    M: int, N: int, K: int, itemsize: int, depth: int, rows: int, fragments: tuple[Count, Count], C: Count
) -> Traffic:
    """Count blocks of 4 warps for 128×128 tiles of C: whole tiles are copied 16 bytes a lane, the others stored.

    rows: the rows of A's tile that 32 elements are; fragments: what a warp loads of A and of B for one step. Beyond the
    last tiles two more pairs are copied, these again; nobody loads them. Sectors of copies are those of rows that begin
    on 32-byte boundaries; wavefronts of copies those of stores, without what they wait for at their source.
    """
    each = 16 // itemsize
    grid_x, grid_y = max(1, ceil_div(N, LARGE)), ceil_div(M, LARGE)
    aligned = K % each == 0 and N % each == 0
    deep = K // depth * depth * aligned
    high, long = (size // LARGE * LARGE * (deep > 0) for size in (M, N))
    down, across = high // LARGE, long // LARGE
    A = B = Count()
    for first in (0, deep - depth, deep - depth) if deep else ():
        part = (first, deep)
        A += _patches(K, (0, high), part, depth, range(8), _tops((0, high), 8), itemsize) * across
        height = WARP_SIZE * each // LARGE
        B += _patches(N, part, (0, long), LARGE, range(height), _tops(part, height), itemsize) * down
    A, B = (replace(count, accesses=count.accesses // each) for count in (A, B))
    for part, copied in (((0, high), across), ((high, M), 0)):
        for columns, times in (((0, deep), grid_x - copied), ((deep, K), grid_x)):
            A += _patches(K, part, columns, depth, range(rows), _tops(part, rows), itemsize) * times
    for part, copied in (((0, long), down), ((long, N), 0)):
        for some, times in (((0, deep), grid_y - copied), ((deep, K), grid_y)):
            B += _patches(N, some, part, WARP_SIZE, itemsize=itemsize) * times
    blocks, whole, tiles = grid_x * grid_y, down * across, ceil_div(K, depth)
    by_copy = whole * (deep // depth + 2 * (deep > 0))
    by_store = blocks * tiles - whole * (deep // depth)
    stored = Count(WARP_SIZE, 1, 0, 4) * (LARGE * depth // each // WARP_SIZE * by_copy)
    stored += Count(WARP_SIZE, 1, 0, 1) * (LARGE * depth // WARP_SIZE * by_store)
    steps = WARPS * (2 * blocks * tiles + whole * (deep > 0))
    return {
        ("global", "load", "A"): A,
        ("global", "load", "B"): B,
        ("global", "store", "C"): C,
        ("shared", "store", "A_tiles"): stored,
        ("shared", "store", "B_tiles"): stored,
        ("shared", "load", "A_tiles"): fragments[0] * steps,
        ("shared", "load", "B_tiles"): fragments[1] * steps,
    }


def _tops(rows: Span, height: int) -> Ints:
    """Return the first rows of requests of so many rows."""
    return np.arange(rows[0], rows[1], height)
