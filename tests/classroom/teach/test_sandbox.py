"""What a task of the sandbox may use. Each runs in a fork of the test's process, as in the server's."""

import json
import os
import sys

import pytest
from nightly import at_night

from course_lib.classroom.teach import walls
from course_lib.classroom.teach.limits import STANDARD, Limits, Stopped, limit
from course_lib.classroom.teach.sandbox import Sandbox, forked

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="the limits are those of Unix")


def done(task):
    return json.loads(forked(task, Limits(seconds=1)))


def wrong():
    raise ValueError("no notebook")


@pytest.mark.parametrize(
    "task, told",
    {
        "a result": (lambda: {"sum": 2 + 3}, {"result": {"sum": 5}}),
        "an error is a sentence": (wrong, {"error": "no notebook"}),
        "a fault is named": (
            lambda: 1 // 0,
            {"stopped": "the grader failed with ZeroDivisionError: integer division or modulo by zero"},
        ),
        "memory ends": (lambda: len(bytes(1 << 34)), {"stopped": "it needed more than 1,024 MiB of memory"}),
        "a process that dies": (lambda: os._exit(0), {"stopped": "its process died (without a result)"}),
        "a result without end": (lambda: "x" * (9 << 20), {"stopped": "its result has more than 8,192 KiB"}),
        "prints are not shown": (lambda: print("x" * 100), {"result": None}),
        "time ends": at_night(
            lambda: any(iter(int, 1)), {"stopped": "it needed more than 1 seconds of processor time"}
        ),
    }.values(),
)
def test_what_comes_back(task, told, capfd):
    assert done(task) == told
    assert capfd.readouterr() == ("", "")


def test_the_system_limits_the_process(monkeypatch):
    """Without walls, which do not let it ask."""
    import resource

    monkeypatch.setattr(walls, "standing", lambda: "")
    names = ("CPU", "AS", "FSIZE", "CORE", "NPROC")
    found = done(lambda: [resource.getrlimit(getattr(resource, f"RLIMIT_{name}")) for name in names])
    assert found == {"result": [[1, 3], [1 << 30, 1 << 30], [0, 0], [0, 0], [0, 0]]}


def test_a_lower_limit_stays(monkeypatch):
    """Root could raise it."""
    import resource

    asked = []
    monkeypatch.setattr(os, "dup2", lambda *descriptors: None)
    monkeypatch.setattr(resource, "getrlimit", lambda what: (5, 5))
    monkeypatch.setattr(resource, "setrlimit", lambda what, most: asked.append(most))
    limit(Limits())
    assert sorted(asked) == [(0, 0)] * 3 + [(5, 5)] * 2


def test_the_process_is_another_one_and_writes_no_file(tmp_path):
    assert done(os.getpid)["result"] != os.getpid()
    assert "error" in done(lambda: (tmp_path / "grades.csv").write_text("all passed"))
    assert not (tmp_path / "grades.csv").exists() or (tmp_path / "grades.csv").read_text() == ""


READY = "import json, os, pickle, sys, threading; print('ready', flush=True); "


class _Other(Sandbox):
    """Its server runs another program."""

    def __init__(self, program, limits=STANDARD):
        super().__init__(limits)
        self.program = program

    def _command(self):
        return [sys.executable, "-I", "-c", self.program]


@pytest.mark.parametrize(
    "program",
    ["sys.stdin.buffer.read(1)", "sys.stdin.buffer.read(1); print(1 / 0)", at_night("threading.Event().wait()")],
)
def test_a_server_that_does_not_answer_is_replaced(program):
    """It ends, or it sleeps without using the processor, and the clock ends it."""
    with _Other(READY + program, Limits(seconds=1)) as sandbox:
        for _ in range(2):
            with pytest.raises(Stopped, match="within 6 seconds, and its process was ended"):
                sandbox.do("read", "anna.ipynb", "04_tiling")


def test_a_server_that_does_not_start_is_told():
    with _Other("") as sandbox, pytest.raises(RuntimeError, match="did not start"):
        sandbox.do("read", "anna.ipynb", "04_tiling")


def test_the_environment_holds_nothing_of_the_graders(monkeypatch):
    monkeypatch.setenv("SECRET_TOKEN", "12345")
    told = "print(pickle.load(sys.stdin.buffer)[0].decode() + json.dumps({'result': [dict(os.environ), os.getcwd()]}))"
    with _Other(READY + told) as sandbox:
        environment, folder = sandbox.do("read")
        assert "SECRET_TOKEN" not in environment
        assert os.path.realpath(folder) == os.path.realpath(environment["HOME"]) and os.listdir(folder) == []
