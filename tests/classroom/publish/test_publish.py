"""Lessons as pages and slides: their contents, without a browser (tests/browser opens them)."""

import copy
import json
import os
import re
import subprocess
import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest
from launches.decode import Payload

from course_lib.classroom import export
from course_lib.classroom.fallbacks import Fallbacks
from course_lib.classroom.publish.convert import executed, html_page, with_live_widgets
from course_lib.classroom.publish.deck import slides as as_slides
from course_lib.trace.notebook_outputs import HTML, KEY, VIEW

SETUP = """\
import numpy as np
from course_lib import simulate
from course_lib.kernels.tiled import tiled
from course_lib.trace.viewer import Stepper, explore
A, B, C = np.ones((4, 4), "f4"), np.ones((4, 4), "f4"), np.zeros((4, 4), "f4")"""
STEPPER = "Stepper(simulate(tiled(2), trace=True)[(2, 2), (2, 2)](A, B, C), step=7)"
OTHERS = "import ipywidgets\nexplore(['naive', 'tiled'], n=2)", "ipywidgets.IntSlider(value=3)"


def cell(source, kind=None, **metadata):
    new = nbformat.v4.new_markdown_cell if source.startswith("#") else nbformat.v4.new_code_cell
    return new(source, metadata={"slideshow": {"slide_type": kind}} | metadata if kind else metadata)


def book(*cells):
    kernel = {"name": "python3", "display_name": "Python 3 (ipykernel)", "language": "python"}
    return nbformat.v4.new_notebook(cells=list(cells), metadata={"kernelspec": kernel})


@pytest.fixture(scope="module")
def notebook(tmp_path_factory):
    """Return an executed lesson of one slide and one note."""
    cells = [
        cell("# Title of <all>", "slide"),
        cell(SETUP),
        cell(STEPPER, "fragment"),
        cell("# Say this", "notes"),
        *map(cell, OTHERS),
    ]
    return executed(book(*cells), tmp_path_factory.mktemp("lesson"))


def without_states(notebook):
    """Return it as JupyterLab saves a notebook."""
    saved = copy.deepcopy(notebook)
    saved.metadata.pop("widgets")
    return saved


@pytest.fixture(scope="module")
def page_of(notebook):
    """Return the page of the notebook that a function converts; each is made once."""

    @cache
    def page_of(convert, saved=False):
        return convert(without_states(notebook) if saved else notebook, "Lesson")

    return page_of


def states(text):
    found = re.findall(r'<script [^>]*class="tile-by-tile-state"[^>]*>(.*?)</script>', text)
    return [json.loads(state) for state in found]


def fetched(text):
    """Return the addresses that the elements of a page (not its scripts' strings) would load."""
    found = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: found.extend(
        (tag, value) for name, value in attributes if tag != "a" and name in ("src", "href") and value[:5] != "data:"
    )
    parser.feed(text)
    return found


@pytest.mark.parametrize("convert", [html_page, as_slides])
def test_every_stepper_lives_and_nothing_is_fetched(page_of, convert):
    """The stepper and the explorer's are present as traces; no script, style or picture has an address."""
    text = page_of(convert)
    assert [("tiled", 7), ("tiled", 0)] == [(Payload(s["_data"]).head["kernel"], s["step"]) for s in states(text)]
    assert [False, True] == ["_launches" in state for state in states(text)]
    assert [] == fetched(text)
    assert "import mermaid" not in text and "@jupyter-widgets/html-manager" not in text
    assert text.count('<script type="module">') == 1


def test_a_widget_shows_in_two_outputs(notebook):
    """First its stand-in, then its view alone, which nbconvert would show instead of everything beside it."""
    shown = {cell.source: [set(output.data) for output in cell.get("outputs", ())] for cell in notebook.cells[2:]}
    assert [{HTML, "text/plain"}, {VIEW}] == shown[STEPPER] == shown[OTHERS[0]]
    assert [{VIEW, "text/plain"}] == shown[OTHERS[1]]


def test_a_picture_stays_until_its_stepper_is_drawn(page_of):
    """Its picture is on the page, in the place of the stepper; so is that of a stepper without a state."""
    pictures = [len(re.findall("<img ", page_of(html_page, saved))) for saved in (False, True)]
    assert [2, 2] == pictures


def test_other_widgets_leave_their_text(notebook):
    """A slider needs a kernel; its text stays, and no view of a widget is left."""
    live_widgets = with_live_widgets(notebook)
    outputs = [output.get("data", {}) for c in live_widgets.cells for output in c.get("outputs", ())]
    assert not any(VIEW in data for data in outputs)
    assert any(data.get("text/plain", "").startswith("IntSlider(value=3") for data in outputs)
    assert "widgets" not in live_widgets.metadata and "widgets" in notebook.metadata


@pytest.mark.parametrize("convert", [html_page, as_slides])
def test_pictures_have_a_text_of_their_own(page_of, convert):
    """Where a stepper cannot run, its picture has a text that describes it."""
    text = page_of(convert, saved=True)
    pictures = re.findall(r"<img [^>]*>", text.split("<script type=")[0])
    assert any(re.search(r'alt="tiled, step 7: Line \d+, warp 0', picture) for picture in pictures)
    assert "No description has been provided" not in text


