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
#: In pixels, the white space above the picture, and all that is above and below it; from a matrix to its name, and the
#: size of that.
_TOP, _AROUND, _TO_NAME, _NAME_SIZE = 30, 44, 10, 18
#: The numbers of the coordinates.
_ROWS, _COLUMNS, _K = range(3)
#: How strong colours are: of a matrix, its edge, and the lines between its tiles; of the cube's edges; of finished
#: blocks, of the finished pairs of tiles of this block, and of the pair that is computed.
_MATRIX, _MATRIX_EDGE, _TILE_LINE, _CUBE_EDGE = 0.12, 0.6, 0.35, 0.55
_FINISHED_BLOCKS, _FINISHED_PAIRS, _THIS_PAIR = 0.25, 0.45, 0.9
#: How strong the sides of a box are, in parts of its strength; and what its edges have more.
_TOP_SIDE, _RIGHT_SIDE, _LEFT_SIDE, _EDGE = 0.7, 1, 0.85, 0.25

Corner = tuple[float, float, float]


def _at(corner: Corner) -> tuple[float, float]:
    """Convert (row, column, k) to x and y on the page."""
    row, column, k = (_SIDE * part for part in corner)
    x = row * _ROW[0] + column * _COLUMN[0] + k * _DEPTH[0]
    y = row * _ROW[1] + column * _COLUMN[1] + k * _DEPTH[1]
    return WIDTH / 2 + x, y + _SIDE * N * _APART + _TOP


def _face(fixed: int, at: float, one: tuple[float, float], other: tuple[float, float], **look: Any) -> Polygon:
    """Return a rectangle: one coordinate is ``at``, the two others go from their first to their last."""
    corners = [(one[0], other[0]), (one[1], other[0]), (one[1], other[1]), (one[0], other[1])]
    points = (_at((*pair[:fixed], at, *pair[fixed:])) for pair in corners)  # type: ignore[arg-type]
    return Polygon(tuple(points), **look)


def _box(low: Corner, high: Corner, hue: str, strength: float) -> Iterator[Polygon]:
    """Yield the three sides of a box that are seen: its top, the one on the right and the one on the left."""
    (top, left, far), (bottom, right, near) = low, high
    edge = tint(hue, min(1.0, strength + _EDGE))
    yield _face(_ROWS, top, (left, right), (far, near), fill=tint(hue, strength * _TOP_SIDE), edge=edge)
    yield _face(_COLUMNS, right, (top, bottom), (far, near), fill=tint(hue, strength * _RIGHT_SIDE), edge=edge)
    yield _face(_K, near, (top, bottom), (left, right), fill=tint(hue, strength * _LEFT_SIDE), edge=edge)


def draw_cube(tile: int) -> tuple[Any, ...]:
    """Draw the N³ multiply-adds of C = A·B, and those of one pair of tiles of ``tile`` × ``tile``.

    A is beside the cube on the right, B above it, C on the left: the sub-cube's shadows on them are the tiles that it
    needs and the block of C to which it adds. Returns shapes, height and sentences.
    """
    done = N // tile // 2 * tile  # the k of the pairs of tiles that are finished
    column = N - tile  # the last block of the first row: the ones before it are finished
    of_tile, of_block, of_pair = (0, tile), (column, N), (done, done + tile)
    shapes = [*_matrix("A", tile, _COLUMNS, N * (1 + _APART), of_tile, of_pair)]
    shapes += _matrix("B", tile, _ROWS, -N * _APART, of_block, of_pair)
    shapes += _matrix("C", tile, _K, N * (1 + _APART), of_tile, of_block)
    # the cube's far sides first, then finished blocks from the far end to the near one, and its near sides
    shapes += (_side_of_cube(fixed, at) for fixed, at in ((_ROWS, N), (_COLUMNS, 0), (_K, 0)))
    if column:
        shapes += _box((0, 0, 0), (tile, column, N), COLOURS["C"], _FINISHED_BLOCKS)
    if done:
        shapes += _box((0, column, 0), (tile, N, done), COLOURS["C"], _FINISHED_PAIRS)
    shapes += _box((0, column, done), (tile, N, done + tile), COLOURS["shared"], _THIS_PAIR)
    shapes += (_side_of_cube(fixed, at) for fixed, at in ((_ROWS, 0), (_COLUMNS, N), (_K, N)))
    loads, work = 2 * tile * tile, tile**3
    says = (
        f"The cube has {N**3:,} multiply-adds, {N} × {N} × {N}",
        f"A pair of tiles has {loads:,} numbers, two faces of {tile} × {tile}, and {plural(work, 'multiply-add')}",
        "Light green: finished blocks. Dark green: the finished pairs of tiles of this block",
        f"So each number that is loaded is used {plural(tile, 'time')}",
        f"The whole product loads {2 * N**3 // tile:,} numbers from global memory",
    )
    return tuple(shapes), _SIDE * N * (2 + 1.5 * _APART) + _AROUND, says


def _matrix(
    name: str, tile: int, fixed: int, at: float, one: tuple[float, float], other: tuple[float, float]
) -> Iterator[Shape]:
    """Yield a matrix beside the cube, its tiles, and the one that is used, from first to last in both directions.

    ``fixed`` is the coordinate that is ``at`` in all of it.
    """
    hue = COLOURS[name]
    yield _face(fixed, at, (0, N), (0, N), fill=tint(hue, _MATRIX), edge=tint(hue, _MATRIX_EDGE))
    for line in range(tile, N, tile):
        line_of_tiles: dict[str, Any] = {"edge": tint(hue, _TILE_LINE), "thick": 0.7}
        yield _face(fixed, at, (line, line), (0, N), **line_of_tiles)
        yield _face(fixed, at, (0, N), (line, line), **line_of_tiles)
    yield _face(fixed, at, one, other, fill=hue, edge=hue)
    corner = [0.0, 0.0, 0.0]
    corner[fixed] = at
    x, y = _at((corner[0], corner[1], corner[2]))
    yield Text(x, y - _TO_NAME, name, _NAME_SIZE, GROUND, "middle", bold=True)


def _side_of_cube(fixed: int, at: float) -> Polygon:
    """Return the edges of a side of the cube, in which the coordinate ``fixed`` is ``at``."""
    return _face(fixed, at, (0, N), (0, N), edge=tint(GROUND, _CUBE_EDGE), thick=0.8)
