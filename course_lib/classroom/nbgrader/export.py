"""Export of a row for each student and exercise: the points that count, and what the judge said."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.plugins import ExportPlugin

from ..teach.gradebook import write_table
from ..teach.judge import MISSING
from .mending import exercise_of
from .reading import OURS

#: The status of a submission that nbgrader has not graded yet, and of points that a person gave.
NOT_GRADED, BY_HAND = "not graded", "by hand"
COLUMNS = (
    *("assignment", "student_id", "last_name", "first_name", "email", "exercise", "points", "of", "status", "waits"),
    *("hint", "comment", "timestamp", "seconds_late", "late_penalty"),
)


class Exercises(ExportPlugin):  # type: ignore[misc]
    """The plug-in of `nbgrader export` that writes a row for each student and exercise, quoted.

    Every student has the rows: whoever is in the gradebook, and whoever has a folder in ``submitted``. ``waits`` is
    "yes" where a person gives the points, or has to look at them again. The penalty is that of the whole notebook.
    """

    def export(self, gradebook: Gradebook) -> None:
        path = Path(self.to or "exercises.csv")
        wanted, students = {str(name) for name in self.assignment}, {str(name) for name in self.student}
        rows = [
            [row.get(column, "") for column in COLUMNS]
            for assignment in gradebook.assignments
            if not wanted or assignment.name in wanted
            for student in self._students(gradebook, assignment.name)
            if not students or student["id"] in students
            for row in self._rows(gradebook, assignment, student)
        ]
        write_table(path, COLUMNS, rows)
        self.log.info("Wrote %d rows to %s", len(rows), path)

    def _students(self, gradebook: Gradebook, assignment: str) -> list[dict[str, Any]]:
        found = {student.id: student.to_dict() for student in gradebook.students}
        course = self.parent.coursedir
        for folder in Path(course.root).glob(
            course.format_path(course.submitted_directory, "*", assignment).removeprefix(f"{course.root}/")
        ):
            name = folder.parent.name
            found.setdefault(name, {"id": name})
        return [found[name] for name in sorted(found)]

    def _rows(self, gradebook: Gradebook, assignment: Any, student: dict[str, Any]) -> Iterator[dict[str, Any]]:
        course = self.parent.coursedir
        try:
            submission = gradebook.find_submission(assignment.name, student["id"])
        except MissingEntry:
            submission = None
        for notebook in assignment.notebooks:
            file = Path(course.format_path(course.autograded_directory, student["id"], assignment.name))
            said = _said(file / f"{notebook.name}.ipynb")
            for cell in sorted((*notebook.grade_cells, *notebook.task_cells), key=lambda cell: cell.name):
                row = {name: student.get(name) or "" for name in ("last_name", "first_name", "email")}
                row |= {"assignment": assignment.name, "student_id": student["id"], "of": f"{cell.max_score:g}"}
                exercise = exercise_of(cell.name)
                row |= {"exercise": exercise[1] if exercise else cell.name, "status": MISSING, "points": "0"}
                if submission is not None:
                    row |= self._graded(gradebook, submission, notebook.name, cell.name, said)
                yield row

    def _graded(
        self, gradebook: Gradebook, submission: Any, notebook: str, cell: str, said: dict[str, Any]
    ) -> dict[str, Any]:
        names = notebook, submission.assignment.name, submission.student.id
        grade = gradebook.find_grade(cell, *names)
        told = said.get(cell, {"status": NOT_GRADED})
        waits = grade.needs_manual_grade
        unread = waits and grade.manual_score is None and grade.auto_score is None
        try:
            comment = gradebook.find_comment(cell, *names).comment
        except MissingEntry:
            comment = ""
        return {
            "points": "" if unread else f"{grade.score:g}",
            "status": BY_HAND if grade.manual_score is not None else told["status"],
            "waits": "yes" if waits else "",
            "hint": told.get("hint", ""),
            "comment": comment or "",
            "timestamp": submission.timestamp or "",
            "seconds_late": f"{submission.total_seconds_late:.0f}" if submission.total_seconds_late else "",
            "late_penalty": f"{submission.late_submission_penalty:g}" if submission.late_submission_penalty else "",
        }


def _said(path: Path) -> dict[str, Any]:
    """What the judge said about each cell of a graded notebook, by its grade id."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError):
        return {}
    return {
        cell["metadata"]["nbgrader"]["grade_id"]: cell["metadata"][OURS] for cell in cells if OURS in cell["metadata"]
    }
