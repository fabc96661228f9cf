"""Numba's own CUDA tests, unmodified, on the simulator; see `oracles/numba_tests.py`.

A few of them run each time, so that the adapter is known to work; all of them run in the nightly profile
(`HYPOTHESIS_PROFILE=nightly`).
"""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

ADAPTER = Path(__file__).parents[1] / "oracles" / "numba_tests.py"
NIGHTLY = os.environ.get("HYPOTHESIS_PROFILE") == "nightly"


def run(tmp_path, *patterns):
    """{name of the test: its outcome}, from a process of its own: the adapter changes numba.cuda."""
    out = tmp_path / "rows.json"
    done = subprocess.run(
        [sys.executable, ADAPTER, *patterns, "--out", out], capture_output=True, text=True, timeout=3600, check=False
    )
    assert done.returncode == 0, done.stderr
    return {name: outcome for name, (outcome, *_) in json.loads(out.read_text(encoding="utf-8")).items()}


@pytest.mark.skipif(sys.platform == "win32", reason="the adapter stops a slow test with a signal")
def test_a_few_pass(tmp_path):
    outcomes = run(tmp_path, "test_idiv", "test_powi", "test_sync.", "test_freevar")

    assert len(outcomes) > 15
    assert not [name for name, outcome in outcomes.items() if outcome in ("wrong", "broken")]
    assert Counter(outcomes.values())["passed"] > 0.8 * len(outcomes)
