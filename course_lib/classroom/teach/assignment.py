"""Write the exercises of a lesson as an assignment: for nbgrader, for Otter, or plain."""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ...exercises import EXERCISES
from ...exercises.grading.exercise import Exercise
from ...exercises.grading.explain import Explanation
from ...exercises.variants import Variant, code_of
from ..lessons import title
from .cells import NOTEBOOKS, ExerciseCell, counted, lesson_cells, lesson_named, notebook, places

NBGRADER, OTTER, PLAIN = "nbgrader", "otter", "plain"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("lesson", help="such as 04")
    parser.add_argument("--for", dest="tool", choices=(NBGRADER, OTTER, PLAIN), default=PLAIN)
    parser.add_argument("--out", type=Path, default=Path(), help="the folder of the notebook")
    parser.add_argument("--solved", action="store_true", help="with the solutions, to try the tool")
    parser.add_argument(
        "--variant-key", metavar="KEY", help="a secret: each student gets other names, sizes, numbers and tiles"
    )
    parser.add_argument("--students", type=Path, metavar="FILE", help="with --variant-key: their names, one a line")


def run(chosen: argparse.Namespace) -> int:
    """Run the command."""
    lesson = lesson_named(chosen.lesson)
    if (chosen.variant_key is None) != (chosen.students is None):
        raise ValueError("--variant-key and --students belong together: name a key and a file of the students' names")
    if chosen.variant_key == "":
        raise ValueError("--variant-key is empty: name a secret, and use it with teach grade again")
    if chosen.students is None:
        _write(chosen.out, lesson, assignment(lesson, chosen.tool, chosen.solved))
        return 0
    if chosen.tool != PLAIN:
        raise ValueError(f"{chosen.tool} hands out one notebook for all: variants are for --for plain")
    for student in _names(chosen.students):
        variant = Variant(code_of(chosen.variant_key, student, lesson))
        _write(chosen.out / student, lesson, assignment(lesson, PLAIN, chosen.solved, variant))
    return 0


def _write(folder: Path, lesson: str, notebook: dict[str, Any]) -> None:
    path = folder / f"{lesson}.ipynb"
    if path.resolve().is_relative_to(NOTEBOOKS.resolve()):
        raise ValueError(f"{path} would replace a lesson; choose another folder with --out")
    folder.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook, indent=1) + "\n", encoding="utf-8")
    print(f"{path}: {counted(len(places(lesson)), 'exercise')}, {_points(lesson)} points")


def _names(path: Path) -> list[str]:
    """The names in a file, one a line; each is the name of a folder, as `teach grade` finds it."""
    names = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    wrong = [name for name in names if re.search(r'[\\/:*?"<>|]|^\.', name)]
    twice = [name for name, count in Counter(name.casefold() for name in names).items() if count > 1]
    if not names or wrong or twice:
        said = [f"{name!r} cannot be the name of a folder" for name in wrong] + [f"{name!r} is twice" for name in twice]
        raise ValueError(f"{path}: {', '.join(said) or 'there is no name in it'}")
    return names


def _points(lesson: str) -> int:
    return sum(EXERCISES[name].points for name in places(lesson))


def assignment(lesson: str, tool: str, solved: bool = False, variant: Variant | None = None) -> dict[str, Any]:
    """Return the notebook: the lesson's imports, then each exercise with its text and its tests.

    ``solved``: the cells hold the solutions. Otter's notebook has them in any case, between marks.
    ``variant``: that of a student, in a plain notebook.
    Raise FileNotFoundError if the solutions are missing.
    """
    solutions = places(lesson, NOTEBOOKS / "solutions")
    imports = dict(lesson_cells(lesson, NOTEBOOKS / "solutions"))["imports"]
    cells = [_markdown("title", f"# {title(notebook(lesson))}: exercises"), _code("imports", imports)]
    if tool == NBGRADER:
        cells[1]["metadata"]["nbgrader"] = _nbgrader("imports", locked=True)
    if tool == OTTER:
        cells.insert(0, _raw("assignment", f"# ASSIGNMENT CONFIG\nname: {lesson}\nexport_cell: false"))
    texts = _texts(lesson)
    if variant:
        cells[0]["source"] += f"\n\nYour variant of the exercises is `{variant.code}`. {_OWN}"
        cells[1]["source"] = re.sub(r"(?m)^TILE = \d+$", variant.constants(places(lesson)), imports)
    for name, place in places(lesson).items():
        about = _markdown(f"about-{name}", texts[place.cell])
        answer = _code(place.cell, (solutions[name] if solved else place).source)
        write = {NBGRADER: _for_nbgrader, OTTER: _for_otter, PLAIN: _plain}[tool]
        if variant and isinstance(EXERCISES[name], Exercise):
            _vary(about, answer, variant, name)
        cells += write(name, about, answer, solutions[name])
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


