"""How long a reader waits, in processor time: the least of a few tries, in a process of its own.

A process that has run thousands of tests before takes up to six times as long for the same.
"""

import json
import subprocess
import sys

import pytest

MEASURE = """
import json, time
import numpy as np
from course_lib import simulate
from course_lib.kernels import rung
from course_lib.viewer import Stepper, explore

def least(repeat):
    times = []
    for _ in range(3):
        start = time.process_time()
        repeat()
        times.append(time.process_time() - start)
    return min(times)

def cell():
    tiled, n = rung("tiled"), 64
    A, B, C = (np.zeros((n, n), np.float32) for _ in range(3))
    run = simulate(tiled.make(tile_width=16), trace=True)[tiled.launch(n, n, n, tile_width=16)](A, B, C)
    data, _ = Stepper(run)._repr_mimebundle_()
    assert "Stepper of tiled: grid (4, 4) × block (16, 16)" in data["text/plain"]

choices = [("naive", 8), ("prefetched", 16), ("tiled", 16), ("register_1d", 8), ("register_2d", 8)]
seconds = {kernel: least(explore([kernel], n=n, tile_width=2)._relaunch) for kernel, n in choices}
print(json.dumps(seconds | {"cell": least(cell)}))
"""


@pytest.fixture(scope="module")
def seconds():
    done = subprocess.run([sys.executable, "-c", MEASURE], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.parametrize("kernel", ["naive", "prefetched", "tiled", "register_1d"])
def test_a_new_picture_comes_at_once(seconds, kernel):
    """From a choice in explore() to the new trace: 16×16, and 8×8 for the kernel of 512 threads, in 150 ms."""
    assert seconds[kernel] < 0.15


def test_a_large_block_takes_longer(seconds):
    """256 threads with 64 results each execute 13,000 statements, however small the matrices are."""
    assert seconds["register_2d"] < 0.4


def test_a_cell_with_large_matrices_shows_at_once(seconds):
    """Launch, trace, stepper, picture and text of 64×64 matrices in tiles of 16: a second at most."""
    assert seconds["cell"] < 1
