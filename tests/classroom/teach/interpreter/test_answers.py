"""Honest answers to the exercises on plain functions: none is refused, and each call gives what Python itself gives."""

import ast
import copy
import math

import numpy as np
import pytest
from classroom.teach.interpreter.answers import HONEST
from exercises.tables import applied, tables
from nightly import every

from course_lib.classroom.teach.cells import GRADED, NOTEBOOKS, ExerciseCell, calls, lesson_cells, parsed
from course_lib.classroom.teach.extract import extract
from course_lib.classroom.teach.judge import draw_calls
from course_lib.classroom.teach.submission import Answer
from course_lib.exercises.grading.routines import Routine, judge

LESSON_OF, CELLS = {}, {}
for _folder in (NOTEBOOKS, NOTEBOOKS / "solutions"):
    for _lesson in (path.stem for path in sorted(NOTEBOOKS.glob("[0-9]*.ipynb"))):
        for _, _source in lesson_cells(_lesson, _folder):
            for _name in (name for name, _ in calls(parsed(_source)) if isinstance(GRADED.get(name), Routine)):
                LESSON_OF[_name] = _lesson
                CELLS.setdefault(_name, []).append(_source)
OWN = [(name, text.strip("\n")) for name, texts in HONEST.items() for text in texts.split("---\n")]


def stored():
    """(exercise, text) of the solution, and of each stored answer, right or wrong."""
    for name, lesson in LESSON_OF.items():
        skeleton, solution = CELLS[name]
        yield name, solution
        for table in ("RIGHT", "WRONG", "NIGHTLY"):
            for answer in tables(f"lesson_{lesson}").get(table, {}).get(name, {}).values():
                yield name, applied(answer if table == "RIGHT" else answer[0], solution, skeleton)


STORED = list(stored())


def extracted(name, text):
    """What is judged of a cell, in a lesson whose own cells are the student's, too."""
    defined = [node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    return extract(LESSON_OF[name], ExerciseCell(name, "", text, defined[-1]), Answer(text))


def arguments(name):
    """The arguments of each call that an exercise may make."""
    read = [tuple(np.float32(a["float32"]) if isinstance(a, dict) and "float32" in a else a for a in each)
            for each, _ in draw_calls(name, 7)]  # fmt: skip
    return [*(case.arguments for case in GRADED[name].cases), *read]


def plain(value):
    """A value that can be compared: its type, and NaN equal to NaN."""
    if isinstance(value, float | np.floating):
        return float, "nan" if math.isnan(value) else float(value)
    return (
        (type(value).__name__, value.tolist()) if isinstance(value, np.ndarray | np.generic) else (type(value), value)
    )


def told(function, given):
    """What a call gives: its value, or the type of what it raises."""
    try:
        return plain(function(*copy.deepcopy(given)))
    except Exception as error:
        return type(error).__name__


def executed(name, text):
    """The function of a cell as Python defines it, among the lesson's usual imports; the text is our own."""
    scope = {"np": np, "math": math, "check": lambda *_: None}
    exec(compile(text, "<own>", "exec"), scope)
    return scope[[node.name for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)][-1]]


def test_there_are_answers_to_all_routines():
    assert {*HONEST} == {name for name, each in GRADED.items() if isinstance(each, Routine)} == {*LESSON_OF}


@pytest.mark.parametrize("name, text", OWN, ids=[f"{name}-{n}" for n, (name, _) in enumerate(OWN)])
def test_an_honest_answer_passes(name, text):
    """In whatever style it is written, it gets all points."""
    found = extracted(name, text)
    verdict = judge(GRADED[name], found.function, found.run, draw_calls(name, 7))
    assert verdict.passed and verdict.points == GRADED[name].points, verdict


BOTH = [*STORED, *OWN]


@pytest.mark.parametrize("answer", every(3, BOTH), ids=[f"{name}-{n}" for n, (name, _) in enumerate(BOTH)])
def test_the_interpreter_gives_what_python_gives(answer):
    """Also what is wrong: the same values, and the same exceptions. What never ends is left out."""
    name, text = answer
    if "while width:" in text or "while mix:" in text:
        pytest.skip("it does not end")
    found, function = extracted(name, text), executed(name, text)
    for given in arguments(name):
        assert told(lambda *a: found.run(None, a), given) == told(function, given)  # noqa: B023
