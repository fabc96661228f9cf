"""Where the system has no walls: what is not executed, what executes it nevertheless, and the container."""

import json
import os
import sys
from pathlib import Path

import pytest
from classroom.teach.cheats import notebook, solution, solutions
from classroom.teach.here import rows, run
from nightly import at_night

from course_lib.classroom.teach import calls, container, walls
from course_lib.classroom.teach import grade as command
from course_lib.classroom.teach.calls import Program
from course_lib.classroom.teach.cells import lesson_named, places
from course_lib.classroom.teach.limits import Limits, Stopped
from course_lib.classroom.teach.sandbox import Sandbox
from course_lib.classroom.teach.submission import Answer
from course_lib.exercises import EXERCISES
from course_lib.exercises.grading.explain import Explanation

LESSON = lesson_named("14")
ROUTINES = [name for name in places(LESSON) if not isinstance(EXERCISES[name], Explanation)]


class Bare(Sandbox):
    """A sandbox on a system without walls."""

    def _command(self):
        *python, code = super()._command()
        bare = "from course_lib.classroom.teach import walls; walls.standing = lambda: ''; "
        return [*python, code.replace("from course_lib", f"{bare}from course_lib", 1)]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A class of one, anna, who has solved a lesson, on a system without walls."""
    monkeypatch.setattr(walls, "standing", lambda: "")
    monkeypatch.setattr(command, "Sandbox", Bare)
    (tmp_path / "submitted").mkdir()
    (tmp_path / "submitted" / "anna.ipynb").write_text(json.dumps(notebook(LESSON, solutions(LESSON))))
    return tmp_path


def graded(folder, *more):
    assert run(folder, "--lesson", "14", *more) == 0
    return {row["exercise"]: (row["status"], row["points"]) for row in rows(folder)}


RIGHT = {name: ("passed", str(EXERCISES[name].points)) for name in ROUTINES}


@pytest.mark.skipif(sys.platform != "linux", reason="the flag works on Linux alone")
def test_without_walls_functions_wait_for_a_person(folder, capsys):
    """They have no points, and no total of theirs is exported; with the flag the same table is judged again."""
    assert {name: graded(folder, "--export", "canvas")[name] for name in ROUTINES} == dict.fromkeys(
        ROUTINES, ("stopped", "")
    )
    said = capsys.readouterr().out
    assert f"Walls around each answer: none, so functions are not executed: {walls.NONE}." in said
    assert "0 totals for Canvas" in said and "an answer is unread): anna" in said
    assert {row["hint"] for row in rows(folder) if row["exercise"] in RIGHT} == {f"it was not executed: {walls.NONE}."}
    assert graded(folder, "--without-walls").items() >= RIGHT.items()
    assert "Walls around each answer: none, and functions are executed." in capsys.readouterr().out


def test_without_walls_no_call_is_made(monkeypatch):
    monkeypatch.setattr(walls, "standing", lambda: "")
    monkeypatch.setattr(calls, "_caller", None)
    with pytest.raises(Stopped, match="this machine has no walls"):
        Program((), {})(None, ())
    with Bare(Limits()) as sandbox:
        row = sandbox.do("judge", LESSON, {"rate": Answer(solution("rate", LESSON))})["rate"]
    assert row["points"] == 0 and walls.NONE in row["hint"]


DOCKER = """#!{python}
import json, pathlib, subprocess, sys
words = sys.argv[1:]
inner = words[words.index("{image}") + 1 :]
mounts = [word.removeprefix("--volume=").split(":") for word in words if word.startswith("--volume=")]
seen = {{target: mode for source, target, *mode in mounts if source == target and pathlib.Path(source).exists()}}
pathlib.Path("{record}").write_text(json.dumps([words, seen]))
sys.exit(subprocess.call([pathlib.Path(sys.executable).with_name(inner[0]), *inner[1:]], cwd="/"))
"""


@pytest.mark.parametrize("tool", [at_night("docker"), at_night("podman")])
def test_a_container_grades_what_its_line_names(tool, folder, monkeypatch, capfd):
    """A stand-in for Docker notes its line, and runs the command inside; each path in that is a mounted one."""
    (folder / "bin").mkdir()
    (folder / "roster of all.csv").write_text("id,name,e-mail\n7,anna,a@example.org\n", encoding="utf-8")
    script = folder / "bin" / tool
    script.write_text(DOCKER.format(python=sys.executable, image=container.IMAGE, record=folder / "line.json"))
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:{os.environ['PATH']}")
    monkeypatch.chdir(folder)
    more = ["--roster", "roster of all.csv", "--seed", "7", "--container", tool]
    assert graded(folder, *more, "--csv", "grades.csv", "--feedback", "out/pages").items() >= RIGHT.items()
    words, seen = json.loads((folder / "line.json").read_text())
    assert {"run", "--rm", "--network=none", "--read-only", "--cap-drop=ALL", "--pull=never"} <= {*words}
    assert ("--user" in " ".join(words)) == (tool == "docker")  # Podman's root is the user who starts it
    inside = [Path(word.rpartition("=")[2]) for word in words[words.index(container.IMAGE) :] if "/" in word]
    assert [name for name in inside if not any(name.is_relative_to(path) for path in seen)] == []
    assert {path for path, mode in seen.items() if not mode} == {str(folder), str(folder / "out" / "pages")}
    assert seen[str(folder / "submitted")] == ["ro"] and "--without-walls" in words
    said = capfd.readouterr().out
    assert (
        f"{tool} run --rm --network=none" in said
        and "by the seed 7" in said
        and len(rows(folder)) == len(places(LESSON))
    )


def test_a_container_or_flag_that_cannot_be_is_told(folder, monkeypatch, capsys):
    monkeypatch.setenv("PATH", "")
    assert run(folder, "--container", "podman") == 2
    assert "podman is not installed" in capsys.readouterr().err
    assert run(folder, "--feedback", str(folder / "a:b"), "--container", "podman") == 2
    assert "a:b: a container takes no path with a colon" in capsys.readouterr().err
    monkeypatch.setattr(command.sys, "platform", "darwin")
    assert run(folder, "--without-walls") == 2
    assert "--without-walls works on Linux alone: use --container" in capsys.readouterr().err
