"""A course of nbgrader in a folder: made, handed in to, and graded by nbgrader's own commands."""

import copy
import csv
import json
import os
import subprocess
import sys
from pathlib import Path

from classroom.teach.cheats import LESSON, skeleton, solution
from nbgrader.converters import GenerateAssignment
from nbgrader.coursedir import CourseDirectory
from traitlets.config import PyFileConfigLoader

from course_lib.classroom.teach.cells import places
from course_lib.classroom.teach.command import main

ROOT = Path(__file__).parents[3]


def environment(folder):
    """The environment of a command: nothing of the person who runs the tests, and the course is found."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    return {**os.environ, "PYTHONPATH": path, "JUPYTER_CONFIG_DIR": str(folder), "IPYTHONDIR": str(folder)}


def run(folder, *command, fails=False):
    """Run a command of nbgrader in the course's folder; return what it prints."""
    done = subprocess.run(
        [sys.executable, "-m", "nbgrader", *command],
        cwd=folder, env=environment(folder), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert bool(done.returncode) == fails, done.stdout[-2000:] + done.stderr[-4000:]
    return done.stdout + done.stderr


def made(folder, lesson=LESSON, **settings):
    """Make a course with one lesson as an assignment, and release it; ``settings`` are the judge's."""
    assert main(["assignment", lesson[:2], "--for", "nbgrader", "--out", str(folder)]) == 0
    with (folder / "nbgrader_config.py").open("a", encoding="utf-8") as file:
        file.writelines(f"c.Judge.{name} = {value}\n" for name, value in settings.items())
    convert(folder, GenerateAssignment, lesson)


def convert(folder, converter, lesson=LESSON):
    """Do what a command of nbgrader does, in this process: its imports take seconds."""
    config = PyFileConfigLoader("nbgrader_config.py", str(folder)).load_config()
    converter(coursedir=CourseDirectory(root=str(folder), assignment_id=lesson, config=config), config=config).start()


def released(folder, lesson=LESSON):
    """The notebook that students get."""
    return json.loads((folder / "release" / lesson / f"{lesson}.ipynb").read_text(encoding="utf-8"))


def answered(notebook, answers, lesson=LESSON):
    """The same notebook with answers, {exercise: text}."""
    notebook, cells = copy.deepcopy(notebook), {places(lesson)[name].cell: text for name, text in answers.items()}
    for cell in notebook["cells"]:
        cell["source"] = cells.get(cell["id"], cell["source"])
    return notebook


def solved(lesson=LESSON):
    return {name: solution(name, lesson) for name in places(lesson)}


def untouched(lesson=LESSON):
    return {name: skeleton(name, lesson) for name in places(lesson)}


def hand_in(folder, student, notebook, name=f"{LESSON}.ipynb", lesson=LESSON):
    """Save what a student hands in: JSON, or bytes."""
    path = folder / "submitted" / student / lesson / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(notebook if isinstance(notebook, bytes) else json.dumps(notebook).encode())
    return path


def rows_of(folder):
    """The rows of the export, {(student, exercise): row}."""
    with (folder / "exercises.csv").open(encoding="utf-8", newline="") as file:
        return {(row["student_id"], row["exercise"]): row for row in csv.DictReader(file)}
