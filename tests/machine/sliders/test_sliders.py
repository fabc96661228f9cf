"""Pictures with sliders: what they draw equals NumPy's count, the driver's, the simulator's, and a clock that ticks."""

import base64
import html
import json
import zlib
from math import prod

import numpy as np
import pytest
import traitlets
from numba import cuda, float32

from course_lib import simulate
from course_lib.kernels import swizzled
from course_lib.machine import measurements, sliders
from course_lib.machine.sliders.sketches import (
    KINDS,
    LAYOUTS,
    draw_early_load,
    draw_layout,
    draw_occupancy,
    draw_queue,
    draw_sectors,
    iterations,
    queue_times,
)
from course_lib.machine.sliders.widget import encoded, recorded
from course_lib.trace.notebook_outputs import HTML
from course_lib.trace.palette import COLOURS, ISSUING
from course_lib.trace.viewer.picture_shapes import Box, Polygon, Text, tint

GPU = measurements.load("ladder").provenance


def boxes(sketch, *fills):
    """Those of the picture; a legend's are lower."""
    return [s for s in sketch.shapes if isinstance(s, Box) and s.fill in fills and s.height >= 22]


def texts(sketch):
    return [shape.text for shape in sketch.shapes if isinstance(shape, Text)]


@cuda.jit
def walk(line, stride, first, C):
    i = cuda.threadIdx.x
    C[i] = line[first + stride * i]


