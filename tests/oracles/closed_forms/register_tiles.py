"""Requests, sectors and wavefronts of the rungs with several results per thread, exact for every size.

Their blocks and tiles have fixed shapes, multiples of what a warp takes in one request. So the requests of all blocks
together cut a matrix into equal patches, and a block that loads it again loads the same patches: every formula is a
number of patches times the blocks that need them. Only the patches at the edges, and the phase at which a row of a
ragged matrix meets the 32-byte sectors, need a sum. Tiles in shared memory are whole wherever the matrix ends.

In the loop over a pair of tiles the words of a warp shift by whole rows from step to step, which rotates the banks and
changes no count of wavefronts: one step represents all. Wavefronts are for elements of 4 bytes.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from course_lib.simulator.hardware import WARP_SIZE, ceil_div

from ..wavefronts import wavefronts_of, wide_wavefronts
from .requests import Count, Ints, Traffic, count_patches, count_quads, of_global

LANE = np.arange(WARP_SIZE)


def outer_product(M: int, N: int, K: int, itemsize: int = 4) -> Traffic:
    """Count the outer products: 2×16 elements of A's tile a request; B and C go by 32 columns of a row."""
    return _column_per_thread(M, N, K, itemsize, K)


def unrolled(M: int, N: int, K: int, itemsize: int = 4) -> Traffic:
    """Count the unrolled outer products: as before, but every tile is used to its full depth of 16."""
    return _column_per_thread(M, N, K, itemsize, ceil_div(K, 16) * 16)


def register_1d(M: int, N: int, K: int, itemsize: int = 4) -> Traffic:
    """Count register tiles of 8 results of a column: tiles of 64×8 and 8×64, 16 warps."""
    grid_x, grid_y = _grid(M, N, 64, 64)
    tiles = ceil_div(K, 8)
    steps = grid_x * grid_y * tiles * 8 * 16
    return of_global(
        count_patches(K, (0, M), (0, K), 8, range(4), np.arange(0, M, 4), itemsize) * grid_x,
        count_patches(N, (0, K), (0, N), 32, itemsize=itemsize) * grid_y,
        count_patches(N, (0, M), (0, N), 32, itemsize=itemsize),
    ) | {
        ("shared", "store", "A_tile"): _either(M, K, (4, 8), grid_y * 64 * tiles * 8) * grid_x,
        ("shared", "store", "B_tile"): _either(K, N, (1, 32), tiles * 8 * grid_x * 64) * grid_y,
        ("shared", "load", "A_tile"): Count(WARP_SIZE, 1, 0, 1) * (8 * steps),  # all lanes the same word
        ("shared", "load", "B_tile"): Count(WARP_SIZE, 1, 0, 1) * steps,
    }


