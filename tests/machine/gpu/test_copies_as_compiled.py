"""Asynchronous copies as compiled: the counts of their machine code beside Nsight Compute's, as recorded on a GPU."""

import sys

import numpy as np
import pytest
from nightly import at_night, every

from course_lib.kernels import rung
from course_lib.machine import measurements
from course_lib.machine.gpu.measuring import widest
from course_lib.machine.gpu.verification import prepare
from course_lib.machine.machine_code import available, machine_code
from course_lib.machine.machine_code.traffic import by_kind, launch_traffic
from tools.lab.patterns import patterns

pytestmark = pytest.mark.skipif(not available(), reason="the compiler is not installed")

COPIED = [
    (pattern, recorded)
    for pattern, recorded in zip(patterns(), measurements.load("patterns").results, strict=True)
    if pattern.name.startswith("copied")
]
PIPELINED = [recorded for recorded in measurements.load("exact").results if recorded["rung"] == "pipelined"]
#: Copies that cost the GPU 16 wavefronts and the rules 8, as `counters/README.md` of the simulator says.
OFF = "copied 16 bytes, two sectors to four, (0, 0, 1, 1)"


def counted(recorded):
    """Return the recorded requests, and sectors or wavefronts; stores of shared memory and copies are together."""
    copies, wavefronts = recorded["copy_requests"], recorded["copy_wavefronts"]
    return {
        ("global", "load"): (recorded["global_load_requests"], recorded["global_load_sectors"]),
        ("global", "store"): (recorded["global_store_requests"], recorded["global_store_sectors"]),
        ("shared", "load"): (recorded["shared_load_requests"], recorded["shared_load_wavefronts"]),
        ("shared", "store"): (
            recorded["shared_store_requests"] + copies,
            recorded["shared_store_wavefronts"] + wavefronts,
        ),
    }


@pytest.mark.parametrize("case", every(20, COPIED), ids=[pattern.name for pattern, _ in COPIED])
def test_a_copy_makes_what_the_gpu_counted(case):
    pattern, recorded = case
    given = pattern.arguments()
    made = by_kind(launch_traffic(machine_code(pattern.kernel, tuple(given)), given, (pattern.block,), (pattern.grid,)))
    right = counted(recorded)
    if pattern.name == OFF:
        assert (made.pop(("shared", "store"))[1], right.pop(("shared", "store"))[1]) == (8, 16)
    assert made == {key: counts for key, counts in right.items() if any(counts)}


@pytest.mark.parametrize(
    "recorded",
    [PIPELINED[0], *map(at_night, PIPELINED[1:])],
    ids=[f"{each['M']}x{each['N']}x{each['K']}" for each in PIPELINED],
)
def test_the_rung_with_copies_makes_what_the_gpu_counted(recorded):
    """Requests to shared memory are compared from Python 3.12 on, which the recording was made by.

    numba translates Python's bytecode. Of that of Python 3.11 the compiler makes other code, of 439 instructions, not
    448, with more stores that no lane takes part in: 7,168 requests, not 5,120, for 128×256×64, and as many wavefronts.
    """
    M, N, K = (recorded[axis] for axis in "MNK")
    kernel, grid, block, _ = prepare(rung("pipelined"), M, N, K, **widest(rung("pipelined")))
    A, B = (np.ones(shape, np.float32) for shape in ((M, K), (K, N)))
    given = [A, B, np.zeros((M, N), np.float32)]
    made = by_kind(launch_traffic(machine_code(kernel, tuple(given)), given, block, grid))
    right = counted(recorded)
    if sys.version_info < (3, 12):
        for counts in (made, right):
            counts.update({kind: (0, amount) for kind, (_, amount) in counts.items() if kind[0] == "shared"})
    assert made == right
