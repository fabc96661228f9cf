"""The ladder under numba's own CUDA simulator: values only, in small, since it is slow."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

CHILD = Path(__file__).with_name("cudasim_child.py")


@pytest.mark.nightly
def test_rungs_equal_numpy_under_numbas_simulator():
    """numba chooses its simulator when it is imported, so the comparison runs in a process of its own."""
    done = subprocess.run(
        [sys.executable, str(CHILD)],
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        capture_output=True,
        check=False,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-2000:]
