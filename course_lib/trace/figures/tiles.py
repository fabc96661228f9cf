"""Pictures of matrices in blocks and tiles, and of the elements that one element of C needs."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle

from ...simulator.formatting import plural
from ...simulator.hardware import WARP_SIZE, ceil_div
from ..palette import COLOURS, GROUND, INK, WASH
from ..replay import Timeline
from .canvas import (
    BLOCK_EDGE,
    LABEL_SIZE,
    NAME_SIZE,
    SMALLEST_SIZE,
    TILE_EDGE,
    TITLE_SIZE,
    Colour,
    bare,
    cell,
    describe,
    legend,
    mixed,
    new_axes,
)

if TYPE_CHECKING:
    from .. import Trace

# Lengths are in sides of an element, except where it is said.
#: `thread_map`: in inches, the side of an element, and what is around C, across and down; from the corner of a block to
#: its name, across and down; and the margin.
_ELEMENT_INCHES, _ACROSS_AROUND, _DOWN_AROUND = 0.85, 0.8, 1.2
_TO_BLOCK_NAME = (0.08, 0.07)
_MAP_MARGIN = 0.1
#: How strong the colour of an element of C is, in which text stands.
_PALE = 0.35

#: `tile_pairs` and `footprint`: the width of the picture in inches; from A to C, and from B to C; from a matrix to its
#: name, at a side and above it; from C to the note below; the space for a name; and the height of the note, as a part
#: of that of A and B together.
_PRODUCT_INCHES = 5.4
_MATRIX_GAP, _NAME_BESIDE, _NAME_ABOVE, _TO_NOTE, _NAME_ROOM, _NOTE_PART = 0.6, 0.2, 0.15, 0.2, 0.8, 0.1
#: How strong the colour of the tiles is that are chosen.
_CHOSEN = 0.45

#: `register_tiles`: lengths are in sides of a tile of C. In inches, the width of a tile, and the height of the picture.
_TILE_INCHES, _TILES_HEIGHT = 4.8, 5.9
#: From a tile to the next one.
_TILE_PITCH = 1.25
#: The least side of an element, so that it is seen.
_LEAST_SIDE = 0.025
#: The marks of A and B: how long they are, and the gap to the tile; and from the tile to their names, and to its own.
_MARK, _MARK_GAP = 0.07, 0.03
_TO_A, _TO_B, _TO_LABEL = 0.12, 0.12, 0.03
#: The limits of the picture: at the sides, below the tile, and above it.
_SIDE_ROOM, _LABEL_ROOM, _B_ROOM = 0.2, 0.12, 0.22
#: How strong the colour of registers is, for the results of a warp.
_WARP = 0.4

#: `split_k`: the width of the picture in inches; the gap between matrices, as a part of the longest side; and the
#: strengths of the colour of the first share, and of what is added to it for the last one.
_SPLIT_INCHES = 9
_GAP_PART = 0.08
_FIRST_SHARE, _STRONGER = 0.25, 0.5
#: Of text in the shares.
_SHARE_SIZE = 14


def thread_map(M: int, N: int, block: tuple[int, int]) -> Axes:
    """Draw C (M × N) with, in each element, the (x, y) of the thread that computes it; blocks outlined and named.

    ``block`` is blockDim as (x, y). Threads of the last blocks that are outside C are drawn grey.

    >>> figures.show(figures.thread_map(4, 4, block=(2, 2)))
    Figure: 4 blocks of 2×2 threads cover C (4×4): threadIdx x,y in each element.
      16 threads, 16 elements, 0 threads outside C.
    """
    width, height = block
    across, down = ceil_div(N, width), ceil_div(M, height)  # blocks
    columns, rows = across * width, down * height  # threads
    ax = new_axes(_ELEMENT_INCHES * columns + _ACROSS_AROUND, _ELEMENT_INCHES * rows + _DOWN_AROUND)
    for row in range(rows):
        for column in range(columns):
            colour = COLOURS["C"] if row < M and column < N else WASH
            thread = f"{column % width},{row % height}"
            cell(ax, column, -row - 1, 1, thread, colour, size=LABEL_SIZE, light=_PALE)
    for y in range(down):
        for x in range(across):
            corner = x * width, -(y + 1) * height
            ax.add_patch(Rectangle(corner, width, height, fill=False, ec=GROUND, lw=BLOCK_EDGE, zorder=4))
            place = x * width + _TO_BLOCK_NAME[0], -y * height - _TO_BLOCK_NAME[1]
            ax.text(*place, f"block {x},{y}", va="top", ha="left", fontsize=SMALLEST_SIZE, color=INK)
    ax.set_xlim(-_MAP_MARGIN, columns + _MAP_MARGIN)
    ax.set_ylim(-rows - _MAP_MARGIN, _MAP_MARGIN)
    bare(ax, equal=True)
    blocks = f"{plural(across * down, 'block')} of {width}×{height} threads"
    ax.set_title(f"{blocks} cover C ({M}×{N}): threadIdx x,y in each element")
    idle = rows * columns - M * N
    return describe(ax, f"{rows * columns} threads, {M * N} elements, {plural(idle, 'thread')} outside C")


def tile_pairs(M: int, N: int, K: int, tile_width: int, tile: tuple[int, int], asked: bool = False) -> Axes:
    """Draw A left of C and B above it, divided into tiles of ``tile_width``: the tile pairs for one tile of C.

    ``tile`` is the (row, column) of the tile of C, counted in tiles; each pair has its number. If the tile width does
    not divide a size, the tiles at the right and at the bottom are narrower. ``asked`` leaves out the pairs, as the
    answer to the title, which is a question then.

    >>> figures.show(figures.tile_pairs(4, 4, 4, tile_width=2, tile=(1, 1)))
    Figure: Tile C(1,1) needs 2 tile pairs.
      C(1,1) = A(1,0)·B(0,1) + A(1,1)·B(1,1).
      8 numbers of A, each used 2 times.
      8 numbers of B, each used 2 times.
    """
    row, col = tile
    if asked:
        ax, _ = _product((M, N, K), tile_width, tile, "", "", needed=False)
        ax.set_title(f"Which tiles does C({row},{col}) need?")
        return describe(ax, f"A, B and C are divided into tiles of {tile_width}×{tile_width}; C({row},{col}) is marked")
    high, wide = min(tile_width, M - tile_width * row), min(tile_width, N - tile_width * col)
    said = f"{high * K} numbers of A, each used {wide} times", f"{wide * K} numbers of B, each used {high} times"
    ax, pairs = _product((M, N, K), tile_width, tile, "Σ", "\n".join(said))
    terms = [f"A({row},{t})·B({t},{col})" for t in range(pairs)]
    ax.set_title(f"Tile C({row},{col}) needs {plural(pairs, 'tile pair')}")
    return describe(ax, f"C({row},{col}) = " + " + ".join(terms), *said)


def footprint(M: int, N: int, K: int, element: tuple[int, int]) -> Axes:
    """Draw A left of C and B above it, with the row and the column that the thread of element (row, col) reads.

    >>> figures.show(figures.footprint(4, 4, 4, (1, 2)))
    Figure: C[1, 2] reads 8 elements.
      row 1 of A, 4 elements, and column 2 of B, 4 elements.
    """
    row, col = element
    ax, _ = _product((M, N, K), 1, element, "", f"for each k: A[{row}, k]·B[k, {col}]")
    ax.set_title(f"C[{row}, {col}] reads {2 * K} elements")
    return describe(ax, f"row {row} of A, {plural(K, 'element')}, and column {col} of B, {plural(K, 'element')}")


def _product(
    sizes: tuple[int, int, int], tile_width: int, tile: tuple[int, int], name: str, note: str, needed: bool = True
) -> tuple[Axes, int]:
    """Draw a tile of C and, if ``needed``, the tiles that it needs, each pair with its number.

    Return the Axes and the number of pairs.
    """
    (M, N, K), (row, col) = sizes, tile
    pairs = range(ceil_div(K, tile_width) if needed else 0)
    ax = new_axes(_PRODUCT_INCHES, _PRODUCT_INCHES * (K + M + 2) / (K + N + 2))
    beyond = K + _MATRIX_GAP  # where C begins beside A, and B above it
    _matrix(ax, "A", (M, K), (0, 0), tile_width, {(row, t): str(t) for t in pairs})
    _matrix(ax, "B", (K, N), (beyond, beyond), tile_width, {(t, col): str(t) for t in pairs})
    _matrix(ax, "C", (M, N), (beyond, 0), tile_width, {tile: name})
    ax.text(0, -M - _TO_NOTE, note, va="top", color=GROUND, fontsize=LABEL_SIZE)
    ax.set_xlim(-_NAME_ROOM, beyond + N + _NAME_ROOM)
    ax.set_ylim(-M - 0.3 - _NOTE_PART * (M + K), beyond + _NAME_ROOM)
    bare(ax, equal=True)
    return ax, len(pairs)


def register_tiles(traces: Mapping[str, Trace], thread: int = 0) -> Axes:
    """Draw the tile of C that the first block of each trace computes: the part of a warp, and that of one thread.

    ``traces`` maps a label to the trace of a launch that stores C. Above and left of the tile are the columns of B and
    the rows of A that the ``thread`` needs for its results.

    >>> run = simulate(rung("naive").make(), trace=True)[(2, 2), (16, 16)](*matrices(32, 32, 32))
    >>> print(str(figures.show(figures.register_tiles({"naive": run.trace}))).splitlines()[0])
    Figure: What a block, a warp and a thread compute.
    """
    ax = new_axes(_TILE_INCHES * len(traces), _TILES_HEIGHT)
    sentences = []
    for place, (label, trace) in enumerate(traces.items()):
        owner = _owners(trace)
        _draw_owners(ax, owner, thread, _TILE_PITCH * place, label)
        sentences.append(f"{label}: {_owned(owner, thread)}")
    ax.set_title("What a block, a warp and a thread compute")
    fills: dict[str, Colour] = {
        "one thread": COLOURS["C"],
        "its warp": mixed(COLOURS["register"], _WARP),
        "the rest of the block": WASH,
    }
    legend(ax, fills)
    ax.set_xlim(-_SIDE_ROOM, _TILE_PITCH * len(traces) - _SIDE_ROOM)
    ax.set_ylim(-1 - _LABEL_ROOM, _B_ROOM)
    bare(ax, equal=True)
    return describe(ax, *sentences)


def _draw_owners(ax: Axes, owner: np.ndarray, thread: int, left: float, label: str) -> None:
    """Draw a tile of C, with the elements of the thread and of its warp, and the rows of A and the columns of B."""
    down, across = owner.shape
    colours = np.full((down, across, 4), to_rgba(WASH))
    colours[owner // WARP_SIZE == thread // WARP_SIZE] = (*mixed(COLOURS["register"], _WARP), 1)
    ax.imshow(colours, extent=(left, left + 1, -1, 0), interpolation="nearest", zorder=1)
    ax.add_patch(Rectangle((left, -1), 1, 1, fill=False, ec=GROUND, lw=2))
    high, wide = max(1 / down, _LEAST_SIDE), max(1 / across, _LEAST_SIDE)
    rows, columns = (np.unique(places) for places in np.nonzero(owner == thread))
    xs = {column: left + (column + 0.5) / across - wide / 2 for column in columns}
    ys = {row: -(row + 0.5) / down - high / 2 for row in rows}
    marks = [("A", left - _MARK_GAP - _MARK, y, _MARK, high) for y in ys.values()]
    marks += [("B", x, _MARK_GAP, wide, _MARK) for x in xs.values()]
    marks += [("C", xs[column], ys[row], wide, high) for row, column in np.argwhere(owner == thread)]
    for name, x, y, *size in marks:
        ax.add_patch(Rectangle((x, y), *size, fc=COLOURS[name], lw=0, zorder=2))
    style: dict[str, Any] = {"fontsize": TITLE_SIZE, "weight": "bold"}
    ax.text(left - _TO_A, -0.5, "A", ha="right", va="center", color=COLOURS["A"], **style)
    ax.text(left + 0.5, _TO_B, "B", ha="center", va="bottom", color=COLOURS["B"], **style)
    said = f"{label}: {down}×{across}"
    ax.text(left + 0.5, -1 - _TO_LABEL, said, ha="center", va="top", fontsize=LABEL_SIZE, color=GROUND)


def _owned(owner: np.ndarray, thread: int) -> str:
    """Say how many elements of a tile the block, the thread's warp and the thread compute, and what the last reads."""
    down, across = owner.shape
    warp = thread // WARP_SIZE
    of_warp, results = int((owner // WARP_SIZE == warp).sum()), int((owner == thread).sum())
    rows, columns = (np.unique(places) for places in np.nonzero(owner == thread))
    return (
        f"a block computes {down}×{across} elements, warp {warp} {of_warp} of them, thread {thread} {results}: rows "
        f"{', '.join(map(str, rows))} in columns {', '.join(map(str, columns))}. For each k the thread reads "
        f"{len(rows) + len(columns)} numbers for {results} multiplications"
    )


def _owners(trace: Trace) -> np.ndarray:
    """Return for each element of C that the first block stores the number of the thread that does."""
    owner, accesses = np.full(trace.arrays["C"].shape, -1), Timeline.of(trace, (0, 0, 0)).accesses("C")
    owner.flat[accesses.element[accesses.store]] = accesses.thread[accesses.store]
    rows, columns = np.nonzero(owner >= 0)
    return owner[: rows.max() + 1, : columns.max() + 1]


def split_k(M: int, N: int, K: int, shares: int) -> Axes:
    """Draw a product whose inner dimension is divided among ``shares`` blocks; C is the sum of what they compute.

    A is left of C and B above it; a share is a range of columns of A and the same range of rows of B.

    >>> figures.show(figures.split_k(4, 4, 8, shares=2))
    Figure: 2 shares of K give 2 times as many blocks.
      A is 4×8, B is 8×4, C is 4×4.
      share 0: k from 0 to 3, an M×N matrix of partial sums.
      share 1: k from 4 to 7, an M×N matrix of partial sums.
      C is the sum of 2 shares.
    """
    gap = _GAP_PART * max(M, N, K)
    ax = new_axes(_SPLIT_INCHES, _SPLIT_INCHES * (K + M + 3 * gap) / (K + N + M + 8 * gap))
    edges = [K * share // shares for share in range(shares + 1)]
    sentences = []
    for share, (first, last) in enumerate(pairwise(edges)):
        light = _FIRST_SHARE + _STRONGER * share / max(shares - 1, 1)
        look: dict[str, Any] = {"size": _SHARE_SIZE, "light": light}
        cell(ax, first, -M, last - first, str(share), COLOURS["A"], height=M, **look)
        cell(ax, K + gap, gap + K - last, N, str(share), COLOURS["B"], height=last - first, **look)
        sentences.append(f"share {share}: k from {first} to {last - 1}, an M×N matrix of partial sums")
    sum_of_shares = "+".join(map(str, range(shares)))
    cell(ax, K + gap, -M, N, sum_of_shares, COLOURS["C"], size=_SHARE_SIZE, height=M, light=_CHOSEN)
    names = {"A": (-gap / 2, -M / 2), "B": (K + gap / 2, gap + K / 2), "C": (K + 1.6 * gap + N, -M / 2)}
    for name, (x, y) in names.items():
        ax.text(x, y, name, ha="center", va="center", fontsize=NAME_SIZE, weight="bold", color=COLOURS[name])
    ax.set_xlim(-gap, K + N + 3 * gap)
    ax.set_ylim(-M - gap, K + 2 * gap)
    bare(ax, equal=True)
    ax.set_title(f"{plural(shares, 'share')} of K give {shares} times as many blocks")
    return describe(
        ax, f"A is {M}×{K}, B is {K}×{N}, C is {M}×{N}", *sentences, f"C is the sum of {plural(shares, 'share')}"
    )


def _matrix(
    ax: Axes,
    name: str,
    shape: tuple[int, int],
    corner: tuple[float, float],
    tile_width: int,
    chosen: Mapping[tuple[int, int], str],
) -> None:
    """Draw a matrix with its top left corner at ``corner``; ``chosen`` maps a tile to the text in it."""
    rows, columns = shape
    left, top = corner
    for row in range(rows):
        for column in range(columns):
            is_chosen = (row // tile_width, column // tile_width) in chosen
            cell(ax, left + column, top - row - 1, 1, "", COLOURS[name] if is_chosen else None, light=_CHOSEN)
    for y in range(ceil_div(rows, tile_width)):
        for x in range(ceil_div(columns, tile_width)):
            wide = min(tile_width, columns - x * tile_width)
            high = min(tile_width, rows - y * tile_width)
            low_left = left + x * tile_width, top - y * tile_width - high
            ax.add_patch(Rectangle(low_left, wide, high, fill=False, ec=GROUND, lw=TILE_EDGE, zorder=4))
            if (y, x) in chosen:
                look: dict[str, Any] = {"weight": "bold", "color": INK, "zorder": 5}
                middle = low_left[0] + wide / 2, low_left[1] + high / 2
                ax.text(*middle, chosen[y, x], ha="center", va="center", fontsize=NAME_SIZE, **look)
    beside, height, across, up = {
        "A": (left - _NAME_BESIDE, top - rows / 2, "right", "center"),
        "B": (left + columns / 2, top + _NAME_ABOVE, "center", "bottom"),
        "C": (left + columns + _NAME_BESIDE, top - rows / 2, "left", "center"),
    }[name]
    ax.text(beside, height, name, ha=across, va=up, fontsize=NAME_SIZE, weight="bold", color=COLOURS[name])
