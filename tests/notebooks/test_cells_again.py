"""A student goes back: after Run All every cell, run once more and in any order, shows what it showed before.

The cells are run again from the last to the first, so each of them meets what all later cells left behind. And what
they show is what is stored, pictures included, which nbval does not compare.
"""

import base64
import copy
import io
import runpy
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient
from PIL import Image

ROOT = Path(__file__).parents[2]
LESSONS = sorted((ROOT / "notebooks").glob("[0-9]*.ipynb"))
TOOL = runpy.run_path(str(ROOT / "tools" / "execute_notebooks.py"))

#: Two pictures are the same if no more than this share of their pixels differs visibly: letters are drawn a little
#: differently from machine to machine.
MAY_DIFFER = 0.002
VISIBLY = 64


def run_forth_and_back(notebook, folder):
    """The outputs of each code cell in a run from top to bottom, and in a second from bottom to top."""
    client = NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": str(folder)}}, record_timing=False
    )
    client.coalesce_streams = True
    forth, back = {}, {}
    client.reset_execution_trackers()
    with client.setup_kernel():
        code = [(number, cell) for number, cell in enumerate(notebook.cells) if cell.cell_type == "code"]
        for outputs, cells in ((forth, code), (back, list(reversed(code)))):
            for number, cell in cells:
                client.execute_cell(cell, number)
                outputs[cell.id] = copy.deepcopy(TOOL["kept"](cell.outputs))
    return forth, back


def words(output):
    """What an output says, without its pictures."""
    data = {kind: text for kind, text in output.get("data", {}).items() if not kind.startswith("image/")}
    return {kind: "".join(text) for kind, text in data.items()} | {"stream": "".join(output.get("text", ""))}


def pictures(output):
    return {kind: data for kind, data in output.get("data", {}).items() if kind == "image/png"}


def same_picture(one, other):
    """Whether two PNGs, as text in base64, look the same."""
    first, second = (
        np.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGBA"), dtype=int) for data in (one, other)
    )
    if first.shape != second.shape:
        return False
    return (abs(first - second).max(axis=-1) > VISIBLY).mean() <= MAY_DIFFER


def differences(stored, shown):
    """One line for each cell whose outputs differ, in words or in a picture."""
    found = []
    for identity, outputs in stored.items():
        others = shown[identity]
        if [words(output) for output in outputs] != [words(output) for output in others]:
            found.append(f"{identity}: other words")
        drawn = [pictures(output) for output in outputs]
        redrawn = [pictures(output) for output in others]
        if [list(kinds) for kinds in drawn] != [list(kinds) for kinds in redrawn] or not all(
            same_picture(one[kind], other[kind]) for one, other in zip(drawn, redrawn, strict=True) for kind in one
        ):
            found.append(f"{identity}: another picture")
    return found


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.name)
def test_cells_show_the_same_again_and_what_is_stored(path):
    notebook = nbformat.read(path, as_version=4)
    compared = [
        cell for cell in notebook.cells if cell.cell_type == "code" and "gpu" not in cell.metadata.get("tags", [])
    ]
    stored = {cell.id: copy.deepcopy(cell.outputs) for cell in compared}
    forth, back = run_forth_and_back(notebook, path.parent)

    assert differences(stored, forth) == []
    assert differences(stored, back) == []


def picture(colour):
    drawn = io.BytesIO()
    image = Image.new("RGB", (100, 50), "white")
    image.paste(colour, (10, 10, 30, 30))
    image.save(drawn, format="png")
    return base64.b64encode(drawn.getvalue()).decode("ascii")


def test_a_changed_picture_is_seen():
    def cell(colour, said="a figure"):
        return {"cell": [{"data": {"image/png": picture(colour), "text/plain": said}}]}

    assert differences(cell("black"), cell("black")) == []
    assert differences(cell("black"), cell("red")) == ["cell: another picture"]
    assert differences(cell("black"), cell("black", "another")) == ["cell: other words"]
    assert differences(cell("black"), {"cell": [{"data": {"text/plain": "a figure"}}]}) == ["cell: another picture"]


def test_a_cell_that_changes_what_another_uses_is_seen(tmp_path):
    cells = {"first": "width = 2", "shows": "width", "later": "width = 3", "counts": "total = total + 1", "zero": "0"}
    notebook = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell(source, id=identity)
            for identity, source in {"total": "total = 0", **cells, "total-shown": "total"}.items()
        ]
    )
    forth, back = run_forth_and_back(notebook, tmp_path)

    assert differences(forth, back) == ["shows: other words"]
