"""Pictures of steps that the page saves: what they show, judged by the scene and by the page itself."""

import io
import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest
from nightly import at_night
from oracles.scene import Scene
from PIL import Image
from playwright.sync_api import expect

from course_lib.trace.replay import Timeline
from course_lib.trace.viewer import Stepper

from .test_accessibility import violations


@pytest.fixture
def save(show, launch_of):
    """Save a picture from a page, and return it as bytes, with its name; the page is `save.page`, made once."""

    def save(name, kind, first, last=None, **state):
        if not save.page:
            save.page = show(Stepper(launch_of(name)), own=True, **state)
            save.page.locator(".tt-menu").click()
            save.page.locator(".tt-picture").click()
        page = save.page
        page.get_by_label("Save as").select_option(kind)
        page.get_by_label("step", exact=True).fill(str(first))
        if last is not None:
            page.get_by_label("to", exact=True).fill(str(last))
        with page.expect_download() as found:
            page.get_by_role("button", name="Save", exact=True).click()
        return found.value.suggested_filename, found.value.path().read_bytes()

    save.page = None
    return save


@pytest.mark.parametrize(
    "name, size", [("tiled_two_warps", (390, 844)), ("outer_product", (853, 480)), at_night("best", (853, 480))]
)
def test_an_svg_shows_all_of_its_step(save, launch_of, name, size):
    """Also what the page scrolls: the whole source, the sentence, the registers; and the page stays where it was."""
    file, data = save(name, "SVG", 40, step=7, size=size, panel="arrays")
    assert file == f"{launch_of(name).trace.kernel_name}-step-40.svg"
    expect(save.page.locator(".tt-saving p")).to_have_text(f"{file} is saved.")
    expect(save.page.locator(".tt-count")).to_contain_text("step 7 of")
    root = ET.fromstring(data)
    text = " ".join(" ".join(part.itertext()) for part in root.iter() if part.tag.endswith("}div"))
    scene = Scene(Timeline(launch_of(name).trace, (0, 0, 0)), 40, 0)
    flat = re.sub(r"\s+", "", text)
    for wanted in (scene.says, *(code for _, code, *_ in scene.source)):
        assert re.sub(r"\s+", "", wanted) in flat
    size = save.page.locator(".tt-sentence").evaluate("node => getComputedStyle(node).fontSize")
    save.page.set_content(data.decode())
    assert save.page.locator(".tt-sentence").evaluate("node => getComputedStyle(node).fontSize") == size
    beyond = save.page.locator(".tt-source").evaluate(
        """place => [...place.querySelectorAll('.tt-code, .tt-truth')].filter((node) => [...node.getClientRects()].some(
          ({ right }) => right > place.getBoundingClientRect().right) || node.scrollWidth > node.clientWidth + 1)
          .map((node) => node.textContent)"""
    )
    assert beyond == []  # long lines are wrapped
    assert "step 40 of" in text and "Speed" not in text
    assert save.page.page_errors == []


def test_a_png_looks_as_the_page(save):
    """Twice as large, with the page's colours: those of the elements that the step writes and of the dark ground."""
    _, data = save("tiled_two_warps", "PNG", 40, painted=True)
    image = Image.open(io.BytesIO(data)).convert("RGB")
    page = save.page
    box = page.locator(".tt-root").bounding_box()
    assert image.width == pytest.approx(2 * box["width"], abs=4)
    assert image.height > 2 * 300
    page.locator(".tt-menu").click()
    page.locator(".tt-picture").click()
    page.evaluate("() => window.model.set('step', 40)")
    shot = Image.open(io.BytesIO(page.locator(".tt-matrix-A svg").screenshot())).convert("RGB")
    colours = lambda picture: {c for n, c in picture.getcolors(1 << 24) if n > 300}  # noqa: E731
    assert len(colours(shot)) >= 4
    assert colours(shot) <= {c for _, c in image.getcolors(1 << 24)}


