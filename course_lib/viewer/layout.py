"""Where everything of a scene stands in the still picture: shapes with their places, in units of a shown pixel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..look import COLOURS, GROUND, INK
from ..simulator.hardware import ceil_div
from ..trace.strips import ARRIVES, HELD, WAITS, Span
from .scene import EMPTY, PLAIN, READ, REGION, SEEN, WRITTEN, Grid, Scene

WIDTH = 1000
#: Of the arrays; the source stands to the right of them.
MEMORY = 470
LINE = 17.5
CELL = 38.0  # the largest side of an element of A, B and C, and of one of the other grids
SMALL = 27.0
LENS_CELL = 17.5
LANE_CELL, LANE_GAP = 17.0, 14.0  # an element of a matrix in a warp's registers, and what is between two of them
LEGIBLE = 15.0  # the least side of an element in which a number can be read
LEAST = 0.7  # of an element without one: a pixel of the file
GAP = 24.0
HUES = {
    **{role: COLOURS[role] for role in "ABC"},
    "shared": COLOURS["shared"],
    "local": COLOURS["register"],
    "register": COLOURS["register"],
    "global": "#7F7F7F",
}
#: The rows of where warps wait: pixels for their names, for each, for all of them; tenths of its row that a span fills.
STRIP_NAME, STRIP_PITCH, STRIPS = 96, 15, 160
STRIP_PARTS = {"load": 6, "store": 10, "other": 3, ARRIVES: 10, WAITS: 1, HELD: 2}
#: Text on the page's own ground, which may be light or dark; on a card it is INK or SOFT.
HEADING, SOFT, CARD, CARD_EDGE, PLAIN_CELL = GROUND, "#59636e", "#f6f8fa", "#d0d7de", "#eceff2"
CURRENT, WRONG = "#1976d2", "#b3261e"


@dataclass(frozen=True)
class Box:
    """A rectangle; ``round`` is the radius of its corners. Without ``fill`` only its edge is drawn."""

    x: float
    y: float
    width: float
    height: float
    fill: str | None = None
    edge: str | None = None
    thick: float = 1.0
    round: float = 0.0
    dashed: bool = False


@dataclass(frozen=True)
class Disc:
    """A filled circle around (x, y)."""

    x: float
    y: float
    radius: float
    fill: str


@dataclass(frozen=True)
class Text:
    """A line of text; ``anchor`` says where (x, y) is: left, middle or right of it, at half its height."""

    x: float
    y: float
    text: str
    size: float
    colour: str = INK
    anchor: str = "left"
    mono: bool = False
    bold: bool = False


@dataclass(frozen=True)
class Pixels:
    """A grid too large for shapes: a colour an element, (rows, columns, 4) bytes."""

    x: float
    y: float
    width: float
    height: float
    colours: Any


Shape = Box | Disc | Text | Pixels


@dataclass
class Layout:
    """The shapes of a picture in the order in which they are drawn, and its height; ``places`` says where a grid is."""

    shapes: list[Shape]
    height: float
    places: dict[str, tuple[float, float, float]]


def lay_out(scene: Scene) -> Layout:
    """Place everything that the scene shows."""
    shapes: list[Shape] = []
    places: dict[str, tuple[float, float, float]] = {}
    top = _head(shapes, scene)
    bottom = _memory(shapes, places, scene, top)
    end = _source(shapes, scene, top)
    return Layout(shapes, max(bottom, end) + 8, places)


def tint(hue: str, strength: float) -> str:
    """A colour thinned with white: ``strength`` 1 is the colour itself."""
    parts = (int(hue[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 - strength * (255 - part)):02x}" for part in parts)


def wrapped(text: str, width: int) -> list[str]:
    """The lines of a text of words."""
    lines = [""]
    for word in text.split(" "):
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width:
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}" if lines[-1] else word
    return lines


def _head(shapes: list[Shape], scene: Scene) -> float:
    """The kernel, where we are, what the step did, and what it broke; ends with the y of what follows."""
    shapes.append(Text(8, 16, scene.trace.kernel_name, 15, HEADING, mono=True, bold=True))
    shapes.append(Text(WIDTH - 8, 16, scene.where, 12, HEADING, "right", bold=True))
    lines = [(line, INK) for line in wrapped(scene.says, 135)]
    lines += [(line, WRONG) for text in scene.findings_now for line in wrapped(text, 130)]
    shapes.append(Box(1, 32, WIDTH - 2, 12 + 18 * len(lines), CARD, CARD_EDGE, round=6))
    for row, (line, colour) in enumerate(lines):
        shapes.append(Text(12, 47 + 18 * row, line, 12.5, colour, bold=colour == WRONG))
    bottom = 44 + 18 * len(lines)
    shapes.append(Text(8, bottom + 16, "A still picture: run this cell to step through the launch.", 12, HEADING))
    return float(bottom + 34)


# --- memory -----------------------------------------------------------------------------------------------------------


def _memory(shapes: list[Shape], places: dict[str, Any], scene: Scene, top: float) -> float:
    grids = {grid.hue: grid for grid in scene.grids if grid.hue in "ABC"}
    rest = [grid for grid in scene.grids if grid.hue not in "ABC"]
    if grids:
        top = _product(shapes, places, scene, grids, top)
    return _flow(shapes, places, rest, top)


def _product(shapes: list[Shape], places: dict[str, Any], scene: Scene, grids: dict[str, Grid], top: float) -> float:
    """B above C and A left of it, the counts in the free corner, and a lens of each that has no numbers."""
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
    """The other grids from left to right, in as many rows as they need; a large one has its lens behind it."""
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
    """A hue as a heading's colour, where it reads on light and dark; grey where it does not."""
    return HEADING if hue in (HUES["global"], HUES["shared"], HUES["register"]) else hue


