"""The still picture's geometry: where the layout puts things, and what the pixels there are."""

import functools
import re
from types import SimpleNamespace

import numpy as np
import pytest
from launches.samples import launch
from nightly import at_night
from PIL import ImageColor

from course_lib.trace.look import INK
from course_lib.trace.replay import Timeline
from course_lib.trace.viewer.digits import short
from course_lib.trace.viewer.grids import READ, SEEN, WRITTEN, Grid, Grids
from course_lib.trace.viewer.layout import LINE, Layout
from course_lib.trace.viewer.layout_arrays import LEGIBLE, lay_out_arrays
from course_lib.trace.viewer.layout_warps import LANE_GAP
from course_lib.trace.viewer.picture import SCALE, StillPicture, draw, font
from course_lib.trace.viewer.scene import Scene
from course_lib.trace.viewer.shapes import (
    CURRENT,
    HEADING,
    HUES,
    MEMORY,
    WIDTH,
    Box,
    Disc,
    Line,
    Pixels,
    Text,
    tint,
    wrapped,
)
from course_lib.trace.viewer.words import ORDER

NAMES = ["naive", "naive_ragged", "tiled_16", "prefetched", "register_2d", "best", "reduction", "stencil", "racy"]


@functools.cache
def still(name, position=None, thread=0):
    timeline = Timeline(launch(name).trace, (0, 0, 0))
    return StillPicture(Scene(timeline, timeline.telling_step(thread) if position is None else position, thread))


@pytest.fixture(scope="module", params=[at_night(name) if name == "best" else name for name in NAMES])
def picture(request):
    return still(request.param)


def colour_at(image, x, y):
    return image.getpixel((int(x * SCALE), int(y * SCALE)))


def extent(shape):
    if isinstance(shape, Disc):
        return shape.x - shape.radius, shape.y - shape.radius, shape.x + shape.radius, shape.y + shape.radius
    if isinstance(shape, Text):
        return shape.x, shape.y - shape.size / 2, shape.x, shape.y + shape.size / 2
    return shape.x, shape.y, shape.x + shape.width, shape.y + shape.height


def texts_of(picture):
    return [shape for shape in picture.layout.shapes if isinstance(shape, Text)]


def boxes_of(picture):
    """Return (left, top, right, bottom) of each grid."""
    grids = {grid.name: grid for grid in picture.scene.grids}
    return [
        (x, y, x + grids[name].columns * side, y + grids[name].rows * side)
        for name, (x, y, side) in picture.layout.places.items()
        if name in grids
    ]


def box_of(text):
    """Where a text stands, as wide as its font makes it."""
    width = font(text.size, text.mono, text.bold).getlength(text.text)
    left = text.x - {"left": 0, "middle": 0.5, "right": 1}[text.anchor] * width
    return left, text.y - 0.4 * text.size, left + width, text.y + 0.4 * text.size


def test_everything_lies_inside_the_picture(picture):
    """No shape is cut off at an edge."""
    for shape in picture.layout.shapes:
        left, top, right, bottom = extent(shape)
        assert left >= 0 and top >= 0, shape
        assert right <= WIDTH and bottom <= picture.layout.height, shape


def test_grids_keep_clear_of_each_other_and_of_the_source(picture):
    """No two grids overlap, and none lies under the source's card."""
    boxes = boxes_of(picture)
    assert len(boxes) == sum(grid.rows > 0 for grid in picture.scene.grids)
    cards = [extent(s) for s in picture.layout.shapes if isinstance(s, Box) and s.round == 6]
    for i, (left, top, right, bottom) in enumerate(boxes):
        for other in boxes[:i] + cards:
            assert right <= other[0] + 1e-6 or left >= other[2] - 1e-6 or bottom <= other[1] or top >= other[3]


