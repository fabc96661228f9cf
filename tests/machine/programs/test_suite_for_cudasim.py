"""The command `run` in place of NUMBA_ENABLE_CUDASIM, on a test suite as one writes it for numba's simulator."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from course_lib.machine.programs.launches import failing

PAGE = Path(__file__).parents[3] / "docs" / "cudasim.md"
SUITE = Path(__file__).with_name("suite_for_cudasim.py")
#: The kinds of findings in the suite, by their line, as its comments say.
MARKED = {
    number: found[1]
    for number, line in enumerate(SUITE.read_text("utf-8").splitlines(), 1)
    if (found := re.search(r"  # ([a-z0-9-]+)$", line))
}
#: Those of kernels that are not simulated; the others have a finding.
REFUSED = [number for number, kind in MARKED.items() if kind == "refused"]
#: Kernels whose values depend on numba's rules for types: the body, the argument's and the result's type, the argument.
VALUES = (
    ("out[0] = x[0] * x[0]", "int32", "int64", [100_000]),
    ("out[0] = x[0] - x[1]", "uint8", "int32", [2, 5]),
    ("s = 0.0\n    for k in range(x.size):\n        s += x[k]\n    out[0] = s", "float32", "float64", [1, 1e-9, -1]),
)
PROGRAM = """
import numpy as np
from numba import cuda, njit

def kernel(x, out):
    {0}

x, out, compiled = np.array({3}, np.{1}), np.zeros(1, np.{2}), np.zeros(1, np.{2})
cuda.jit(kernel)[1, 1](x, out)
njit(kernel)(x, compiled)
print(out[0] == compiled[0])
"""
PYTEST = ("-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, "--rootdir", str(SUITE.parent), str(SUITE))


def done(*command: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run Python with these words; pytest there is not that of this test."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")} | {"COLUMNS": "200"}
    return subprocess.run(
        [sys.executable, *command], env=own | variables, capture_output=True, text=True, check=False, timeout=600
    )


@pytest.mark.nightly
def test_every_test_passes_in_numba_s_simulator():
    """So each finding below is one that it does not have."""
    told = done(*PYTEST, NUMBA_ENABLE_CUDASIM="1")
    assert told.returncode == 0, told.stdout


@pytest.mark.parametrize(
    "variables",
    [
        pytest.param({}, id="no variable"),
        pytest.param({"NUMBA_ENABLE_CUDASIM": "1"}, id="the variable is left", marks=pytest.mark.nightly),
    ],
)
def test_run_finds_the_line_of_each_bug(variables):
    """One line each, also those whose values are right; tests of a racing value and of refused kernels fail, too."""
    told = done("-m", "course_lib", "run", *PYTEST, **variables)
    found = re.findall(r"^    (?:error|warning): ([a-z0-9-]+) \(lines? (?:\d+ and )?(\d+)\)", told.stderr, re.M)

    refused = re.findall(r"not simulated: line (\d+)", told.stderr)

    assert {int(line): kind for kind, line in found} == {n: kind for n, kind in MARKED.items() if n not in REFUSED}
    assert len(found) == len(MARKED) - len(REFUSED) > 4
    assert sorted(map(int, refused)) == REFUSED and len(REFUSED) > 1
    assert told.returncode == 1
    assert set(re.findall(r"^FAILED \S+::test_(\w+)", told.stdout, re.M)) == {"histogram", "padded", "announced"}


def test_the_page_names_every_kind_by_its_severity():
    """In its two sentences on errors and warnings."""
    text = " ".join(PAGE.read_text("utf-8").split())
    errors, warnings = re.search(r"Errors are (.*?): .*? The warning is (.*?): ", text).groups()
    assert set(re.split(r", | and ", errors)) == failing(warnings=False)
    assert {warnings} == failing(warnings=True) - failing(warnings=False)


@pytest.mark.nightly
def test_strict_fails_the_test_that_launches():
    """Each finding that may change values is raised where the launch is."""
    told = done("-m", "course_lib", "run", "--strict", *PYTEST)
    failed = re.findall(r"^FAILED \S+::test_(\w+) - (\S+)", told.stdout, re.M)

    wrong, refused = ["histogram", "reversed_in_block", "right_neighbours", "seen", "smoothed"], ["announced", "padded"]
    assert sorted(name for name, error in failed if "UnsupportedKernelError" not in error) == wrong
    assert sorted(name for name, error in failed if "UnsupportedKernelError" in error) == refused
    assert all("KernelError" in error for _, error in failed)
    assert told.returncode == 1


@pytest.mark.nightly
@pytest.mark.parametrize("values", VALUES, ids=[each[0][:8] for each in VALUES])
def test_values_are_those_of_numba_s_compiler(values, tmp_path):
    """It compiles the same kernels for the CPU, with the same types. Its simulator computes with NumPy's."""
    file = tmp_path / "program.py"
    file.write_text(PROGRAM.format(*values), encoding="utf-8")
    assert done("-m", "course_lib", "run", str(file)).stdout == "True\n"
    assert done(str(file), NUMBA_ENABLE_CUDASIM="1").stdout == "False\n"
