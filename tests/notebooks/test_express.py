"""The short way: it begins with a picture, and its kernels are what the text says."""

import json
import linecache
import re
import textwrap
from pathlib import Path

import pytest
from oracles import minutes

from course_lib import measurements

FOLDER = Path(__file__).parents[2] / "notebooks"
#: What the solution's verdict on each kernel begins with; the first races on purpose: what is said of it is printed.
VERDICTS = {
    "exercise-racing": "The race you were asked for: found.",
    "exercise-barriers": "barriers: passed",
    "exercise-last-iteration": "last-iteration: passed",
}


def cells(name):
    """Return the cells of a notebook by their identifiers, each as (kind, source, text of the outputs)."""
    found = {}
    for cell in json.loads((FOLDER / name).read_text(encoding="utf-8"))["cells"]:
        texts = ["".join(out.get("text") or out["data"].get("text/plain", "")) for out in cell.get("outputs", ())]
        found[cell["id"]] = cell["cell_type"], "".join(cell["source"]), "\n".join(texts)
    return found


EXPRESS, SOLUTIONS = cells("express.ipynb"), cells("solutions/express.ipynb")


def test_its_minutes_are_those_that_counting_gives():
    (stated,) = re.findall(r"\*\*Time:\*\* about (\d+) minutes", EXPRESS["title"][1])
    notebook = json.loads((FOLDER / "express.ipynb").read_text(encoding="utf-8"))
    assert int(stated) == minutes.of_lesson(notebook["cells"]), "run python tests/oracles/minutes.py"


def test_its_first_output_is_the_stepper():
    first = next(text for _, _, text in EXPRESS.values() if text)
    assert first.startswith("Stepper of naive")


@pytest.mark.parametrize("name", VERDICTS)
def test_a_solution_is_the_skeleton_with_its_lines(name):
    """Outside the three dots they are equal; unfilled it is not yet an answer; filled it gets the wanted verdict."""
    skeleton, solution = EXPRESS[name], SOLUTIONS[name]
    before, after = re.split(r" +\.\.\.\n", skeleton[1])
    assert solution[1].startswith(before) and solution[1].endswith(after)
    about = int(re.search(r"about (\d) lines", before)[1])
    assert solution[1][len(before) : -len(after)].count("\n") == about
    assert re.search("^Not yet: no race" if name == "exercise-racing" else ": not yet", skeleton[2])
    assert solution[2].startswith(VERDICTS[name])


def test_what_it_says_of_cublas_was_recorded():
    """The prefetching kernel reaches less than a fifth of its speed."""
    speed = {name: measurements.load("twins").result(name)["gflops"] for name in ("prefetched_unsigned", "cublas")}
    assert 1 / 6 < speed["prefetched_unsigned"] / speed["cublas"] < 1 / 5


@pytest.mark.parametrize(
    "lines, said",
    [
        ("pass", "Not yet: no race."),
        ("for k in range(TILE):\n    acc += A_tile[ty, k + 1] * B_tile[k, tx]", "Not yet: out-of-bounds (line 14): "),
        ("for k in range(TILE):\n    acc += A_tile[ty, k - 1] * B_tile[k, tx]", "Not yet: negative-index (line 14): "),
        ("for k in range(TILE):\n    acc += A_tile[ty, k] * B_tile[k, tx]", "The race you were asked for: found."),
    ],
)
def test_the_race_cell_says_what_else_is_wrong_and_in_which_line(lines, said, capsys):
    source = EXPRESS["exercise-racing"][1].replace("        ...\n", textwrap.indent(lines, "        ") + "\n")
    file = "<the race cell>"
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    names = {}
    exec(EXPRESS["imports"][1], names)
    exec(compile(source, file, "exec"), names)
    assert capsys.readouterr().out.startswith(said)