def test_every_element_has_its_colour_where_it_stands(picture):
    """The middle of each element's left half (numbers stand in the middle) has the colour of its look."""
    image = picture.image()
    strength = {READ: 1.0, WRITTEN: 1.0, SEEN: 0.48}
    looked = 0
    for grid in picture.scene.grids:
        if grid.name not in picture.layout.places or grid.owned:
            continue
        x, y, side = picture.layout.places[grid.name]
        for i, look in enumerate(grid.looks):
            if look not in strength or side < 10:
                continue
            at = x + (i % grid.columns + 0.22) * side, y + (i // grid.columns + 0.75) * side
            wanted = ImageColor.getrgb(tint(HUES[grid.hue], strength[look]))
            found = colour_at(image, *at)
            assert np.abs(np.subtract(found[:3], wanted)).max() <= 3 and found[3] == 255, (grid.name, i, look)
            looked += 1
    assert looked > 0


@pytest.mark.nightly
def test_large_grids_have_a_colour_an_element():
    """best's C is drawn as pixels: what the thread stores is darkest, then what its warp stores."""
    picture = still("best")
    (grid,) = [g for g in picture.scene.grids if g.name == "C"]
    x, y, side = picture.layout.places["C"]
    (pixels,) = [s for s in picture.layout.shapes if isinstance(s, Pixels) and (s.x, s.y) == (x, y)]
    assert (pixels.width, pixels.height) == (grid.columns * side, grid.rows * side)
    assert (grid.rows, grid.columns) == pixels.colours.shape[:2] == (128, 256)
    assert (len(grid.owned), len(grid.owned_by_warp)) == (8 * 16, 64 * 64)
    mine, warps, rest = (pixels.colours.reshape(-1, 4)[e] for e in (grid.owned[0], grid.owned_by_warp[8], -1))
    assert mine.astype(int).sum() < warps.astype(int).sum() < rest.astype(int).sum()


def test_values_stand_in_their_elements():
    """At step 21 of tiled the products' operands are numbers in the tiles, and rings mark the thread's."""
    picture = still("tiled")
    texts = {(t.x, t.y): t.text for t in picture.layout.shapes if isinstance(t, Text)}
    numbers = 0
    for grid in picture.scene.grids:
        x, y, side = picture.layout.places[grid.name]
        assert side >= LEGIBLE
        for i, text in enumerate(grid.texts):
            at = x + (i % grid.columns + 0.5) * side, y + (i // grid.columns + 0.5) * side
            assert texts.get(at, "") == text
            numbers += bool(text)
        rings = [s for s in picture.layout.shapes if isinstance(s, Box) and s.round and s.fill is None]
        for i in grid.mine:
            ring = x + i % grid.columns * side + 1, y + i // grid.columns * side + 1
            assert ring in [(r.x, r.y) for r in rings]
    assert numbers == 4 * 4 * 3 + 2 * 4 + 4


def test_an_access_out_of_bounds_is_drawn_where_it_would_land():
    """A's row 4 does not exist: a red frame stands below row 3, and inside the picture."""
    picture = still("out_of_bounds_2d", 2)
    (grid,) = [g for g in picture.scene.grids if g.name == "A"]
    assert grid.outside == [(4, column) for column in range(4)]
    x, y, side = picture.layout.places["A"]
    marked = [s for s in picture.layout.shapes if isinstance(s, Box) and s.dashed and s.thick == 1.6]
    assert [(x + column * side + 1, y + 4 * side + 1) for column in range(4)] == [(s.x, s.y) for s in marked]
    assert any("outside its shape (4, 4)" in t.text for t in picture.layout.shapes if isinstance(t, Text))


def test_the_source_shows_counts_and_the_current_line(picture):
    """Every line with its number, runs and loads in one row; one line is marked."""
    texts = [t for t in picture.layout.shapes if isinstance(t, Text)]
    rows = {}
    for text in texts:
        rows.setdefault(text.y, []).append(text.text)
    for line, code, runs, loads in picture.scene.source:
        for row in rows.values():
            if str(line) in row[:1] and any(part.startswith(code[:30]) for part in row):
                assert row[1:-1] == [str(count) for count in (runs, loads) if count]
    assert sum(isinstance(s, Box) and s.width == 4 for s in picture.layout.shapes) == 1


def test_it_says_that_it_is_still(picture):
    assert any("run this cell to step" in t.text for t in picture.layout.shapes if isinstance(t, Text))


def luminance(colour):
    parts = np.array(ImageColor.getrgb(colour)) / 255
    return np.where(parts <= 0.03928, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4) @ [0.2126, 0.7152, 0.0722]


@pytest.mark.parametrize("ground", ["#ffffff", "#111111"])
def test_headings_read_on_light_and_dark(ground):
    """The ground is transparent, so a heading has the page behind it, whatever its theme."""
    picture = still("tiled")
    corner = picture.image().getpixel((1, 1))
    assert corner[3] == 0
    high, low = sorted((luminance(HEADING), luminance(ground)), reverse=True)
    assert (high + 0.05) / (low + 0.05) > 4.2


def test_no_text_touches_another(picture):
    """Neither one beside it nor one above or below it."""
    texts = texts_of(picture)
    left, top, right, bottom = np.array([box_of(text) for text in texts]).T
    across = np.minimum.outer(right, right) - np.maximum.outer(left, left)
    down = np.minimum.outer(bottom, bottom) - np.maximum.outer(top, top)
    touching = np.argwhere(np.triu((across > 1.5) & (down > 1.5), 1))
    assert [] == [(texts[i].text, texts[j].text) for i, j in touching]


def test_words_are_wrapped():
    text = "one two three four five"
    assert wrapped(text, 9) == ["one two", "three", "four five"]
    assert re.sub(r"\s+", " ", " ".join(wrapped(text, 9))) == text


def test_frames_enclose_what_the_block_touches(picture):
    """Along each edge of a matrix's frame the pixels have the matrix's colour, just inside the marked elements."""
    image = picture.image()
    for grid in picture.scene.grids:
        if grid.frame is None:
            continue
        x, y, side = picture.layout.places[grid.name]
        touched = [i for i, look in enumerate(grid.looks) if look != "."]
        rows, columns = {i // grid.columns for i in touched}, {i % grid.columns for i in touched}
        top, bottom = y + min(rows) * side, y + (max(rows) + 1) * side
        left, right = x + min(columns) * side, x + (max(columns) + 1) * side
        wanted = ImageColor.getrgb(HUES[grid.hue])
        across, down = left + 0.37 * (right - left), top + 0.37 * (bottom - top)
        for at in ((left + 1, down), (right - 1, down), (across, top + 1), (across, bottom - 1)):
            assert np.abs(np.subtract(colour_at(image, *at)[:3], wanted)).max() <= 3, (grid.name, at)


def test_tiles_are_ruled(picture):
    """Where a grid is large enough, a line runs along every tile's edge."""
    lines = {(s.x, s.y) for s in picture.layout.shapes if isinstance(s, Box) and 1 in (s.width, s.height)}
    for grid in picture.scene.grids:
        x, y, side = picture.layout.places[grid.name]
        if grid.tile is None or side <= 3:
            continue
        assert {(x, y + row * side - 0.5) for row in range(grid.tile[0], grid.rows, grid.tile[0])} <= lines
        assert {(x + c * side - 0.5, y) for c in range(grid.tile[1], grid.columns, grid.tile[1])} <= lines


def test_where_warps_wait_is_drawn_as_the_scene_has_it():
    """Each warp and each buffer has a row; in it each span has its height and its colour, and a line marks the step."""
    picture = still("tiled_two_warps")
    scene, layout = picture.scene, picture.layout
    strips = [s for s in layout.shapes if isinstance(s, Pixels) and s.colours.shape[0] == 10]
    names = {t.y: t.text for t in layout.shapes if isinstance(t, Text) and t.anchor == "right" and t.mono}
    assert len(strips) == len(scene.strips) == 4
    tall = {"load": 6, "store": 10, "other": 3, "barrier": 10, "wait": 1, "held": 2}
    colour = {"A": HUES["A"], "B": HUES["B"], "C": HUES["C"], "A_tile": HUES["shared"], "B_tile": HUES["shared"]}
    looked = set()
    for row, (name, spans) in zip(strips, scene.strips, strict=True):
        assert [text for y, text in names.items() if row.y <= y <= row.y + row.height] == [name]
        scale = row.width / len(scene.timeline)
        for first, _, what in spans:
            column = row.colours[:, int((first + 0.3) * scale)]
            verb, _, array = what.partition(" ")
            wanted = ImageColor.getrgb(colour[array or name] if array or verb == "held" else HEADING)
            assert (column[:, 3] > 0).tolist() == [False] * (10 - tall[verb]) + [True] * tall[verb], (name, what)
            assert tuple(column[-1, :3]) == wanted, (name, what)
            looked.add(verb)
    assert looked == set(tall)
    assert scene.waiting in [t.text for t in layout.shapes if isinstance(t, Text)]
    below = [t.text for t in layout.shapes if isinstance(t, Text) and t.y > strips[-1].y + strips[-1].height]
    assert " ".join(below).endswith(ORDER)
    (line,) = [s for s in layout.shapes if isinstance(s, Box) and (s.width, s.fill) == (2, CURRENT)]
    assert line.x + 1 == pytest.approx(strips[0].x + scene.position * strips[0].width / len(scene.timeline))
    assert line.y < strips[0].y and line.y + line.height > strips[-1].y + strips[-1].height


def test_without_the_panel_nothing_is_said_of_waiting():
    timeline = Timeline(launch("tiled_two_warps").trace, (0, 0, 0))
    layout = StillPicture(Scene(timeline, 20, 0, panels=("warp", "banks"))).layout
    assert not [s for s in layout.shapes if isinstance(s, Pixels)]
    assert not [s for s in layout.shapes if isinstance(s, Text) and "waits" in s.text]


def test_runs_and_loads_stand_under_their_headings(picture):
    """Beside the number of each line, and the bar of the current one is on its row and nowhere else."""
    scene, texts = picture.scene, texts_of(picture)
    columns = {name: next(t.x for t in texts if t.text == name and t.anchor == "right") for name in ("runs", "loads")}
    cells = {(t.x, t.y): t.text for t in texts if t.anchor == "right" and t.mono}
    numbers = {t.text: t.y for t in texts if t.anchor == "right" and t.mono and t.x < columns["runs"] and t.x > 470}
    shown = 0
    for line, _, runs, loads in scene.source:
        if (y := numbers.get(str(line))) is None:
            continue
        assert cells.get((columns["runs"], y), "") == (str(runs) if runs else ""), line
        assert cells.get((columns["loads"], y), "") == (str(loads) if loads else ""), line
        shown += 1
    assert shown == min(len(scene.source), 34)
    (bar,) = [s for s in picture.layout.shapes if isinstance(s, Box) and s.width == 4]
    assert bar.y + LINE / 2 == numbers[str(scene.line)]
    code = next(code for line, code, *_ in scene.source if line == scene.line)
    inside = [t.text for t in texts if t.mono and t.anchor == "left" and t.x > 470 and bar.y < t.y < bar.y + bar.height]
    assert "".join(inside).replace(" ", "") == code.replace(" ", "")


def test_what_the_thread_has_loaded_has_a_dot_in_its_corner(picture):
    """In the upper right quarter of each such element of global memory, and in no other."""
    shapes = picture.layout.shapes
    dots = sorted((s.x, s.y) for s in shapes if isinstance(s, Disc) and s.fill == INK)
    wanted = []
    for grid in picture.scene.grids:
        x, y, side = picture.layout.places[grid.name]
        wanted += [(x + i % grid.columns * side, y + i // grid.columns * side, side) for i in grid.dots if side > 8]
    assert len(dots) == len(wanted)
    for (x, y), (left, top, side) in zip(dots, sorted(wanted), strict=True):
        assert left + side / 2 < x < left + side and top < y < top + side / 2


def test_the_counts_are_the_threads_and_the_blocks(picture):
    """Beside the matrices, each with its total and the word for whose it is."""
    if not any(grid.hue in "ABC" for grid in picture.scene.grids):
        return
    mine, block, of_mine, of_block = picture.scene.counts["global load"]
    texts = texts_of(picture)
    for now, total in ((mine, f"of {of_mine:,}, thread"), (block, f"of {of_block:,}, block")):
        (beside,) = [t for t in texts if t.text == total]
        (number,) = [t for t in texts if t.text == f"{now:,}" and t.x == 12 and abs(t.y - beside.y) < 3]
        assert number.bold and number.x < beside.x


def test_each_matrix_has_its_name_at_its_corner(picture):
    for grid in picture.scene.grids:
        if grid.hue not in "ABC":
            continue
        x, y, _ = picture.layout.places[grid.name]
        (title,) = [t for t in texts_of(picture) if t.text == grid.name and t.size == 15 and t.bold]
        assert title.anchor == "right" and x - 12 < title.x <= x and y - 20 < title.y < y


@pytest.mark.parametrize("name, position", [at_night("best", None), ("register_2d", None), ("naive_65", 40)])
def test_a_lens_shows_the_part_that_its_name_says(name, position):
    """Its numbers are the elements', its colours those of their looks, and its rings the thread's."""
    picture = still(name, position)
    image, texts = picture.image(), texts_of(picture)
    strength = {READ: 1.0, WRITTEN: 1.0, SEEN: 0.48, ".": None, "r": 0.2}
    rings = {(s.x, s.y) for s in picture.layout.shapes if isinstance(s, Box) and s.fill is None and s.thick == 1.8}
    looked = 0
    for grid in picture.scene.grids:
        if grid.lens is None or grid.hue not in "ABC":
            continue
        top, left, rows = grid.lens
        title = f"{grid.name}[{top}:{top + len(rows)}, {left}:{left + len(rows[0])}]"
        (head,) = [t for t in texts if t.text == title]
        side = 17.5
        at = {(t.x, t.y): t.text for t in texts}
        for r, row in enumerate(rows):
            for c, text in enumerate(row):
                i = (top + r) * grid.columns + left + c
                x, y = head.x + c * side, head.y + 10 + r * side
                assert at.get((x + side / 2, y + side / 2), "") == text, (title, r, c)
                assert ((x + 1, y + 1) in rings) == (i in grid.mine), (title, r, c)
                share = strength[grid.looks[i]]
                if share is not None and i not in grid.mine:
                    wanted = ImageColor.getrgb(tint(HUES[grid.hue], share))
                    found = colour_at(image, x + 0.5 * side, y + 0.14 * side)
                    assert np.abs(np.subtract(found[:3], wanted)).max() <= 3, (title, r, c)
                looked += 1
    assert looked >= 64


def test_what_is_drawn_lies_where_the_layout_says():
    """One shape of each kind on an empty ground: its pixels reach its edges and no farther."""
    square = np.zeros((2, 2, 4), np.uint8) + np.array([0, 90, 0, 255], np.uint8)
    for shape, box in (
        (Box(20, 30, 40, 20, "#ff0000"), (20, 30, 60, 50)),
        (Disc(50, 40, 12, "#0000ff"), (38, 28, 62, 52)),
        (Pixels(100, 10, 30, 20, square), (100, 10, 130, 30)),
        (Box(20, 30, 40, 20, None, "#ff0000", round=5), (20, 30, 60, 50)),
        (Box(20, 30, 40, 20, None, "#ff0000", dashed=True), (20, 30, 60, 50)),
    ):
        image = draw(Layout([shape], 100, {}), 2)
        found = np.array(image.getbbox()) / 2
        assert np.abs(found - box).max() <= 0.5, shape
    for anchor, x in (("left", 50), ("middle", 50), ("right", 50)):
        left, top, right, bottom = (
            np.array(draw(Layout([Text(x, 40, "HHHH", 20, anchor=anchor)], 100, {}), 2).getbbox()) / 2
        )
        assert abs((top + bottom) / 2 - 40) <= 2.5
        assert abs({"left": left, "middle": (left + right) / 2, "right": right}[anchor] - x) <= 2.5


def test_requests_and_lines_of_the_source_keep_their_distance(picture):
    """Rows of text below each other do not touch, in the source and under it."""
    rows = sorted({t.y: t.size for t in texts_of(picture) if t.x > 470 and t.anchor == "left"}.items())
    for (above, size), (below, other) in zip(rows, rows[1:], strict=False):
        assert below - above >= 0.9 * (size + other) / 2
    card = next(s for s in picture.layout.shapes if isinstance(s, Box) and s.round == 6 and s.x > 470)
    lines = [
        t.y for t in texts_of(picture) if t.mono and t.anchor == "left" and t.x > 590 and t.y < card.y + card.height
    ]
    assert min(lines) - card.y >= 28


@pytest.mark.parametrize(
    "element, corner", [(0, (0, 0)), (17 * 60 + 30, (13, 26)), (59 * 60 + 59, (52, 52)), (59, (0, 52))]
)
def test_a_lens_is_around_its_element_and_inside_the_array(element, corner):
    """Four elements before it and three behind, at an edge as far as the array reaches."""
    scene = still("naive").scene
    grid = Grid("X", "A", "A", 60, 60, "." * 3600, None, mine=[element])
    top, left, texts = Grids(scene.timeline, 0, 0)._lens(grid, np.ma.array(np.arange(3600)))
    assert (top, left) == corner
    assert texts[2][3] == short(60 * (top + 2) + left + 3)
    assert (8, 8) == (len(texts), len(texts[0]))


def test_each_other_array_has_its_title_above_it(picture):
    """It begins where its array does, a few pixels above it."""
    for grid in picture.scene.grids:
        if grid.hue in "ABC" or grid.name not in picture.layout.places:
            continue
        x, y, _ = picture.layout.places[grid.name]
        titles = [t for t in texts_of(picture) if t.text.startswith(grid.name) and t.mono and t.bold and t.x == x]
        assert [t for t in titles if 4 <= y - box_of(t)[3] <= 12], grid.name


@pytest.mark.parametrize("name", [*NAMES, "out_of_bounds", "out_of_bounds_2d", "tensor_cores", "histogram"])
def test_no_heading_lies_on_an_array(name):
    """Nor on a mark of what lies outside of one: the only texts there are those of elements, in their middle."""
    picture = still(name)
    boxes = boxes_of(picture)
    boxes += [extent(s) for s in picture.layout.shapes if isinstance(s, Box) and s.dashed and s.thick == 1.6]
    for text in texts_of(picture):
        left, top, right, bottom = box_of(text)
        if text.anchor == "middle":
            continue
        for box in boxes:
            assert right <= box[0] + 1 or left >= box[2] - 1 or bottom <= box[1] + 1 or top >= box[3] - 1, text.text


def test_an_element_fills_its_place_and_no_more(picture):
    """Each of a grid that is not drawn as pixels, which only many small ones are."""
    boxes = {}
    for shape in picture.layout.shapes:
        if isinstance(shape, Box) and shape.width == shape.height:
            boxes.setdefault((round(shape.x, 3), round(shape.y, 3)), shape.width)
    corners = {(s.x, s.y) for s in picture.layout.shapes if isinstance(s, Pixels)}
    for grid in picture.scene.grids:
        if grid.name not in picture.layout.places:
            continue
        x, y, side = picture.layout.places[grid.name]
        many = grid.texts is None and (side < 6 or grid.rows * grid.columns > 1500)
        assert many == ((x, y) in corners), grid.name
        gap = 0.5 if side > 8 else 0
        for i in range(0 if many else len(grid.looks)):
            at = x + i % grid.columns * side + gap, y + i // grid.columns * side + gap
            assert boxes[round(at[0], 3), round(at[1], 3)] == pytest.approx(side - 2 * gap), (grid.name, i)


def test_what_lies_below_an_array_has_room_there():
    """The next row of arrays begins below the marks of what was read behind an array's end."""
    looks = "." * 16
    grids = [Grid("first", "first", "global", 1, 16, looks, None, outside=[(1, 0), (2, 3), (9, 0)])]
    grids += [Grid("below", "below", "shared", 1, 16, looks, None)]
    shapes, places = [], {}
    lay_out_arrays(shapes, places, SimpleNamespace(grids=grids), 100)
    marks = [s for s in shapes if isinstance(s, Box) and s.dashed and s.thick == 1.6]
    (title,) = [s for s in shapes if isinstance(s, Text) and s.text == "below"]
    assert len(marks) == 2  # the one far away is drawn nowhere
    assert max(extent(mark)[3] for mark in marks) < box_of(title)[1]


def test_each_lane_stands_in_the_place_of_its_element():
    """Of the matrices of a tensor core: in rows and columns, and the chosen lane's elements have a frame."""
    timeline = Timeline(launch("tensor_cores").trace, (0, 0, 0))
    step = next(i for i in range(1, len(timeline) + 1) if Scene(timeline, i, 5).matrices)
    scene = Scene(timeline, step, 5)
    layout = StillPicture(scene).layout
    (operation,) = scene.matrices
    numbers = [s for s in layout.shapes if isinstance(s, Text) and s.anchor == "middle" and s.x > MEMORY]
    frames = {(s.x, s.y) for s in layout.shapes if isinstance(s, Box) and s.thick == 1.4}
    right = None
    for held in operation.held:
        mine, numbers = numbers[: len(held.lanes)], numbers[len(held.lanes) :]
        left, top, side = mine[0].x, mine[0].y, mine[1].x - mine[0].x
        assert side > 10
        for i, (text, lane) in enumerate(zip(mine, held.lanes, strict=True)):
            row, column = divmod(i, held.columns)
            assert text.text == str(lane)
            assert (text.x, text.y) == pytest.approx((left + column * side, top + row * side))
            corner = pytest.approx((text.x - side / 2, text.y - side / 2))
            assert any(frame == corner for frame in frames) == (i in held.mine)
        (title,) = [s for s in layout.shapes if isinstance(s, Text) and s.text == held.title and s.x >= MEMORY]
        assert title.x == pytest.approx(left - side / 2) and 0 < top - side / 2 - title.y < 16
        assert right is None or left - side / 2 == pytest.approx(right + LANE_GAP)
        right = left + (held.columns - 0.5) * side
    assert not numbers


def test_a_line_leads_from_each_lane_that_gives():
    """Of ``shfl_up_sync(members, a[j], 2)`` without every fifth lane: from the middle of a lane to that of another."""
    timeline = Timeline(launch("exchanges").trace, (0, 0, 0))
    step = next(i for i in range(1, len(timeline) + 1) if "shfl_up" in str(timeline.step(i).exchanges))
    shapes = StillPicture(Scene(timeline, step, 6)).layout.shapes
    lines = [s for s in shapes if isinstance(s, Line)]
    numbers = [s for s in shapes if isinstance(s, Text) and s.y > lines[0].y and s.text.isdigit() and s.size == 9]
    across = {int(text.text): text.x for text in numbers}
    members = [lane for lane in range(32) if lane % 5 != 2]
    pairs = [(lane - 2 if lane >= 2 else lane, lane) for lane in members]
    wanted = [(across[source], across[lane]) for source, lane in pairs if source in members]
    assert len(across) == 32
    np.testing.assert_allclose(sorted((line.x, line.x2) for line in lines), sorted(wanted))
    (mine,) = [line for line in lines if line.colour == CURRENT]
    assert (mine.x, mine.x2) == (across[4], across[6])
