"""The assignments in Otter itself: solutions get all points that a program gives, skeletons none.

Otter is a package of its own: `uv run --with otter-grader pytest --nightly tests/classroom/teach/test_tools.py`.
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

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.skipif(importlib.util.find_spec("otter") is None, reason="otter is not installed"),
]
ROOT = Path(__file__).parents[3]


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
