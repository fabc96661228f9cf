"""Requests, sectors and wavefronts of the tiles of `course_lib.kernels.product`, where they divide M, N and K.

All blocks have a whole tile each, and the rows of A, B and C begin on 16 bytes. As in `register_tiles`, the blocks'
requests cut a matrix into equal patches, once for each block that needs them. What is more, by shape: where several
blocks take turns on a multiprocessor the last tiles are fetched twice, and slices exchange sums through shared memory.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ..simulator.hardware import WARP_SIZE
from .register_tiles import LANE, _global, _narrow, _striped, _wide
from .requests import Count, Traffic, _quads


class Shape(Protocol):
    """What is asked of a `course_lib.kernels.tile.Tile`; its attributes say what each is."""

    rows: int
    columns: int
    thread_rows: int
    thread_columns: int
    blocks: int
    lane_rows: int
    slices: int
    depth: int
    threads: int


#: Elements that a warp asks for at once, in accesses of 16 bytes.
AT_ONCE = 4 * WARP_SIZE


def product_tiles(tile: Shape, M: int, N: int, K: int) -> Traffic:
    """Return {(space, op, array): Count} of C = A·B in tiles of one shape; ValueError where they do not divide it."""
    if M % tile.rows or N % tile.columns or K % tile.depth or not K:
        raise ValueError(f"tiles of {tile} and a depth of {tile.depth} do not divide {M}×{N} results over K = {K}")
    blocks, warps, units = M // tile.rows * (N // tile.columns), tile.threads // WARP_SIZE, K // tile.depth
    unit, lane_columns = tile.depth // tile.slices, WARP_SIZE // tile.lane_rows
    down = max(1, AT_ONCE // tile.columns)
    A = B = Count()
    # Where several blocks take turns, the last tiles are fetched once more instead of a branch.
    for first in (0, K - tile.depth) if tile.blocks > 1 else (0,):
        A += _quads(K, (0, M), (first, K), unit, range(8), np.arange(0, M, 8)) * (N // tile.columns)
        tops = np.arange(first, K, down)
        B += _quads(N, (first, K), (0, N), min(AT_ONCE, tile.columns), range(down), tops) * (M // tile.rows)
    C = _quads(N, (0, M), (0, N), 4 * lane_columns, range(0, 4 * tile.lane_rows, 4), _striped(M, 4 * tile.lane_rows))
    # Tiles are kept, and fragments loaded, once more than they are used; a slice has the same of each of its own.
    kept, steps = blocks * (units + 1), blocks * warps * (unit * units + 1)
    counts = _global(A, B, C) | {
        ("shared", "store", "A_tile"): _narrow(LANE % 4 * 4 * (tile.rows + 4) + LANE // 4)
        * (kept * tile.depth * tile.rows // WARP_SIZE),
        ("shared", "store", "B_tile"): _wide(4 * LANE) * (kept * tile.depth * tile.columns // AT_ONCE),
        ("shared", "load", "A_tile"): _wide(LANE // lane_columns * 4) * (steps * tile.thread_rows // 4),
        ("shared", "load", "B_tile"): _wide(LANE % lane_columns * 4) * (steps * tile.thread_columns // 4),
    }
    # Two slices exchange half of their sums, and four a quarter once more.
    rows = sum(tile.thread_rows // share for share in (2, 4) if share <= tile.slices)
    for op in ("store", "load"):
        counts["shared", op, "B_tile"] += _wide(4 * LANE) * (blocks * warps * rows * tile.thread_columns // 4)
    if tile.blocks == 1:  # a block alone keeps three numbers out of its registers
        counts["shared", "store", "progress"] = Count(1, 1, 0, 1) * (3 * blocks)
        counts["shared", "load", "progress"] = Count(WARP_SIZE, 1, 0, 1) * (3 * blocks * warps)
    return counts
