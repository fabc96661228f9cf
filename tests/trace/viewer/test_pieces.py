"""The pieces that tensor cores read from shared memory, by banks, and the products in flight."""

import numpy as np
from launches.kernels import groups_in_flight
from launches.samples import launch, numbers
from oracles.pieces import products_in_flight
from oracles.replay import State
from oracles.scene import Scene

from course_lib import simulate
from course_lib.trace.replay import Timeline
from course_lib.trace.viewer.words import sentence


def line_with(run, text):
    return next(line for line, source in run.trace.source if text in source)


def steps_at(run, text, warp):
    """The positions of a warp's steps on the line with this text."""
    line = line_with(run, text)
    return [i for i, step in enumerate(run.trace.steps, 1) if (step.line, step.warp) == (line, warp)]


def test_a_pass_has_the_same_piece_of_eight_rows_in_all_banks():
    """As the swizzle says: piece p of row r is at place p ^ r, and B's columns are stored as rows."""
    run = launch("groups_in_flight")
    first, second = steps_at(run, "multiply_tiles", 2)
    a, b = Scene(Timeline(run.trace, (0, 0, 0)), first, 70).matrices[0].read
    assert a.title == "A, 16×8, in A_tiles" and b.title == "B, 8×64, in B_tiles"
    assert a.rows[0] == [f"{row},0" for row in range(8)]
    assert a.rows[1] == [f"{row},0" for row in range(8, 16)]
    assert a.rows[2] == [f"{place ^ 1},4" for place in range(8)]
    assert b.rows[1] == [f"4,{place ^ 1}" for place in range(8)]
    assert [len(read.rows) for read in (a, b)] == [2 * 16 // 8, 2 * 64 // 8]
    assert Scene(Timeline(run.trace, (0, 0, 0)), second + 1, 70).matrices == []


def test_a_group_is_in_flight_from_its_products_to_its_wait():
    run = launch("groups_in_flight")
    timeline, line = Timeline(run.trace, (0, 0, 0)), line_with(run, "multiply_tiles")
    started, waited = steps_at(run, "multiply_tiles", 1), steps_at(run, "wait_64(acc, 1)", 1)
    (ended,) = steps_at(run, "wait_64(acc, 0)", 1)
    one, two = (f"group {group} (line {line})" for group in (1, 2))
    said = [
        products_in_flight(timeline, at) for at in (started[0] - 1, started[0], waited[0], started[1], waited[1], ended)
    ]
    wanted = ("none", one, one, f"{one}, {two}", two, "none")
    assert said == [f"Products of warp 1 in flight: {what}." for what in wanted]


def test_a_thread_that_starts_a_product_reads_nothing_of_it():
    """The tensor cores read the pieces, for the whole warpgroup; a store or a plain load is still the thread's."""
    run = launch("groups_in_flight")
    timeline = Timeline(run.trace, (0, 0, 0))
    started, stored = (steps_at(run, text, 2)[0] for text in ("multiply_tiles", "store_tiles"))
    said = "Thread 70 starts a product of its warpgroup, for which the tensor cores read, among others, A_tiles["
    assert said in sentence(timeline, started, 70)
    assert "tensor cores" not in sentence(timeline, stored, 70)


def test_blocks_that_run_together_have_their_own_products():
    """Two blocks, one after the other in the trace, each with two groups in four warps of four products."""
    A, B, C = (np.ones(shape, np.float32) for shape in ((64, 64), (64, 128), (64, 128)))
    columns = simulate(groups_in_flight, trace=True)[2, 128](A, B, C).trace.columns
    table, steps = columns.product, columns.step
    assert len(table["step"]) == 2 * 4 * 2 * 4
    assert (steps["block"][table["step"]] == steps["block"][table["end"]]).all()
    assert (steps["warp"][table["step"]] == steps["warp"][table["end"]]).all()
    assert (table["end"] > table["step"]).all()


def test_the_results_arrive_in_the_registers_at_the_wait_for_the_last_group():
    """In each thread the elements of NumPy's product that PTX gives it; before, nothing. No request counts it."""
    run = launch("groups_in_flight")
    timeline = Timeline(run.trace, (0, 0, 0))
    wanted = numbers(64, 64) @ numbers(64, 64, seed=1)
    early, at = steps_at(run, "wait_64(acc, 1)", 2)[-1], steps_at(run, "wait_64(acc, 0)", 2)[0]
    item, lane = np.arange(32), 70 % 32
    rows = 2 * 16 + lane // 4 + 8 * (item // 2 % 2)
    mine = wanted[rows, item // 4 * 8 + lane % 4 * 2 + item % 2]
    assert timeline.values("acc", early)[70].mask.all()
    assert timeline.values("acc", at - 1)[70].mask.all()
    assert timeline.values("acc", at)[70].tolist() == mine.tolist()
    assert sentence(timeline, at, 70).endswith(f"Thread 70 receives acc[0:32] = {', '.join(f'{x:.0f}' for x in mine)}.")
    last = State(timeline, len(timeline))
    assert last.counts("local", "load").tolist() == [32] * 128 and not last.counts("local", "store").any()
    assert not run.traffic.select(space="local", op="store").accesses
