"""Typical changes of the course, each made in a copy by at most three files; what follows from them is collected.

CONTRIBUTING lists them as recipes. A change is `{file: text to write, or (old, new), or a function of the text}`.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.machine.measurements import DEFAULT_GPU

REPOSITORY = Path(__file__).parents[1]
PARTS = ("course_lib", "tests", "tools", "pyproject.toml", "README.md", "docs")
RECORDINGS = f"course_lib/machine/measurements/{DEFAULT_GPU}"


def _renamed(text):
    return text.replace("naive", "twice").replace("One thread per element", "A change")


STORES = '''"""A rule: nothing is stored in an array called `kept`."""

from ..findings import Finding
from ..observer import Observer


class StoresObserver(Observer):
    """Finds stores in the array."""

    def counted(self, site, pattern):
        if site.op == "store" and pattern.array.name == "kept":
            self.add(Finding("store", site.line, "this line stores in kept", array="kept"))
'''
DIAL = """KINDS["squares"] = Kind(
    "Squares",
    {"n": Dial((1, 2), (1, 2), lambda n: f"n: {n}")},
    lambda n: Sketch((Box(0, 0, 10.0 * n, 10, INK, INK),), 20, (f"{n} squared is {n * n}",)),
)
"""


def _ladder_of(name):
    """The recording of the ladder, as another GPU would have made it."""
    recording = json.loads((REPOSITORY / RECORDINGS / "ladder.json").read_text(encoding="utf-8"))
    recording["provenance"]["gpu"] = name
    return json.dumps(recording)


CHANGES = {
    "a rung": {
        "course_lib/kernels/twice.py": _renamed((REPOSITORY / "course_lib/kernels/naive.py").read_text("utf-8")),
        "course_lib/kernels/__init__.py": lambda text: text.replace(" uncoalesced,", " twice, uncoalesced,"),
    },
    "a rule and its finding": {
        "course_lib/simulator/checks/stores.py": STORES,
        "course_lib/simulator/findings.py": ("KINDS = {\n", 'KINDS = {\n    "store": FindingKind("error"),\n'),
        "tests/simulator/cases/findings.py": (
            "# a wait for a flag",
            "# nothing is kept : kept=zeros(64)\nkept[i] = 1  #? store kept x2\n\n# a wait for a flag",
        ),
    },
    "a function of numbers": {
        "course_lib/simulator/language/calls.py": (
            '"cbrt": "np.cbrt',
            '"cospi": "np.cos(np.pi * {0})", "cbrt": "np.cbrt',
        ),
        "tests/simulator/cases/numbers.py": (
            "# complex powers, of which one",
            "# the cosine of half circles : x=np.arange(8.0), out=zeros(8)\n#= close(out, [1, -1] * 4, 1e-12)\n"
            "out[i] = libdevice.cospi(x[i])\n\n# complex powers, of which one",
        ),
    },
    "a dial": {"course_lib/machine/dials/sketches.py": lambda text: text + DIAL},
    "a colour": {"course_lib/trace/palette.py": ('"shared": "#E69F00"', '"shared": "#E69F01"')},
    "a recorded GPU": {"course_lib/machine/measurements/another-gpu/ladder.json": _ladder_of("Another GPU")},
}
#: What must follow from the changes, in the copy: a test for each.
FOLLOWS = """
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).parent
sys.path.insert(0, str(ROOT / "tools"))


def test_a_rung():
    from course_lib import simulate
    from course_lib.kernels import LADDER, rung

    assert "twice" in [r.name for r in LADDER]
    made, (A, B, C) = rung("twice"), np.ones((3, 20, 20), np.float32)
    run = simulate(made.make())[made.launch(20, 20, 20)](A, B, C)
    assert (C == 20).all() and run.traffic.select(space="global", op="load").accesses == 2 * 20**3


def test_a_dial():
    from course_lib.machine.dials import Dials

    assert "2 squared is 4" in repr(Dials("squares", {"n": 2}))


def test_a_colour():
    import build_viewer

    assert "--tt-shared: #e69f01;" in build_viewer.tokens()
    sources = (p for p in (ROOT / "course_lib").rglob("*") if p.suffix in (".py", ".js", ".css"))
    built = {build_viewer.TOKENS, *build_viewer.BUNDLES.values()}
    assert [p.name for p in sources if p not in built and "#e69f00" in p.read_text("utf-8").lower()] == []


def test_a_recorded_gpu():
    from course_lib.machine import measurements

    assert "another-gpu" in measurements.gpus()
    assert measurements.load("ladder", "another-gpu").provenance["gpu"] == "Another GPU"

"""
#: The tests that see a change: of FOLLOWS, and the course's own, which collect what the changes added.
SEEN = {
    "a rung": ["test_a_rung", "test_simulated.py::.*twice"],
    "a rule and its finding": [r"test_case\[nothing is kept\]"],
    "a function of numbers": [r"test_case\[the cosine of half circles\]"],
    "a dial": ["test_a_dial"],
    "a colour": ["test_a_colour"],
    "a recorded GPU": ["test_a_recorded_gpu"],
}


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """What pytest prints of a copy in which all changes were made."""
    root = tmp_path_factory.mktemp("changed")
    for part in PARTS:
        path = REPOSITORY / part
        if path.is_dir():
            shutil.copytree(path, root / part, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
        else:
            shutil.copy(path, root)
    for files in CHANGES.values():
        for name, change in files.items():
            path = root / name
            path.parent.mkdir(exist_ok=True)
            text = path.read_text(encoding="utf-8") if path.exists() else ""
            if isinstance(change, tuple):
                assert text.count(change[0]) == 1, (name, change[0])
                change = text.replace(*change)
            elif callable(change):
                change = change(text)
            assert change != text, name
            path.write_text(change, encoding="utf-8", newline="\n")
    (root / "test_follows.py").write_text(FOLLOWS, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-n0", "-rA", "-q", "-pno:cacheprovider", "test_follows.py"]
    command += ["tests/kernels/test_simulated.py", "tests/simulator/test_cases.py", "-k"]
    command += ["follows or twice or nothing_is_kept or (nothing and kept) or cosine"]
    paths = os.pathsep.join([str(root), *filter(None, [os.environ.get("PYTHONPATH")])])
    done = subprocess.run(command, cwd=root, env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True)
    return done.stdout + done.stderr


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_touches_few_files_and_is_seen(name, report):
    assert len(CHANGES[name]) <= 3
    for test in SEEN[name]:
        assert re.search(f"^PASSED .*{test}", report, re.MULTILINE), report[-4000:]
