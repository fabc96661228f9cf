"""Pictures with sliders in a browser: on a page without a kernel, by keyboard, and as axe-core sees them."""

import pytest
from nightly import at_night
from playwright.sync_api import expect

from course_lib.machine import measurements, sliders
from course_lib.machine.sliders.sketches import draw_sectors
from course_lib.machine.sliders.widget import BUNDLE, recorded
from course_lib.trace.viewer.page import page as document

from .conftest import violations

GPU = measurements.load("ladder").provenance


@pytest.fixture
def opened(visit, tmp_path):
    """Open the page of a picture, which has no network."""

    def opened(widget):
        path = tmp_path / "page.html"
        path.write_text(document("A picture", recorded(widget.get_state()), "", BUNDLE), encoding="utf-8")
        page = visit(offline=True)
        page.goto(path.as_uri())
        return page

    return opened


@pytest.mark.parametrize("theme", ["light", at_night("dark")])
def test_the_sliders_go_from_one_recorded_picture_to_the_next(opened, theme):
    """Without a network; the text and the shapes are those of Python."""
    page = opened(sliders.sectors(1, 0))
    page.emulate_media(color_scheme=theme)
    for key, name, setting in (("ArrowRight", "stride", (2, 0)), ("End", "stride", (32, 0)), ("End", "first", (32, 8))):
        page.locator(f".tt-slider-{name}").press(key)
        sketch = draw_sectors(*setting)
        expect(page.locator(".tt-sentences p")).to_have_text([f"{each}." for each in sketch.says])
        expect(page.locator(".tt-sliders-picture rect, .tt-sliders-picture text")).to_have_count(len(sketch.shapes))
    expect(page.locator(".tt-recorded")).to_contain_text("This page has no kernel")
    assert violations(page, ".tt-sliders-widget") == []


@pytest.mark.parametrize("widget", [lambda: sliders.occupancy(GPU), sliders.queue], ids=["occupancy", "queue"])
def test_no_text_of_a_picture_is_cut_off_on_a_small_screen(opened, widget):
    """1280×720 at 150 %."""
    page = opened(widget())
    page.set_viewport_size({"width": 853, "height": 480})
    frame = page.locator(".tt-sliders-picture").bounding_box()
    boxes = "nodes => nodes.map((node) => ({ text: node.textContent, ...node.getBoundingClientRect().toJSON() }))"
    texts = page.locator(".tt-sliders-picture text").evaluate_all(boxes)
    assert texts
    for box in texts:
        assert frame["x"] <= box["x"] and box["right"] <= frame["x"] + frame["width"], box
        assert box["height"] >= 10, box
    page.set_viewport_size({"width": 1280, "height": 720})
    page.locator(".tt-sliders input").last.press("End")  # a long value
    lines = page.locator(".tt-sliders b").evaluate_all("names => names.map((name) => name.offsetHeight)")
    assert len(set(lines)) == 1, lines
