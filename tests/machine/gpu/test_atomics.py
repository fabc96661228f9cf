"""Atomics of 1 to 32 lanes on a word: the simulator's counts beside Nsight Compute's, as recorded on a GPU."""

import pytest

from course_lib import simulate
from course_lib.machine import measurements
from tools.lab.atomics import LANES, contentions

RECORDED = {(each["pattern"], each["lanes"]): each for each in measurements.load("atomics").results}
#: Wavefronts of shared memory for each round.
WAVEFRONTS = {"cas": 2}


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
    assert traffic.retries == case.lanes * (case.space == "shared" and case.dtype == "float32")
    if (case.operation, case.dtype) == ("max", "float32"):
        return  # a loop whose length depends on the values
    if case.space == "global":
        kind = "reduction" if recorded["global_reduction_requests"] else "atomic"
        assert recorded[f"global_{kind}_requests"] == traffic.requests
        assert recorded[f"global_{kind}_sectors"] == traffic.sectors * traffic.rounds
    elif case.operation == "count":
        assert recorded["shared_atomic_wavefronts"] == 1
    elif case.dtype == "float32":
        assert recorded["shared_atomic_requests"] == traffic.retries
        assert recorded["shared_atomic_wavefronts"] == 2 * traffic.retries
    else:
        assert recorded["shared_atomic_requests"] == traffic.requests
        assert recorded["shared_atomic_wavefronts"] == traffic.rounds * WAVEFRONTS.get(case.operation, 1)


def test_rounds_cost_most_where_they_are_retries():
    def slower(pattern):
        one, all_lanes = (RECORDED[pattern, lanes]["nanoseconds_per_atomic"] for lanes in (LANES[0], LANES[-1]))
        return all_lanes / one

    assert slower("shared add of float32") > 20 > 5 > slower("shared add of int32") > slower("shared count of int32")
    assert slower("global add of float32") < 2


def test_a_maximum_of_floats_retries_at_most_as_often_as_it_has_rounds():
    for case in contentions(("shared max of float32",)):
        requests = RECORDED[case.about["pattern"], case.lanes]["shared_atomic_requests"]
        assert requests <= simulated(case).retries + 1
