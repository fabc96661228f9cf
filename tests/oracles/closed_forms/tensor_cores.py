"""Formulas for the traffic of the kernels on tensor cores; wavefronts of ldmatrix as Nsight Compute counts them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from course_lib.simulator.hardware import WARP_SIZE, ceil_div

from ..wavefronts import wavefronts_of
from .requests import Count, Ints, Span, Traffic, count_copy, count_patches, count_pieces, of_global, piece_of

#: The tile of C of a block of `tensor_cores`, and of the two tiled ones, whose four warps have 64×64 each.
SMALL, LARGE = 32, 128
WARPS = 4


def tensor_cores(M: int, N: int, K: int, itemsize: int = 4) -> Traffic:
    """Count the kernel of one mma a warp and step: a warp loads a row of a 32×32 tile without bank conflicts.

    Results are distributed over the lanes as mma leaves them, so a warp stores its 16×8 of them in four requests.
    """
    T, A_pitch, B_pitch = SMALL, 36, 40
    grid_x, grid_y = max(1, ceil_div(N, T)), max(1, ceil_div(M, T))
    tiles = ceil_div(K, T) * grid_x * grid_y
    stored = Count(WARP_SIZE, 1, 0, 1) * (T * tiles)
    lane = np.arange(WARP_SIZE)
    q, t = lane // 4, lane % 4
    multiplications = (T // 16) * (T // 8) * (T // 8) * tiles
    return of_global(
        count_patches(K, (0, M), (0, K), T, itemsize=itemsize) * grid_x,
        count_patches(N, (0, K), (0, N), T, itemsize=itemsize) * grid_y,
        _results(M, N, range(8), range(0, 8, 2), (8, 8), 1),
    ) | {
        ("shared", "store", "A_tile"): stored,
        ("shared", "store", "B_tile"): stored,
        # The other items of A (4) and of B (2) are in other rows and columns, which rotates all banks alike.
        ("shared", "load", "A_tile"): Count(WARP_SIZE, 1, 0, wavefronts_of(q * A_pitch + t)) * (4 * multiplications),
        ("shared", "load", "B_tile"): Count(WARP_SIZE, 1, 0, wavefronts_of(t * B_pitch + q)) * (2 * multiplications),
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
            pieces = [piece_of(tops, lefts, N, (y, x, x + 1)) for y in rows for x in columns]
            total += count_pieces(pieces, N, M, 4)
    return total


def _tiled(
    M: int, N: int, K: int, itemsize: int, depth: int, rows: int, fragments: tuple[Count, Count], C: Count
) -> Traffic:
    """Count blocks of 4 warps for 128×128 tiles of C: whole tiles are copied 16 bytes a lane, the others stored.

    rows: the rows of A's tile that 32 elements are; fragments: what a warp loads of A and of B for one step. After the
    last tiles two more pairs are copied, the same again; no thread loads them.
    """
    each = 16 // itemsize
    grid_x, grid_y = max(1, ceil_div(N, LARGE)), ceil_div(M, LARGE)
    aligned = K % each == 0 and N % each == 0
    deep = K // depth * depth * aligned
    high, long = (size // LARGE * LARGE * (deep > 0) for size in (M, N))
    down, across = high // LARGE, long // LARGE
    tops = np.arange(0, deep, depth)
    tops = np.append(tops, tops[-1:].repeat(2))
    A_copies, B_copies = _copies(K, N, depth, each, tops)
    A_copies, B_copies = A_copies * (down * across), B_copies * (down * across)
    A, B = replace(A_copies, wavefronts=0), replace(B_copies, wavefronts=0)
    for part, copied in (((0, high), across), ((high, M), 0)):
        for columns, times in (((0, deep), grid_x - copied), ((deep, K), grid_x)):
            A += count_patches(K, part, columns, depth, range(rows), _tops(part, rows), itemsize) * times
    for part, copied in (((0, long), down), ((long, N), 0)):
        for some, times in (((0, deep), grid_y - copied), ((deep, K), grid_y)):
            B += count_patches(N, some, part, WARP_SIZE, itemsize=itemsize) * times
    blocks, whole, tiles = grid_x * grid_y, down * across, ceil_div(K, depth)
    by_store = blocks * tiles - whole * (deep // depth)
    stored = Count(WARP_SIZE, 1, 0, 1) * (LARGE * depth // WARP_SIZE * by_store)
    steps = WARPS * (2 * blocks * tiles + whole * (deep > 0))
    return of_global(A, B, C) | {
        ("shared", "store", "A_tiles"): replace(A_copies, sectors=0) + stored,
        ("shared", "store", "B_tiles"): replace(B_copies, sectors=0) + stored,
        ("shared", "load", "A_tiles"): fragments[0] * steps,
        ("shared", "load", "B_tiles"): fragments[1] * steps,
    }


def _copies(K: int, N: int, depth: int, each: int, tops: Ints) -> tuple[Count, Count]:
    """Count the copies of a block's tiles of A and B that begin at `tops` along K, `each` elements of 16 bytes a lane.

    Eight rows of A, or of B, begin anew in the same places of lines of 128 bytes, whatever the eight before them. A
    request takes four places of eight rows of A, or 32 of one row or two of B; the tiles turn places by the row.
    """
    lane, requests = np.arange(WARP_SIZE), LARGE * depth // each // WARP_SIZE
    A = B = Count()
    row, place = lane // 4, lane % 4
    for top, times in zip(*np.unique(tops // depth % 2, return_counts=True), strict=True):
        from_A = row * K // each + top * depth // each + place
        A += count_copy(4 * row + (place ^ row // 2), from_A) * (requests * int(times))
    across = LARGE // each
    for k in range(0, 8, WARP_SIZE // across) if len(tops) else ():
        row, place = k + lane // across, lane % across
        turned = place ^ (row % 4 * 2 if across == WARP_SIZE else row)
        B += count_copy(across * row + turned, row * (N // each) + place) * (depth // 8 * len(tops))
    return A, B


def _tops(rows: Span, height: int) -> Ints:
    """Return the first rows of requests of `rows` rows."""
    return np.arange(rows[0], rows[1], height)


RUNGS = tensor_cores, tensor_cores_tiled, tensor_cores_bf16