def _fill(look: str, hue: str) -> str | None:
    strength = {READ: 1.0, WRITTEN: 1.0, SEEN: 0.48, REGION: 0.2, "a": 0.75}.get(look)
    return PLAIN_CELL if look == PLAIN else None if strength is None else tint(hue, strength)


def _grid(shapes: list[Shape], places: dict[str, Any], grid: Grid, x: float, y: float, side: float) -> None:
    """The elements of a grid; what is read is round, and what is written is framed, as in the widget."""
    places[grid.name] = x, y, side
    hue = HUES[grid.hue]
    if grid.texts is None and (side < 6 or grid.rows * grid.columns > 1500):
        size = grid.columns * side, grid.rows * side
        shapes.append(Pixels(x, y, *size, _colours(grid, hue)))
        shapes.append(Box(x, y, *size, None, tint(hue, 0.7)))  # for what is still empty
    else:
        size = side * (0.42 if max(map(len, grid.texts or [""])) <= 3 else 0.32)
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
    """A colour an element; what the thread stores is the darkest, then what its warp stores."""
    table = {}
    for look in set(grid.looks):
        colour = _fill(look, hue) or "#ffffff"
        table[look] = [*(int(colour[i : i + 2], 16) for i in (1, 3, 5)), 0 if look == EMPTY else 255]
    colours = np.array([table[look] for look in grid.looks], np.uint8)
    for owned, strength in ((grid.owned_by_warp, 0.62), (grid.owned, 1.0)):
        colour = tint(hue, strength)
        colours[owned] = [*(int(colour[i : i + 2], 16) for i in (1, 3, 5)), 255]
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


# --- source -----------------------------------------------------------------------------------------------------------


