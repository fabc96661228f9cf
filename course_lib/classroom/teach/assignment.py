"""Write the exercises of a lesson as an assignment: for nbgrader, for Otter, or plain."""

import argparse
import json
import secrets
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from string import Template
from typing import Any

from ...exercises.grading.explain import Explanation
from ...simulator.formatting import plural
from ..lessons import title
from ..pages.frame import write
from .cells import GRADED, NOTEBOOKS, lesson_cells, lesson_named, notebook, places, released_test, texts_above
from .isolated import SECONDS
from .worker import STANDARD

NBGRADER, OTTER, PLAIN = "nbgrader", "otter", "plain"


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument("lesson", help="such as 04")
    parser.add_argument("--for", dest="tool", choices=(NBGRADER, OTTER, PLAIN), default=PLAIN)
    parser.add_argument("--out", type=Path, default=Path(), help="the notebook's folder; of nbgrader, the course's")
    parser.add_argument("--solved", action="store_true", help="with the solutions, to try the tool")


def run(chosen: argparse.Namespace) -> int:
    """Run the command."""
    lesson = lesson_named(chosen.lesson)
    folder = chosen.out
    if chosen.tool == NBGRADER:  # a source with solutions would be released with them
        folder = folder.joinpath(*(("submitted", "solved") if chosen.solved else ("source",)), lesson)
    path = folder / f"{lesson}.ipynb"
    if path.resolve().is_relative_to(NOTEBOOKS.resolve()):
        raise ValueError(f"{path} would replace a lesson; choose another folder with --out")
    write(folder, {path.name: json.dumps(assignment(lesson, chosen.tool, chosen.solved), indent=1) + "\n"})
    points = sum(GRADED[name].points for name in places(lesson))
    print(f"{path}: {plural(len(places(lesson)), 'exercise')}, {points} points")
    if chosen.tool == NBGRADER:
        _configure(chosen.out / "nbgrader_config.py")
        print(f"Next, in the course's folder: nbgrader generate_assignment {lesson}")
        if find_spec("nbgrader") is None:
            print("nbgrader is not installed in this environment: the extra `grade` brings it (uv sync --extra grade)")
    if chosen.tool == OTTER:
        print(UNDEFENDED)
    return 0


#: What Otter's tests cannot defend.
UNDEFENDED = (
    "Otter collects points in the interpreter that has executed the student's cells, and one of them can replace the "
    "tests: let points count that nbgrader or `teach grade` gives."
)


def _configure(path: Path) -> None:
    """Write nbgrader's configuration, with a seed of its own; one that is there stays, with what was changed in it."""
    if path.exists():
        print(f"{path} is there already, and stays as it is")
        return
    settings = {"seed": secrets.randbelow(1_000_000), "seconds": SECONDS, "memory": STANDARD.memory >> 20}
    text = Path(__file__).with_name("nbgrader_config.txt").read_text(encoding="utf-8")
    write(path.parent, {path.name: Template(text).substitute(settings)})
    print(f"{path}: the course's judge, with a seed of its own")


def assignment(lesson: str, tool: str, solved: bool = False) -> dict[str, Any]:
    """Return the notebook: the lesson's imports, then each exercise with its text and its tests.

    ``solved``: the cells hold the solutions. Otter's notebook has them in any case, between marks.
    Raise FileNotFoundError if the solutions are missing.
    """
    given, solutions = places(lesson), places(lesson, NOTEBOOKS / "solutions")
    imports = dict(lesson_cells(lesson, NOTEBOOKS / "solutions"))["imports"]
    marks = {"nbgrader": _nbgrader("imports", locked=True)} if tool == NBGRADER else {}
    cells = [_cell("raw", "assignment", f"# ASSIGNMENT CONFIG\nname: {lesson}\nexport_cell: false")] * (tool == OTTER)
    cells += [_cell("markdown", "title", f"# {title(notebook(lesson))}: exercises")]
    cells += [_cell("code", "imports", imports, **marks)]
    texts = texts_above(lesson)
    for name, place in given.items():
        about = _cell("markdown", f"about-{name}", texts[place.cell])
        answer = _cell("code", place.cell, (solutions if solved else given)[name].source)
        if tool == OTTER:
            cells += _for_otter(name, about, answer, solutions[name].source)
        else:
            cells += [about, answer] + [_for_nbgrader(name, lesson)] * (tool == NBGRADER)
    kernel = {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"}
    return {"cells": cells, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}


Cell = dict[str, Any]


def _cell(kind: str, id: str, source: str, **metadata: Any) -> Cell:
    own: Cell = {"execution_count": None, "outputs": []} if kind == "code" else {}
    return {"cell_type": kind, "id": id, "metadata": metadata, "source": source, **own}


#: Imported in each test: a student may have given the name to something else.
_ISOLATED = "from course_lib.classroom.teach.isolated import isolated\n\n"


def _for_nbgrader(name: str, lesson: str) -> Cell:
    """The cell of the points. That of the answer has no marks of nbgrader, which would replace what is given by its
    own words."""
    exercise = GRADED[name]
    if isinstance(exercise, Explanation):
        ideas = "\n".join(f"- 1 point: {idea}" for idea in exercise.ideas)
        text = f"Your teacher reads the answer above: {plural(exercise.points, 'point')}."
        scheme = f"=== BEGIN MARK SCHEME ===\n{ideas}\n\nA model answer: {exercise.model}\n=== END MARK SCHEME ==="
        marks = _nbgrader(f"points-{name}", locked=True, task=True, points=exercise.points)
        return _cell("markdown", f"points-{name}", f"{text}\n\n{scheme}", nbgrader=marks)
    marks = _nbgrader(f"test-{name}", locked=True, grade=True, points=exercise.points)
    return _cell("code", f"test-{name}", released_test(places(lesson)[name]), nbgrader=marks)


def _nbgrader(grade_id: str, **changed: Any) -> dict[str, Any]:
    plain = {"grade": False, "locked": False, "schema_version": 3, "solution": False, "task": False}
    return plain | {"grade_id": grade_id} | changed


def _for_otter(name: str, about: Cell, answer: Cell, solution: str) -> Iterator[Cell]:
    """Write one test for each point, since a test of Otter gives all of its points or none.

    An answer that is "to read" fails them all, with the verdict that says so: Otter has no such outcome.
    """
    exercise = GRADED[name]
    manual = isinstance(exercise, Explanation)
    config = f"name: {name.replace('-', '_')}\npoints: {exercise.points}" + "\nmanual: true" * manual
    yield _cell("raw", f"begin-{name}", f"# BEGIN QUESTION\n{config}")
    yield about
    yield _cell("raw", f"solution-{name}", "# BEGIN SOLUTION")
    if not manual:
        prompt = f'""" # BEGIN PROMPT\n{answer["source"]}\n""" # END PROMPT\n'
        answer["source"] = f"{prompt}# BEGIN SOLUTION NO PROMPT\n{solution}\n# END SOLUTION"
    yield answer
    yield _cell("raw", f"end-solution-{name}", "# END SOLUTION")
    if not manual:
        yield _cell("raw", f"tests-{name}", "# BEGIN TESTS")
        for point in range(1, exercise.points + 1):
            test = f'{_ISOLATED}verdict = isolated("{name}")\nassert (verdict.points or 0) >= {point}, verdict'
            yield _cell("code", f"test-{name}-{point}", test)
        yield _cell("raw", f"end-tests-{name}", "# END TESTS")
    yield _cell("raw", f"end-{name}", "# END QUESTION")
