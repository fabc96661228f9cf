"""JupyterLab as a student meets it: it opens the first lesson, runs a notebook and shows a widget."""

import json
import re
import urllib.request

import pytest
from playwright.sync_api import expect


def test_kernel_starts_in_notebooks(open_notebook):
    """A lesson may read a file beside it."""
    notebook = open_notebook(["from pathlib import Path\nPath.cwd().name"])

    notebook.run_all()

    expect(notebook.outputs(0)).to_have_text("'notebooks'")


def test_saves_the_pictures_of_the_courses_widgets_and_not_their_views(open_notebook, lab):
    """The server runs outside the repository, as on a hub: a view without its kernel says "Error displaying widget"."""
    predicted = "from course_lib import predict\nshown = 3\npredict('How many?', shown)"
    notebook = open_notebook([predicted, "import ipywidgets\nipywidgets.IntSlider(value=3)"])
    notebook.run_all()
    notebook.page.evaluate("() => window.jupyterapp.commands.execute('docmanager:save')")

    saved = json.loads((lab.folder / "notebooks" / "shared.ipynb").read_text(encoding="utf-8"))
    kinds = [[set(output["data"]) for output in cell["outputs"]] for cell in saved["cells"]]
    view = "application/vnd.jupyter.widget-view+json"
    assert kinds == [[{"text/html", "text/plain"}], [{view, "text/plain"}]]


def test_cells_number_their_lines(open_notebook):
    """Findings and verdicts quote lines, so a student must see their numbers without a setting."""
    notebook = open_notebook(["a = 1\nb = 2\na + b"])

    expect(notebook.cell(0).locator(".cm-lineNumbers .cm-gutterElement", has_text="3")).to_be_visible()


def test_the_bare_address_leads_to_the_first_half_hour(lab):
    with urllib.request.urlopen(f"{lab.url}?token={lab.token}", timeout=60) as answer:
        assert answer.url.partition("?")[0] == f"{lab.url}lab/tree/notebooks/express.ipynb"


@pytest.mark.nightly
def test_a_link_in_the_prose_moves_the_stepper_below_it(open_notebook):
    """In JupyterLab as on a page, though Lab has links of its own."""
    notebook = open_notebook(
        [
            "from IPython.display import Markdown\nMarkdown('[the fifth step](#step=5&thread=1,1)')",
            "import numpy as np\nfrom course_lib import simulate\nfrom course_lib.kernels.tiled import tiled\n"
            "from course_lib.trace.viewer import Stepper\nA = np.ones((4, 4), np.float32)\n"
            "stepper = Stepper(simulate(tiled(2), trace=True)[(2, 2), (2, 2)](A, A, A.copy()), step=9)\nstepper",
        ]
    )
    notebook.run_all()
    page = notebook.page
    expect(page.locator(".tt-count")).to_contain_text("step 9 of")
    page.get_by_role("link", name="the fifth step").click()
    expect(page.locator(".tt-count")).to_contain_text("step 5 of")
    expect(page.locator(".tt-thread")).to_have_value("3")
    assert "step=5" not in page.url


def test_shift_enter_shows_the_whole_bar_of_a_stepper(open_notebook):
    """JupyterLab scrolls to the cell below, and the start of the picture would be above the window."""
    notebook = open_notebook(
        [
            "# a lesson begins with text\n" * 80,
            "import numpy as np\nfrom course_lib import Stepper, simulate\nfrom course_lib.kernels.tiled import tiled\n"
            "A = np.ones((16, 16), np.float32)\n"
            "Stepper(simulate(tiled(4), trace=True)[(4, 4), (4, 4)](A, A, A.copy()))",
            "# and goes on\n" * 80,
        ]
    )
    notebook.page.evaluate("() => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = 1; }")

    notebook.page.keyboard.press("Shift+Enter")

    expect(notebook.page.locator(".tt-bar")).to_be_in_viewport(ratio=0.99)
    expect(notebook.cell(2)).to_have_class(re.compile("jp-mod-active"))
