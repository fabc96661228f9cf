"""A new rung: a file in `kernels`, its name in the package; without a GPU, a compiler or a recording, all goes on.

In a copy of the course, its own tests see the rung, and what lists rungs says of this one what is not known yet.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
PARTS = ("course_lib", "tests", "tools", "docs", "notebooks", "pyproject.toml", "conftest.py", "README.md")
RUNG = '''"""Two elements of C per thread, a tile's width apart: each element of A's tile serves two products.

Idea: as `tiled`, but a block computes T×2T elements of C; a thread reads one element of A's tile and two of B's.
Launch: blocks of T×T threads, half as many of them side by side as `tiled` has.
Loads: 3/2 K / T per element of C from global memory, 3/2 K from shared memory.
Source: an exercise of lesson 8, with tiles.
"""

from functools import lru_cache

from numba import cuda, float32

from .rung import Rung, with_tile


@lru_cache
def two_across(tile_width=16, dtype=float32):
    T, W = tile_width, 2 * tile_width

    @cuda.jit
    def two_across(A, B, C):
        """Compute C = A @ B; A is M×K, B is K×N, C is M×N, in blocks of T×T threads."""
        A_tile = cuda.shared.array((T, T), dtype)
        B_tile = cuda.shared.array((T, W), dtype)
        tx, ty = cuda.threadIdx.x, cuda.threadIdx.y
        row, col = cuda.blockIdx.y * T + ty, cuda.blockIdx.x * W + tx
        M, K = A.shape
        N = B.shape[1]
        left, right = dtype(0), dtype(0)
        for start in range(0, K, T):
            A_tile[ty, tx] = A[row, start + tx] if row < M and start + tx < K else dtype(0)
            B_tile[ty, tx] = B[start + ty, col] if start + ty < K and col < N else dtype(0)
            B_tile[ty, tx + T] = B[start + ty, col + T] if start + ty < K and col + T < N else dtype(0)
            cuda.syncthreads()
            for k in range(T):
                left += A_tile[ty, k] * B_tile[k, tx]
                right += A_tile[ty, k] * B_tile[k, tx + T]
            cuda.syncthreads()
        if row < M and col < N:
            C[row, col] = left
        if row < M and col + T < N:
            C[row, col + T] = right

    return two_across


@with_tile(lambda tile_width: (tile_width, 2 * tile_width))
def launch(M, N, K, tile_width=16):
    return (max(1, -(-N // (2 * tile_width))), max(1, -(-M // tile_width))), (tile_width, tile_width)


RUNG = Rung(
    "two_across", "Two columns per thread", two_across, launch, {"tile_width": 16},
    lesson="08_register_tiles", change="tiled, with two results per thread",
)
'''
#: The name in an import and a list, at a place inside of the ladder.
LISTED = """
from . import two_across

LADDER = tuple(each for r in LADDER for each in ((r, two_across.RUNG) if r.name == "tiled" else (r,)))
"""
#: What lists rungs, as a program: it runs where the copy is.
LISTS = """
import numpy as np

from course_lib import explore, show_machine_code, simulate
from course_lib.classroom.course_map import course_map
from course_lib.kernels import LADDER, rung
from course_lib.machine.machine_code import NoMachineCode, find
from course_lib.machine.gpu import counters, experiments, variants
from tools import report

new = rung("two_across")
assert new in LADDER
A, B, C = np.ones((3, 20), np.float32), np.ones((20, 40), np.float32), np.zeros((3, 40), np.float32)
run = simulate(new.make())[new.launch(3, 40, 20)](A, B, C)
assert (C == 20).all() and not run.findings

shown = course_map()
assert "two_across" not in [step.rung for step in shown.steps]
(row,) = [line for line in shown.markdown().splitlines() if "| two_across: Two columns per thread |" in line]
assert row.split()[-10:] == [*"| 192 | – | – | – | – |".split()][-10:], row  # loads: 4096 (1/64 + 1/32)

find.available = lambda: False
try:
    show_machine_code(new.make())
except NoMachineCode as error:
    assert "uv sync --extra compiler" in str(error)
else:
    raise AssertionError("there is machine code of a kernel that nobody compiled")

(ladder,) = (each for each in experiments.EXPERIMENTS if each.name == "ladder")
assert new in [case.of for case in ladder.cases(experiments.Wanted())]
assert "two_across" in [case.of for case in variants.cases()]
assert "two_across" not in "".join(report.outputs().values())
assert "two_across" in [name for _, name in explore(["tiled", "two_across"], n=8, tile_width=2).kernel.options]
"""
#: The tests that see a rung, or what was recorded of others.
TESTS = (
    "tests/kernels/test_ladder.py",
    "tests/kernels/test_simulated.py",
    "tests/classroom/test_course_map.py",
    "tests/machine/measurements/test_recordings.py",
    "tests/machine/machine_code/test_machine_code.py",
    "tests/machine/machine_code/test_show.py",
    "tests/machine/gpu/test_command.py",
    "tests/machine/gpu/test_cuda_c.py",
)
CHOSEN = "two_across or course_map or recordings or recorded or command or cuda_c"


@pytest.fixture(scope="module")
def copied(tmp_path_factory):
    """The folder of the copy, and a function that runs Python there."""
    root = tmp_path_factory.mktemp("course")
    for part in PARTS:
        path = REPOSITORY / part
        if path.is_dir():
            shutil.copytree(path, root / part, ignore=shutil.ignore_patterns("__pycache__", "node_modules"))
        else:
            shutil.copy(path, root)
    (root / "course_lib" / "kernels" / "two_across.py").write_text(RUNG, encoding="utf-8")
    with (root / "course_lib" / "kernels" / "__init__.py").open("a", encoding="utf-8") as package:
        package.write(LISTED)
    paths = os.pathsep.join([str(root), *filter(None, [os.environ.get("PYTHONPATH")])])

    def python(*arguments):
        there = os.environ | {"PYTHONPATH": paths, "PYTHONUTF8": "1"}
        return subprocess.run(
            [sys.executable, *arguments], cwd=root, env=there, capture_output=True, encoding="utf-8", check=False
        )

    return python


def test_what_lists_rungs_goes_on(copied):
    done = copied("-c", LISTS)
    assert done.returncode == 0, done.stderr


@pytest.mark.nightly
def test_the_tests_see_it_and_pass(copied):
    done = copied("-m", "pytest", "-n0", "-rA", "-q", "-pno:cacheprovider", *TESTS, "-k", CHOSEN)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    assert re.search(r"^PASSED .*test_rung_equals_numpy\[two_across-", done.stdout, re.MULTILINE)