def register_2d(M: int, N: int, K: int, itemsize: int = 4) -> Traffic:
    """Count register tiles of 8×8 results: tiles of 128×8 and 8×128, 8 warps, A's tile stored transposed."""
    grid_x, grid_y = _grid(M, N, 128, 128)
    rounds = grid_x * grid_y * ceil_div(K, 8) * 8
    ty, tx = LANE // 16, LANE % 16
    return of_global(
        count_patches(K, (0, M), (0, K), 8, range(4), np.arange(0, M, 4), itemsize) * grid_x,
        count_patches(N, (0, K), (0, N), 32, itemsize=itemsize) * grid_y,
        count_patches(N, (0, M), (0, N), 16, range(2), np.arange(0, M, 2), itemsize),
    ) | {
        ("shared", "store", "A_tile"): narrow_request(LANE % 8 * 128 + LANE // 8) * (4 * rounds),
        ("shared", "store", "B_tile"): narrow_request(LANE) * (4 * rounds),
        ("shared", "load", "A_tile"): narrow_request(ty) * (8 * 8 * rounds),
        ("shared", "load", "B_tile"): narrow_request(tx) * (8 * 8 * rounds),
    }


def vectorized(M: int, N: int, K: int) -> Traffic:
    """Count 128-bit accesses: a warp's results are stripes of two rows, four apart, and 64 columns."""
    return _four_at_a_time(M, N, K, (LANE // 16 * 4, LANE % 16 * 4), range(0, 8, 4), 64)


def warp_tiled(M: int, N: int, K: int) -> Traffic:
    """Count warp tiles: a warp's results are stripes of eight rows, four apart, and 16 columns."""
    return _four_at_a_time(M, N, K, (LANE // 4 * 4, LANE % 4 * 4), range(0, 32, 4), 16)


def staged(M: int, N: int, K: int) -> Traffic:
    """Count two buffers: as warp_tiled, but one more pair of tiles is stored, of zeros, and never read."""
    return _four_at_a_time(M, N, K, (LANE // 4 * 4, LANE % 4 * 4), range(0, 32, 4), 16, buffers=2)


def software_pipelined(M: int, N: int, K: int) -> Traffic:
    """Count fragments one step ahead: as staged, and those of one further step, which are not used."""
    return _four_at_a_time(M, N, K, (LANE // 4 * 4, LANE % 4 * 4), range(0, 32, 4), 16, buffers=2, ahead=1)


def large_tiles(M: int, N: int, K: int) -> Traffic:
    """Count tiles of 128×256: 24 words a step and thread, the fragments of the step after the last never used."""
    grid_x, grid_y = _grid(M, N, 128, 256)
    A = count_quads(K, (0, M), (0, K), 16, range(8), np.arange(0, M, 8), K % 4 == 0) * grid_x
    B = count_quads(N, (0, K), (0, N), 128, wide=N % 4 == 0) * grid_y
    C = count_quads(N, (0, M), (0, N), 16, range(0, 32, 4), _striped(M, 32), N % 4 == 0)
    return of_global(A, B, C) | _large_tiles_in_shared_memory(grid_x * grid_y, ceil_div(K, 16))


def _large_tiles_in_shared_memory(blocks: int, tiles: int) -> Traffic:
    """Count the traffic of `blocks` blocks with tiles of 128×16 and 16×256: one pair more stored, one step loaded."""
    kept, steps = 8 * blocks * (1 + tiles), 8 * blocks * (1 + 16 * tiles)
    return {
        ("shared", "store", "A_tile"): narrow_request(LANE % 4 * 4 * 132 + LANE // 4) * (8 * kept),
        ("shared", "store", "B_tile"): wide_request(4 * LANE) * (4 * kept),
        ("shared", "load", "A_tile"): wide_request(LANE // 4 * 4) * (2 * steps),
        ("shared", "load", "B_tile"): wide_request(LANE % 4 * 4) * (4 * steps),
    }


def whole_tiles(M: int, N: int, K: int) -> Traffic:
    """Count tiles inside, tiles across an edge, which are loaded element by element, and a few rows or columns."""
    grid_x, grid_y = _grid(M, N, 128, 256)
    # Blocks of up to four columns, or else of up to four rows, take no tiles: the number of other blocks.
    across = grid_x - (N - (grid_x - 1) * 256 <= 4)
    down = grid_y - (M - (grid_y - 1) * 128 <= 4)
    rows, columns, tiles = min(M, down * 128), min(N, across * 256), ceil_div(K, 16)
    # Tiles of 128-bit loads: `deep` of K, in blocks that lie wholly within `high` rows and `long` columns.
    aligned = K % 4 == 0 and N % 4 == 0
    high, long, deep = (size // tile * tile * aligned for size, tile in ((M, 128), (N, 256), (K, 16)))
    blocks, whole_down, whole_across = down * across, high // 128, long // 256
    A = B = Count()
    for part, wide in (((0, high), whole_across), ((high, rows), 0)):
        patch = {"width": 16, "offsets": range(8), "tops": np.arange(*part, 8)}
        A += _fetched(K, part, (0, deep), patch, wide, across) + _fetched(K, part, (deep, K), patch, 0, across)
    patch = {"width": 128}
    for part, wide in (((0, long), whole_down), ((long, columns), 0)):
        B += _fetched(N, (0, deep), part, patch, wide, down) + _fetched(N, (deep, K), part, patch, 0, down)
    C = count_quads(N, (0, rows), (0, columns), 16, range(0, 32, 4), _striped(rows, 32), wide=N % 4 == 0)
    counts = _large_tiles_in_shared_memory(blocks, tiles)
    # The few columns: each of a block's 8 warps loads all of B's column, and 16 rows of A by 32 columns.
    few = N - columns
    A += count_patches(K, (0, M), (0, K), 32) * few
    B += count_patches(N, (0, K), (columns, columns + few), 1, range(32), np.arange(0, K, 32)) * (8 * grid_y)
    C += Count(1, 1, 1) * (M * few)
    # The few rows: a warp loads an element of A for all its lanes, and a row of B by 32 columns; its sums meet those
    # of the other warps in the memory of B's tile.
    few = M - rows
    A += Count(WARP_SIZE, 1, 1) * (K * few * across)
    B += count_patches(N, (0, K), (0, columns), 32) * few
    C += count_patches(N, (rows, rows + few), (0, columns), 32)
    counts["shared", "store", "B_tile"] += narrow_request(LANE) * (8 * 8 * few * across)
    counts["shared", "load", "B_tile"] += narrow_request(LANE) * (8 * 8 * few * across)
    return of_global(A, B, C) | counts


def best(M: int, N: int, K: int) -> Traffic:
    """Count the best kernel as whole_tiles: the order of the multiplications does not change the traffic."""
    return whole_tiles(M, N, K)


def _column_per_thread(M: int, N: int, K: int, itemsize: int, depth: int) -> Traffic:
    """Count blocks of 64 threads with 16×16 tiles of A; each column of A's tiles is read `depth` deep in all."""
    grid_x, grid_y = _grid(M, N, 16, 64)
    return of_global(
        count_patches(K, (0, M), (0, K), 16, range(2), np.arange(0, M, 2), itemsize) * grid_x,
        count_patches(N, (0, K), (0, N), 32, itemsize=itemsize) * grid_y,
        count_patches(N, (0, M), (0, N), 32, itemsize=itemsize),
    ) | {
        ("shared", "store", "A_tile"): _either(M, K, (2, 16), grid_y * 16 * ceil_div(K, 16) * 16) * grid_x,
        ("shared", "load", "A_tile"): Count(WARP_SIZE, 1, 0, 1) * (2 * 16 * depth * grid_x * grid_y),
    }


def _four_at_a_time(
    M: int, N: int, K: int, fragments: tuple[Ints, Ints], stripe: range, width: int, buffers: int = 1, ahead: int = 0
) -> Traffic:
    """Count blocks of 8 warps for 128×128 tiles of C, with tiles of 128×8 of A, transposed, and 8×128 of B.

    fragments: the first word of each lane in a row of A's tile and of B's; stripe, width: the rows and columns of C
    that a warp stores at a time; ahead: steps whose fragments a block loads beyond the last. Rows whose length is
    not divisible by 4 are loaded and stored element by element.
    """
    grid_x, grid_y = _grid(M, N, 128, 128)
    tiles, blocks = ceil_div(K, 8), grid_x * grid_y
    suffix = "tile" if buffers == 1 else "tiles"
    stored, steps = 8 * blocks * (tiles + buffers - 1), 8 * blocks * (tiles * 8 + ahead)
    of_A, of_B = fragments
    return of_global(
        count_quads(K, (0, M), (0, K), 8, range(16), np.arange(0, M, 16), K % 4 == 0) * grid_x,
        count_quads(N, (0, K), (0, N), 128, wide=N % 4 == 0) * grid_y,
        count_quads(N, (0, M), (0, N), width, stripe, _striped(M, len(stripe) * 4), N % 4 == 0),
    ) | {
        ("shared", "store", f"A_{suffix}"): narrow_request(LANE % 2 * 4 * 132 + LANE // 2) * (4 * stored),
        ("shared", "store", f"B_{suffix}"): wide_request(4 * LANE) * stored,
        ("shared", "load", f"A_{suffix}"): wide_request(of_A) * (2 * steps),
        ("shared", "load", f"B_{suffix}"): wide_request(of_B) * (2 * steps),
    }


def _fetched(
    pitch: int, rows: tuple[int, int], columns: tuple[int, int], patch: dict[str, Any], wide: int, times: int
) -> Count:
    """Count `times` loads of a part of a matrix, `wide` of them in accesses of 16 bytes."""
    total = Count()
    for n, four in ((wide, True), (times - wide, False)):
        if n:
            total += count_quads(pitch, rows, columns, **patch, wide=four) * n
    return total


def _grid(M: int, N: int, rows: int, columns: int) -> tuple[int, int]:
    """Return the blocks across and down for tiles of C of rows×columns."""
    return max(1, ceil_div(N, columns)), max(1, ceil_div(M, rows))


def _striped(rows: int, height: int) -> Ints:
    """Return the first rows of stripes that take every fourth row: four to each `height` rows."""
    return (np.arange(0, rows, height)[:, None] + np.arange(4)).ravel()


def _either(rows: int, columns: int, patch: tuple[int, int], elements: int) -> Count:
    """Count the stores of a matrix's tiles of `elements` elements, by patches: of those inside, and of zeros outside.

    A patch's words are consecutive, so each request is one wavefront; a patch across the edge takes two.
    """
    height, width = patch
    whole = (rows // height) * (columns // width)
    touched = ceil_div(rows, height) * ceil_div(columns, width)
    requests = touched + elements // WARP_SIZE - whole
    return Count(elements, requests, 0, requests)


def narrow_request(words: Ints) -> Count:
    """Count one request of a whole warp, one word a lane."""
    return Count(WARP_SIZE, 1, 0, wavefronts_of(words))


def wide_request(words: Ints) -> Count:
    """Count one request of a whole warp, four words a lane."""
    return Count(WARP_SIZE, 1, 0, wide_wavefronts(words))


RUNGS = (outer_product, unrolled, register_1d, register_2d, vectorized, warp_tiled, staged, software_pipelined,
         large_tiles, whole_tiles, best)  # fmt: skip
