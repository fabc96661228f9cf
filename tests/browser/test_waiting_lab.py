"""The timing model in JupyterLab: the kernel answers each slider, and what is typed stays with them."""

import pytest
from playwright.sync_api import expect

from course_lib.machine import measurements
from course_lib.machine.model.multiprocessor import Multiprocessor
from course_lib.machine.timing_model.widget import plan

from .conftest import violations

H200 = Multiprocessor.measured(measurements.load("latencies"))
MADE = """from course_lib import measurements
from course_lib.machine.model.multiprocessor import Multiprocessor
from course_lib.machine.timing_model import Waiting

Waiting(Multiprocessor.measured(measurements.load("latencies")), latency=600)"""


def expect_plan(cell, latency, warps, tile_width, buffers):
    """The text, the picture's words and its rows are those of a plan of this setting, which the test makes itself."""
    sentences = plan(H200, latency, warps, tile_width, buffers).sentences()
    expect(cell.locator(".tt-sentences p")).to_have_text([f"{each}." for each in sentences])
    expect(cell.locator(".tt-cycles")).to_have_attribute("aria-label", ". ".join(sentences))
    expect(cell.locator(".tt-cycles .tt-warp")).to_have_count(warps)
    expect(cell.locator(".tt-outdated")).to_have_text("")


@pytest.mark.nightly
def test_the_kernel_answers_every_slider_and_nothing_leaks(open_notebook):
    """All four by the keyboard and one dragged; picture and text follow, and Lab's shortcuts hear nothing."""
    notebook = open_notebook([MADE, "6 * 7"])
    notebook.run_all()
    page, cell = notebook.page, notebook.cell(0)
    expect_plan(cell, 600, 2, 8, 1)
    expect(cell.locator(".jp-OutputArea-output img:visible")).to_have_count(0)  # the picture has left its place

    cell.locator(".tt-slider-latency").focus()
    page.keyboard.press("ArrowRight")
    expect_plan(cell, 620, 2, 8, 1)
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowUp")
    expect_plan(cell, 620, 4, 8, 1)
    page.keyboard.press("Tab")
    page.keyboard.press("End")  # T = 32: eight warps of each block are this scheduler's
    expect_plan(cell, 620, 8, 32, 1)
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    expect_plan(cell, 620, 8, 32, 2)

    # In Lab's command mode these insert cells above and below, cut one, delete one and run one.
    for key in ("a", "b", "x", "d", "d", "Enter", "ArrowDown"):
        page.keyboard.press(key)
    assert [each["source"] for each in notebook.cells()] == [MADE, "6 * 7"]
    expect_plan(cell, 620, 8, 32, 1)  # the last key was the slider's own

    handle = cell.locator(".tt-slider-latency").bounding_box()
    middle, half = handle["y"] + handle["height"] / 2, handle["x"] + handle["width"] / 2
    page.mouse.move(half, middle)
    page.mouse.down()
    for way in (0.2, 0.6, 1.0):
        page.mouse.move(half + way * handle["width"] / 2, middle)
    page.mouse.up()
    expect_plan(cell, 1200, 8, 32, 1)
    assert notebook.page_errors == []


@pytest.mark.nightly
def test_axe_finds_nothing_inside_jupyterlab(open_notebook):
    """Of the widget with Lab's own style sheets, in both themes; Lab itself is not judged."""
    notebook = open_notebook([MADE.replace("latency=600", "latency=600, warps=16, tile_width=32")], painted=True)
    notebook.run_all()
    expect_plan(notebook.cell(0), 600, 16, 32, 1)
    for theme in ("JupyterLab Light", "JupyterLab Dark"):
        change = "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })"
        notebook.page.evaluate(change, theme)
        expect(notebook.page.locator("body")).to_have_attribute("data-jp-theme-name", theme)
        # The theme's style sheet is there a moment later.
        notebook.page.wait_for_function(
            """dark => {
              const ground = getComputedStyle(document.querySelector(".jp-Notebook")).backgroundColor;
              return ground.match(/[0-9]+/)[0] < 128 === dark;
            }""",
            arg=theme.endswith("Dark"),
        )
        assert violations(notebook.page, ".tt-sliders-widget") == [], theme
