"""Export of a row for each student and exercise: the points that count, and what the judge said."""

import json
from collections.abc import Iterator
from glob import glob
from pathlib import Path
from typing import Any

from nbgrader.api import Gradebook, MissingEntry
from nbgrader.plugins import ExportPlugin

from ...trace.notebook_outputs import KEY
from ..teach.grade import NO_NOTEBOOK
from ..teach.judge import MISSING
from ..teach.table import write_table
from .reading import match_folder
from .rebuilding import exercise_of, place_of

#: The status of a submission that nbgrader has not graded yet, and of points that a person gave.
NOT_GRADED, BY_HAND = "not graded", "by hand"
COLUMNS = (
    *("assignment", "student_id", "last_name", "first_name", "email", "exercise", "points", "of", "status", "waits"),
    *("hint", "comment", "timestamp", "seconds_late", "late_penalty"),
)


class Exercises(ExportPlugin):
    """The plug-in of `nbgrader export` that writes a row for each student and exercise, quoted.

    Every student has the rows of each assignment in the gradebook: whoever is in the gradebook, and whoever has a
    folder in ``submitted``. ``waits`` is "yes" where a person gives the points, or has to look at them again; points
    that nobody gave yet are empty. The penalty is that of the whole notebook.

    >>> with Gradebook(of_ana["db_url"]) as book:
    ...     Exercises(parent=application, to="exercises.csv").export(book)
    >>> rows = csv.DictReader(Path("exercises.csv").open(encoding="utf-8"))
    >>> [(row["student_id"], row["exercise"], row["points"], row["of"], row["status"]) for row in rows]
    [('ana', 'mine', '', '2', 'not graded')]
    """

    def export(self, gradebook: Gradebook) -> None:
        """Write the rows of the chosen assignments and students; name what the gradebook does not have."""
        path = Path(self.to or "exercises.csv")
        assignments, students = {str(name) for name in self.assignment}, {str(name) for name in self.student}
        rows = [
            [row.get(column, "") for column in COLUMNS]
            for assignment in gradebook.assignments
            if not assignments or assignment.name in assignments
            for row in self._rows(gradebook, assignment)
            if not students or row["student_id"] in students
        ]
        write_table(path, COLUMNS, rows)
        for name in sorted(self._submitted() - {assignment.name for assignment in gradebook.assignments}):
            self.log.warning(
                "The gradebook has no %s: call `nbgrader generate_assignment %s`, then autograde it", name, name
            )
        self.log.info("Wrote %d rows to %s", len(rows), path)

    def _submitted(self) -> set[str]:
        """Assignments that have a folder in ``submitted``."""
        course = self.parent.coursedir
        folders = glob(course.format_path(course.submitted_directory, "*", "*"))
        return {Path(folder).name for folder in folders if Path(folder).is_dir()}

    def _rows(self, gradebook: Gradebook, assignment: Any) -> Iterator[dict[str, Any]]:
        """Yield the rows of an assignment by column: student by student, exercise by exercise."""
        course = self.parent.coursedir
        folders = glob(course.format_path(course.submitted_directory, "*", assignment.name))
        handed_in = {found["student"] for folder in folders if (found := match_folder(course, folder))}
        students = {student.id: student.to_dict() for student in gradebook.students}
        for id in sorted(handed_in | students.keys()):
            names = {name: students.get(id, {}).get(name) or "" for name in ("last_name", "first_name", "email")}
            graded = Path(course.format_path(course.autograded_directory, id, assignment.name))
            for notebook in assignment.notebooks:
                said = _judge_results(graded / f"{notebook.name}.ipynb")
                for cell in sorted((*notebook.grade_cells, *notebook.task_cells), key=lambda cell: place_of(cell.name)):
                    exercise = exercise_of(cell.name)
                    row = {"assignment": assignment.name, "student_id": id, **names, "of": f"{cell.max_score:g}"}
                    row["exercise"] = exercise[1] if exercise else cell.name
                    try:
                        row |= _graded(gradebook, (cell.name, notebook.name, assignment.name, id), said)
                    except MissingEntry:  # nbgrader found no notebook
                        empty = {"status": NO_NOTEBOOK, "hint": "the folder has no notebook (*.ipynb).", "waits": "yes"}
                        row |= empty if id in handed_in else {"status": MISSING, "points": "0"}
                    yield row


def _graded(gradebook: Gradebook, names: tuple[str, str, str, str], said: dict[str, Any]) -> dict[str, Any]:
    """What nbgrader and the judge have on one cell of a submission: (cell, notebook, assignment, student)."""
    *_, assignment, student = names
    submission = gradebook.find_submission(assignment, student)
    grade, verdict = gradebook.find_grade(*names), said.get(names[0], {"status": NOT_GRADED})
    try:
        comment = gradebook.find_comment(*names).comment
    except MissingEntry:  # a test has none
        comment = ""
    given = grade.manual_score is not None or grade.auto_score is not None
    late, penalty = submission.total_seconds_late, submission.late_submission_penalty
    return {
        "points": f"{grade.score:g}" if given else "",
        "status": BY_HAND if grade.manual_score is not None else verdict["status"],
        "waits": "yes" if grade.needs_manual_grade else "",
        "hint": verdict.get("hint", ""),
        "comment": comment or "",
        "timestamp": submission.timestamp or "",
        "seconds_late": f"{late:.0f}" if late else "",
        "late_penalty": f"{penalty:g}" if penalty else "",
    }


def _judge_results(path: Path) -> dict[str, Any]:
    """What the judge said about each cell of a graded notebook, by its grade id."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    except (OSError, ValueError):
        return {}
    metadata = (cell["metadata"] for cell in cells)
    return {each["nbgrader"]["grade_id"]: each[KEY] for each in metadata if KEY in each}
