"""No text of a student runs, earns points or changes a neighbour's row; a program that would run reaches nothing.

Every attack is handed in beside two honest students, whose rows must be those that they get alone: as the user of the
tests, and as an ordinary user where the tests run as root.
"""

import ast
import builtins
import functools
import json
import os
import pickle
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path

import pytest
from classroom.attacks.payloads import PAYLOADS
from classroom.attacks.texts import CANARY, KERNELS, MADE, NAMES, ROUTINES, SPEED
from classroom.teach.cheats import LESSON, notebook, solution, solutions
from classroom.teach.here import rows
from nightly import at_night

from course_lib.classroom.teach import calls, walls
from course_lib.classroom.teach.calls import Program
from course_lib.classroom.teach.cells import places
from course_lib.classroom.teach.judge import Judged, received
from course_lib.classroom.teach.limits import Limits
from course_lib.classroom.teach.sandbox import forked
from course_lib.exercises import EXERCISES

pytestmark = pytest.mark.skipif(not walls.standing(), reason="this machine has no walls")
REPOSITORY = Path(__file__).parents[3]
ROOT = hasattr(os, "getuid") and os.getuid() == 0
#: An ordinary user that may still read the interpreter, which may lie in root's own folder.
_NOBODY = (
    "setpriv --reuid=65534 --regid=65534 --clear-groups --inh-caps=+dac_read_search --ambient-caps=+dac_read_search"
)
USERS = {"as this user": [], "as nobody": _NOBODY.split()}
SECONDS = 2


def attackers(lesson):
    """The notebooks of the attackers, by student."""
    if lesson == SPEED:
        return {name: notebook(lesson, {"rate": text}) for name, text in ROUTINES.items()}
    named = {name: notebook(lesson, {"two-barriers": solution("two-barriers")}) for name in NAMES}
    return {name: notebook(lesson, {exercise: text}) for name, (exercise, text) in KERNELS.items()} | named


@functools.cache
def graded(lesson, user, alone):
    """The rows and the text of the table, the page, and what was printed, once the folder of a class was graded."""
    folder = Path(tempfile.mkdtemp())
    try:
        submitted = folder / "submitted"
        submitted.mkdir()
        honest = dict.fromkeys(("ann", "zoe"), notebook(lesson, solutions(lesson)))
        for name, handed_in in (honest if alone else honest | attackers(lesson)).items():
            (submitted / name).mkdir()
            (submitted / name / "work.ipynb").write_text(json.dumps(handed_in))
        folder.chmod(0o777)
        options = ["--lesson", lesson[:2], "--csv", str(folder / "grades.csv"), "--seed", "7"]
        options += ["--seconds", str(SECONDS * len(places(lesson)))]
        command = [*USERS[user], sys.executable, "-m", "course_lib.teach", "grade", str(submitted), *options]
        done = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, timeout=500, input="")
        assert done.returncode == 0, done.stderr[-2000:]
        table, page = ((folder / f"grades.{suffix}").read_text("utf-8") for suffix in ("csv", "html"))
        return rows(folder), table, page, done.stdout + done.stderr
    finally:
        shutil.rmtree(folder)


def of(table, student):
    return [row for row in table if row["file"] == f"{student}/work.ipynb"]


@pytest.fixture(params=["as this user", at_night("as nobody")])
def user(request):
    if request.param == "as nobody" and not (ROOT and shutil.which("setpriv")):
        pytest.skip("the tests run as an ordinary user")
    return request.param


