"""The stepper on paper: nothing scrolls, nothing overlaps, and nothing is there that cannot be pressed."""

import pytest
from nightly import at_night
from playwright.sync_api import expect

from course_lib.trace.viewer import Stepper


def test_print_shows_all(show, launch_of):
    """On paper no part scrolls, and what cannot be pressed is not there."""
    page = show(Stepper(launch_of("tiled_two_warps"), step=40), own=True, size=(853, 480))
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    cut = page.locator(".tt-root, .tt-root :not(figcaption)").evaluate_all(  # a caption leaves out what does not fit
        "nodes => nodes.filter((n) => n.clientHeight && n.scrollHeight > n.clientHeight + 2"
        " && !/visible/.test(getComputedStyle(n).overflowY)).map((n) => n.className)"
    )
    assert set(cut) <= {"tt-lines", "tt-registers", "tt-counter", "tt-caption"}  # what is around the current line
    expect(page.locator(".tt-play")).to_be_hidden()
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    expect(page.locator(".tt-play")).to_be_visible()


@pytest.mark.parametrize("names", [("tiled_16",), ("naive_16", "tiled_16"), at_night(("best",))])
def test_on_paper_nothing_lies_over_something_else(show, launch_of, names):
    """A sheet is narrower than the page: matrices at one scale, the source and the counter beside or below them."""
    runs = [Stepper(launch_of(name)) for name in names]
    other = runs[1]._data if runs[1:] else ""
    page = show(runs[0], step=20, _other=other, size=(1600, 1200), panel="launch")
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    assert page.locator(".tt-root").bounding_box()["width"] <= 680
    boxes = page.evaluate("""() => [...document.querySelectorAll(".tt-run")].map((run) =>
      [...run.querySelectorAll(".tt-figure, .tt-program, .tt-counter")].map((node) => node.getBoundingClientRect())
        .filter(({ width }) => width).map(({ left, right, top, bottom }) => [left, top, right, bottom]))""")
    for run in boxes:
        for i, (left, top, right, bottom) in enumerate(run):
            assert right <= 690
            for x, y, x2, y2 in run[i + 1 :]:
                beside = right <= x + 1 or x2 <= left + 1
                below = bottom <= y + 1 or y2 <= top + 1
                assert beside or below
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert page.locator(".tt-root").bounding_box()["width"] > 1500
