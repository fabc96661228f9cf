"""What a block reads of what other blocks stored: after a barrier of the grid, and under a lock."""

import numpy as np
from launches.kernels import accumulate, count_under_a_lock, exchange

from course_lib import simulate
from course_lib.trace.columns import NONE, OPS
from course_lib.trace.replay import Timeline


def read_by(trace, block, name):
    """The values of an array that thread 0 of a block loads, in order, and what its block then holds of them."""
    timeline = Timeline(trace, (block, 0, 0))
    found = []
    for position in range(1, len(timeline) + 1):
        for access in timeline.step(position).accesses:
            if (access.array, access.op) == (name, "load"):
                (element,) = access.index[0]
                before = timeline.values(name, position - 1)[element]
                found.append(int(before if access.values is None else access.values[0]))
    return found


def test_a_block_reads_what_another_stored_before():
    """After a barrier of the grid: the value as of that step, neither the first one nor the last one."""
    x, y = np.zeros((2, 2), np.int32)
    trace = simulate(exchange, trace=True)[2, 1](x, y).trace
    assert y.tolist() == [2 + 20, 1 + 10]
    assert [read_by(trace, block, "x") for block in (0, 1)] == [[2, 1, 20], [1, 2, 10]]
    assert [read_by(trace, block, "y") for block in (0, 1)] == [[2], [1]]
    assert Timeline(trace, (0, 0, 0)).values("x", 99).tolist() == [10, 20]


def test_a_block_reads_what_was_stored_under_a_lock():
    mutex, total = np.zeros((2, 1), np.int32)
    trace = simulate(count_under_a_lock, trace=True)[5, 2](mutex, total).trace
    assert total.tolist() == [5]
    assert sorted(read_by(trace, block, "total") for block in range(5)) == [[0], [1], [2], [3], [4]]


def test_a_block_that_reads_its_own_values_keeps_no_others():
    """Nothing is recorded of a load that finds what the block left, or what was there before the launch."""
    rng = np.random.default_rng(0)
    A, B, C = rng.standard_normal((3, 8, 8))
    trace = simulate(accumulate, trace=True)[(2, 2), (4, 4)](A, B, C).trace
    loads = trace.columns.access["op"] == OPS.index("load")
    assert loads.any() and (trace.columns.access["values"][loads] == NONE).all()
