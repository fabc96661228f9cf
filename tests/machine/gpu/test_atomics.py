"""Atomics of 1 to 32 lanes on a word: the simulator's counts beside Nsight Compute's, as recorded on a GPU."""

import pytest

from course_lib import simulate
from course_lib.machine import measurements
from course_lib.machine.profile.costs import MANY
from tools.lab.atomics import LANES, contentions

RECORDED = {(each["pattern"], each["lanes"]): each for each in measurements.load("atomics").results}


def simulated(case):
    """What atomics cost, of the simulator's counts."""
    run = simulate(case.kernel)[1, 32](*case.arguments())
    assert not run.findings
    return run.traffic.select(op="atomic")


def test_every_launch_was_recorded():
    assert {(each.about["pattern"], each.lanes) for each in contentions()} == set(RECORDED)


@pytest.mark.parametrize("case", contentions(), ids=lambda case: f"{case.about['pattern']}, {case.lanes} lanes")
def test_an_atomic_costs_what_the_gpu_counted(case):
    traffic, recorded = simulated(case), RECORDED[case.about["pattern"], case.lanes]
    assert (traffic.requests, traffic.rounds) == (1, case.lanes)
    counted = (case.space, case.operation) == ("shared", "count")
    assert traffic.serialized == (1 if counted else case.lanes)
    if (case.operation, case.dtype) == ("max", "float32"):
        return  # a loop whose length depends on the values
    if case.space == "global":
        kind = "reduction" if recorded["global_reduction_requests"] else "atomic"
        assert recorded[f"global_{kind}_requests"] == traffic.requests
        assert recorded[f"global_{kind}_sectors"] == traffic.sectors * traffic.rounds
    else:
        retries = case.dtype == "float32"
        assert recorded["shared_atomic_requests"] == (traffic.serialized if retries else traffic.requests)
        assert recorded["shared_atomic_wavefronts"] == traffic.atomic_wavefronts


def test_rounds_cost_most_where_they_are_retries():
    def slower(pattern):
        one, all_lanes = (RECORDED[pattern, lanes]["nanoseconds_per_atomic"] for lanes in (LANES[0], LANES[-1]))
        return all_lanes / one

    assert slower("shared add of float32") > 20 > 5 > slower("shared add of int32") > slower("shared count of int32")
    assert slower("global add of float32") < 2


def test_a_maximum_of_floats_retries_at_most_as_often_as_it_has_rounds():
    for case in contentions(("shared max of float32",)):
        requests = RECORDED[case.about["pattern"], case.lanes]["shared_atomic_requests"]
        assert requests <= simulated(case).serialized + 1


def test_atomics_of_so_many_wavefronts_take_longer_also_of_one_warp_alone():
    """The limit from which a line is slow: below it, no update by one instruction takes a tenth more time."""
    for operation in ("add", "max", "exch", "cas"):
        each = [RECORDED[f"shared {operation} of int32", lanes] for lanes in LANES]
        alone = each[0]["nanoseconds_per_atomic"]
        for row in each:
            slow = row["shared_atomic_wavefronts"] >= MANY["atomic_wavefronts"]
            assert (row["nanoseconds_per_atomic"] > 1.1 * alone) == slow
