"""A saved stepper in a real browser, from a file and with every request refused."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import nbformat
import pytest
from launches.samples import launch
from playwright.sync_api import expect

from course_lib.publish.convert import STATE, VIEW, slides
from course_lib.trace.replay import Timeline
from course_lib.viewer import Stepper, compare
from course_lib.viewer.words import sentence


@pytest.fixture
def offline(new_page):
    """Open a file in a page that has no network; the page's errors and what it asked for are listed."""

    def open_file(path):
        page = new_page()
        page.errors, page.asked = [], []
        page.on("pageerror", lambda error: page.errors.append(str(error)))
        page.on("request", lambda request: page.asked.append(request.url))
        page.context.set_offline(True)
        page.goto(Path(path).resolve().as_uri())
        return page

    return open_file


def test_a_saved_stepper_lives_without_a_network(offline, tmp_path):
    run = launch("tiled")
    path = Stepper(run, step=21).save(tmp_path / "page.html")
    page = offline(path)
    timeline = Timeline(run.trace, (0, 0, 0))
    expect(page.locator(".tt-count")).to_have_text(f"step 21 of {len(timeline)}")
    page.locator(".tt-root").press("ArrowRight")
    expect(page.locator(".tt-count")).to_have_text(f"step 22 of {len(timeline)}")
    expect(page.locator(".tt-sentence")).to_have_text(sentence(timeline, 22, 0))
    assert [] == page.errors
    assert [path.resolve().as_uri()] == [url for url in page.asked if not url.startswith(("data:", "blob:"))]


def test_two_runs_side_by_side_in_a_page(offline, tmp_path):
    page = offline(compare(launch("naive"), launch("tiled")).save(tmp_path / "two.html"))
    expect(page.locator(".tt-kernel")).to_have_text("naive | tiled")
    assert [] == page.errors


def test_slides_live_without_a_network(offline, tmp_path):
    """A slide fits 1280×720; its stepper steps by the arrow that turns the slide where the stepper has no focus."""
    cells = [
        nbformat.v4.new_markdown_cell("# A title", metadata={"slideshow": {"slide_type": "slide"}}),
        nbformat.v4.new_code_cell("Stepper(run)", metadata={"slideshow": {"slide_type": "slide"}}),
    ]
    stepper = Stepper(launch("tiled"), step=21)
    cells[1].outputs = [nbformat.v4.new_output("execute_result", {VIEW: {"model_id": "m"}, "text/plain": "x"})]
    state = {"state": {"m": {"state": stepper.get_state()}}}
    book = nbformat.v4.new_notebook(cells=cells, metadata={"widgets": {STATE: state}})
    path = tmp_path / "lesson.slides.html"
    path.write_text(slides(book, "A lesson"), encoding="utf-8")

    page = offline(path)
    page.set_viewport_size({"width": 1280, "height": 720})
    expect(page.locator("h1")).to_be_visible()
    page.keyboard.press("ArrowRight")
    root = page.locator(".tt-root")
    expect(root).to_be_visible()
    box = root.bounding_box()
    assert box["x"] >= 0 and box["y"] >= 0 and box["x"] + box["width"] <= 1280 and box["y"] + box["height"] <= 720
    root.press("ArrowRight")
    expect(page.locator(".tt-count")).to_have_text("step 22 of 31")
    page.locator("body").press("ArrowLeft")
    expect(page.locator("h1")).to_be_visible()
    assert [] == page.errors
    assert [path.resolve().as_uri()] == [url for url in page.asked if not url.startswith(("data:", "blob:"))]
