"""The program of the simulator's README, beside the simulator: the same results, counts and kinds of findings."""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

import course_lib
from course_lib import simulate

README = Path(course_lib.__file__).parent / "simulator/README.md"
PROGRAM = re.search(r"^```python\n(.*?)^```", README.read_text("utf-8"), re.M | re.S)[1]
GUARDED = "    if i < x.size:\n        tile[t] = x[i]\n    cuda.syncthreads()\n"


@pytest.fixture
def module_of(tmp_path):
    """Return a function that imports the program with a change of its kernel."""

    def imported(old="", new=""):
        assert old in PROGRAM
        path = tmp_path / "miniature.py"
        path.write_text(PROGRAM.replace(old, new) if old else PROGRAM, encoding="utf-8")
        spec = importlib.util.spec_from_file_location("miniature", path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return imported


def counts(run, kernel):
    """What the simulator counted, under the names of the miniature."""
    first = kernel.__code__.co_firstlineno - 1
    pieces = {"global": "sectors", "shared": "wavefronts"}
    return {
        (row.line - first, row.op, what): getattr(row, pieces[row.space] if what == "pieces" else what)
        for row in run.traffic.rows
        for what in ("requests", "pieces")
    }


@pytest.mark.parametrize("size", [1, 33, 100, 128])
def test_the_miniature_counts_what_the_simulator_counts(module_of, size):
    module = module_of()
    x, found, wanted = np.random.default_rng(size).random(size, np.float32), *np.zeros((2, 2), np.float32)
    small = module.launch(module.total, 2, 64, x, found)
    large = simulate(module.total)[2, 64](x, wanted)
    np.testing.assert_array_equal(found, wanted)
    assert wanted.sum() == pytest.approx(x.sum(), rel=1e-5)
    assert small.counts == counts(large, module.total)
    assert not small.findings and not large.findings


@pytest.mark.parametrize(
    ("old", "new", "kind", "words"),
    [
        (GUARDED, GUARDED.replace("    cuda.syncthreads()\n", ""), "race", "a race"),
        ("    if i < x.size:\n        tile[t]", "    tile[t]", "out-of-bounds", "leaves the array"),
    ],
    ids=["barrier", "guard"],
)
def test_both_find_a_missing_barrier_and_a_missing_guard(module_of, old, new, kind, words):
    module = module_of(old, new)
    x, out = np.ones(100, np.float32), np.zeros(2, np.float32)
    small = module.launch(module.total, 2, 64, x, out)
    large = simulate(module.total, strict=False)[2, 64](x, out)
    assert kind in {finding.kind for finding in large.findings}
    assert small.findings and all(words in finding for finding in small.findings)