@pytest.mark.parametrize("stride, first", [(0, 5), (1, 0), (1, 1), (2, 0), (3, 7), (8, 0), (9, 24), (32, 24)])
def test_the_sectors_are_those_that_numpy_and_the_simulator_count(stride, first):
    sketch = draw_sectors(stride, first)
    addresses = 4 * (first + stride * np.arange(32))
    found = np.unique(addresses // 32)
    fetched, used = boxes(sketch, tint(COLOURS["B"], 0.3)), boxes(sketch, COLOURS["B"])
    places = sorted({(shape.y, shape.x) for shape in sketch.shapes if isinstance(shape, Box) and shape.height == 24})
    assert [places.index((shape.y, shape.x)) for shape in fetched] == found.tolist()
    assert len(used) == len(np.unique(addresses))
    run = simulate(walk)[1, 32](np.zeros(1100, np.float32), stride, first, np.zeros(32, np.float32))
    assert run.traffic.select(op="load", array="line").sectors == len(fetched)
    assert f"in {len(found)} sector" in sketch.says[0] and f"the warp uses {len(used)}: " in sketch.says[1]


@pytest.mark.parametrize("rung", ["tiled", "outer_product", "register_2d", "naive"])
def test_the_resident_blocks_are_those_that_the_driver_reported(rung):
    timed = measurements.load("ladder").result(rung)
    threads, (shared, rest) = prod(timed["block"]), divmod(timed["shared_bytes"], 1024)
    assert not rest
    sketch = draw_occupancy(GPU, threads, timed["registers"], shared)
    resident = boxes(sketch, tint(COLOURS["register"], 0.5), tint(COLOURS["register"], 0.9))
    assert len(resident) == timed["blocks_per_multiprocessor"] * threads // 32
    assert f"{timed['occupancy_percent']:.0f} %" in sketch.says[2]
    assert f"{timed['blocks_per_multiprocessor']} (the limit)" in texts(sketch)


def test_the_limit_is_the_shortest_bar():
    """By arithmetic: 233,472 bytes, of which a block of 64 KiB takes 1 KiB more, hold three blocks."""
    sketch = draw_occupancy(GPU, 256, 32, 64)
    (limit,) = boxes(sketch, ISSUING)
    assert 233472 // (65 * 1024) == 3 and "limited by shared memory" in sketch.says[1]
    assert limit.width == min(shape.width for shape in boxes(sketch, ISSUING, "#b8b8b8"))
    assert draw_occupancy(GPU, 1024, 255, 0).says[1].startswith("The smallest number counts: 0 blocks")


def ticking(launches, kernel, launch, filled):
    """Return when each kernel starts and the last one ends, one microsecond after the other."""
    started, arrived, left, now = [], 0, 0, 0
    other = launches * launch if filled else 0
    while True:
        if now and now % launch == 0 and arrived < launches:
            arrived += 1
        if left == 0 and other == 0 and len(started) < arrived:
            started.append(now)
            left = kernel
        if left == 0 and len(started) == launches:
            return started, now
        left, other, now = max(left - 1, 0), max(other - 1, 0), now + 1


@pytest.mark.parametrize("setting", [(1, 2, 5, 0), (3, 100, 20, 0), (8, 5, 40, 0), (8, 5, 40, 1), (4, 50, 10, 1)])
def test_the_queue_is_that_of_a_clock_that_ticks(setting):
    (_, spans, clocks), sketch = queue_times(*setting), draw_queue(*setting)
    started, end = ticking(*setting)
    launches, kernel, launch, filled = setting
    assert [begin for begin, _ in spans] == started
    assert clocks["synchronise"] == (0, end) and clocks["no synchronise"] == (0, launches * launch)
    if filled:  # events measure the kernels alone
        assert np.diff(clocks["events"]) == launches * kernel
    assert [text for text in texts(sketch) if text.endswith("µs")] == [f"{b - a} µs" for a, b in clocks.values()]
    assert len(boxes(sketch, tint(COLOURS["C"], 0.5))) == len(boxes(sketch, tint(COLOURS["A"], 0.4))) == launches


def simulated(warps, work, latency, path, early, cycles=40_000):
    """Return the iterations in 1,000 cycles of a scheduler and a path that each serve the first that comes."""
    ready, scheduler, served, done = [0] * warps, 0, 0, 0
    while scheduler < cycles:
        warp = min(range(warps), key=ready.__getitem__)
        begin = max(scheduler, ready[warp])
        scheduler = begin + work
        served = max(served, begin) + path
        arrived = (begin if early else scheduler) + latency
        ready[warp], done = max(scheduler, served, arrived), done + 1
    return 1000 * done / max(scheduler, served)


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize("setting", [(1, 20, 80, 0), (3, 20, 80, 0), (5, 20, 80, 0), (16, 40, 100, 90), (2, 30, 20, 0)])
def test_an_early_load_gains_what_a_simulated_schedule_gains(setting, early):
    limits = iterations(*setting, early)
    assert min(limits.values()) == pytest.approx(simulated(*setting, early), rel=0.02)
    warps, work, latency, path = setting
    sketch = draw_early_load(latency, work, warps, path)
    (told,) = [text for text in texts(sketch) if text.startswith("gain: ")]
    assert float(told.split()[-1]) == pytest.approx(simulated(*setting, True) / simulated(*setting, False), abs=0.03)


WIDGETS = {
    "cube": sliders.cube,
    "early_load": sliders.early_load,
    "sectors": lambda: sliders.sectors(2, 1),
    "occupancy": lambda: sliders.occupancy(GPU),
    "queue": lambda: sliders.queue(filled=True),
}


@pytest.mark.parametrize("kind", WIDGETS)
def test_text_and_picture_say_the_same_every_time(kind):
    """Whatever was set before."""
    widget, other = WIDGETS[kind](), WIDGETS[kind]()
    start = dict(other.setting)
    other.setting = {name: slider.values[-1] for name, slider in KINDS[kind].sliders.items()}
    assert repr(other) != repr(widget)
    other.setting = start
    data, again = widget._repr_mimebundle_()[0], other._repr_mimebundle_()[0]
    assert data["text/plain"] == again["text/plain"] == repr(widget) and data[HTML] == again[HTML]
    assert f'alt="{html.escape(repr(widget))}"' in data[HTML]
    assert json.loads(widget._sketch)["says"] == list(widget.sketch.says)


@pytest.mark.parametrize("kind", WIDGETS)
def test_every_shape_is_inside_the_picture_at_the_ends_of_all_sliders(kind):
    fixed = {"gpu": GPU} if kind == "occupancy" else {}
    ends = [(slider.values[0], slider.values[-1]) for slider in KINDS[kind].sliders.values()]
    for setting in np.array(np.meshgrid(*ends)).T.reshape(-1, len(ends)).tolist():
        sketch = KINDS[kind].draw(**fixed, **dict(zip(KINDS[kind].sliders, setting, strict=True)))
        for shape in sketch.shapes:
            if isinstance(shape, Polygon):
                assert all(0 <= x <= 1000 and 0 <= y <= sketch.height for x, y in shape.points), (setting, shape)
                continue
            right, bottom = (shape.x + shape.width, shape.y + shape.height) if isinstance(shape, Box) else (shape.x, 0)
            assert 0 <= shape.x and right <= 1000 and bottom <= sketch.height, (setting, shape)


@pytest.mark.parametrize("kind", WIDGETS)
def test_a_page_without_a_kernel_holds_every_setting_that_it_offers(kind):
    widget = WIDGETS[kind]()
    state = recorded(widget.get_state())
    offers, held = json.loads(state["_offers"]), json.loads(zlib.decompress(base64.b64decode(state["_sketches"])))
    assert len(held) == prod(len(slider["values"]) for slider in offers["sliders"].values()) >= 5
    current = ",".join(str(value) for value in widget.setting.values())
    assert held[current] == json.loads(encoded(widget.sketch, widget.setting))


def test_what_no_slider_offers_is_refused():
    with pytest.raises(traitlets.TraitError, match="stride is 33; choose from 0, 1"):
        sliders.sectors(33)
    widget = sliders.occupancy(GPU)
    with pytest.raises(traitlets.TraitError, match="threads is 100; choose from 32, 64"):
        widget.setting = {**widget.setting, "threads": 100}
    with pytest.raises(traitlets.TraitError, match="a setting has launches, kernel, launch, filled, not launches"):
        sliders.queue().setting = {"launches": 1}


@pytest.mark.parametrize("layout", range(3))
def test_the_passes_of_a_layout_are_those_that_the_simulator_counts(layout):
    """The eight pieces of a row, and piece 5 of eight rows, as 32 lanes load their words."""
    place = list(LAYOUTS.values())[layout]
    taken = []
    for pieces in ([place(3, p) for p in range(8)], [place(r, 5) for r in range(8)]):
        words = np.array([piece // 4 + word for piece in pieces for word in range(4)], np.int64)
        C = np.zeros(32, np.float32)
        run = simulate(load_words)[1, 32](words, C)
        taken.append(run.traffic.select(space="shared", op="load").wavefronts)
    sketch = draw_layout(layout, 5)
    assert all(f" {n} pass" in said for n, said in zip(taken, sketch.says[1:], strict=True))
    assert taken == [[1, 8], [8, 1], [1, 1]][layout]
    assert [int(text.split()[0]) for text in texts(sketch) if " pass" in text] == taken
    assert len(boxes(sketch, COLOURS["shared"])) == 8


def test_the_swizzled_rows_are_those_that_the_kernels_describe():
    place = LAYOUTS["swizzled rows"]
    assert all(place(r, p) == swizzled(128 * r + 16 * p, 128) for r in range(64) for p in range(8))


@cuda.jit
def load_words(words, C):
    tile = cuda.shared.array(4096, float32)
    for i in range(cuda.threadIdx.x, 4096, 32):
        tile[i] = 0
    cuda.syncthreads()
    C[cuda.threadIdx.x] = tile[words[cuda.threadIdx.x]]


def area(points):
    """The area inside corners, by the shoelace formula."""
    x, y = np.array(points).T
    return abs(np.dot(x, np.roll(y, 1)) - np.dot(y, np.roll(x, 1))) / 2


@pytest.mark.parametrize("tile", [1, 2, 4, 8, 16])
def test_the_faces_of_a_sub_cube_are_its_tiles(tile):
    """The lit areas of A, B and C are each (tile / 16)² of their matrix; what is said is the formula's."""
    sketch = KINDS["cube"].draw(tile=tile)
    for name in "ABC":
        whole = next(s for s in sketch.shapes if isinstance(s, Polygon) and s.fill == tint(COLOURS[name], 0.12))
        lit = next(s for s in sketch.shapes if isinstance(s, Polygon) and s.fill == COLOURS[name])
        assert area(lit.points) / area(whole.points) == pytest.approx((tile / 16) ** 2)
    said = ". ".join(sketch.says)
    numbers, work = 2 * tile**2, tile**3
    assert f"has {numbers:,} numbers" in said and f"{work:,} multiply-add" in said
    assert f"is used {tile} time" in said and 2 * work == tile * numbers
