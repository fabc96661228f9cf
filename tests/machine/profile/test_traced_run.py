"""A launch that may take more steps than others is traced with as many."""

import numpy as np
from numba import cuda

from course_lib.machine.profile import profile
from course_lib.simulator.runtime.loops import IterationBudget


@cuda.jit
def counted_down(x, out):
    left, count = x[0], 0
    while left > 1:
        left -= 1
        count += 1
    out[0] = count


def test_a_launch_with_more_steps_has_a_stepper(monkeypatch):
    """A while loop of 99 iterations, where 50 are the default, is traced if the caller allows 200."""
    monkeypatch.setattr(IterationBudget, "WHILE_LIMIT", 50)
    x, out = np.full(1, 100), np.zeros(1, np.int64)
    profiled = profile(counted_down, 1, 1, x, out, max_steps=200)
    assert out[0] == 99 and profiled.traced is not None
    stopped = profile(counted_down, 1, 1, x, out)
    assert stopped.failed and stopped.traced is None
