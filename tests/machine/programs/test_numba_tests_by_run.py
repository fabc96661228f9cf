"""Numba's own CUDA tests, as a user of its simulator runs them: ``tile-by-tile run -m pytest --pyargs …``.

`tests/oracles/numba_tests.py` runs them with an adapter that also takes a refusal for an error that a test expects.
Here nothing is adapted: what fails asks for compiled code, for numba's own exceptions, or for what the documentation
lists as not supported.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

#: Those that pass, which may only become more: a line each, ``class::test``.
PASSES = Path(__file__).with_name("numba_tests_that_pass.txt").read_text("utf-8").split()


@pytest.mark.nightly
def test_those_that_passed_pass(tmp_path):
    """One launches a kernel a thousand times, and is left out."""
    words = [
        "-m",
        "pytest",
        "-q",
        "-rA",
        "--tb=no",
        "-p",
        "no:cacheprovider",
        "-c",
        os.devnull,
        "--rootdir",
        str(tmp_path),
    ]
    words += ["--pyargs", "numba.cuda.tests.cudapy", "-k", "not test_laplace_small"]
    own = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST")}
    command = [sys.executable, "-m", "course_lib", "run", *words]
    told = subprocess.run(command, env=own, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=3600)
    passed = set(re.findall(r"^PASSED \S*?::(\S+)", told.stdout, re.M))

    assert len(PASSES) > 550
    assert set(PASSES) <= passed, sorted(set(PASSES) - passed)
