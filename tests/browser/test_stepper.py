"""The stepper in JupyterLab: buttons and keys change what is on the page, and nothing leaks to the notebook."""

import os

import nbformat
import pytest
from nightly import NIGHTLY
from playwright.sync_api import expect

from course_lib import simulate
from course_lib.kernels.tiled import tiled
from course_lib.trace.replay import Timeline
from course_lib.trace.viewer import Stepper

from .conftest import drawn

SETUP = """\
import numpy as np
from course_lib import simulate
from course_lib.kernels.naive import naive
from course_lib.kernels.tiled import tiled
from course_lib.trace.viewer import Stepper, explore
A = np.arange(1, 17, dtype=np.float32).reshape(4, 4)
B = np.arange(16, 0, -1, dtype=np.float32).reshape(4, 4)
C = np.zeros((4, 4), np.float32)
"""
TILED = "stepper = Stepper(simulate(tiled(2), trace=True)[(2, 2), (2, 2)](A, B, C))\nstepper"
HEARD = """\
import ipywidgets
heard = ipywidgets.Label()
stepper.observe(lambda _: heard.set_trait("value", f"{stepper.step} {stepper.block} {stepper.thread}"))
heard"""


def tiled_run():
    """The launch of the notebook's cell, made here to know what its steps are."""
    names = {}
    exec(SETUP, names)
    return simulate(tiled(2), trace=True)[(2, 2), (2, 2)](names["A"], names["B"], names["C"])


class OnPage:
    """What a reader sees of the stepper in one cell."""

    def __init__(self, notebook, cell):
        notebook.cell(cell).locator(".tt-place").scroll_into_view_if_needed()  # where it is drawn
        self.root = drawn(notebook.cell(cell).locator(".tt-root"))
        self.root.evaluate("root => root.stepper.setUnit(2)")  # a statement of any warp

    def find(self, name):
        return self.root.locator(f".tt-{name}")

    def shared(self):
        return self.root.locator("[data-space=shared] .tt-t").all_text_contents()

    def press(self, *keys):
        for key in keys:
            self.root.press(key)


@pytest.fixture
def opened(open_notebook):
    notebook = open_notebook([SETUP, TILED, HEARD])
    notebook.run_all()
    yield notebook
    assert [] == notebook.page_errors


def test_choosing_and_playing(opened):
    """Another block and thread show their own elements; play walks on by itself until pause; Python hears of it."""
    timeline = Timeline(tiled_run().trace, (1, 0, 0))
    stepper = OnPage(opened, 1)

    stepper.find("menu").click()
    stepper.find("block").select_option("(1, 0)")
    stepper.find("thread").select_option("(0, 1)")
    stepper.press("Escape")
    expect(stepper.find("registers dl")).to_have_attribute("aria-label", "Registers of thread (0, 1)")
    stepper.press("n")
    assert ["1", "2", "5", "6", "14", "13", "10", "9"] == stepper.shared()

    stepper.press("Home", "+", "+", "+")
    stepper.press(" ")
    expect(stepper.find("play")).to_have_attribute("aria-label", "Pause (space)")
    expect(stepper.find("count")).not_to_have_text(f"step 0 of {len(timeline)}")
    stepper.press(" ")
    expect(stepper.find("play")).to_have_attribute("aria-label", "Play (space)")
    stopped = stepper.find("count").text_content()
    assert 0 < int(stopped.split()[1]) <= len(timeline)
    number = stopped.split()[1]
    expect(opened.outputs(2)).to_have_text(f"{number} (1, 0, 0) (0, 1, 0)")
    assert stopped == stepper.find("count").text_content()


def test_keys_stay_in_the_stepper(opened):
    """d d, which deletes a cell in the notebook, and the other command-mode keys do nothing there.

    Reached by the keyboard, the stepper has a ring around it.
    """
    before = [(cell["cell_type"], cell["source"]) for cell in opened.cells()]
    stepper = OnPage(opened, 1)

    stepper.root.focus()
    for key in ("d", "d", "x", "a", "m", "j", "z", "Enter", "Shift+Enter", "ArrowRight"):
        opened.page.keyboard.press(key)
    for name in ("forward", "scrub", "menu"):
        stepper.find(name).focus()
        for key in ("d", "d", "x", "y"):
            opened.page.keyboard.press(key)

    expect(stepper.find("count")).to_contain_text("step 1 of")
    assert before == [(cell["cell_type"], cell["source"]) for cell in opened.cells()]

    stepper.find("forward").focus()
    opened.page.keyboard.press("Shift+Tab")
    ring = "node => getComputedStyle(node).outlineStyle + getComputedStyle(node).outlineWidth"
    assert "solid3px" == opened.page.evaluate(f"({ring})(document.activeElement)")

    opened.page.keyboard.press("Escape")
    assert not stepper.root.evaluate("root => root.contains(document.activeElement)")


