"""Predictions and verdicts in JupyterLab, where Python answers."""

import pytest
from playwright.sync_api import expect

KERNEL = """from numba import cuda, float32
from course_lib.exercises import check, predict, score


@cuda.jit
def transposed(A, B, C):
    row = cuda.blockIdx.y * cuda.blockDim.y + cuda.threadIdx.y
    col = cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x
    if row < A.shape[0] and col < B.shape[0]:
        acc = float32(0)
        for k in range(A.shape[1]):
            acc = A[row, k] * B[col, k]
        C[row, col] = acc


check("transposed", transposed)"""


#: Waits until the reader is where the keys go next: in a prediction without a guess, or on the cell after.
THERE = """([place, predicts]) => {
  const notebook = window.jupyterapp.shell.currentWidget.content;
  return predicts ? document.activeElement.closest(".predict") : notebook.activeCellIndex === place;
}"""


#: The test before may have left another cell active, and the focus in a box that is gone.
TOP = """() => {
  const notebook = window.jupyterapp.shell.currentWidget.content;
  notebook.activeCellIndex = 0;
  notebook.activeCell.node.focus();
}"""


def go_through(notebook):
    """Run all cells with Shift+Enter, and answer what they ask, by the keyboard alone; return what was asked."""
    page, keys = notebook.page, notebook.page.keyboard
    page.evaluate(TOP)
    asked = 0
    for place, cell in enumerate(notebook.cells()):
        source = "".join(cell["source"])
        predicts = cell["cell_type"] == "code" and "predict(" in source and "import" not in source
        keys.press("Shift+Enter")
        page.wait_for_function(THERE, arg=[place + 1, predicts])
        if predicts:
            asked += 1
            numbers = notebook.cell(place).locator(".predict-box").count()
            keys.type("2*8+3, 1" if "1, 4" in source else "2*8+3") if numbers else keys.press("ArrowRight")
            keys.press("Shift+Enter")
            page.wait_for_function(THERE, arg=[place + 1, False])
    return asked


CELLS = [
    "from course_lib.exercises import predict, score\ntruth = 2 * 8 + 3",
    'predict("How many?", truth)',
    'predict("Which?", "a", choices=("a", "b"))',
    "score()",
]


@pytest.mark.nightly
def test_predictions_are_answered_by_the_keyboard_alone(open_notebook):
    notebook = open_notebook(CELLS)
    assert go_through(notebook) == 2

    expect(notebook.outputs(3).first).to_contain_text("predictions: 2 right of 2 given, 2 asked")
    assert notebook.page_errors == []


@pytest.mark.nightly
def test_keys_in_a_prediction(open_notebook):
    """An empty guess says what to do, Enter answers and stays, Esc leaves to JupyterLab's command mode."""
    notebook = open_notebook(CELLS)
    page, keys = notebook.page, notebook.page.keyboard
    page.evaluate(TOP)
    keys.press("Shift+Enter")
    for place, what in ((1, "Type your guess"), (2, "Choose with the arrow keys")):
        page.wait_for_function(THERE, arg=[place, False])
        keys.press("Shift+Enter")
        page.wait_for_function(THERE, arg=[place, True])
        keys.press("Shift+Enter")
        expect(notebook.cell(place).locator(".predict-problem")).to_contain_text(what)
        keys.press("Escape")
        page.wait_for_function(
            "document.activeElement.matches('.jp-Notebook.jp-mod-commandMode .jp-Cell.jp-mod-active')"
        )
        keys.press("j")  # JupyterLab's key for the next cell
    page.wait_for_function(THERE, arg=[3, False])
    assert notebook.page_errors == []


@pytest.mark.nightly
def test_answers_survive_a_restart_of_the_kernel(open_notebook, lab):
    """And their file is gone once the button was clicked twice."""
    notebook = open_notebook(CELLS)
    go_through(notebook)
    expect(notebook.outputs(3).first).to_contain_text("kept in .shared.progress.json")
    kept = lab.folder / "notebooks" / ".shared.progress.json"
    assert '"2*8+3"' in kept.read_text(encoding="utf-8")

    notebook.page.evaluate("window.jupyterapp.shell.currentWidget.sessionContext.restartKernel()")
    notebook.run_all()

    expect(notebook.cell(1).locator(".predict-pair dd")).to_have_text(["✓ 2*8+3", "19"])
    expect(notebook.outputs(3).first).to_contain_text("predictions: 2 right of 2 given, 2 asked")
    for name in ("Clear my answers", "Click again"):
        notebook.cell(3).get_by_role("button", name=name).click()
    expect(notebook.cell(3)).to_contain_text("Cleared.")
    assert not kept.exists()
    assert notebook.page_errors == []


@pytest.mark.nightly
def test_a_lesson_is_gone_through_by_the_keyboard_alone(open_notebook):
    notebook = open_notebook("00_start_here.ipynb")
    sources = ["".join(cell["source"]) for cell in notebook.cells()]
    score = sources.index("score()")
    asked = go_through(notebook)

    assert asked == sum(source.startswith("predict(") for source in sources)
    expect(notebook.outputs(score).first).to_contain_text(f"of {asked} given")
    assert notebook.page_errors == []


def test_a_failed_verdict_opens_the_viewer(open_notebook):
    """Its marks, the hint that names the line, and the button that shows the step, and says what it is."""
    notebook = open_notebook([KERNEL])
    notebook.run_all()
    cell = notebook.cell(0)

    expect(cell).to_contain_text("transposed: failed, 0 of 4 points")
    expect(cell).to_contain_text("line 12: acc = … replaces the sum in every iteration")
    cell.get_by_role("button", name="Show me").click()

    expect(cell.locator(".tt-root")).to_be_visible()
    expect(cell.get_by_role("button", name="Show me")).to_have_count(0)
    expect(cell.locator(".tt-opened")).to_contain_text("after it acc is")
    expect(cell.locator(".tt-current")).to_have_attribute("data-line", "12")
    assert notebook.page_errors == []
