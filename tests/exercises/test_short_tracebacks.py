"""Two mistakes say one sentence in a notebook, and what else goes wrong keeps its traceback."""

import pytest
from numba import cuda

from course_lib.exercises.short_tracebacks import NO_GPU

IMPORTS = "import numpy as np\nfrom numba import cuda\nfrom course_lib.exercises import check, predict"
LAUNCH = "@cuda.jit\ndef one(C):\n    C[0] = 1\n\n\none[1, 1](np.zeros(1))"
TOO_EARLY = 'predict(\n    "How many?",\n    C[1, 2],\n    because="4·2 + 5·1.",\n)'
INSIDE = "def f():\n    return nowhere\n\n\nf()"


@pytest.fixture(scope="module")
def errors(client):
    """The error of each cell but the first, which imports."""

    def error(source):
        found = []
        client.execute_interactive(
            source, output_hook=lambda message: found.append(message["content"]), stop_on_error=False
        )
        return [content for content in found if "traceback" in content]

    assert error(IMPORTS) == []
    cells = {"launch": LAUNCH, "too early": TOO_EARLY, "inside": INSIDE, "another": "1 / 0"}
    return {name: error(source) for name, source in cells.items()}


@pytest.mark.skipif(cuda.is_available(), reason="there is a GPU here, and the launch succeeds")
def test_the_launch_is_one_sentence(errors):
    (said,) = errors["launch"]
    assert said["traceback"] == [f"CudaSupportError: {NO_GPU}"]
    assert "simulate(kernel)[grid, block]" in NO_GPU


def test_a_cell_run_too_early_says_so_and_does_not_show_the_answer(errors):
    (said,) = errors["too early"]
    assert said["traceback"] == [
        "NameError: name 'C' is not defined, and line 3 of this cell uses it. A cell above may define it: choose Run → "
        "Run All Above Selected Cell, and then run this one. Or is it misspelt?"
    ]


def test_a_name_that_a_function_lacks_keeps_its_traceback(errors):
    (said,) = errors["inside"]
    assert said["ename"] == "NameError" and len(said["traceback"]) > 1


def test_another_error_keeps_its_traceback(errors):
    (said,) = errors["another"]
    assert said["ename"] == "ZeroDivisionError" and len(said["traceback"]) > 1
