"""The place of each exercise in its lesson: the cell, the function that it asks for, and the text that is given."""

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any

from ...exercises import EXERCISES, LESSONS
from ...exercises.capstone import MILESTONES, NAME
from ...exercises.grading.explain import Explanation
from ..lessons import home

#: The lessons, in a checkout of the course or in the installed package, which has no solutions.
NOTEBOOKS = home()


@dataclass(frozen=True)
class ExerciseCell:
    """The cell of an exercise: its id, its source, the name of the function in it, "" for an answer in words."""

    exercise: str
    cell: str
    source: str
    function: str


@dataclass(frozen=True)
class Capstone:
    """The kernel of the capstone: a point for each milestone."""

    name: str = NAME
    points: int = len(MILESTONES)
    parameters: tuple[str, ...] = ("A", "B", "C")


#: What is graded, by name: the exercises, and in the last lesson also the kernel that ``attempt`` is given.
GRADED = EXERCISES | {NAME: Capstone()}


def lesson_named(words: str) -> str:
    """Return the lesson that "4", "04" or "04_tiling" means; raise ValueError if there is none."""
    for lesson in LESSONS:
        if words in (lesson, lesson[:2], str(int(lesson[:2]))):
            return lesson
    raise ValueError(f"there is no lesson {words!r}; the lessons are {', '.join(LESSONS)}")


@cache
def notebook(lesson: str, folder: Path = NOTEBOOKS) -> Any:
    """Return a lesson's notebook as JSON; raise FileNotFoundError if the folder does not have it."""
    return json.loads(stored(folder / f"{lesson}.ipynb"))


def stored(path: Path) -> str:
    """Return the text of a file; raise FileNotFoundError where the course is installed without it."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not there: run this command in a git clone of the course.")
    return path.read_text(encoding="utf-8")


@cache
def lesson_cells(lesson: str, folder: Path = NOTEBOOKS) -> tuple[tuple[str, str], ...]:
    """Return the code cells of a lesson, (id, source) each."""
    return tuple(code_cells(notebook(lesson, folder)))


def code_cells(notebook: object) -> Iterator[tuple[str, str]]:
    """Yield (id, source) for each code cell of a notebook's JSON; raise ValueError if it is no notebook."""
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list):
        raise ValueError("the file is no notebook of version 4: it has no list of cells")
    for cell in cells:
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            source = cell.get("source", "")
            text = "".join(map(str, source)) if isinstance(source, list) else str(source)
            yield str(cell.get("id", "")), text


@cache
def places(lesson: str, folder: Path = NOTEBOOKS) -> dict[str, ExerciseCell]:
    """Return the place of all that is graded in a lesson, its exercises in their order."""
    found = {}
    for cell, source in lesson_cells(lesson, folder):
        tree = parsed(source)
        for exercise, _ in calls(tree):
            defined = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
            in_words = isinstance(GRADED.get(exercise), Explanation)
            found[exercise] = ExerciseCell(exercise, cell, source, "" if in_words else defined[-1])
    names = [*(exercise.name for exercise in LESSONS[lesson]), NAME]  # without those that are optional
    return {name: found[name] for name in names if name in found}


@cache
def texts_above(lesson: str) -> dict[str, str]:
    """Return the text above each code cell of a lesson, by the cell's id, from its last heading on; without notes."""
    texts, above = {}, ""
    for cell in notebook(lesson)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            texts[cell["id"]] = above
        elif "Speaker notes" not in source:
            above = re.split(r"(?m)^(?=#+ )", source)[-1].strip()
    return texts


#: Expressions and statements inside each other. What reads a tree calls itself for each, and Python ends that at 1,000.
_DEEPEST = 100
_TOO_DEEP = f"more than {_DEEPEST} expressions are inside each other"

#: A line that only IPython reads: ``%time``, ``!ls``, ``files = !ls``, ``?name``, ``name?``.
_IPYTHON = re.compile(r"(?m)^[ \t]*(?:[\w., ]+=[ \t]*)?(?:[%!?].*|[\w.*]+\?+[ \t\r]*)$")


@lru_cache(1_000)
def parsed(source: str) -> ast.Module:
    """Return a cell's tree, if need be without the lines that only IPython reads; SyntaxError.

    Most cells of a student are the lesson's: their trees, which nobody changes, are made once.
    """
    try:
        try:
            tree = ast.parse(source)
        except SyntaxError:
            tree = ast.parse(_IPYTHON.sub("", source))
    except (RecursionError, MemoryError):
        raise SyntaxError(_TOO_DEEP) from None
    except ValueError as error:  # a null character
        raise SyntaxError(str(error)) from None
    nodes: list[ast.AST] = [tree]
    for _ in range(_DEEPEST):
        nodes = [child for node in nodes for child in ast.iter_child_nodes(node)]
    if nodes:
        raise SyntaxError(_TOO_DEEP)
    return tree


def calls(tree: ast.Module) -> Iterator[tuple[str, ast.Call]]:
    """Yield each ``check("name", …)`` and ``explain("name", …)`` of a cell, with the name.

    ``attempt(kernel, …)`` is yielded as if it named the capstone, too, but not where it is given one of the ladder's.
    """
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and node.args):
            continue
        called = getattr(node.func, "attr", getattr(node.func, "id", ""))  # of check(…), or of exercises.check(…)
        own = called == "attempt" and isinstance(node.args[0], ast.Name)
        name, *given = [ast.Constant(NAME), *node.args] if own else node.args
        if not own and called not in ("check", "explain"):
            continue
        if isinstance(name, ast.Constant) and isinstance(name.value, str):
            yield name.value, ast.Call(node.func, [name, *given], node.keywords)


def released_test(place: ExerciseCell) -> str:
    """Return the cell of an assignment that tests the answer above it, in the students' edition: it ends in the points.

    What is not passed is said on the error stream, which nbgrader's *Validate* shows.
    """
    if place.exercise == NAME:
        call = next(call for _, call in calls(parsed(place.source)) if getattr(call.func, "id", "") == "attempt")
        given = ", ".join(map(ast.unparse, call.args[1:]))
        return _TEST.format("attempt", f"attempt({given})", 'getattr(verdict, "milestones", 0)')
    return _TEST.format("check", f'check("{place.exercise}", {place.function})', "verdict.points")


#: `check` is imported again: a student may have given the name to something else.
_TEST = """import sys

from course_lib import {0}

verdict = {1}
print(verdict, file=sys.stdout if verdict else sys.stderr)
{2}"""
