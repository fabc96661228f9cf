"""The order of the model for the stepper: of each statement the cycle at which its warp has issued it."""

import numpy as np
import pytest
from launches.samples import launch

from course_lib.kernels import rung
from course_lib.machine import measurements, timing_model
from course_lib.machine.machine_code import available
from course_lib.trace.replay import Timeline
from course_lib.trace.viewer import Stepper

MACHINE = timing_model.Multiprocessor.measured(measurements.load("latencies"))
LAUNCHES = {
    "tiled_two_warps": ("tiled", {"tile_width": 8}),
    "prefetched": ("prefetched", {"tile_width": 2}),
    "naive_16": ("naive", {"block_width": 4}),
}


def ordered(name):
    rung_name, params = LAUNCHES[name]
    if name == "prefetched" and not available():
        pytest.skip("the machine code of such narrow tiles is not recorded, and the compiler is not installed")
    kernel, trace = rung(rung_name).make(**params), launch(name).trace
    return kernel, trace, timing_model.orders(kernel, trace, MACHINE)


@pytest.mark.parametrize("name", LAUNCHES)
def test_statements_end_where_the_play_has_issued_them(name):
    """The last one of each warp ends with the warp; without latencies nothing ends later; a warp keeps its order."""
    kernel, trace, orders = ordered(name)
    timeline, timing = Timeline(trace, (0, 0, 0)), timing_model.simulate_blocks(kernel, trace, MACHINE)
    simulated, hidden = (np.array(cycles) for cycles in orders.values())
    assert simulated.max() > 1.5 * hidden.max()
    for warp in np.unique(timeline.warps):
        mine = timeline.warps == warp
        assert simulated[mine][-1] == round(timing.spans[warp][-1][2])
        for cycles in (simulated, hidden):
            assert (np.diff(cycles[mine]) >= 0).all()
        assert (hidden[mine] <= simulated[mine]).all()


def test_nothing_after_a_barrier_ends_before_all_have_arrived():
    """In both orders, at each barrier; before the first one the warps run in the same cycles."""
    _, trace, orders = ordered("tiled_two_warps")
    timeline = Timeline(trace, (0, 0, 0))
    releases = timeline.releases
    assert len(releases) == 4
    for cycles in map(np.array, orders.values()):
        for release in releases:
            arrivals = [step for step in range(release) if timeline.step(step + 1).barrier][-2:]
            assert cycles[release:].min() >= cycles[arrivals].max()
        first, second = (cycles[: releases[0]][timeline.warps[: releases[0]] == warp] for warp in (0, 1))
        assert first.max() > second[second > 0].min() and second.max() > first[first > 0].min()


@pytest.mark.parametrize(
    ("cycles", "message"),
    [([1, 2], "has 2 cycles; block .* takes 39 steps"), ([5] + [4] * 38, "before the one before")],
)
def test_an_order_of_another_run_is_refused(cycles, message):
    with pytest.raises(ValueError, match=message):
        Stepper(launch("naive_16"), orders={"mine": cycles})