def test_a_gif_has_the_frames_asked_for(save):
    """Each its own step, as the page shows it: told apart by where the current line is."""
    file, data = save("tiled", "GIF", 8, 10, size=(1280, 900))
    assert file == "tiled-step-8-to-10.gif"
    gif = Image.open(io.BytesIO(data))
    assert gif.n_frames == 3
    frames = []
    for frame in range(3):
        gif.seek(frame)
        assert gif.info["duration"] == 1000
        frames.append(np.asarray(gif.convert("RGB"), float))
    for frame, step in ((0, 8), (2, 10)):
        _, png = save("tiled", "PNG", step)
        still = np.asarray(Image.open(io.BytesIO(png)).convert("RGB").resize(frames[0].shape[1::-1]), float)
        far = [np.abs(still - other).mean() for other in frames]
        assert np.argmin(far) == frame, far


def test_wrong_steps_are_refused(show, launch_of):
    """With a sentence, and no file; Esc closes the form, and so does a button in it."""
    page = show(Stepper(launch_of("tiled")))
    said = page.locator(".tt-saving p")
    page.locator(".tt-menu").click()
    page.locator(".tt-picture").click()
    for kind, first, last in [("PNG", 999, 0), ("SVG", -1, 0), ("GIF", 9, 3), ("GIF", "", 3), ("GIF", 2.5, 3)]:
        said.evaluate("node => (node.textContent = '')")
        page.get_by_label("Save as").select_option(kind)
        page.get_by_label("step", exact=True).fill(str(first))
        if kind == "GIF":
            page.get_by_label("to", exact=True).fill(str(last))
        page.get_by_role("button", name="Save", exact=True).click()
        expect(said).to_have_text("Give steps from 0 to 31, the first one first, and at most 300 of them.")
    page.keyboard.press("Escape")
    expect(page.locator(".tt-saving")).to_be_hidden()
    page.locator(".tt-menu").click()
    page.locator(".tt-picture").click()
    page.locator(".tt-saving .tt-close").click()
    expect(page.locator(".tt-saving")).to_be_hidden()
    expect(page.locator(".tt-menu")).to_be_focused()


@pytest.mark.parametrize("size", [(853, 480), (390, 844)])
def test_the_form_can_be_used_with_large_text(show, launch_of, size):
    """At twice the size: each of its controls is in sight, nothing covers it, and axe-core finds nothing."""
    page = show(Stepper(launch_of("tiled")), size=size, text_size=2, painted=True)
    page.locator(".tt-menu").click()
    page.locator(".tt-picture").click()
    page.get_by_label("Save as").select_option("GIF")
    covered = page.locator(".tt-saving :is(select, input, button)").evaluate_all(
        """nodes => nodes.filter((node) => {
          const { left, right, top, bottom } = node.getBoundingClientRect();
          return !node.contains(document.elementFromPoint((left + right) / 2, (top + bottom) / 2));
        }).map((node) => node.outerHTML)"""
    )
    assert covered == []
    assert violations(page, ".tt-saving") == []


def test_print_shows_all(show, launch_of):
    """On paper no part scrolls, and what cannot be pressed is not there."""
    page = show(Stepper(launch_of("tiled_two_warps"), step=40), own=True, size=(853, 480))
    page.evaluate("() => dispatchEvent(new Event('beforeprint'))")
    cut = page.locator(".tt-root, .tt-root *").evaluate_all(
        "nodes => nodes.filter((n) => n.clientHeight && n.scrollHeight > n.clientHeight + 2"
        " && !/visible/.test(getComputedStyle(n).overflowY)).map((n) => n.className)"
    )
    assert set(cut) <= {"tt-lines", "tt-registers", "tt-counter"}  # what is around the current line
    expect(page.locator(".tt-play")).to_be_hidden()
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    expect(page.locator(".tt-play")).to_be_visible()


@pytest.mark.parametrize("names", [("tiled_16",), ("best",), ("naive_16", "tiled_16")])
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
                assert right <= x + 1 or x2 <= left + 1 or bottom <= y + 1 or y2 <= top + 1
    page.evaluate("() => dispatchEvent(new Event('afterprint'))")
    assert page.locator(".tt-root").bounding_box()["width"] > 1500
