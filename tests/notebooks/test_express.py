"""The short way: it begins with a picture, and its kernels are what the text says."""

import json
import linecache
import re
import textwrap
from pathlib import Path

import pytest
from nightly import at_night
from oracles import minutes

from course_lib import measurements

FOLDER = Path(__file__).parents[2] / "notebooks"


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


def test_the_solution_is_the_skeleton_with_its_lines():
    """Outside the three dots they are equal; unfilled it is not yet an answer; filled it passes."""
    skeleton, solution = EXPRESS["exercise-barriers"], SOLUTIONS["exercise-barriers"]
    before, after = re.split(r" +\.\.\.\n", skeleton[1])
    assert solution[1].startswith(before) and solution[1].endswith(after)
    about = int(re.search(r"about (\d) lines", before)[1])
    assert solution[1][len(before) : -len(after)].count("\n") == about
    assert ": not yet" in skeleton[2] and solution[2].startswith("barriers: passed")


@pytest.mark.parametrize(
    ("barriers", "hint"),
    [((), "race"), at_night((0,), "barrier-before-overwriting"), at_night((1,), "barrier-before-use"), ((0, 1), "")],
)
def test_the_exercise_finds_the_race_that_it_asks_for(barriers, hint):
    """Without barriers, as the text says first, and with one of the two; its button opens the race."""
    first, second = ("cuda.syncthreads()\n" * (place in barriers) for place in range(2))
    lines = f"{first}for k in range(TILE):\n    acc += A_tile[ty, k] * B_tile[k, tx]\n{second}"
    source = EXPRESS["exercise-barriers"][1].replace(" " * 8 + "...\n", textwrap.indent(lines, " " * 8))
    file = "<the exercise>"
    linecache.cache[file] = len(source), None, source.splitlines(True), file
    names = {}
    exec(EXPRESS["imports"][1], names)
    *_, shown = source.split("\n\n\n")
    exec(compile(source.removesuffix(shown), file, "exec"), names)
    verdict = eval(shown, names)
    assert (verdict.passed, verdict.hint_id, verdict.opens is None) == (not hint, hint, not hint)


def test_what_it_says_of_cublas_was_recorded():
    """The prefetching kernel reaches less than a fifth of its speed."""
    speed = {name: measurements.load("variants").result(name)["gflops"] for name in ("prefetched_unsigned", "cublas")}
    assert 1 / 6 < speed["prefetched_unsigned"] / speed["cublas"] < 1 / 5
