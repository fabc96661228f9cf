"""The layout of a scene's arrays in the still picture, and the look of their elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..look import INK
from .grids import ACTIVE, EMPTY, PLAIN, READ, REGION, SEEN, WRITTEN, Grid
from .scene import Scene
from .shapes import HEADING, HUES, MEMORY, PLAIN_CELL, SOFT, WRONG, Box, Disc, Pixels, Shape, Text, rgb, tint

CELL = 38.0  # the largest side of an element of A, B and C, and of one of the other grids
SMALL = 27.0
LENS_CELL = 17.5
LEGIBLE = 15.0  # the smallest side of an element in which a number can be read
LEAST = 0.7  # the smallest side of an element without a number: a pixel of the file
GAP = 24.0


def lay_out_arrays(shapes: list[Shape], places: dict[str, Any], scene: Scene, top: float) -> float:
    """Add the matrices and the counts, then the other arrays; return the next y."""
    grids = {grid.hue: grid for grid in scene.grids if grid.hue in "ABC"}
    rest = [grid for grid in scene.grids if grid.hue not in "ABC"]
    if grids:
        top = _product(shapes, places, scene, grids, top)
    return _flow(shapes, places, rest, top)


def _product(shapes: list[Shape], places: dict[str, Any], scene: Scene, grids: dict[str, Grid], top: float) -> float:
    """Add B above C, A left of C, the counts in the free corner, and a lens for each matrix without numbers."""
    (m, k), n = (grids["A"].rows, grids["A"].columns), grids["B"].columns
    side, free = min(CELL, (MEMORY - 60) / (k + n), 420 / (m + k)), 128.0  # the counts need so much
    if k * side < free:
        side = min(side, (MEMORY - 30 - GAP - free) / n)
    left, above = 26 + max(0.0, free - k * side), top + 20 + max(0.0, 84 - k * side)
    corners = {
        "A": (left, above + k * side + GAP),
        "B": (left + k * side + GAP, above),
        "C": (left + k * side + GAP, above + k * side + GAP),
    }
    for role, grid in sorted(grids.items()):
        x, y = corners[role]
        _title(shapes, x, y - 10, grid.name, HUES[role])
        _grid(shapes, places, grid, x, y, side)
    _counts(shapes, scene, 12, top + 14)
    bottom = above + (k + m) * side + GAP
    lenses = [grid for _, grid in sorted(grids.items()) if grid.lens]
    return _lenses(shapes, lenses, bottom + 26) if lenses else bottom + 22


def _counts(shapes: list[Shape], scene: Scene, x: float, y: float) -> None:
    mine, block, of_mine, of_block = scene.counts["global load"]
    shapes.append(Text(x, y, "Global loads", 12, HEADING, bold=True))
    for row, (now, of, who) in enumerate(((mine, of_mine, "thread"), (block, of_block, "block"))):
        shapes.append(Text(x, y + 22 + 22 * row, f"{now:,}", 15, HEADING, bold=True))
        shapes.append(Text(x + 9 * len(f"{now:,}") + 6, y + 23 + 22 * row, f"of {of:,}, {who}", 11, HEADING))


def _lens(grid: Grid) -> Grid:
    """The part of a large grid that its lens shows, as a grid with numbers."""
    top, left, texts = grid.lens or (0, 0, [])
    rows, columns = len(texts), max(map(len, texts), default=0)
    looks = "".join(grid.looks[(top + row) * grid.columns + left :][:columns] for row in range(rows))
    name = f"{grid.name}[{top}:{top + rows}, {left}:{left + columns}]"
    places = [(i // grid.columns - top, i % grid.columns - left) for i in grid.mine]
    mine = [row * columns + column for row, column in places if 0 <= row < rows and 0 <= column < columns]
    return Grid(name, grid.array, grid.hue, rows, columns, looks, [t for row in texts for t in row], mine=mine)


def _lenses(shapes: list[Shape], grids: list[Grid], top: float) -> float:
    x, bottom = 12.0, top
    for part in map(_lens, grids):
        shapes.append(Text(x, top, part.name, 11, HEADING, mono=True, bold=True))
        _grid(shapes, {}, part, x, top + 10, LENS_CELL)
        x += part.columns * LENS_CELL + 14
        bottom = max(bottom, top + 10 + part.rows * LENS_CELL)
    return bottom + 22


def _flow(shapes: list[Shape], places: dict[str, Any], grids: list[Grid], top: float) -> float:
    """Add the other grids from left to right, in as many rows as needed; after a large one follows its lens."""
    x, y, bottom = 12.0, top, top
    most = SMALL if len(grids) <= 5 else LENS_CELL
    shown = [part for grid in grids for part in ((grid, _lens(grid)) if grid.lens and grid.array else (grid,))]
    for grid in shown:
        if not grid.rows:
            continue
        side = min(most, (MEMORY - 24) / grid.columns)
        if side < LEGIBLE:  # without numbers it need not be large
            side = min(side, max(LEAST, 210 / max(grid.rows, grid.columns)))
        title = grid.name + (" of all threads" if grid.hue == "register" and grid.name != "threads" else "")
        width = max(grid.columns * side, 7.3 * len(title))
        if x > 12 and x + width > MEMORY:
            x, y = 12.0, bottom + 16
        shapes.append(Text(x, y + 8, title, 12, _readable(HUES[grid.hue]), mono=True, bold=True))
        _grid(shapes, places, grid, x, y + 20, side)
        x += width + 20
        below = max((row + 1 for row, _ in grid.outside if row <= grid.rows + 1), default=0)
        bottom = max(bottom, y + 20 + max(grid.rows, below) * side)
    return bottom


def _title(shapes: list[Shape], x: float, y: float, name: str, hue: str) -> None:
    shapes.append(Text(x - 6, y, name, 15, _readable(hue), "right", bold=True))


def _readable(hue: str) -> str:
    """The colour of a heading: the hue if it is readable on light and dark pages, else grey."""
    return HEADING if hue in (HUES["global"], HUES["shared"], HUES["register"]) else hue


def _fill(look: str, hue: str) -> str | None:
    strength = {READ: 1.0, WRITTEN: 1.0, SEEN: 0.48, REGION: 0.2, ACTIVE: 0.75}.get(look)
    return PLAIN_CELL if look == PLAIN else None if strength is None else tint(hue, strength)


def _grid(shapes: list[Shape], places: dict[str, Any], grid: Grid, x: float, y: float, side: float) -> None:
    """Add the elements of a grid; as in the widget, read ones are round, and written ones have a frame."""
    places[grid.name] = x, y, side
    hue = HUES[grid.hue]
    if grid.texts is None and (side < 6 or grid.rows * grid.columns > 1500):
        width, height = grid.columns * side, grid.rows * side
        shapes.append(Pixels(x, y, width, height, _colours(grid, hue)))
        shapes.append(Box(x, y, width, height, None, tint(hue, 0.7)))  # the outline of empty elements
    else:
        lines = [line for text in grid.texts or [""] for line in text.split("\n")]
        longest = max(map(len, lines), default=0)
        two = grid.texts is not None and len(lines) > len(grid.texts)
        size = side * (0.22 if two or longest > 5 else 0.32 if longest > 3 else 0.42)
        for i, look in enumerate(grid.looks):
            _cell(shapes, x + i % grid.columns * side, y + i // grid.columns * side, side, look, hue)
            if grid.texts is not None and side >= LEGIBLE and grid.texts[i]:
                text, full = grid.texts[i], look in (READ, WRITTEN)
                faint = look in (PLAIN, REGION)
                colour = "#ffffff" if full and grid.hue == "A" else SOFT if faint else INK
                at = x + (i % grid.columns + 0.5) * side, y + (i // grid.columns + 0.5) * side
                shapes.append(Text(*at, text, size, colour, "middle"))
    _marks(shapes, grid, x, y, side)


def _cell(shapes: list[Shape], x: float, y: float, side: float, look: str, hue: str) -> None:
    gap = 1.0 if side > 8 else 0.0
    if look == READ:
        shapes.append(Box(x + gap / 2, y + gap / 2, side - gap, side - gap, tint(hue, 0.35)))
        shapes.append(Disc(x + side / 2, y + side / 2, side / 2 - gap / 2, tint(hue, 1.0)))
        return
    edge = INK if look == WRITTEN else tint(hue, 0.7) if look == EMPTY else None
    box = x + gap / 2, y + gap / 2, side - gap, side - gap
    shapes.append(Box(*box, _fill(look, hue), edge, dashed=look == EMPTY))


def _colours(grid: Grid, hue: str) -> np.ndarray:
    """The colour of each element; those that the thread stores are the darkest, then those of its warp."""
    table = {}
    for look in set(grid.looks):
        colour = _fill(look, hue) or "#ffffff"
        table[look] = [*rgb(colour), 0 if look == EMPTY else 255]
    colours = np.array([table[look] for look in grid.looks], np.uint8)
    for owned, strength in ((grid.owned_by_warp, 0.62), (grid.owned, 1.0)):
        colours[owned] = [*rgb(tint(hue, strength)), 255]
    return colours.reshape(grid.rows, grid.columns, 4)


def _marks(shapes: list[Shape], grid: Grid, x: float, y: float, side: float) -> None:
    if side > 8:
        for i in grid.mine:
            box = x + i % grid.columns * side + 1, y + i // grid.columns * side + 1, side - 2, side - 2
            shapes.append(Box(*box, None, INK, 1.8, side * 0.2))
        for i in grid.dots:
            radius = max(1.8, side * 0.1)
            spot = x + (i % grid.columns + 1) * side - 1.6 * radius, y + i // grid.columns * side + 1.6 * radius
            shapes.append(Disc(*spot, radius + 0.6, "#ffffff"))
            shapes.append(Disc(*spot, radius, INK))
    for row, column in grid.outside:
        if -2 <= row <= grid.rows + 1 and -2 <= column <= grid.columns + 1:
            place = x + column * side + 1, y + row * side + 1, side - 2, side - 2
            shapes.append(Box(*place, tint(WRONG, 0.25), WRONG, 1.6, dashed=True))
    if grid.tile and side > 3:
        for row in range(grid.tile[0], grid.rows, grid.tile[0]):
            shapes.append(Box(x, y + row * side - 0.5, grid.columns * side, 1, SOFT))
        for column in range(grid.tile[1], grid.columns, grid.tile[1]):
            shapes.append(Box(x + column * side - 0.5, y, 1, grid.rows * side, SOFT))
    if grid.frame:
        top, left, bottom, right = grid.frame
        box = x + left * side, y + top * side, (right - left + 1) * side, (bottom - top + 1) * side
        shapes.append(Box(*box, None, HUES[grid.hue], 2.2))
