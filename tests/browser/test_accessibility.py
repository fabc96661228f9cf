"""The stepper for everyone: what axe-core finds in both themes, in every panel.

A whole page takes axe-core two seconds. By default it judges one in the light theme, of one in the dark theme the
contrasts, and after another panel has come that panel alone; nightly it judges everything each time.
"""

import io
from functools import partial

import pytest
from nightly import NIGHTLY, at_night, every
from oracles.scene import scene_of
from PIL import Image, ImageColor
from playwright.sync_api import expect

from course_lib.trace.viewer import Stepper

from . import conftest
from .conftest import THEMES

PANEL = ".tt-panel"
#: The least contrast of a digit and the element that it is in, and which these are; axe-core reads no pictures.
CONTRAST = """() => {
  const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d");
  const light = (colour) => {
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b] = [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3)
      .map((part) => (part / 255 <= 0.04045 ? part / 255 / 12.92 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const seen = (text) => text.textContent && text.getBoundingClientRect().width;
  const found = [...document.querySelectorAll(".tt-grid .tt-t")].filter(seen).map((text) => {
    const { left, right, top, bottom } = text.getBoundingClientRect();
    const [x, y] = [(left + right) / 2, (top + bottom) / 2];
    const cell = [...text.closest(".tt-grid").querySelectorAll(".tt-c")].find((each) => {
      const box = each.getBoundingClientRect();
      return box.left <= x && x <= box.right && box.top <= y && y <= box.bottom;
    });
    const [on, off] = [getComputedStyle(text).fill, getComputedStyle(cell).fill];
    const [more, less] = [light(on), light(off)].sort((a, b) => b - a);
    return [(more + 0.05) / (less + 0.05), text.textContent, on, off, cell.getAttribute("class")];
  });
  return found.sort((a, b) => a[0] - b[0])[0];
}"""
GREY = 30  # of 255: the most by which red, green and blue of a shade without a hue differ


@pytest.fixture
def show(show):
    """Show steppers painted, as axe-core sees them."""
    return partial(show, painted=True)


def violations(page, part=None, theme="light"):
    """What axe-core finds, as this file asks."""
    options = {"runOnly": ["color-contrast"]} if theme == "dark" and not NIGHTLY else {}
    return conftest.violations(page, None if NIGHTLY and part == PANEL else part, **options)


@pytest.mark.parametrize(
    "name, step, theme",
    [
        ("tiled", 9, "light"),
        at_night("tiled", 9, "dark"),
        at_night("race_in_a_warp", 3, "light"),
        ("race_in_a_warp", 3, "dark"),
        at_night("out_of_bounds_2d", 2, "light"),
        at_night("out_of_bounds_2d", 2, "dark"),
    ],
)
def test_axe_finds_nothing(show, launch_of, name, step, theme):
    """Two steppers of one kernel on a page, every panel, no rule of axe-core broken; contrast is one of its rules."""
    stepper = Stepper(launch_of(name), step=step)
    two = NIGHTLY or (name, theme) == ("tiled", "light")
    page = show(*[stepper] * (1 + two), theme=THEMES[theme])
    panels = page.evaluate("() => document.querySelector('.tt-root').stepper.scene.panelNames")
    assert {"warp", "waits", "launch"} <= set(panels)
    page.locator(".tt-root").last.press("?")
    if name != "tiled" and not NIGHTLY:
        panels = ["findings"]  # the others hold what those of `tiled` do
    for first in range(0, len(panels), 1 + two):  # each stepper shows another one
        shown = panels[first : first + 1 + two]
        page.evaluate("shown => shown.forEach((panel, i) => window.models[i].set('panel', panel))", shown)
        assert violations(page, PANEL if first else None, theme) == [], shown


@pytest.mark.parametrize("theme", ["light", at_night("dark")])
def test_axe_finds_nothing_in_fragments(show, launch_of, theme):
    """At a step that multiplies, with the chosen thread's elements marked, and at one that does not."""
    stepper = Stepper(launch_of("tensor_cores"))
    (operation,) = stepper.trace.matrices
    timeline = stepper.timeline
    step = next(s for s in range(1, len(timeline) + 1) if timeline.step(s).line == operation.line)
    page = show(stepper, theme=THEMES[theme], step=step, panel="fragments")
    expect(page.locator(".tt-multiplied .tt-mine-lane")).to_have_count(10)
    assert violations(page, PANEL, theme) == []
    page.evaluate("step => window.model.set('step', step)", step - 1)
    expect(page.locator(".tt-multiplied")).to_have_count(0)
    if NIGHTLY:
        assert violations(page, PANEL, theme) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize(
    "names", every(3, [("naive_16",), ("tiled_16",), ("naive_16", "tiled_16"), ("tiled_16", "outer_product")])
)
def test_digits_stand_out_of_their_elements(show, launch_of, names, theme):
    """In each look of an element: as it is now read or written, tinted, or not in use."""
    runs = [Stepper(launch_of(name)) for name in names]
    other = runs[1]._data if runs[1:] else ""
    page = show(runs[0], _other=other, theme=THEMES[theme], size=(1600, 1200))
    found = []
    for step in (0, 3, 9, 12):  # before the first one, the tiles hold nothing, and large matrices have no digits
        page.evaluate("step => window.model.set('step', step)", step)
        found += [(least, step) for least in [page.evaluate(CONTRAST)] if least]
    assert len(found) >= 2 and min(found)[0][0] >= 4.5, min(found)