def many_beside_a_busy_kernel(open_notebook, busy, count=20):
    """Open a notebook of so many steppers, whose kernel then runs the code `busy`; return it and the steppers."""
    show = "from IPython.display import display\nrun = simulate(tiled(2), trace=True)[(2, 2), (2, 2)](A, B, C)\n"
    show += f"for _ in range({count}):\n    display(Stepper(run))"
    notebook = open_notebook([SETUP, show, busy])
    run = "() => window.jupyterapp.commands.execute('notebook:run-cell-and-select-next')"
    for cell in (0, 1):
        notebook.cell(cell).click()
        notebook.page.evaluate(run)
    roots = notebook.cell(1).locator(".tt-root")
    for number in range(count):
        notebook.cell(1).locator(".tt-place").nth(number).scroll_into_view_if_needed()  # where it is drawn
        roots.nth(number).wait_for()
    notebook.cell(2).locator(".jp-Editor").click()
    notebook.page.evaluate("() => void window.jupyterapp.commands.execute('notebook:run-cell')")
    roots.nth(count - 1).scroll_into_view_if_needed()
    expect(notebook.cell(2).locator(".jp-InputPrompt")).to_have_text("[*]:")
    return notebook, roots


def test_many_steppers_and_a_busy_kernel(open_notebook, tmp_path):
    """Each has a name of its own, and the last of them steps while the kernel is busy."""
    enough = tmp_path / "enough"
    os.mkfifo(enough)  # its reader waits until the test writes, and uses no processor time
    busy = f"open({str(enough)!r}).read()"
    count = 20 if NIGHTLY else 2  # each comes with a picture, which takes a moment
    notebook, roots = many_beside_a_busy_kernel(open_notebook, busy, count)
    assert count == len(set(roots.evaluate_all("nodes => nodes.map((node) => node.getAttribute('aria-label'))")))
    roots.last.evaluate("root => root.stepper.setUnit(2)")
    for _ in range(3):
        roots.last.press("ArrowRight")
    expect(roots.last.locator(".tt-count")).to_contain_text("step 3 of")
    prompt = notebook.cell(2).locator(".jp-InputPrompt")
    assert "[*]:" == prompt.text_content()
    enough.write_text("")
    expect(prompt).to_have_text("[3]:")
    assert [] == notebook.page_errors


def test_explorer(open_notebook):
    """A control beside the stepper launches another kernel, and the page shows its counts."""
    notebook = open_notebook([SETUP, "explore()"])
    notebook.run_all()
    stepper = OnPage(notebook, 1)
    stepper.press("End")
    expect(stepper.find("counter b")).to_have_text("16")
    notebook.cell(1).locator(".widget-dropdown select").first.select_option("One thread per element")
    expect(stepper.find("kernel")).to_have_text("naive")
    drawn(stepper.root).press("End")
    expect(stepper.find("counter b")).to_have_text("32")
    assert [] == notebook.page_errors


def test_notebook_that_was_not_run_shows_the_picture(lab, open_notebook):
    """Opened from a fresh copy, JupyterLab does not trust the widget and shows its picture instead."""
    data, metadata = Stepper(tiled_run())._repr_mimebundle_()
    output = nbformat.v4.new_output("execute_result", data, metadata=metadata, execution_count=1)
    cell = nbformat.v4.new_code_cell("Stepper(run)", outputs=[output], execution_count=1)
    path = lab.folder / "notebooks" / "not_run.ipynb"
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    nbformat.write(nbformat.v4.new_notebook(cells=[cell], metadata={"kernelspec": kernel}), path)

    notebook = open_notebook("not_run.ipynb")
    picture = notebook.outputs(0).locator("img")
    expect(picture).to_be_visible()
    assert [1500, 1000] == picture.evaluate("image => [image.naturalWidth, Number(image.getAttribute('width'))]")


def test_a_cell_that_is_run_again_frees_what_it_showed(open_notebook):
    """The page holds as many models as before, and what JupyterLab keeps of the old one has no text."""
    notebook = open_notebook([SETUP, TILED])
    notebook.run_all()
    OnPage(notebook, 1)
    models = "Object.keys(window.shown.widget_manager._models).length"
    notebook.page.evaluate("() => { window.shown = document.querySelector('.tt-place').stepper.model; }")
    before = notebook.page.evaluate(f"() => {models}")
    notebook.run_all()
    OnPage(notebook, 1)
    notebook.page.wait_for_function("() => !window.shown.get('_fallback')")
    assert notebook.page.evaluate("() => ['_esm', '_css', '_data'].map((name) => window.shown.get(name))") == [""] * 3
    assert notebook.page.evaluate(f"() => {models}") == before
    assert notebook.page_errors == []
