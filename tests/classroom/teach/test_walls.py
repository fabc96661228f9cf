"""Where the system has no walls, nothing is executed."""

import pytest
from classroom.teach.cheats import solution

from course_lib.classroom.teach import calls, walls
from course_lib.classroom.teach.calls import Program
from course_lib.classroom.teach.cells import lesson_named
from course_lib.classroom.teach.limits import Limits, Stopped
from course_lib.classroom.teach.sandbox import Sandbox
from course_lib.classroom.teach.submission import Answer

LESSON = lesson_named("14")


class Bare(Sandbox):
    """A sandbox on a system without walls."""

    def _command(self):
        *python, code = super()._command()
        bare = "from course_lib.classroom.teach import walls; walls.standing = lambda: ''; "
        return [*python, code.replace("from course_lib", f"{bare}from course_lib", 1)]


def test_without_walls_no_call_is_made(monkeypatch):
    monkeypatch.setattr(walls, "standing", lambda: "")
    monkeypatch.setattr(calls, "_caller", None)
    with pytest.raises(Stopped, match="this machine has no walls"):
        Program((), {})(None, ())
    with Bare(Limits()) as sandbox:
        row = sandbox.do("judge", LESSON, {"rate": Answer(solution("rate", LESSON))})["rate"]
    assert row["points"] == 0 and walls.NONE in row["hint"]
