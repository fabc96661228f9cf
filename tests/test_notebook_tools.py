"""Notebooks are compared strictly, and re-executing one that is up to date changes nothing."""

import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

#: Each test starts processes. By day lessons pass, and tests/notebooks/test_cells_again.py shows a wrong output fail.
pytestmark = pytest.mark.nightly

REPOSITORY = Path(__file__).parents[1]
CELLS = [
    "import sys, warnings, ipywidgets\nimport matplotlib.pyplot as plt\n%matplotlib inline",
    "for part in ('one', 'two'):\n    print(part, flush=True)\n    print(part, file=sys.stderr, flush=True)",
    "warnings.warn('watch out')",
    "ipywidgets.IntSlider(value=3)",
    "lines = plt.plot([3, 1, 2])",
    "6 * 7",
]


def write(path, cells):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in cells])
    nbformat.write(notebook, path)


def execute(path):
    tool = REPOSITORY / "tools" / "execute_notebooks.py"
    return subprocess.run([sys.executable, tool, path], capture_output=True, text=True, timeout=300)


def validate(path, *options):
    """Run pytest on one notebook with the project's own configuration."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--config-file=pyproject.toml",
        "--color=no",
        "-n0",
        *options,
        path,
    ]
    return subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=300)


@pytest.fixture(scope="module")
def executed(tmp_path_factory):
    path = tmp_path_factory.mktemp("notebook") / "lesson.ipynb"
    write(path, CELLS)
    result = execute(path)
    assert result.returncode == 0, result.stderr
    return path


def test_second_execution_changes_nothing(executed):
    """Times, process ids and widget ids would each make a difference."""
    before = executed.read_bytes()

    result = execute(executed)

    assert result.returncode == 0, result.stderr
    assert before == executed.read_bytes()


def test_endless_cell_fails(tmp_path):
    """A cell that does not end is interrupted and reported."""
    path = tmp_path / "endless.ipynb"
    write(path, ["while True:\n    pass"])

    result = validate(path, "--nbval-cell-timeout=2")

    assert result.returncode == 1
    assert "Timeout of 2 seconds exceeded" in result.stdout


def test_execution_stops_at_an_error(tmp_path):
    """An error ends the run with its message, and the file stays as it was."""
    path = tmp_path / "broken.ipynb"
    write(path, ["1 / 0"])
    before = path.read_bytes()

    result = execute(path)

    assert result.returncode != 0
    assert "ZeroDivisionError" in result.stderr
    assert before == path.read_bytes()
