"""Judgement in the place of execution: each answer from its text, and the output that has the points for nbgrader."""

import json
from dataclasses import replace
from typing import Any

from nbformat import NotebookNode
from nbformat.v4 import new_output
from nbgrader.api import Gradebook
from nbgrader.preprocessors import NbGraderPreprocessor
from nbgrader.utils import is_grade, is_locked, is_solution, is_task
from traitlets import Integer

from ...trace.notebook_outputs import KEY
from ..teach.cells import places
from ..teach.isolated import SECONDS, judged_notebook, limits_for, shared_worker
from ..teach.judge import TO_READ, UNREADABLE, Judged, unjudged
from ..teach.worker import STANDARD, Stopped
from .rebuilding import exercise_of


class Judge(NbGraderPreprocessor):
    """The preprocessor in the place of nbgrader's `Execute`: it judges the answers in a notebook from their texts.

    The cell of a test gets the verdict, with its picture, and the points. Nothing of the student is executed here, and
    no test that an instructor wrote:

    >>> marks = {"grade": True, "solution": False, "task": False, "locked": True, "grade_id": "mine", "points": 2}
    >>> test = new_code_cell("assert False", metadata={"nbgrader": marks | {"schema_version": 3}})
    >>> judged, _ = Judge().preprocess(new_notebook(cells=[test]), {})
    >>> print(judged.cells[0].outputs[0].data["text/plain"])
    mine: to read, points by hand. This test is none of the course's: it was not executed.
    """

    seed = Integer(None, allow_none=True, help="Draws sizes and calls beyond those that `check` makes.").tag(
        config=True
    )
    seconds = Integer(SECONDS, min=1, help="Processor time of a notebook, shared equally by its exercises.").tag(
        config=True
    )
    memory = Integer(STANDARD.memory >> 20, min=1, help="MiB of memory of an answer.").tag(config=True)

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        graded = [
            (exercise_of(cell.metadata.nbgrader.grade_id), cell) for cell in nb.cells if is_grade(cell) or is_task(cell)
        ]
        rows: dict[str, Judged] = {}
        for lesson in dict.fromkeys(exercise[0] for exercise, _ in graded if exercise):
            rows |= {row.exercise: row for row in self._judged(nb, lesson)}
        for exercise, cell in graded:
            if exercise:
                _show(rows[exercise[1]], cell)
            elif cell.cell_type == "code" and not is_solution(cell):
                _show(_not_executed(cell.metadata.nbgrader), cell)
        return nb, resources

    def _judged(self, nb: NotebookNode, lesson: str) -> list[Judged]:
        """The verdict on each exercise of a lesson."""
        limits = replace(limits_for(lesson, self.seconds), memory=self.memory << 20)
        own = (cell for cell in nb.cells if cell.cell_type == "code" and not is_locked(cell))
        texts = [{"cell_type": "code", "id": cell.id, "source": cell.source} for cell in own]
        problem = nb.metadata.get(KEY, {}).get("unreadable", "")
        if not problem:
            try:
                return judged_notebook(json.dumps({"cells": texts}).encode(), lesson, shared_worker(limits), self.seed)
            except (Stopped, ValueError) as error:
                problem = f"{error}."
        return [replace(unjudged(name, UNREADABLE, problem), points=None) for name in places(lesson)]


def _not_executed(marks: Any) -> Judged:
    """The verdict on a test that the instructor wrote."""
    return Judged(
        marks.grade_id, None, marks.points, TO_READ, "This test is none of the course's: it was not executed."
    )


def _show(row: Judged, cell: NotebookNode) -> None:
    """Write a verdict into the cell of the assignment that gives its points."""
    cell.metadata[KEY] = NotebookNode(exercise=row.exercise, status=row.status, hint=row.hint, points=row.points)
    if cell.cell_type == "code":
        shown = new_output("display_data", {"text/html": row._repr_html_(), "text/plain": str(row)})
        # nbgrader gives all points to a cell without output; `MarkManualGrades` takes these away if a person gives them
        points = new_output("execute_result", {"text/plain": repr(float(row.points or 0))}, execution_count=1)
        cell.outputs, cell.execution_count = [shown, points], 1


class MarkManualGrades(NbGraderPreprocessor):
    """The preprocessor after `SaveAutoGrades`: it marks for a person what was not judged, and what is to be read.

    >>> found = {"exercise": "mine", "status": "to read", "hint": "", "points": None}
    >>> test = new_code_cell(metadata={"nbgrader": {"grade_id": "mine"}, "tile_by_tile": found})
    >>> _ = MarkManualGrades().preprocess(new_notebook(cells=[test]), {"nbgrader": of_ana})
    >>> with Gradebook(of_ana["db_url"]) as book:
    ...     book.find_grade("mine", of_ana["notebook"], of_ana["assignment"], of_ana["student"]).needs_manual_grade
    True
    """

    def preprocess(self, nb: NotebookNode, resources: Any) -> tuple[NotebookNode, Any]:
        where = resources["nbgrader"]
        with Gradebook(where["db_url"]) as book:
            for cell in nb.cells:
                if KEY in cell.metadata:
                    grade = book.find_grade(
                        cell.metadata.nbgrader.grade_id, where["notebook"], where["assignment"], where["student"]
                    )
                    grade.auto_score = cell.metadata[KEY]["points"]
                    grade.needs_manual_grade = grade.auto_score is None or grade.manual_score is not None
            book.db.commit()
        return nb, resources
