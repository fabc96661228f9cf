"""Pictures of matrices in blocks and tiles, and of the elements that one element of C needs."""

from __future__ import annotations

from collections.abc import Mapping

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from ..look import COLOURS, GROUND, INK, WASH
from ..simulator.hardware import ceil_div
from .canvas import bare, cell, describe, new_axes, plural


def thread_map(M: int, N: int, block: tuple[int, int], ax: Axes | None = None) -> Axes:
    """Draw C (M × N) with, in each element, the (x, y) of the thread that computes it; blocks outlined and named.

    ``block`` is blockDim as (x, y). Threads of the last blocks that are outside C are drawn grey.
    """
    bx, by = block
    gx, gy = -(-N // bx), -(-M // by)
    ax = ax or new_axes(0.85 * gx * bx + 0.8, 0.85 * gy * by + 1.2)
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


def tile_pairs(
    M: int,
    N: int,
    K: int,
    tile_width: int,
    tile: tuple[int, int],
    ax: Axes | None = None,
) -> Axes:
    """Draw A left of C and B above it, divided into tiles of ``tile_width``: the tile pairs for one tile of C.

    ``tile`` is the (row, column) of the tile of C, counted in tiles; each pair has its number. If the tile width does
    not divide a size, the tiles at the right and at the bottom are narrower.
    """
    row, col = tile
    pairs = range(-(-K // tile_width))
    gap = 0.6
    ax = ax or new_axes(5.4, 5.4 * (K + M + 2) / (K + N + 2))
    names_a = {(row, t): str(t) for t in pairs}
    names_b = {(t, col): str(t) for t in pairs}
    _matrix(ax, "A", (M, K), (0, 0), tile_width, names_a)
    _matrix(ax, "B", (K, N), (K + gap, K + gap), tile_width, names_b)
    _matrix(ax, "C", (M, N), (K + gap, 0), tile_width, {(row, col): "Σ"})
    ax.set_xlim(-0.8, K + gap + N + 0.3)
    ax.set_ylim(-M - 0.3, K + gap + 0.8)
    bare(ax, equal=True)
    terms = [f"A({row},{t})·B({t},{col})" for t in pairs]
    ax.set_title(f"Tile C({row},{col}) needs {plural(len(pairs), 'tile pair')}")
    return describe(ax, f"C({row},{col}) = " + " + ".join(terms))


def footprint(M: int, N: int, K: int, element: tuple[int, int], ax: Axes | None = None) -> Axes:
    """Draw A left of C and B above it, with the row and the column that the thread of element (row, col) reads."""
    row, col = element
    gap = 0.6
    ax = ax or new_axes(5.4, 5.4 * (K + M + 2) / (K + N + 2))
    _matrix(ax, "A", (M, K), (0, 0), 1, {(row, k): "" for k in range(K)})
    _matrix(ax, "B", (K, N), (K + gap, K + gap), 1, {(k, col): "" for k in range(K)})
    _matrix(ax, "C", (M, N), (K + gap, 0), 1, {element: ""})
    ax.set_xlim(-0.8, K + gap + N + 0.3)
    ax.set_ylim(-M - 0.3, K + gap + 0.8)
    bare(ax, equal=True)
    ax.set_title(f"C[{row}, {col}] reads {2 * K} elements")
    return describe(ax, f"row {row} of A, {plural(K, 'element')}, and column {col} of B, {plural(K, 'element')}")


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
                ax.text(
                    at[0] + wide / 2,
                    at[1] + high / 2,
                    chosen[y, x],
                    ha="center",
                    va="center",
                    fontsize=20,
                    weight="bold",
                    color=INK,
                    zorder=5,
                )
    side = (left - 0.2, top - rows / 2) if name == "A" else (left + cols / 2, top + 0.15)
    if name != "C":
        ax.text(
            *side,
            name,
            ha="right" if name == "A" else "center",
            va="center" if name == "A" else "bottom",
            fontsize=16,
            weight="bold",
            color=COLOURS[name],
        )
    else:
        ax.text(
            left + cols, top - rows - 0.05, name, ha="right", va="top", fontsize=16, weight="bold", color=COLOURS[name]
        )