@pytest.mark.parametrize("convert", [html_page, as_slides])
def test_the_code_of_a_prediction_is_left_out(convert):
    """It contains the reason, which would be above the question."""
    cells = [cell("predict(1, because=unlikely_words)"), cell("shown = 3")]
    cells[0].metadata["jupyter"] = {"source_hidden": True}
    text = convert(book(*cells), "Lesson")
    assert "unlikely_words" not in text and "shown" in text


def test_notes_are_the_speakers(page_of):
    text = page_of(as_slides)
    assert re.search(r'<aside class="notes">.*?Say this', text, re.DOTALL)
    assert "<title>A &lt;b&gt;</title>" in as_slides(book(cell("# A", "slide")), "A <b>")


@pytest.mark.nightly
def test_the_command_writes_a_file_or_says_why_not(tmp_path, capsys):
    """A notebook becomes a file named after it; one that fails gives status 1, and one that does not exist 2."""
    for name, source in (("right", "6 * 7"), ("wrong", "1 / 0")):
        nbformat.write(book(cell("# Right"), cell(source)), tmp_path / f"{name}.ipynb")
    assert 0 == export.main([str(tmp_path / "right.ipynb"), "--output", str(tmp_path / "out"), "--theme", "dark"])
    text = (tmp_path / "out" / "right.html").read_text()
    assert "42" in text and 'data-jp-theme-light="false"' in text and "<title>Right</title>" in text
    assert 1 == export.main([str(tmp_path / "wrong.ipynb"), "--output", str(tmp_path / "out")])
    assert not (tmp_path / "out" / "wrong.html").exists()
    assert 2 == export.main([str(tmp_path / "none.ipynb")])
    said = capsys.readouterr().err
    assert "wrong.ipynb: a cell failed" in said and "none.ipynb cannot be read, so nothing" in said


@pytest.mark.parametrize("text", ["# Title", "[]", "{}", '{"cells": 3}', '{"nbformat": 9, "cells": []}', ""])
def test_a_file_that_is_no_notebook_is_named(text, tmp_path, capsys):
    path = tmp_path / "lesson.md"
    path.write_text(text)
    assert 2 == export.main([str(path), "--output", str(tmp_path / "out")])
    assert capsys.readouterr().err == f"{path} is no notebook of version 4 or older, so nothing is written.\n"


def nbconvert(path, to):
    """Return what the command, with the configuration in the course's folder, prints about a notebook, and the page."""
    config = Path(__file__).parents[3] / "jupyter_nbconvert_config.json"
    command = [sys.executable, "-m", "nbconvert", "--config", config, "--to", to, path]
    home = {"JUPYTER_CONFIG_DIR": str(path.parent)}
    said = subprocess.run(
        command, cwd=Path(__file__).parents[3], capture_output=True, text=True, check=True, env=os.environ | home
    ).stderr
    return said, path.with_suffix(".slides.html" if to == "slides" else ".html").read_text(encoding="utf-8")


@pytest.mark.parametrize("kept", ["as executed", "without the widgets' states"])
@pytest.mark.parametrize("to", ["html", "slides"])
@pytest.mark.nightly
def test_nbconvert_alone_shows_the_pictures(notebook, kept, to, tmp_path):
    """The page has the picture of the stepper and of the explorer, with its text; the slider is unchanged."""
    nbformat.write(notebook if kept == "as executed" else without_states(notebook), tmp_path / "lesson.ipynb")
    said, text = nbconvert(tmp_path / "lesson.ipynb", to=to)
    assert "Alternative text is missing" not in said
    pictures = [picture for picture in re.findall(r"<img [^>]*>", text) if "data:image/png" in picture]
    assert [True, True] == [bool(re.search(r'alt="tiled, (?:step|frame) \d+', picture)) for picture in pictures]
    slider = f'<script type="{VIEW}">' if kept == "as executed" else "IntSlider(value=3"
    assert 1 == text.count(slider)


def test_documents_without_html_have_the_pictures_too(notebook):
    changed, _ = Fallbacks().preprocess(copy.deepcopy(notebook), {})
    pictures = [
        o.data.get("image/png") for c in changed.cells for o in c.get("outputs", ()) if HTML in o.get("data", {})
    ]
    assert len(pictures) == 2 and all(picture.startswith("iVBOR") for picture in pictures)


def test_widgets_of_others_stay():
    """A view that is not alone in its output, or has no mark, is not one of ours."""
    data, alone = {VIEW: {"model_id": "a"}, "text/html": "<p>", "image/png": "AAAA"}, {VIEW: {"model_id": "b"}}
    outputs = [nbformat.v4.new_output("display_data", data=each) for each in (data, alone, alone)]
    outputs[2].metadata = {KEY: "view"}
    changed, _ = Fallbacks().preprocess(book(nbformat.v4.new_code_cell(outputs=outputs)), {})
    assert [data, alone] == [output.data for output in changed.cells[0].outputs]