@pytest.mark.parametrize("lesson", [LESSON, at_night(SPEED)])
def test_no_attack_runs_earns_or_changes_a_neighbour(lesson, user):
    """A row for everyone, the honest rows as they are alone, no canary, and nothing that only a program makes."""
    Path(CANARY).unlink(missing_ok=True)
    alone, *_ = graded(lesson, user, True)
    table, _, page, printed = graded(lesson, user, False)
    assert not Path(CANARY).exists()
    for student in ("ann", "zoe"):
        assert of(table, student) == of(alone, student) and len(of(table, student)) == len(places(lesson))
    assert len(table) == len(places(lesson)) * (2 + len(attackers(lesson)))
    others = [row for row in table if row["file"].split("/")[0] not in ("ann", "zoe")]
    assert [row for row in others if row["points"] not in ("0", "")] == []
    for text in (page, printed, *(row["hint"] for row in table)):
        assert MADE not in text and "Traceback" not in text and "uid=" not in text and "root:x" not in text


ATTACKS = [
    *((LESSON, name, KERNELS[name][0]) for name in KERNELS),
    *(at_night(SPEED, name, "rate") for name in ROUTINES),
]


@pytest.mark.parametrize("lesson, name, exercise", ATTACKS, ids=[*KERNELS, *ROUTINES])
def test_an_attack_gets_a_sentence(lesson, name, exercise, user):
    table = graded(lesson, user, False)[0]
    (row,) = (row for row in of(table, name) if row["exercise"] == exercise)
    told = ("failed", "refused", "not yet", "stopped", "unreadable") if row["hint"] else ("to read",)
    assert row["status"] in told, row


class _Page(HTMLParser):
    """What a page would load or execute."""

    def __init__(self):
        super().__init__()
        self.found, self.policies = [], []

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if tag == "meta" and values.get("http-equiv"):
            self.policies.append(values["content"])
        known = (
            tag
            in """html head meta title style body main h1 h2 h3 p b br section div blockquote ol li table tr th td code
            img a""".split()
        )
        scripted = any(name.startswith("on") for name in values)
        loads = [
            v for k, v in values.items() if k in ("src", "href") and not re.match(r"data:image/png;|[\w%./-]+$", v)
        ]
        if not known or scripted or loads:
            self.found.append((tag, attrs))


@pytest.mark.parametrize("lesson", [LESSON, at_night(SPEED)])
def test_the_page_executes_nothing(lesson, user):
    text, page = graded(lesson, user, False)[2], _Page()
    page.feed(text)
    assert page.found == []
    assert page.policies == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]
    assert "1337" not in text and text.index("Content-Security-Policy") < text.index("<body>")


def test_the_table_has_no_formula(user):
    """However a spreadsheet separates fields."""
    _, text, *_ = graded(LESSON, user, False)
    for separator in ",;\t":
        for field in text.replace("\n", separator).split(separator):
            assert not re.match(r'["\s]*[=+@\uff1d\uff0b\uff20-][^",]', field) or re.match(r'"?-?\d', field), field


# ---- the second wall -------------------------------------------------------------------------------------------


@pytest.fixture
def canary(tmp_path):
    """A path that nothing may make, beside a neighbour's file; its end is the port of a listener."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        path = tmp_path / f"canary-{listener.getsockname()[1]}"
        Path(f"{path}.neighbour").write_text("a neighbour's")
        yield str(path)
        assert not os.path.lexists(path)
        neighbour = Path(f"{path}.neighbour")
        assert neighbour.read_text() == "a neighbour's" and neighbour.stat().st_mode & 0o777 != 0o777


@pytest.mark.parametrize("name", PAYLOADS)
def test_a_program_in_the_process_that_judges_reaches_nothing(name, canary):
    """As if the simulator had a hole: the payload runs where answers are judged."""

    def tried():
        try:
            return f"reached {PAYLOADS[name](canary)}"
        except OSError as error:
            return f"refused {type(error).__name__}"

    assert json.loads(forked(tried, Limits()))["result"].startswith("refused")


CALLED = """
def answer(canary):
    import {module}
    return {code}
