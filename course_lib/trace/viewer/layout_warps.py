"""The layout of what warps do in the still picture: shuffles, votes, matrices in registers, and waiting."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...simulator.hardware import WARP_SIZE, ceil_div
from ..look import INK
from ..strips import ARRIVES, HELD, WAITS, Span
from .exchanges import UNDEFINED, Exchanged
from .pieces import Read
from .scene import Scene
from .shapes import (
    CURRENT,
    HEADING,
    HUES,
    MEMORY,
    PLAIN_CELL,
    SOFT,
    WIDTH,
    Box,
    Line,
    Pixels,
    Shape,
    Text,
    rgb,
    tint,
    wrapped,
)
from .words import ORDER

READ_ROW = 13.0  # a row of pieces that are read at the same time
LANE_CELL, LANE_GAP = 17.0, 14.0  # an element of a matrix in a warp's registers, and the gap between two matrices
LANE, FLOW = (WIDTH - MEMORY - 24) / WARP_SIZE, 36.0  # a lane of a shuffle, and the height of the lines
#: The rows of warps that wait: pixels for names, for a row, for all rows; tenths of its row that a span fills.
STRIP_NAME, STRIP_PITCH, STRIPS = 96, 15, 160
STRIP_PARTS = {"load": 6, "store": 10, "other": 3, ARRIVES: 10, WAITS: 1, HELD: 2}

# --- shuffles and votes -----------------------------------------------------------------------------------------------


def lay_out_exchanges(shapes: list[Shape], scene: Scene, top: float) -> float:
    """Add the lanes of each shuffle, with a line for each value that goes to another, and of each vote."""
    mine = scene.thread % WARP_SIZE if scene.step and scene.thread // WARP_SIZE == scene.step.warp else None
    for exchange in scene.exchanges_told:
        for line in wrapped(exchange.says, 80):
            shapes.append(Text(MEMORY + 22, top, line, 12, HEADING))
            top += 17
        if any(source is not None for source in exchange.source):
            below = top + LANE + FLOW
            for lane, source in enumerate(exchange.source):
                if source is not None and exchange.got[lane] != UNDEFINED:
                    look = (CURRENT, 2.0) if lane == mine else (HEADING, 1.0)
                    shapes.append(Line(_middle(source), top + LANE, _middle(lane), below, *look))
            _lanes(shapes, exchange, top, None if mine is None else exchange.source[mine])
        else:
            below = top
            for lane, text in enumerate(exchange.gave):
                shapes.append(
                    Text(_middle(lane), top + LANE + 8, text if text in ("yes", "no") else "", 9, HEADING, "middle")
                )
        _lanes(shapes, exchange, below, mine)
        top = below + LANE + 32
    return top - 10


def _middle(lane: int) -> float:
    return MEMORY + 22 + (lane + 0.5) * LANE


def _lanes(shapes: list[Shape], exchange: Exchanged, top: float, framed: int | None) -> None:
    for lane, text in enumerate(exchange.gave):
        yes, x = text not in (None, "no"), _middle(lane) - LANE / 2
        fill = tint(HUES["register"], 0.48) if yes else PLAIN_CELL if text is None else "#ffffff"
        shapes.append(Box(x + 0.5, top + 0.5, LANE - 1, LANE - 1, fill, SOFT if text == "no" else None))
        shapes.append(Text(_middle(lane), top + LANE / 2, str(lane), 9, SOFT if text is None else INK, "middle"))
        if lane == framed:
            shapes.append(Box(x, top, LANE, LANE, None, INK, 1.4))


# --- matrices in a warp's registers -----------------------------------------------------------------------------------


def lay_out_matrices(shapes: list[Shape], scene: Scene, top: float) -> float:
    """Add the matrices of an operation side by side, with each element's lane; the thread's have a frame."""
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
        for read in operation.read:
            top = _lay_out_read(shapes, read, top)
    if scene.flight:
        shapes.append(Text(MEMORY + 22, top, scene.flight, 12, HEADING))
        top += 17
    return top


def _lay_out_read(shapes: list[Shape], read: Read, top: float) -> float:
    """Add what the tensor cores read: a row for each pass, a column for the banks of a piece."""
    shapes.append(Text(MEMORY + 22, top, f"{read.title}, by banks", 11, HEADING, mono=True, bold=True))
    wide, top = (WIDTH - MEMORY - 46) / len(read.rows[0]), top + 10
    for row in read.rows:
        for place, text in enumerate(row):
            x = MEMORY + 22 + place * wide
            shapes.append(
                Box(x + 0.5, top + 0.5, wide - 1, READ_ROW - 1, tint(HUES["shared"], 0.3) if text else PLAIN_CELL)
            )
            shapes.append(Text(x + wide / 2, top + READ_ROW / 2, text, 9, INK, "middle"))
        top += READ_ROW
    return top + 14


# --- where warps wait -------------------------------------------------------------------------------------------------


def lay_out_strips(shapes: list[Shape], scene: Scene, top: float) -> float:
    """Add a row for each warp and each buffer over the statements of the block, with a line at the current step."""
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
    for line in wrapped(ORDER, 84):
        bottom += 17
        shapes.append(Text(MEMORY + 22, bottom, line, 11, HEADING))
    return bottom + 4


def _strip(scene: Scene, name: str, spans: Sequence[Span], width: int, scale: float) -> np.ndarray:
    """The spans of a row as pixels, with the same heights as on the page."""
    pixels = np.zeros((10, width, 4), np.uint8)
    for first, last, what in spans:
        verb, _, array = what.partition(" ")
        if what == HELD:
            array = name.partition("[")[0]
        hue = HUES[scene.roles.get(array) or scene.trace.arrays[array].space] if array else HEADING
        here = slice(int(first * scale), max(int(first * scale) + 1, int(last * scale) - (scale > 4)))
        pixels[10 - STRIP_PARTS[verb] :, here] = [*rgb(hue), 255]
    return pixels
