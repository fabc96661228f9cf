"""A lesson's cells run forth and back, and what they show is compared with what is stored: a difference is seen."""

import io
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_notebook, new_output
from PIL import Image

from course_lib.trace.png import element

pytest_plugins = ["pytester"]
ROOT = Path(__file__).parents[2]

SHOWN_PICTURE = """
from IPython.display import HTML
from course_lib.trace.png import element
HTML(element({data!r}, "a square", 100))
"""


def picture(colour):
    """A PNG with a square of this colour."""
    drawn = io.BytesIO()
    image = Image.new("RGB", (100, 50), "white")
    image.paste(colour, (10, 10, 30, 30))
    image.save(drawn, format="png")
    return drawn.getvalue()


def shows(source, text=None, png=None):
    """A cell, with a text or a picture stored below it."""
    if png is not None:
        data = {"text/html": element(png, "a square", 100), "text/plain": "<IPython.core.display.HTML object>"}
        outputs = [new_output("execute_result", data, execution_count=1)]
    else:
        outputs = [new_output("execute_result", {"text/plain": text}, execution_count=1)] if text else []
    return new_code_cell(source, execution_count=1, outputs=outputs)


def test_what_differs_from_what_is_stored_is_seen(pytester, monkeypatch):
    """A changed picture both times, and a cell that changes what another uses the second time."""
    cells = [
        shows("width = 2"),
        shows("width", "2"),  # 3, once the cell below has run
        shows("width = 3"),
        shows(SHOWN_PICTURE.format(data=picture("black")), png=picture("black")),
        shows(SHOWN_PICTURE.format(data=picture("black")), png=picture("red")),
        shows("6 * 7", "42"),
    ]
    folder = pytester.mkdir("notebooks")
    nbformat.write(new_notebook(cells=cells), folder / "00_lesson.ipynb")
    pytester.makeconftest((ROOT / "conftest.py").read_text(encoding="utf-8"))
    monkeypatch.setenv("TILE_BY_TILE_PROFILE", "nightly")  # as --nightly sets it, but taken back after the test
    run = pytester.inline_run("--nightly", "--nbval", "--nbval-current-env", "-p", "no:cacheprovider", str(folder))
    passed, _, failed = run.listoutcomes()
    assert [report.nodeid.split("::")[1] for report in failed] == ["Cell 4", "Cell 4, run again", "Cell 1, run again"]
    assert len(passed) == 2 * len(cells) - 3