def _source(shapes: list[Shape], scene: Scene, top: float) -> float:
    """The lines with what the thread did on them; of a long source the lines around the current one."""
    left, lines = float(MEMORY + 20), scene.source
    most = 34
    if len(lines) > most:
        at = next((i for i, row in enumerate(lines) if row[0] == scene.line), 0)
        begin = min(max(0, at - most // 2), len(lines) - most)
        lines = lines[begin : begin + most]
    shapes.append(Box(left, top, WIDTH - left - 1, 30 + LINE * len(lines), CARD, CARD_EDGE, round=6))
    for x, name in ((72, "runs"), (112, "loads")):
        shapes.append(Text(left + x, top + 13, name, 10.5, SOFT, "right"))
    for row, (line, code, runs, loads) in enumerate(lines):
        y = top + 32 + row * LINE
        if line == scene.line:
            shapes.append(Box(left + 1, y - LINE / 2, WIDTH - left - 3, LINE, tint(CURRENT, 0.17)))
            shapes.append(Box(left + 1, y - LINE / 2, 4, LINE, CURRENT))
        shapes.append(Text(left + 34, y, str(line), 11, SOFT, "right", mono=True))
        for x, count in ((72, runs), (112, loads)):
            if count:
                shapes.append(Text(left + x, y, str(count), 11, INK, "right", mono=True, bold=True))
        shapes.append(Text(left + 122, y, code if len(code) <= 56 else code[:55] + "…", 11, INK, mono=True))
    bottom = top + 30 + LINE * len(lines)
    for request in scene.requests_told[:4]:
        bottom += 20
        shapes.append(Text(left + 2, bottom, request.says, 12, HEADING))
    if scene.matrices_told:
        bottom = _matrices(shapes, scene, bottom + 22)
    return _strips(shapes, scene, bottom + 20) if "waits" in scene.panels and scene.timeline.releases() else bottom


# --- matrices in a warp's registers -----------------------------------------------------------------------------------


def _matrices(shapes: list[Shape], scene: Scene, top: float) -> float:
    """The matrices of an operation beside each other, with the lane of each element; the thread's have a frame."""
    for operation in scene.matrices:
        for line in wrapped(operation.says, 80):
            shapes.append(Text(MEMORY + 22, top, line, 12, HEADING))
            top += 17
        gaps = LANE_GAP * (len(operation.held) - 1)
        side = min(LANE_CELL, (WIDTH - MEMORY - 24 - gaps) / sum(held.columns for held in operation.held))
        x, top = MEMORY + 22.0, top + 4
        for held in operation.held:
            shapes.append(Text(x, top, held.title, 11, HEADING, mono=True, bold=True))
            for i, lane in enumerate(held.lanes):
                place = x + i % held.columns * side, top + 10 + i // held.columns * side
                mine = i in held.mine
                fill = tint(HUES["register"], 0.48) if mine else PLAIN_CELL
                shapes.append(Box(place[0] + 0.5, place[1] + 0.5, side - 1, side - 1, fill))
                middle = place[0] + side / 2, place[1] + side / 2
                shapes.append(Text(*middle, str(lane), side * 0.55, INK if mine else SOFT, "middle"))
                if mine:
                    shapes.append(Box(place[0], place[1], side, side, None, INK, 1.4))
            x += held.columns * side + LANE_GAP
        top += 10 + max(held.rows for held in operation.held) * side + 20
    return top


# --- where warps wait -------------------------------------------------------------------------------------------------


def _strips(shapes: list[Shape], scene: Scene, top: float) -> float:
    """A row for each warp and each buffer over the statements of the block, with a line where the step stands."""
    x, width = float(MEMORY + 20 + STRIP_NAME), WIDTH - MEMORY - 22 - STRIP_NAME
    shapes.append(Text(MEMORY + 22, top, scene.waiting, 12, HEADING))
    top += 14
    pitch = min(STRIP_PITCH, max(5, STRIPS // len(scene.strips)))
    every = ceil_div(STRIP_PITCH, pitch)  # of many rows, every third has its name
    scale = width / len(scene.timeline)
    for row, (name, spans) in enumerate(scene.strips):
        if row % every == 0:
            shapes.append(Text(x - 8, top + pitch * (row + 0.5), name, 11, HEADING, "right", mono=True))
        shapes.append(Pixels(x, top + row * pitch, width, pitch - 1, _strip(scene, name, spans, width, scale)))
    bottom = top + len(scene.strips) * pitch
    shapes.append(Box(x + scene.position * scale - 1, top - 3, 2, bottom - top + 6, CURRENT))
    return bottom + 4


def _strip(scene: Scene, name: str, spans: Sequence[Span], width: int, scale: float) -> np.ndarray:
    """The spans of a row as pixels; a span fills as many tenths of its row, from below, as it does on the page."""
    pixels = np.zeros((10, width, 4), np.uint8)
    for first, last, what in spans:
        verb, _, array = what.partition(" ")
        if what == HELD:
            array = name.partition("[")[0]
        hue = HUES[scene.roles.get(array) or scene.trace.arrays[array].space] if array else HEADING
        rgb = [int(hue[i : i + 2], 16) for i in (1, 3, 5)]
        here = slice(int(first * scale), max(int(first * scale) + 1, int(last * scale) - (scale > 4)))
        pixels[10 - STRIP_PARTS[verb] :, here] = [*rgb, 255]
    return pixels
