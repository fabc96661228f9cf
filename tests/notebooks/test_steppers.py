"""A lesson's stepper offers no view that a later lesson explains."""

import ast
import re
from pathlib import Path

import nbformat
import pytest

from course_lib.exercises.grading.stepper_at import panels_explained_by
from course_lib.trace.viewer.stepper import PANELS

NOTEBOOKS = sorted(Path(__file__).parents[2].joinpath("notebooks").glob("[0-9]*.ipynb"))


def steppers(path):
    """The calls of Stepper, compare and explore in a notebook's cells."""
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type != "code" or not re.search(r"\b(Stepper|compare|explore)\(", cell.source):
            continue
        for node in ast.walk(ast.parse(cell.source)):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("Stepper", "compare", "explore"):
                yield node


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_views_are_explained_before_they_are_offered(path):
    taught = panels_explained_by(int(path.name[:2]))
    for call in steppers(path):
        given = [ast.literal_eval(word.value) for word in call.keywords if word.arg == "panels"]
        early = [name for name in (given[0] if given else PANELS) if name not in taught]
        assert not early, f"{ast.unparse(call)}: {', '.join(early)} come later"


def test_the_lessons_have_steppers():
    assert any(map(list, map(steppers, NOTEBOOKS)))
