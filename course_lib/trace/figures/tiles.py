"""Pictures of matrices in blocks and tiles, and of the elements that one element of C needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba
from matplotlib.patches import Rectangle

from ...simulator.formatting import plural
from ...simulator.hardware import WARP_SIZE, ceil_div
from ..palette import COLOURS, GROUND, INK, WASH
from ..replay import Timeline
from .canvas import Colour, bare, cell, describe, legend, mixed, new_axes

if TYPE_CHECKING:
    from .. import Trace


def thread_map(M: int, N: int, block: tuple[int, int]) -> Axes:
    """Draw C (M × N) with, in each element, the (x, y) of the thread that computes it; blocks outlined and named.

    ``block`` is blockDim as (x, y). Threads of the last blocks that are outside C are drawn grey.

    >>> figures.show(figures.thread_map(4, 4, block=(2, 2)))
    Figure: 4 blocks of 2×2 threads cover C (4×4): threadIdx x,y in each element.
      16 threads, 16 elements, 0 threads outside C.
    """
    bx, by = block
    gx, gy = -(-N // bx), -(-M // by)
    ax = new_axes(0.85 * gx * bx + 0.8, 0.85 * gy * by + 1.2)
    for row in range(gy * by):
        for col in range(gx * bx):
            inside = row < M and col < N
            text = f"{col % bx},{row % by}"
            cell(ax, col, -row - 1, 1, text, COLOURS["C"] if inside else WASH, size=12, light=0.35)
    for y in range(gy):
        for x in range(gx):
            ax.add_patch(Rectangle((x * bx, -(y + 1) * by), bx, by, fill=False, ec=GROUND, lw=3, zorder=4))
            ax.text(x * bx + 0.08, -y * by - 0.07, f"block {x},{y}", va="top", ha="left", fontsize=9, color=INK)
    ax.set_xlim(-0.1, gx * bx + 0.1)
    ax.set_ylim(-gy * by - 0.1, 0.1)
    bare(ax, equal=True)
    ax.set_title(f"{plural(gx * gy, 'block')} of {bx}×{by} threads cover C ({M}×{N}): threadIdx x,y in each element")
    idle = gx * bx * gy * by - M * N
    return describe(ax, f"{gx * bx * gy * by} threads, {M * N} elements, {plural(idle, 'thread')} outside C")


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
    high, wide = (min(tile_width, size - tile_width * at) for size, at in ((M, row), (N, col)))
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
    (M, N, K), (row, col), gap = sizes, tile, 0.6
    pairs = range(ceil_div(K, tile_width) if needed else 0)
    ax = new_axes(5.4, 5.4 * (K + M + 2) / (K + N + 2))
    _matrix(ax, "A", (M, K), (0, 0), tile_width, {(row, t): str(t) for t in pairs})
    _matrix(ax, "B", (K, N), (K + gap, K + gap), tile_width, {(t, col): str(t) for t in pairs})
    _matrix(ax, "C", (M, N), (K + gap, 0), tile_width, {tile: name})
    ax.text(0, -M - 0.2, note, va="top", color=GROUND, fontsize=12)
    ax.set_xlim(-0.8, K + gap + N + 0.8)
    ax.set_ylim(-M - 0.3 - 0.1 * (M + K), K + gap + 0.8)
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
    ax = new_axes(4.8 * len(traces), 5.9)
    sentences = []
    for place, (label, trace) in enumerate(traces.items()):
        owner = _owners(trace)
        (down, across), left = owner.shape, place * 1.25
        high, wide = max(1 / down, 0.025), max(1 / across, 0.025)  # large enough to be seen
        colours = np.full((down, across, 4), to_rgba(WASH))
        warp = thread // WARP_SIZE
        colours[owner // WARP_SIZE == warp] = (*mixed(COLOURS["register"], 0.4), 1)
        ax.imshow(colours, extent=(left, left + 1, -1, 0), interpolation="nearest", zorder=1)
        ax.add_patch(Rectangle((left, -1), 1, 1, fill=False, ec=GROUND, lw=2))
        rows, columns = (np.unique(found) for found in np.nonzero(owner == thread))
        xs = {column: left + (column + 0.5) / across - wide / 2 for column in columns}
        ys = {row: -(row + 0.5) / down - high / 2 for row in rows}
        marks = [("A", left - 0.1, y, 0.07, high) for y in ys.values()]
        marks += [("B", x, 0.03, wide, 0.07) for x in xs.values()]
        marks += [("C", xs[column], ys[row], wide, high) for row, column in np.argwhere(owner == thread)]
        for name, x, y, *size in marks:
            ax.add_patch(Rectangle((x, y), *size, fc=COLOURS[name], lw=0, zorder=2))
        ax.text(left - 0.12, -0.5, "A", ha="right", va="center", fontsize=14, weight="bold", color=COLOURS["A"])
        ax.text(left + 0.5, 0.12, "B", ha="center", va="bottom", fontsize=14, weight="bold", color=COLOURS["B"])
        ax.text(left + 0.5, -1.03, f"{label}: {down}×{across}", ha="center", va="top", fontsize=12, color=GROUND)
        reads, results = len(rows) + len(columns), int((owner == thread).sum())
        sentences.append(
            f"{label}: a block computes {down}×{across} elements, warp {warp} "
            f"{int((owner // WARP_SIZE == warp).sum())} of them, thread {thread} {results}: rows "
            f"{', '.join(map(str, rows))} in columns {', '.join(map(str, columns))}. For each k the thread reads "
            f"{reads} numbers for {results} multiplications"
        )
    ax.set_title("What a block, a warp and a thread compute")
    fills: dict[str, Colour] = {
        "one thread": COLOURS["C"],
        "its warp": mixed(COLOURS["register"], 0.4),
        "the rest of the block": WASH,
    }
    legend(ax, fills)
    ax.set_xlim(-0.2, 1.25 * len(traces) - 0.2)
    ax.set_ylim(-1.12, 0.22)
    bare(ax, equal=True)
    return describe(ax, *sentences)


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
    gap = 0.08 * max(M, N, K)
    ax = new_axes(9, 9 * (K + M + 3 * gap) / (K + N + M + 8 * gap))
    edges = [K * share // shares for share in range(shares + 1)]
    sentences = []
    for share, (first, last) in enumerate(zip(edges, edges[1:], strict=False)):
        look: dict[str, Any] = {"size": 14, "light": 0.25 + 0.5 * share / max(shares - 1, 1)}
        cell(ax, first, -M, last - first, str(share), COLOURS["A"], height=M, **look)
        cell(ax, K + gap, gap + K - last, N, str(share), COLOURS["B"], height=last - first, **look)
        sentences.append(f"share {share}: k from {first} to {last - 1}, an M×N matrix of partial sums")
    cell(ax, K + gap, -M, N, "+".join(map(str, range(shares))), COLOURS["C"], size=14, height=M, light=0.45)
    for name, x, y in (("A", -gap / 2, -M / 2), ("B", K + gap / 2, gap + K / 2), ("C", K + 1.6 * gap + N, -M / 2)):
        ax.text(x, y, name, ha="center", va="center", fontsize=16, weight="bold", color=COLOURS[name])
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
    rows, cols = shape
    left, top = corner
    for row in range(rows):
        for col in range(cols):
            picked = (row // tile_width, col // tile_width) in chosen
            cell(ax, left + col, top - row - 1, 1, "", COLOURS[name] if picked else None, light=0.45)
    for y in range(ceil_div(rows, tile_width)):
        for x in range(ceil_div(cols, tile_width)):
            wide = min(tile_width, cols - x * tile_width)
            high = min(tile_width, rows - y * tile_width)
            at = (left + x * tile_width, top - y * tile_width - high)
            ax.add_patch(Rectangle(at, wide, high, fill=False, ec=GROUND, lw=2.2, zorder=4))
            if (y, x) in chosen:
                look: dict[str, Any] = {"weight": "bold", "color": INK, "zorder": 5}
                middle = at[0] + wide / 2, at[1] + high / 2
                ax.text(*middle, chosen[y, x], ha="center", va="center", fontsize=16, **look)
    right, down, across, up = {
        "A": (left - 0.2, top - rows / 2, "right", "center"),
        "B": (left + cols / 2, top + 0.15, "center", "bottom"),
        "C": (left + cols + 0.2, top - rows / 2, "left", "center"),
    }[name]
    ax.text(right, down, name, ha=across, va=up, fontsize=16, weight="bold", color=COLOURS[name])
