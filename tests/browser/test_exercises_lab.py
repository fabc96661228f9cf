"""Predictions and verdicts in JupyterLab, where Python answers."""

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


def test_a_guess_is_judged_by_the_kernel(open_notebook):
    notebook = open_notebook(
        ["from course_lib.exercises import predict, score\ntruth = 6 * 7", 'predict("How many?", truth)', "score()"]
    )
    notebook.run_all()

    cell = notebook.cell(1)
    cell.locator(".predict-box").fill("41")
    cell.locator(".predict-box").press("Enter")

    expect(cell.locator(".predict-pair dd")).to_have_text(["✗ 41", "42"])
    expect(cell.locator(".predict-score")).to_have_text("predictions: 0 right of 1 given, 1 asked")
    assert notebook.page_errors == []


def test_a_failed_verdict_opens_the_viewer(open_notebook):
    """Its marks, the hint that names the line, and the button that shows the step."""
    notebook = open_notebook([KERNEL])
    notebook.run_all()
    cell = notebook.cell(0)

    expect(cell).to_contain_text("transposed: failed, 0 of 4 points")
    expect(cell).to_contain_text("line 12: acc = … forgets the sum so far in every turn")
    cell.get_by_role("button", name="Show me").click()

    expect(cell.locator(".tt-root")).to_be_visible(timeout=60_000)
    expect(cell.get_by_role("button", name="Show me")).to_have_count(0)
    assert notebook.page_errors == []
