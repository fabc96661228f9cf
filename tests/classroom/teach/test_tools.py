"""The assignments in nbgrader and in Otter themselves: solutions get all points that a program gives, skeletons none.

Both are packages of their own:
`uv run --with nbgrader --with otter-grader pytest --nightly tests/classroom/teach/test_tools.py`.
"""

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.classroom.teach.assignment import assignment
from course_lib.classroom.teach.cells import GRADED, places
from course_lib.exercises import LESSONS
from course_lib.exercises.grading.explain import Explanation

pytestmark = pytest.mark.nightly
ROOT = Path(__file__).parents[3]


def needs(package):
    missing = importlib.util.find_spec(package) is None
    return pytest.mark.skipif(missing, reason=f"{package} is not installed")


def judged(lesson):
    """The points of each exercise that a program judges."""
    return {name: GRADED[name].points for name in places(lesson) if not isinstance(GRADED[name], Explanation)}


def run(folder, *command):
    """Run a command of a package in a folder, where the course is found."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path, "JUPYTER_CONFIG_DIR": str(folder), "IPYTHONDIR": str(folder)}
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]


def save(path, notebook):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook), encoding="utf-8")


@needs("nbgrader")
@pytest.mark.parametrize("lesson", LESSONS)
def test_nbgrader_gives_the_points(lesson, tmp_path):
    from nbgrader.api import Gradebook

    save(tmp_path / "source" / "ps" / f"{lesson}.ipynb", assignment(lesson, "nbgrader"))
    for student, solved in (("solved", True), ("empty", False)):
        save(tmp_path / "submitted" / student / "ps" / f"{lesson}.ipynb", assignment(lesson, "nbgrader", solved))
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\nc.ExecutePreprocessor.timeout = 600\n", "utf-8")
    run(tmp_path, "nbgrader", "generate_assignment", "ps", "--create")
    run(tmp_path, "nbgrader", "autograde", "ps", "--create")
    with Gradebook(f"sqlite:///{tmp_path / 'gradebook.db'}") as book:
        found = {
            student: {
                grade.name.removeprefix("test-"): grade.auto_score
                for grade in book.find_submission_notebook(lesson, "ps", student).grades
                if grade.name.startswith("test-")
            }
            for student in ("solved", "empty")
        }
    assert found == {"solved": judged(lesson), "empty": dict.fromkeys(judged(lesson), 0)}


@needs("otter")
@pytest.mark.parametrize("lesson", LESSONS)
def test_otter_gives_the_points(lesson, tmp_path):
    save(tmp_path / "source" / f"{lesson}.ipynb", assignment(lesson, "otter"))
    command = ["otter", "assign", "--no-run-tests", "--no-pdfs", f"source/{lesson}.ipynb", "dist"]
    run(tmp_path, *command)
    (grader,) = (tmp_path / "dist" / "autograder").glob("*.zip")
    wanted = {name.replace("-", "_"): points for name, points in judged(lesson).items()}
    for part, given in (("autograder", wanted), ("student", dict.fromkeys(wanted, 0))):
        (tmp_path / part).mkdir()
        run(tmp_path, "otter", "run", "-a", str(grader), "-o", part, f"dist/{part}/{lesson}.ipynb")
        results = json.loads((tmp_path / part / "results.json").read_text("utf-8"))["tests"]
        assert {each["name"]: each["score"] for each in results if "score" in each} == given, part
