"""A real course of nbgrader: released, collected, graded, graded again, with feedback and export."""

import csv
import json
import re

import pytest

pytest.importorskip("nbgrader")

from classroom.nbgrader.course import (  # noqa: E402
    answered,
    convert,
    hand_in,
    made,
    released,
    rows_of,
    run,
    solved,
    untouched,
)
from classroom.teach.cheats import LESSON, solution  # noqa: E402
from nbgrader.api import Gradebook  # noqa: E402
from nbgrader.converters import Autograde  # noqa: E402

from course_lib.classroom.teach.assignment import assignment  # noqa: E402
from course_lib.classroom.teach.cells import GRADED, places  # noqa: E402
from course_lib.classroom.teach.command import main  # noqa: E402
from course_lib.exercises import LESSONS  # noqa: E402
from course_lib.exercises.grading.explain import Explanation  # noqa: E402

pytestmark = pytest.mark.nightly
SEED = 1234
#: What a student executes in place of an answer: each of these earns points where cells are executed.
CHEAT = """import builtins, sys, pathlib
pathlib.Path({path!r}).write_text("executed")
import course_lib.exercises as exercises
from course_lib.exercises.grading.verdict import Verdict
Verdict.points = property(lambda self: self.of)
exercises.check = builtins.check = lambda *answer: Verdict("barriers", "passed", points=5, of=5)
"""
#: A kernel that takes longer than the limit, within the steps of a loop.
SLOW = solution("barriers").replace(
    "        cuda.syncthreads()\n        for k",
    "        for i in range(100):\n            for j in range(100):\n                for q in range(100):\n"
    "                    acc += A_tile[ty, tx] * float32(0)\n        cuda.syncthreads()\n        for k",
    1,
)
WRONG = solution("barriers").replace("+=", "=")


def table(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(csv.DictReader(file))


def by_hand(folder, student, exercise, points):
    """Give points as the formgrader does."""
    with Gradebook(f"sqlite:///{folder / 'gradebook.db'}") as book:
        grade = book.find_grade(exercise, LESSON, LESSON, student)
        grade.manual_score, grade.needs_manual_grade = points, False
        book.db.commit()


def test_a_course_of_six(tmp_path):
    """Right, wrong, untouched, unreadable, cheating and slow; what changed is graded again, and nothing else."""
    made(tmp_path, seed=SEED, seconds=12)
    run(tmp_path, "generate_assignment", LESSON, "--force")
    notebook, executed = released(tmp_path), tmp_path / "executed"
    archive = tmp_path / "downloaded" / LESSON / "archive"
    archive.mkdir(parents=True)
    cheat = {"barriers": CHEAT.format(path=str(executed)), "too-deep": CHEAT.format(path=str(executed))}
    handed_in = {
        "101": answered(notebook, solved()),
        "102": answered(notebook, solved() | {"barriers": WRONG}),
        "103": answered(notebook, untouched()),
        "105": answered(notebook, untouched() | cheat),
        "106": answered(notebook, solved() | {"barriers": SLOW}),
    }
    for number, each in handed_in.items():
        late = "LATE_" * (number == "102")
        (archive / f"limaana_{late}{number}_998877_{LESSON}.ipynb").write_text(json.dumps(each), encoding="utf-8")
    (archive / f"limaana_104_998877_{LESSON}.ipynb").write_bytes(json.dumps(notebook).encode()[:-20])
    run(tmp_path, "db", "student", "add", "107", "--first-name", "Ana, Maria", "--last-name", "O'Neil")
    run(tmp_path, "zip_collect", LESSON)
    run(tmp_path, "autograde", LESSON)

    run(tmp_path, "export", "--to", "exercises.csv")
    rows = rows_of(tmp_path)
    assert {student: rows[student, "barriers"]["status"] for student, _ in rows} == {
        "101": "passed", "102": "failed", "103": "not yet", "104": "unreadable", "105": "not yet", "106": "stopped",
        "107": "missing",
    }  # fmt: skip
    waiting = {key for key, row in rows.items() if row["waits"]}
    words = {(student, "two-barriers") for student in ("101", "102", "106")}
    assert waiting == words | {("106", "barriers")} | {("104", name) for name in places(LESSON)}
    assert all(rows[key]["points"] == "" for key in waiting)
    absent = rows["107", "barriers"]
    assert (absent["first_name"], absent["last_name"], absent["points"]) == ("Ana, Maria", "O'Neil", "0")
    assert rows["102", "barriers"]["hint"]
    assert not executed.exists()

    settings = ["--lesson", "04", "--seed", str(SEED), "--seconds", "12"]
    assert main(["grade", str(tmp_path / "submitted"), *settings, "--csv", str(tmp_path / "grades.csv")]) == 0
    others = {(row["file"].partition("/")[0], row["exercise"]): row for row in table(tmp_path / "grades.csv")}
    assert others.pop(("104", ""))["status"] == "unreadable"
    assert others.keys() == {key for key in rows if key[0] not in ("104", "107")}
    for key, row in others.items():
        assert (row["status"], row["hint"]) == (rows[key]["status"], rows[key]["hint"]), key
        assert float(row["points"] or 0) == float(rows[key]["points"] or 0), key

    run(tmp_path, "generate_feedback", LESSON)
    feedback = (tmp_path / "feedback" / "102" / LESSON / f"{LESSON}.html").read_text(encoding="utf-8")
    assert re.search('<img[^>]*src="data:image/png;base64,', feedback) and "<b>Hint:</b>" in feedback

    # A second time: nothing changes but for those who handed in again.
    by_hand(tmp_path, "101", "points-two-barriers", 2)
    by_hand(tmp_path, "106", "test-barriers", 3)
    hand_in(tmp_path, "102", answered(notebook, solved()))
    run(tmp_path, "autograde", LESSON)
    run(tmp_path, "export", "--to", "exercises.csv")
    again = rows_of(tmp_path)
    changed = {key for key, row in again.items() if row != rows[key]}
    assert changed == {("102", "barriers"), ("101", "two-barriers"), ("106", "barriers")}
    assert (again["102", "barriers"]["status"], again["102", "barriers"]["points"]) == ("passed", "5")
    for key, points in {("101", "two-barriers"): "2", ("106", "barriers"): "3"}.items():
        assert (again[key]["status"], again[key]["points"], again[key]["waits"]) == ("by hand", points, "")

    # Without its gradebook the course has no rows, and the export says which assignment is missing.
    (tmp_path / "gradebook.db").unlink()
    assert f"generate_assignment {LESSON}" in run(tmp_path, "export", "--to", "exercises.csv")
    assert rows_of(tmp_path) == {}


@pytest.mark.parametrize("lesson", LESSONS)
def test_solutions_get_the_points_and_skeletons_none(lesson, tmp_path):
    made(tmp_path, lesson, seconds=300)
    for student, is_solved in (("solved", True), ("empty", False)):
        hand_in(tmp_path, student, assignment(lesson, "nbgrader", is_solved), f"{lesson}.ipynb", lesson)
    convert(tmp_path, Autograde, lesson)
    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as book:
        found = {
            (student, grade.name.partition("-")[2]): (grade.auto_score, grade.needs_manual_grade)
            for student in ("solved", "empty")
            for grade in book.find_submission_notebook(lesson, lesson, student).grades
        }
    want = {("empty", name): (0, False) for name in places(lesson)}
    for name in places(lesson):
        in_words = isinstance(GRADED[name], Explanation)
        want["solved", name] = (None, True) if in_words else (GRADED[name].points, False)
    assert found == want
