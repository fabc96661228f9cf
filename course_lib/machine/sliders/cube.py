"""The cube of a product: its M × N × K multiply-adds as unit cells, and the part of it that one tile computes."""

from collections.abc import Iterator
from typing import Any

from ...simulator.formatting import plural
from ...trace.palette import COLOURS, GROUND
from ...trace.viewer.picture_shapes import WIDTH, Polygon, Shape, Text, tint

#: The sides of a tile that the slider offers.
TILES = (1, 2, 4, 8, 16)
#: The cells of a side of the cube.
N = 16
#: Pixels of a cell, and the directions of rows, columns and k on the page: an isometric view from above, in which k
#: comes towards the reader, on the left.
_SIDE = 9.5
_ROW = (0.0, 1.0)
_COLUMN = (0.866, 0.5)
_DEPTH = (-0.866, 0.5)
#: How far A, B and C are from the cube, in sides of it.
_APART = 1.06

Corner = tuple[float, float, float]


def _at(corner: Corner) -> tuple[float, float]:
    """Convert (row, column, k) to x and y on the page."""
    row, column, k = (_SIDE * part for part in corner)
    x = row * _ROW[0] + column * _COLUMN[0] + k * _DEPTH[0]
    y = row * _ROW[1] + column * _COLUMN[1] + k * _DEPTH[1]
    return WIDTH / 2 + x, y + _SIDE * N * _APART + 30


def _face(fixed: int, at: float, one: tuple[float, float], other: tuple[float, float], **look: Any) -> Polygon:
    """Return a rectangle: one coordinate is ``at``, the two others go from their first to their last."""
    corners = [(one[0], other[0]), (one[1], other[0]), (one[1], other[1]), (one[0], other[1])]
    points = (_at((*pair[:fixed], at, *pair[fixed:])) for pair in corners)  # type: ignore[arg-type]
    return Polygon(tuple(points), **look)


def _box(low: Corner, high: Corner, hue: str, strength: float) -> Iterator[Polygon]:
    """Yield the three sides of a box that are seen: its top, the one on the right and the one on the left."""
    (i, j, k), (i2, j2, k2) = low, high
    edge = tint(hue, min(1.0, strength + 0.25))
    yield _face(0, i, (j, j2), (k, k2), fill=tint(hue, strength * 0.7), edge=edge)
    yield _face(1, j2, (i, i2), (k, k2), fill=tint(hue, strength), edge=edge)
    yield _face(2, k2, (i, i2), (j, j2), fill=tint(hue, strength * 0.85), edge=edge)


def draw_cube(tile: int) -> tuple[Any, ...]:
    """Draw the N³ multiply-adds of C = A·B, and those of one pair of tiles of ``tile`` × ``tile``.

    A is beside the cube on the right, B above it, C on the left: the sub-cube's shadows on them are the tiles that it
    needs and the block of C to which it adds. Returns shapes, height and sentences.
    """
    done = N // tile // 2 * tile
    shapes: list[Shape] = []
    column = N - tile  # the last block of the first row: the ones before it are finished
    grid = [float(at) for at in range(0, N + 1, tile)]
    for name, fixed, at, one, other in (
        ("A", 1, N * (1 + _APART), (0, tile), (done, done + tile)),
        ("B", 0, -N * _APART, (column, column + tile), (done, done + tile)),
        ("C", 2, N * (1 + _APART), (0, tile), (column, column + tile)),
    ):
        hue = COLOURS[name]
        shapes.append(_face(fixed, at, (0, N), (0, N), fill=tint(hue, 0.12), edge=tint(hue, 0.6)))
        for line in grid[1:-1]:
            shapes.append(_face(fixed, at, (line, line), (0, N), edge=tint(hue, 0.35), thick=0.7))
            shapes.append(_face(fixed, at, (0, N), (line, line), edge=tint(hue, 0.35), thick=0.7))
        shapes.append(_face(fixed, at, one, other, fill=hue, edge=hue))
        corner = {"A": (0.0, at, 0.0), "B": (at, 0.0, 0.0), "C": (0.0, 0.0, at)}[name]
        x, y = _at(corner)
        shapes.append(Text(x, y - 10, name, 18, GROUND, "middle", bold=True))
    # the cube's far sides first, then finished blocks from the far end to the near one
    for fixed, at in ((0, N), (1, 0), (2, 0)):
        shapes.append(_face(fixed, at, (0, N), (0, N), edge=tint(GROUND, 0.55), thick=0.8))
    if column:
        shapes += _box((0, 0, 0), (tile, column, N), COLOURS["C"], 0.25)
    if done:
        shapes += _box((0, column, 0), (tile, N, done), COLOURS["C"], 0.45)
    shapes += _box((0, column, done), (tile, N, done + tile), COLOURS["shared"], 0.9)
    for fixed, at in ((0, 0), (1, N), (2, N)):  # its near edges
        shapes.append(_face(fixed, at, (0, N), (0, N), edge=tint(GROUND, 0.55), thick=0.8))
    loads, work = 2 * tile * tile, tile**3
    says = (
        f"The cube has {N**3:,} multiply-adds, {N} × {N} × {N}",
        f"A pair of tiles has {loads:,} numbers, two faces of {tile} × {tile}, and {plural(work, 'multiply-add')}",
        "Light green: finished blocks. Dark green: the finished pairs of tiles of this block",
        f"So each number that is loaded is used {plural(tile, 'time')}",
        f"The whole product loads {2 * N**3 // tile:,} numbers from global memory",
    )
    return tuple(shapes), _SIDE * N * (2 + 1.5 * _APART) + 44, says
