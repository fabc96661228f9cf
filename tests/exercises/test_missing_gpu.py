"""A launch on a GPU that is not there says one sentence in a notebook, and what else goes wrong keeps its traceback."""

import nbformat
import pytest
from nbclient import NotebookClient
from numba import cuda

from course_lib.exercises.missing_gpu import MESSAGE

IMPORTS = "import numpy as np\nfrom numba import cuda\nfrom course_lib.exercises import check"
LAUNCH = "@cuda.jit\ndef one(C):\n    C[0] = 1\n\n\none[1, 1](np.zeros(1))"


@pytest.fixture(scope="module")
def errors():
    """The error outputs of the launch and of a mistake of another kind."""
    cells = [nbformat.v4.new_code_cell(source) for source in (IMPORTS, LAUNCH, "1 / 0")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(notebook, timeout=120, allow_errors=True, kernel_name="python3").execute()
    return [
        [output for output in cell.outputs if output.output_type == "error"] for cell in notebook.cells if cell.outputs
    ]


@pytest.mark.skipif(cuda.is_available(), reason="there is a GPU here, and the launch succeeds")
def test_the_launch_is_one_sentence(errors):
    (said,) = errors[0]
    assert said.traceback == [f"CudaSupportError: {MESSAGE}"]
    assert "simulate(kernel)[grid, block]" in MESSAGE


def test_another_error_keeps_its_traceback(errors):
    (said,) = errors[-1]
    assert said.ename == "ZeroDivisionError" and len(said.traceback) > 1
