"""The bars of the two tracks as they are drawn: each run's over its own statements, or both over the same cycles."""

import functools

import numpy as np
import pytest
from launches.samples import launch, product
from oracles.tracks import bars_of
from playwright.sync_api import expect

from course_lib import simulate
from course_lib.kernels import rung
from course_lib.machine import measurements, timing_model
from course_lib.trace.replay import Timeline
from course_lib.trace.viewer import Stepper, compare

#: Of each run, the left and right ends of a track's bars that have a pair's number, as shares of the track's width.
BARS = """(what) => [...document.querySelectorAll(".tt-track-run")].map((run) => {
  const track = run.querySelector(`.tt-track-${what}`).getBoundingClientRect();
  return [...run.querySelectorAll(`.tt-bar-${what}:not(:empty)`)].map((bar) => {
    const { left, right } = bar.getBoundingClientRect();
    return [(left - track.left) / track.width, (right - track.left) / track.width];
  });
})"""
#: Launches by name, and how many pairs of tiles a block multiplies.
PAIRS = {
    "tiled_16": (lambda: launch("tiled_16"), 4),
    "prefetched_16": (lambda: launch("prefetched_16"), 4),
    "outer_product": (product("outer_product", 16, 32, 64), 2),
    "register_1d": (product("register_1d", 64, 16, 64), 2),
}


@functools.cache
def run_of(name):
    return PAIRS[name][0]()


@pytest.mark.parametrize(
    "names", [("tiled_16", "prefetched_16"), ("tiled_16", "outer_product"), ("outer_product", "register_1d")]
)
def test_the_bars_of_each_run_are_shares_of_its_own_statements(show, names):
    """Two numbers of statements say nothing about time: each run's bars fill the whole width."""
    runs = [run_of(name) for name in names]
    page = show(Stepper(runs[0]), _other=Stepper(runs[1])._data)
    for number, name in enumerate(names):
        timeline = Timeline(runs[number].trace, (0, 0, 0))
        for what, wanted in zip(("loads", "multiplies"), bars_of(timeline, PAIRS[name][1]), strict=True):
            shown = page.evaluate(BARS, what)[number]
            # a bar is at least as wide as its number
            assert [left for left, _ in shown] == pytest.approx(
                [from_ / len(timeline) for from_, _ in wanted], abs=2e-3
            )
            ends = [to / len(timeline) for _, to in wanted]
            assert all(right > end - 2e-3 for (_, right), end in zip(shown, ends, strict=True)), (name, what)
            if what == "multiplies":
                assert [right for _, right in shown] == pytest.approx(ends, abs=2e-3)


def test_the_bars_of_two_runs_in_cycles_have_one_scale(show):
    """In the order that the played machine code has, a bar of either run is a share of the longer run's cycles."""
    gpu = timing_model.Multiprocessor.measured(measurements.load("latencies"))
    runs, all_orders = [], []
    for name in ("tiled", "prefetched"):
        kernel = rung(name).make(8)
        A, B, C = np.ones((8, 32), np.float32), np.ones((32, 8), np.float32), np.zeros((8, 8), np.float32)
        runs.append(simulate(kernel, trace=True)[(1, 1), (8, 8)](A, B, C))
        all_orders.append(timing_model.orders(kernel, runs[-1].trace, gpu))
    stepper = compare(*runs, orders=all_orders)
    page = show(stepper, _other=stepper._other, _orders=stepper._orders)
    expect(page.locator(".tt-tracks > p")).to_contain_text("in cycles")
    cycles = [next(iter(orders.values())) for orders in all_orders]
    longest = max(max(each) for each in cycles)
    marks = [int(mark.replace(",", "")) for mark in page.locator(".tt-track-end").all_text_contents()]
    assert marks == [max(each) for each in cycles]
    shown = page.evaluate(BARS, "loads")
    for run, ends, bars in zip(runs, cycles, shown, strict=True):
        timeline = Timeline(run.trace, (0, 0, 0))
        lines = [number for number, text in run.trace.source if "= A[" in text or "= B[" in text]
        steps = np.flatnonzero(np.isin(timeline.lines, lines)).tolist()
        before = [
            max((ends[i] for i in range(step) if timeline.warps[i] == timeline.warps[step]), default=0)
            for step in steps
        ]
        assert bars[0][0] == pytest.approx(min(before) / longest, abs=2e-3)
        assert len(bars) == 4
