"""Forty ordinary kernels: the counts of their machine code beside Nsight Compute's, as recorded on a GPU."""

import os
import re
from pathlib import Path

import pytest
from nightly import every

from course_lib.machine import measurements
from course_lib.machine.machine_code import available, machine_code
from course_lib.machine.machine_code.traffic import by_kind, launch_traffic
from tools.lab.ordinary import CHECKOUTS, PUBLIC, counted, own, public

RECORDED = {result["pattern"]: result for result in measurements.load("ordinary").results}
PAGE = Path(__file__).parents[3] / "docs" / "compiled.md"
OWN = own()


def made_of(launch):
    """Return what the machine code of a launch does, without what has no counts."""
    code = machine_code(launch.kernel, tuple(launch.make()))
    found = by_kind(launch_traffic(code, launch.make(), launch.block, launch.grid))
    return {key: counts for key, counts in found.items() if any(counts)}


def test_forty_kernels_are_recorded_half_of_them_public():
    names = [each.name for each in OWN]
    listed = [f"{project} {target.rpartition(':')[2]}" for project, targets in PUBLIC.items() for target in targets]
    assert {*RECORDED} == {*names, *listed} and len(names) == len(listed) == 20


@pytest.mark.skipif(not available(), reason="the compiler is not installed")
@pytest.mark.parametrize("launch", every(3, OWN), ids=[each.name for each in OWN])
def test_machine_code_makes_what_the_gpu_counted(launch):
    """Requests, sectors and wavefronts of each space and operation."""
    assert made_of(launch) == counted(RECORDED[launch.name])


@pytest.mark.skipif(not available() or CHECKOUTS not in os.environ, reason="no compiler, or no checkouts")
def test_machine_code_of_public_kernels_makes_what_the_gpu_counted():
    for launch in public(Path(os.environ[CHECKOUTS])):
        assert made_of(launch) == counted(RECORDED[launch.name]), launch.name


def test_the_page_has_the_recorded_counts_of_every_kernel():
    """Its last column is the recording's; the rows that it calls equal are, and it gives their number."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in PAGE.read_text("utf-8").splitlines()
        if re.match(r"\| \S.* \| (global|shared) ", line)
    ]
    listed = {(name, *kind.split()): counts for name, kind, *counts, _ in rows}
    recorded = {
        (name, space, f"{op}s"): f"{requests:,} / {amount:,}"
        for name, result in RECORDED.items()
        for (space, op), (requests, amount) in counted(result).items()
    }
    assert {key: counts[-1] for key, counts in listed.items()} == recorded
    pairs = [(made.split(" / "), gpu.split(" / ")) for _, made, gpu in listed.values()]
    equal = sum(one == other for pair in pairs for one, other in zip(*pair, strict=True))
    assert f"{equal} of {2 * len(pairs)}" in PAGE.read_text("utf-8") and equal >= 0.95 * 2 * len(pairs)
