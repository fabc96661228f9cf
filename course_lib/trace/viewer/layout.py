"""The layout of a scene as a still picture: head and source; `layout_arrays` and `layout_warps` do the rest."""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

from ..look import INK
from .layout_arrays import lay_out_arrays
from .layout_warps import lay_out_exchanges, lay_out_matrices, lay_out_strips
from .scene import Scene
from .shapes import CARD, CARD_EDGE, CURRENT, HEADING, MEMORY, SOFT, WIDTH, WRONG, Box, Shape, Text, tint, wrapped

#: The height of a line of the source, and its width in characters; a longer line goes on below.
LINE, WIDE = 17.5, 56
#: The hint on a picture, for a reader who can run the notebook.
HINT = "A still picture: run this cell to step through the launch."


@dataclass
class Layout:
    """The shapes of a picture in drawing order, its height, and the position of each grid (``places``)."""

    shapes: list[Shape]
    height: float
    places: dict[str, tuple[float, float, float]]


def lay_out(scene: Scene, hint: str = HINT) -> Layout:
    """Lay out everything that the scene shows, and a hint how to see more."""
    shapes: list[Shape] = []
    places: dict[str, tuple[float, float, float]] = {}
    top = _head(shapes, scene, hint)
    bottom = lay_out_arrays(shapes, places, scene, top)
    end = _source(shapes, scene, top)
    return Layout(shapes, max(bottom, end) + 8, places)


def _head(shapes: list[Shape], scene: Scene, hint: str) -> float:
    """Add the kernel, block, thread and step, what the step did, and its findings; return the next y."""
    shapes.append(Text(8, 16, scene.trace.kernel_name, 15, HEADING, mono=True, bold=True))
    shapes.append(Text(WIDTH - 8, 16, scene.where, 12, HEADING, "right", bold=True))
    lines = [(line, INK) for line in wrapped(scene.says, 135)]
    lines += [(line, WRONG) for text in scene.findings_now for line in wrapped(text, 130)]
    shapes.append(Box(1, 32, WIDTH - 2, 12 + 18 * len(lines), CARD, CARD_EDGE, round=6))
    for row, (line, colour) in enumerate(lines):
        shapes.append(Text(12, 47 + 18 * row, line, 12.5, colour, bold=colour == WRONG))
    bottom = 44 + 18 * len(lines)
    if not hint:
        return float(bottom + 12)
    shapes.append(Text(8, bottom + 16, hint, 12, HEADING))
    return float(bottom + 34)


def _wrapped(code: str) -> list[str]:
    """Break a line of the source; what goes on below is further in."""
    deep = " " * (len(code) - len(code.lstrip()) + 4)
    return textwrap.wrap(code, WIDE, subsequent_indent=deep, break_on_hyphens=False) or [code]


# --- source -----------------------------------------------------------------------------------------------------------


def _source(shapes: list[Shape], scene: Scene, top: float) -> float:
    """Add the source lines with the thread's counts; of a long source, the lines around the current one."""
    left, lines = float(MEMORY + 20), scene.source
    most = 34
    if len(lines) > most:
        at = next((i for i, row in enumerate(lines) if row[0] == scene.line), 0)
        begin = min(max(0, at - most // 2), len(lines) - most)
        lines = lines[begin : begin + most]
    parts = [_wrapped(code) for _, code, *_ in lines]
    bottom = top + 30 + LINE * sum(map(len, parts))
    shapes.append(Box(left, top, WIDTH - left - 1, bottom - top, CARD, CARD_EDGE, round=6))
    for x, name in ((72, "runs"), (112, "loads")):
        shapes.append(Text(left + x, top + 13, name, 10.5, SOFT, "right"))
    y = top + 32
    for (line, _, runs, loads), code in zip(lines, parts, strict=True):
        if line == scene.line:
            for width, colour in ((WIDTH - left - 3, tint(CURRENT, 0.17)), (4, CURRENT)):
                shapes.append(Box(left + 1, y - LINE / 2, width, LINE * len(code), colour))
        shapes.append(Text(left + 34, y, str(line), 11, SOFT, "right", mono=True))
        for x, count in ((72, runs), (112, loads)):
            if count:
                shapes.append(Text(left + x, y, str(count), 11, INK, "right", mono=True, bold=True))
        for part in code:
            shapes.append(Text(left + 122, y, part, 11, INK, mono=True))
            y += LINE
    for request in scene.requests_told[:4]:
        bottom += 20
        shapes.append(Text(left + 2, bottom, request.says, 12, HEADING))
    if scene.exchanges_told:
        bottom = lay_out_exchanges(shapes, scene, bottom + 22)
    if scene.matrices_told:
        bottom = lay_out_matrices(shapes, scene, bottom + 22)
    return (
        lay_out_strips(shapes, scene, bottom + 20) if "waits" in scene.panels and scene.timeline.releases() else bottom
    )