"""
CODES = {
    "a file": ("os", "len(open('/etc/passwd').read())"),
    "a module": ("antigravity", "1"),
    "a new file": ("os", "os.open(canary, os.O_CREAT)"),
    "a process": ("os", "os.fork()"),
    "a program": ("os", "os.execv('/bin/true', ['true'])"),
    "the parent": ("os", "os.open(f'/proc/{os.getppid()}/mem', 2)"),
    "a signal": ("os", "os.kill(os.getppid(), 9)"),
    "the network": ("socket", "socket.socket().fileno()"),
    "a large array": ("numpy", "numpy.ones(1 << 40).sum()"),
}


@pytest.mark.parametrize("name", CODES)
def test_a_program_in_a_call_reaches_nothing(name, canary):
    """As if `allowed.py` had a hole: the payload has all builtins."""
    module, code = CODES[name]
    (tree,) = ast.parse(CALLED.format(module=module, code=code)).body
    everything = {each: thing for each, thing in vars(builtins).items() if isinstance(thing, type | type(len))}
    with pytest.raises(Exception, match="not permitted|denied|allocate|memory|No module named"):
        Program((tree,), {"__builtins__": everything})(None, (canary,))


class _Opened:
    """What is unpickled opens a file."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


def test_a_program_that_judges_makes_the_caller_do_nothing(canary):
    """It can write to the caller, which unpickles what it is sent: inside the walls."""
    calls.start()
    with pytest.raises(ValueError, match="not permitted"):
        calls._asked(pickle.dumps(_Opened(canary)))


# ---- replies ---------------------------------------------------------------------------------------------------

SOUND = {"exercise": "barriers", "points": 0, "of": EXERCISES["barriers"].points, "status": "failed", "hint": "one"}
WORDS = {"exercise": "two-barriers", "points": None, "of": EXERCISES["two-barriers"].points, "status": "to read"}


def test_a_sound_reply_is_received():
    assert received("barriers", SOUND) == Judged(**SOUND) and received("two-barriers", WORDS) == Judged(**WORDS)


@pytest.mark.parametrize(
    "change",
    [
        {"exercise": "too-deep"},
        {"of": 100},
        {"points": 6, "status": "passed"},
        {"points": 1, "status": "passed"},
        {"points": -1},
        {"points": float("nan")},
        {"points": True},
        {"points": "5"},
        {"points": None},
        {"status": "by hand"},
        {"status": "<b>"},
        {"hint": "x" * 5_000},
        {"hint": None},
        {"picture": '"><script>alert(1)</script>'},
        {"picture": "A" * (5 << 20)},
        {"checks": [[True, "x" * 9_000, []]]},
        {"checks": [[True, "x", [["1", "text"]]]]},
        {"checks": 3},
        {"remarks": [1]},
        {"page": "<p>"},
        WORDS | {"points": 2},
    ],
    ids=lambda change: f"{change}"[:40],
)
def test_a_forged_reply_is_refused(change):
    with pytest.raises(ValueError, match="none of the grader's"):
        received(change.get("exercise", "barriers") if change.get("of") == WORDS["of"] else "barriers", SOUND | change)


def test_a_reply_to_another_request_is_passed_over():
    """The caller answers a process that was ended: the next one does not take it for its own."""
    calls.start()
    (tree,) = ast.parse("def answer(x):\n    return x + 1").body
    os.write(calls.connection(), b"12345678" + pickle.dumps((Program((tree,), {}), (5,))))
    assert Program((tree,), {})(None, (1,)) == 2


def test_a_call_has_no_right_answers_in_its_memory():
    """The server forks the caller before it imports the course, as here; what an answer may import is in it."""
    code = """
import ast
from course_lib.classroom.teach import calls
calls.start()
import course_lib.exercises
import numba, statistics
(tree,) = ast.parse("def f(here):\\n    import sys\\n    return len([m for m in sys.modules if 'exercises' in m])").body
names = {"__builtins__": {"__import__": __import__, "len": len}, "mean": statistics.fmean, "kind": numba.float64}
print(calls.Program((tree,), names)(None, (1,)))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=REPOSITORY)
    assert done.stdout == "0\n", done.stderr
