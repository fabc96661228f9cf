"""The timeline: the page's slider, with the warps, barriers and phases of a block; by mouse, by key and read out."""

import itertools

import pytest
from nightly import at_night
from playwright.sync_api import expect

from .conftest import resize

SIZES = [(1280, 720), (853, 480), (390, 844)]
BOXES = """() => [...document.querySelectorAll(".tt-labels span, .tt-order")].map((node) => {
  const { left, right } = node.getBoundingClientRect();
  return { text: node.textContent, left, right };
})"""


def step(page):
    return int(page.evaluate("() => document.querySelector('.tt-count').textContent").split()[1])


def drag(page, *shares):
    """Press at the first share of the timeline's width, move over the others, let go."""
    box = page.locator(".tt-scrub").bounding_box()
    places = [(box["x"] + share * box["width"], box["y"] + box["height"] - 5) for share in shares]
    page.mouse.move(*places[0])
    page.mouse.down()
    for place in places[1:]:
        page.mouse.move(*place)
    page.mouse.up()


def test_a_drag_goes_through_the_steps(walk):
    """To the step that is drawn there; the mouse may leave the timeline, and moves nothing once it is released."""
    page, timeline = walk("tiled_two_warps")
    drag(page, 0.25)
    assert abs(step(page) - len(timeline) / 4) <= 1
    drag(page, 0.25, 0.5, 0.75)
    assert abs(step(page) - 3 * len(timeline) / 4) <= 1
    drag(page, 0.5, 1.4)
    assert step(page) == len(timeline)
    page.mouse.move(300, 300)
    assert step(page) == len(timeline)


def test_the_slider_is_read_out_and_follows_the_keys(walk):
    """Its value is the step, its text also says the line and the warp; it has the keys of any slider."""
    page, timeline = walk("tiled_two_warps", step=40)
    slider = page.get_by_role("slider", name="Step", exact=True)
    here = timeline.step(40)
    expect(slider).to_have_attribute(
        "aria-valuetext", f"step 40 of {len(timeline)}, line {here.line}, warp {here.warp}"
    )
    expect(slider).to_have_attribute("aria-valuemax", str(len(timeline)))
    slider.focus()
    for key, to in (("ArrowUp", 41), ("ArrowRight", 42), ("ArrowDown", 41), ("Home", 0), ("End", len(timeline))):
        page.keyboard.press(key)
        expect(slider).to_have_attribute("aria-valuenow", str(to))
    page.keyboard.press("PageUp")
    expect(slider).to_have_attribute("aria-valuenow", str(timeline.releases[-1]))


@pytest.mark.parametrize("name", ["tiled_two_warps", "prefetched", at_night("best")])
def test_barriers_and_phases_are_labelled(walk, name):
    """Each label has its name or number, in order, none over another."""
    page, timeline = walk(name, step=1)
    for size in SIZES:
        resize(page, size)
        labels = sorted(page.evaluate(BOXES), key=lambda label: label["left"])
        for left, right in itertools.pairwise(labels):
            assert left["right"] <= right["left"] + 0.5, (size, left, right)
        texts = [label["text"] for label in labels]
        barriers = [int(text.split()[-1]) for text in texts if text[-1].isdigit()]
        assert barriers == sorted(set(barriers)) and set(barriers) <= set(range(1, 1 + len(timeline.releases)))
        assert {text for text in texts if not text[-1].isdigit()} <= {kind for _, kind in timeline.phases[0]}
        assert texts, "nothing is labelled"
