"""No text of a student is executed or earns points, and none changes the verdict on another answer.

All attacks are judged in one process, between two honest answers whose verdicts must be equal: as the user of the
tests, and as an ordinary user where the tests run as root.
"""

import ast
import functools
import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from classroom.attacks.judging import STEP
from classroom.attacks.texts import CANARY, KERNELS, MADE, ROUTINES, SPEED
from nightly import at_night, every

from course_lib.classroom.teach.cells import parsed, places
from course_lib.classroom.teach.extract import Refused, extract
from course_lib.classroom.teach.interpreter import Unlisted
from course_lib.classroom.teach.submission import Answer
from course_lib.exercises import EXERCISES
from course_lib.exercises.grading.routines import judge

REPOSITORY = Path(__file__).parents[3]
ROOT = hasattr(os, "getuid") and os.getuid() == 0
#: An ordinary user that may still read the interpreter, which may lie in root's own folder.
_NOBODY = (
    "setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=+dac_read_search --ambient-caps=+dac_read_search"
)
USERS = {"as this user": [], "as nobody": _NOBODY.split()}
ATTACKS = {"kernels": KERNELS, "routines": ROUTINES}


@functools.cache
def judged(lesson, user):
    """The verdicts by name, and what the process printed beside them."""
    paths = os.pathsep.join([str(REPOSITORY), str(REPOSITORY / "tests")])
    command = [*USERS[user], sys.executable, "-m", "classroom.attacks.judging", lesson]
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONDONTWRITEBYTECODE": "1"}
    Path(CANARY).unlink(missing_ok=True)
    done = subprocess.run(command, cwd="/", env=environment, capture_output=True, text=True, timeout=1000, input="")
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout), done.stderr


@pytest.fixture(params=["as this user", at_night("as nobody")])
def user(request):
    if request.param == "as nobody" and not (ROOT and shutil.which("setpriv")):
        pytest.skip("the tests run as an ordinary user")
    return request.param


@pytest.mark.parametrize("lesson", every(2, ATTACKS))
def test_no_attack_runs_or_earns_or_changes_a_neighbour(lesson, user):
    """No canary, no points, nothing that only a program makes, and honest verdicts are equal before and after."""
    verdicts, printed = judged(lesson, user)
    assert not Path(CANARY).exists()
    before, after = (verdicts[f"honest, {when}"] for when in ("before", "after"))
    assert before["status"] == "passed" and before["points"] == before["of"]
    assert before | {"seconds": 0} == after | {"seconds": 0}
    assert [name for name in [*ATTACKS[lesson]][::STEP] if verdicts[name]["points"] not in (0, None)] == []
    for text in (printed, *(row["hint"] + row["html"] for row in verdicts.values())):
        assert MADE not in text and "Traceback" not in text and "uid=" not in text and "root:x" not in text


@pytest.mark.parametrize("lesson, name", [(lesson, name) for lesson in ATTACKS for name in [*ATTACKS[lesson]][::STEP]])
def test_an_attack_gets_a_sentence(lesson, name, user):
    """It is judged, and never by the end of its process: what is too much is told by its line."""
    row = judged(lesson, user)[0][name]
    assert row["status"] in ("failed", "refused", "not yet", "to read"), row
    assert row["hint"] or row["text"]
    assert (row["points"] is None) == (row["status"] == "to read")


class _Page(HTMLParser):
    """What a verdict would load or execute."""

    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        known = "style section div blockquote p b h3 ol ul li table tr td code pre img a span small br".split()
        scripted = any(name.startswith("on") for name, _ in attrs)
        loads = [v for k, v in attrs if k in ("src", "href") and not str(v).startswith("data:image/png;")]
        if tag not in known or scripted or loads:
            self.found.append((tag, attrs))


@pytest.mark.parametrize("lesson", ATTACKS)
def test_a_verdict_loads_and_executes_nothing(lesson, user):
    for name, row in judged(lesson, user)[0].items():
        page = _Page()
        page.feed(row["html"])
        assert page.found == [], name
        assert "1337" not in row["html"]


# ---- what the interpreter asks Python for ----------------------------------------------------------------------

#: What Python reports to an audit hook when it executes, opens, starts, connects to or reaches into something.
_REACHING = re.compile(r"exec|compile|open|import|marshal|pickle|code\.|ctypes|os\.|subprocess|socket|sys\._|gc|object")
_heard, _listening = [], []


def _listen(event, arguments):
    if _listening and _REACHING.match(event):
        _heard.append((event, str(arguments)[:80]))


@pytest.fixture(scope="module")
def audited():
    sys.addaudithook(_listen)  # it stays to the end of the process, and hears nothing


@pytest.mark.parametrize("name", every(4, ROUTINES))
def test_python_is_asked_for_nothing_but_values(name, audited):
    """While an attack is interpreted, Python executes no code object, opens no file and imports no module."""
    place = places(SPEED)["rate"]
    try:
        parsed(ROUTINES[name])
        found = extract(SPEED, place, Answer(ROUTINES[name]))
    except (Refused, Unlisted, SyntaxError):
        return  # nothing is interpreted
    _heard.clear()

    def run(function, arguments):
        _listening.append(True)
        try:
            return found.run(function, arguments)
        finally:
            _listening.clear()

    try:
        assert judge(EXERCISES["rate"], found.function, run, ()).points == 0
    except Unlisted:
        pass
    assert _heard == []


def test_the_audit_hears_what_is_executed(audited):
    _listening.append(True)
    try:
        exec(compile(ast.parse("1"), "", "exec"))
    finally:
        _listening.clear()
    assert {event for event, _ in _heard} >= {"compile", "exec"}
