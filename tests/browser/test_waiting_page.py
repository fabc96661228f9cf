"""The timing model on a page of its own: its sliders by mouse and keyboard, its rows, axe-core in both themes."""

import json
from functools import partial

import pytest
from matplotlib.colors import to_rgb
from nightly import at_night
from playwright.sync_api import expect

from course_lib.machine import measurements
from course_lib.machine.model.multiprocessor import Multiprocessor
from course_lib.machine.timing_model import Waiting
from course_lib.machine.timing_model.drawing import WAIT_COLOURS
from course_lib.machine.timing_model.simulation import REASONS
from course_lib.machine.timing_model.widget import BUNDLE

from .conftest import THEMES, violations

H200 = Multiprocessor.measured(measurements.load("latencies"))
TRAITS = ("latency", "warps", "tile_width", "buffers", "_plan", "_offers")


@pytest.fixture
def show(alone):
    return partial(alone, bundle=BUNDLE, traits=TRAITS)


def test_it_says_that_python_simulates(show):
    page = show(Waiting(H200))
    page.press(".tt-slider-latency", "ArrowRight")
    expect(page.locator(".tt-outdated")).to_contain_text("Python simulates the new setting")
    assert page.evaluate("window.leaked") is None  # JupyterLab's shortcuts must not hear what is typed


def test_a_small_screen_holds_sliders_and_picture(show):
    """That of a projector at 150 %, which has 853×480 pixels; the sentences may stand below. No two names touch."""
    page = show(Waiting(H200, 1200, 16, 32))
    page.set_viewport_size({"width": 720, "height": 480})  # as wide as the output of a cell on such a screen
    sliders, picture = (page.locator(f".{part}").bounding_box() for part in ("tt-sliders", "tt-cycles"))
    assert picture["y"] + picture["height"] - sliders["y"] < 340
    labels = page.locator(".tt-sliders label")
    assert len({label.bounding_box()["y"] for label in labels.all()}) == 1  # side by side
    assert page.evaluate("document.documentElement.scrollWidth") == 720
    boxes = "names => names.map((name) => name.getBoundingClientRect().toJSON())"
    names = page.locator(".tt-warp text").evaluate_all(boxes)
    assert len(names) == 8
    assert all(above["bottom"] <= below["top"] + 1 for above, below in zip(names, names[1:], strict=False))


def test_what_is_drawn_is_what_was_played(show):
    """The bars of each reason end where its last span does, and a launch that is done says so."""
    widget = Waiting(H200, latency=40, warps=2)
    page = show(widget)
    plan = json.loads(widget._plan)
    assert plan["end"] < plan["shown"]
    expect(page.locator(".tt-end")).to_have_count(1)
    box = page.locator(".tt-issued").evaluate("path => [path.getBBox().x, path.getBBox().x + path.getBBox().width]")
    issued = [span for row in plan["rows"] for span in row if span[0] == 0]
    wide = 900 - 84 - 8
    assert box[0] == pytest.approx(84 + wide * min(first for _, first, _ in issued) / plan["shown"], abs=0.1)
    assert box[1] == pytest.approx(84 + wide * max(last for _, _, last in issued) / plan["shown"], abs=0.1)
    expect(page.locator(".tt-reasons li")).to_have_text(plan["reasons"])


def test_a_reason_has_the_colour_of_the_static_picture(show):
    """Its turn is a veil there and a tint here; the others are the same in every theme."""
    page = show(Waiting(H200))
    fill = "items => items.map(item => getComputedStyle(item, '::before').backgroundColor)"
    live = dict(zip(REASONS, page.locator(".tt-reasons li").evaluate_all(fill), strict=True))
    drawn = {why: to_rgb(colour) for why, colour in WAIT_COLOURS.items() if why != "not selected"}
    assert {why: live[why] for why in drawn} == {
        why: f"rgb({', '.join(str(round(255 * part)) for part in rgb)})" for why, rgb in drawn.items()
    }


@pytest.mark.parametrize("theme", [at_night("light"), "dark"])
@pytest.mark.parametrize("warps, tile_width", [(8, 8), at_night(16, 32)])
def test_axe_finds_nothing(show, theme, warps, tile_width):
    """No rule of axe-core is broken; contrast and the names of controls are among them."""
    page = show(Waiting(H200, 600, warps, tile_width, 2), theme=THEMES[theme])
    assert page.locator(".tt-slider-tile_width").get_attribute("aria-valuetext").startswith(f"T = {tile_width},")
    assert page.locator(".tt-slider-warps").get_attribute("aria-valuetext") == f"{warps} resident warps"
    assert violations(page) == []