Cell = dict[str, Any]
_OWN = """The names of the matrices, the sizes and the numbers are your own, and so is the width of the tiles where a
kernel uses `TILE`. Keep the names of the parameters: another student's kernel does not pass here."""


def _vary(about: Cell, answer: Cell, variant: Variant, name: str) -> None:
    """Write the variant into the text and the cell of an exercise."""
    exercise = EXERCISES[name]
    assert isinstance(exercise, Exercise)
    sizes = ", ".join(str(shape if len(shape) > 1 else shape[0]) for shape in variant.exercise(exercise).task.launches)
    about["source"] = f"{variant.told(about['source'], name)}\n\n**Your sizes:** {exercise.task.sizes} = {sizes}."
    called = re.sub(r"(check\([^()]*)\)", rf'\1, variant="{variant.code}")', answer["source"])
    answer["source"] = variant.renamed(called)


def _plain(name: str, about: Cell, answer: Cell, solution: ExerciseCell) -> Iterator[Cell]:
    yield about
    yield answer


#: Imported in each test: a student may have given the name to something else.
_ISOLATED = "from course_lib.classroom.teach.isolated import isolated\n\n"


def _for_nbgrader(name: str, about: Cell, answer: Cell, solution: ExerciseCell) -> Iterator[Cell]:
    """The cell of the answer has no marks of nbgrader, which would replace what is given by its own words."""
    exercise = EXERCISES[name]
    yield about
    yield answer
    if isinstance(exercise, Explanation):
        ideas = "\n".join(f"- 1 point: {idea}" for idea in exercise.ideas)
        text = f"Your teacher reads the answer above: {counted(exercise.points, 'point')}."
        scheme = f"=== BEGIN MARK SCHEME ===\n{ideas}\n\nA model answer: {exercise.model}\n=== END MARK SCHEME ==="
        cell = _markdown(f"points-{name}", f"{text}\n\n{scheme}")
        cell["metadata"]["nbgrader"] = _nbgrader(f"points-{name}", locked=True, task=True, points=exercise.points)
    else:
        cell = _code(f"test-{name}", f'{_ISOLATED}verdict = isolated("{name}")\nprint(verdict)\nverdict.points')
        cell["metadata"]["nbgrader"] = _nbgrader(f"test-{name}", locked=True, grade=True, points=exercise.points)
    yield cell


def _nbgrader(grade_id: str, **changed: Any) -> dict[str, Any]:
    plain = {"grade": False, "locked": False, "schema_version": 3, "solution": False, "task": False}
    return plain | {"grade_id": grade_id} | changed


def _for_otter(name: str, about: Cell, answer: Cell, solution: ExerciseCell) -> Iterator[Cell]:
    """Write one test for each point, since a test of Otter gives all of its points or none."""
    exercise = EXERCISES[name]
    manual = isinstance(exercise, Explanation)
    config = f"name: {name.replace('-', '_')}\npoints: {exercise.points}" + "\nmanual: true" * manual
    yield _raw(f"begin-{name}", f"# BEGIN QUESTION\n{config}")
    yield about
    yield _raw(f"solution-{name}", "# BEGIN SOLUTION")
    if not manual:
        prompt = f'""" # BEGIN PROMPT\n{answer["source"]}\n""" # END PROMPT\n'
        answer = _code(answer["id"], f"{prompt}# BEGIN SOLUTION NO PROMPT\n{solution.source}\n# END SOLUTION")
    yield answer
    yield _raw(f"end-solution-{name}", "# END SOLUTION")
    if not manual:
        yield _raw(f"tests-{name}", "# BEGIN TESTS")
        for point in range(1, exercise.points + 1):
            test = f'{_ISOLATED}verdict = isolated("{name}")\nassert verdict.points >= {point}, verdict'
            yield _code(f"test-{name}-{point}", test)
        yield _raw(f"end-tests-{name}", "# END TESTS")
    yield _raw(f"end-{name}", "# END QUESTION")


def _texts(lesson: str) -> dict[str, str]:
    """The text above each code cell, from its last heading on; speaker notes are left out."""
    texts, above = {}, ""
    for cell in notebook(lesson)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            texts[cell["id"]] = above
        elif "Speaker notes" not in source:
            above = re.split(r"(?m)^(?=#+ )", source)[-1].strip()
    return texts


def _markdown(cell: str, source: str) -> Cell:
    return {"cell_type": "markdown", "id": cell, "metadata": {}, "source": source}


def _raw(cell: str, source: str) -> Cell:
    return {"cell_type": "raw", "id": cell, "metadata": {}, "source": source}


def _code(cell: str, source: str) -> Cell:
    return _markdown(cell, source) | {"cell_type": "code", "execution_count": None, "outputs": []}
