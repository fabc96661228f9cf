"""What stands for a widget where none comes to life, and how the living one takes its place."""

import json
import subprocess
import sys

import nbformat
import pytest
from playwright.sync_api import expect

from course_lib.trace.viewer import Stepper

from .conftest import VIEWER

SETUP = """\
import io, ipywidgets, numpy as np
from PIL import Image
from course_lib import simulate
from course_lib.exercises import predict
from course_lib.kernels.tiled import tiled
from course_lib.trace.viewer import Stepper, explore
A, B, C = np.ones((4, 4), "f4"), np.ones((4, 4), "f4"), np.zeros((4, 4), "f4")
run = simulate(tiled(2), trace=True)[(2, 2), (2, 2)](A, B, C)"""
OURS = ["Stepper(run, step=7)", "predict('How many?', 3)", "explore(n=2)"]
BOX = "ipywidgets.VBox([Stepper(run), ipywidgets.HBox([predict('In a box?', 3), Stepper(run, step=9)])])"
#: A picture of the reader's own, a box of theirs with nothing of ours in it, and one with widgets of ours.
THEIRS = f"display(Image.new('RGB', (40, 30)), ipywidgets.VBox([ipywidgets.Label('their own')]))\n{BOX}"
KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}}


@pytest.mark.nightly
def test_the_living_widget_takes_the_place_of_its_picture(open_notebook):
    """In JupyterLab, in a box too, again when the cell runs again, and out of sight; what is the reader's own stays."""
    notebook = open_notebook([SETUP, *OURS, THEIRS])
    for _ in range(2):
        notebook.run_all()
        for cell, living in enumerate((".tt-root", ".predict", ".tt-root"), 1):
            notebook.cell(cell).scroll_into_view_if_needed()
            expect(notebook.cell(cell).locator(".jp-OutputArea-child")).to_have_count(2)
            expect(notebook.cell(cell).locator(".jp-OutputArea-child").first).to_be_hidden()
            expect(notebook.cell(cell).locator(living)).to_be_visible()
        expect(notebook.cell(4).locator(".jp-OutputArea-child")).to_have_count(6)
        for place in notebook.cell(4).locator(".tt-place").all():
            place.scroll_into_view_if_needed()
        expect(notebook.cell(4).locator(".tt-root, .predict").filter(visible=True)).to_have_count(3)
        for place, shown in enumerate((True, True, False, False, False, True)):
            expect(notebook.cell(4).locator(".jp-OutputArea-child").nth(place)).to_be_visible(visible=shown)
    assert notebook.page_errors == []


@pytest.mark.nightly
def test_a_page_of_nbconvert_is_never_blank(new_page, tmp_path):
    """From the plain command, executed, opened without a network."""
    cells = [nbformat.v4.new_code_cell(source) for source in (SETUP, *OURS, BOX)]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=KERNEL), tmp_path / "lesson.ipynb")
    command = [sys.executable, "-m", "nbconvert", "--execute", "--to", "html", tmp_path / "lesson.ipynb"]
    said = subprocess.run(command, check=True, capture_output=True, cwd=tmp_path, text=True).stderr
    assert "Alternative text is missing" not in said
    page = new_page()
    page.context.set_offline(True)
    page.goto((tmp_path / "lesson.html").as_uri())
    expect(page.locator(".tt-root, .predict")).to_have_count(0)
    pictures = page.locator(".jp-Cell img")
    expect(pictures).to_have_count(4)
    for picture in pictures.all():
        expect(picture).to_be_visible()
        assert picture.bounding_box()["height"] > 200
    for question in ("How many?", "In a box?"):
        expect(page.get_by_text(question).last).to_be_visible()


# Two outputs as some front end lays them out, the second one the widget's.
PAGE = """<!doctype html><meta charset="utf-8"><body><pre>code</pre>
<div><div><img id="other" width="50" height="40"></div></div>
<div id="before"><div><img id="fallback" width="50" height="40"></div></div>
<div><span></span><div><div id="place"></div></div></div>
<script type="module">
  const { default: widget } = await import(URL.createObjectURL(new Blob([%s], { type: "text/javascript" })));
  const fallback = document.getElementById("fallback");
  fallback.src = %s;
  const state = { _fallback: "SUVORK5CYII=", _data: %s, step: 0, block: [0, 0, 0], thread: [0, 0, 0] };
  const model = { get: (name) => state[name], set() {}, on() {}, off() {}, save_changes() {} };
  window.leave = widget.render({ model, el: document.getElementById("place") });
  window.started = true;
</script>"""
PNG = "data:image/png;base64,AAAASUVORK5CYII="


@pytest.mark.parametrize(
    ("address", "data", "hidden"),
    [
        ("PNG", "trace", True),
        ("'data:image/png;base64,AAAA'", "trace", False),  # another picture
        ("PNG", "{}", False),  # no trace: a sentence, below the picture
    ],
)
def test_only_its_own_picture_gives_way_and_comes_back(new_page, launch_of, address, data, hidden):
    """The widget knows the end of its picture's address; where it cannot be drawn, and when it leaves, the picture is
    there.
    """
    page = new_page()
    page.clock.install()
    payload = Stepper(launch_of("tiled"))._data if data == "trace" else data
    module = json.dumps((VIEWER / "stepper.js").read_text(encoding="utf-8"))
    page.set_content(PAGE % (module, address.replace("PNG", json.dumps(PNG)), json.dumps(payload)))
    page.locator(".tt-count, [role=alert]").first.wait_for()
    page.clock.run_for(10_000)  # as long as many tries take
    before = page.locator("#before")
    assert hidden == (before.evaluate("node => getComputedStyle(node).display") == "none")
    assert page.locator("#other").evaluate("node => node.offsetHeight") == 40
    page.evaluate("window.leave()")
    assert "none" != before.evaluate("node => getComputedStyle(node).display")


def test_a_page_that_may_not_fill_the_screen_offers_no_button_for_it(show, launch_of):
    """As VS Code's outputs may not; the key does nothing then, and no error is thrown."""
    refused = """<script>Object.defineProperty(Document.prototype, "fullscreenEnabled", { get: () => false });
      Element.prototype.requestFullscreen = () => { throw new TypeError("Permissions check failed"); };</script>"""
    page = show(Stepper(launch_of("tiled")), own=True, head=refused)
    page.locator(".tt-menu").click()
    expect(page.locator(".tt-full")).to_be_hidden()
    page.locator(".tt-root").press("f")
    assert page.page_errors == []
