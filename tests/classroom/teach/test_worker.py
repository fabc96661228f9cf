"""The process in which answers are judged: what comes back, and what a task may use."""

import os
import sys

import pytest
from nightly import at_night

from course_lib.classroom.teach.worker import STANDARD, Limits, Stopped, Worker, outcome, result_in


def wrong():
    raise ValueError("no notebook")


def large():
    raise MemoryError


@pytest.mark.parametrize(
    "task, want",
    {
        "a result": (lambda: {"sum": 2 + 3}, {"sum": 5}),
        "an error is a sentence": (wrong, ValueError("no notebook")),
        "a fault is named": (lambda: 1 // 0, Stopped("the grader failed with ZeroDivisionError: integer division")),
        "memory ends": (large, Stopped("it needed more than 1,024 MiB of memory")),
        "prints are not shown": (lambda: print("x" * 100), None),
    }.values(),
)
def test_what_comes_back(task, want, capfd):
    line = outcome(task, STANDARD)
    if isinstance(want, Exception):
        with pytest.raises(type(want), match=str(want)):
            result_in(line)
    else:
        assert result_in(line) == want
    assert capfd.readouterr() == ("", "")


class _Other(Worker):
    """Its process runs another program, which has the worker's names."""

    def __init__(self, program, limits=STANDARD):
        super().__init__(limits)
        self.program = program

    def _command(self):
        *python, code = super()._command()
        names = f"from {Worker.__module__} import *; from {Worker.__module__} import _limit"
        return [*python, code.partition("from")[0] + f"import json, os, pickle, threading; {names}; {self.program}"]


_READY = "print('ready', flush=True); asked = pickle.load(sys.stdin.buffer); "


@pytest.mark.parametrize(
    "program, patience, words",
    [
        ("", 100, "its process died with the status 0"),
        ("sys.exit(3)", 100, "its process died with the status 3"),
        at_night("threading.Event().wait()", 1, "within 1 seconds, and its process was ended"),
        at_night("_limit(asked[2]); any(iter(int, 1))", 500, "it needed more than 1 seconds of processor time"),
    ],
)
@pytest.mark.skipif(sys.platform == "win32", reason="the limits are those of Unix")
def test_a_process_that_does_not_answer_is_replaced(program, patience, words, monkeypatch):
    """It ends, sleeps or computes: the task says why, and the next one has another process."""
    monkeypatch.setattr("course_lib.classroom.teach.worker._PATIENCE", patience)
    with _Other(_READY + program, Limits(seconds=1)) as worker:
        for _ in range(2):
            with pytest.raises(Stopped, match=words):
                worker.do("read", "anna.ipynb", b"", "04_tiling")


def test_a_process_that_does_not_start_is_told():
    with _Other("") as worker, pytest.raises(RuntimeError, match="did not start"):
        worker.do("read", "anna.ipynb", b"", "04_tiling")


_COUNTED = "tell = lambda: print(json.dumps({'result': [os.getpid(), 'SECRET' in os.environ]}), flush=True)"
_TELLING = f"print('ready', flush=True); {_COUNTED}; [tell() for _ in iter(lambda: pickle.load(sys.stdin.buffer), 0)]"


def test_a_worker_replaces_its_process_from_time_to_time(monkeypatch):
    """What the process caches of students' kernels takes memory; each process has an environment of its own."""
    monkeypatch.setattr("course_lib.classroom.teach.worker._TASKS", 2)
    monkeypatch.setenv("SECRET", "1")
    with _Other(_TELLING) as worker:
        found = [worker.do("read") for _ in range(5)]
    assert not any(has_secret for _, has_secret in found)
    assert found[0] == found[1] != found[2] == found[3] != found[4]
    assert os.getpid() not in {pid for pid, _ in found}