@pytest.mark.parametrize(
    "name, beside, theme, size",
    [
        ("naive_65", "", "dark", (853, 480)),
        at_night("best", "", "light", (1280, 900)),
        at_night("best", "", "dark", (853, 480)),
        at_night("tiled", "racy", "dark", (1280, 900)),
        at_night("tiled", "racy", "light", (853, 480)),
    ],
)
def test_axe_finds_nothing_in_large_launches_and_in_two(show, launch_of, *, name, beside, theme, size):
    """Heat, magnified parts and columns that scroll, on a roomy page and on one at 150 %, one run and two."""
    stepper = Stepper(launch_of(name))
    other = Stepper(launch_of(beside))._data if beside else ""
    page = show(stepper, theme=THEMES[theme], size=size, step=scene_of(stepper).position, _other=other)
    panels = page.evaluate("() => document.querySelector('.tt-root').stepper.scene.panelNames")
    for panel in (panels[0], panels[1] if beside else panels[-1]):
        page.evaluate("panel => window.model.set('panel', panel)", panel)
        assert violations(page, None if panel == panels[0] else PANEL, theme) == [], panel


@pytest.mark.nightly  # half a minute: axe-core reads all of Lab
def test_axe_finds_nothing_inside_jupyterlab(open_notebook):
    """Of the stepper as Lab shows it, with Lab's own style sheets; Lab itself is not judged."""
    notebook = open_notebook(
        [
            "import numpy as np\nfrom course_lib import simulate\nfrom course_lib.kernels.tiled import tiled\n"
            "from course_lib.trace.viewer import Stepper\nA = np.ones((4, 4), np.float32)\n"
            "Stepper(simulate(tiled(2), trace=True)[(2, 2), (2, 2)](A, A, A.copy()), step=9)"
        ],
        painted=True,
    )
    notebook.run_all()
    page = notebook.page
    page.locator(".tt-count").wait_for()
    panels = page.evaluate("() => document.querySelector('.tt-root').stepper.scene.panelNames")
    assert panels
    for panel in panels:
        page.locator(f".tt-tab-{panel}").click()
        expect(page.locator(f".tt-panel-{panel}")).to_be_visible()
        assert violations(page, ".tt-root" if NIGHTLY or panel == panels[0] else ".tt-panel") == [], panel


@pytest.mark.nightly
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_forced_colours_keep_what_colours_tell(show, launch_of, scheme):
    """Bars, ticks and keys stand out of their ground in a theme of high contrast, tints keep the hue of their array,
    and axe-core finds nothing."""
    page = show(Stepper(launch_of("racy"), step=60), own=True)
    page.emulate_media(forced_colors="active", color_scheme=scheme)

    def colours(place):
        image = Image.open(io.BytesIO(place.screenshot())).convert("RGB")
        return {colour for count, colour in image.getcolors(1 << 20) if count >= 3}

    ground = "#000000" if scheme == "dark" else "#ffffff"
    for panel, marks in {
        "warp": [".tt-ticks .tt-release", ".tt-ticks .tt-found", ".tt-panel-warp .tt-cost-bar", ".tt-matrix-A svg"],
        "waits": [
            ".tt-strip canvas",
            ".tt-strip-key span:nth-child(2) i",
            ".tt-strip-key span:nth-child(4) i",
            ".tt-playhead",
        ],
    }.items():
        page.evaluate("panel => window.model.set('panel', panel)", panel)
        for mark in marks:
            assert colours(page.locator(mark).first) - {ImageColor.getrgb(ground)}, (panel, mark)
    for tint in [
        ".tt-loads-key i >> nth=-1",  # of a number of loads
        ".tt-matrix-A :is(.tt-cells, canvas)",
        ".tt-matrix-B :is(.tt-cells, canvas)",
        ".tt-matrix-C :is(.tt-cells, canvas)",
        ".tt-bar-loads",
        ".tt-bar-multiplies",
    ]:
        shades = colours(page.locator(tint).first)
        assert any(max(shade) - min(shade) > GREY for shade in shades), tint
    assert violations(page, theme=scheme) == []
