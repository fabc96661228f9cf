"""What a broken rule looks like: kinds, lines, words, and how a strict launch raises."""

import numpy as np
import pytest
from numba import cuda, float32
from oracles.sources import line_of

from course_lib import KernelError, simulate
from course_lib.simulator.runtime.loops import IterationBudget


def unsynchronized(a, out):
    tile = cuda.shared.array(64, float32)
    i = cuda.threadIdx.x
    tile[i] = a[i]
    out[i] = tile[63 - i]


def test_a_strict_launch_raises_once_it_has_run_and_carries_the_run():
    a, out = np.arange(64, dtype="f4"), np.zeros(64, "f4")
    with pytest.raises(KernelError) as caught:
        simulate(unsynchronized)[1, 64](a, out)
    error = caught.value
    assert error.run.traffic.select(array="a").accesses == 64
    race, unwritten = error.findings
    assert (race.kind, unwritten.kind) == ("race", "uninitialized-read")
    assert sum(x for _, (x, _, _) in race.threads) == 63
    text = "\n".join(error._render_traceback_())
    assert "tile[i] = a[i]" in text and "out[i] = tile[63 - i]" in text
    assert "course_lib" not in text and "Traceback" not in text


def test_a_while_loop_has_a_budget_of_its_own(monkeypatch):
    """Without max_steps a loop that never ends is stopped long before a launch of many loops is."""

    def climb(a, rounds, length):
        for _ in range(rounds):
            stop = a[0] + length
            while a[0] < stop:
                a[0] += 1

    monkeypatch.setattr(IterationBudget, "WHILE_LIMIT", 500)
    assert IterationBudget.LIMIT > 10 * IterationBudget.WHILE_LIMIT
    a = np.zeros(1, "i8")
    simulate(climb)[1, 1](a, 3, 400)
    assert a[0] == 1200
    with pytest.raises(
        KernelError, match=f"line {line_of(climb, 'while')}: .*still running after 500 iterations;"
    ) as stopped:
        simulate(climb)[1, 1](a, 3, 600)
    error = stopped.value
    assert error.line == line_of(climb, "while")
    assert str(error) == error.without_option() + error.option
    assert error.without_option().endswith("check what ends it") and "max_steps" in error.option
    a[0] = 0
    simulate(climb, max_steps=5_000)[1, 1](a, 3, 600)
    assert a[0] == 1800


def test_the_budget_is_also_a_time(monkeypatch):
    """Few steps that take long are stopped too; whoever gives max_steps has said how long it may take."""

    def climb(a):
        for _ in range(3_000):
            a[0] += 1

    monkeypatch.setattr(IterationBudget, "SECONDS", 0)
    with pytest.raises(
        KernelError, match=f"line {line_of(climb, 'for')}: .*still running after 0 seconds of this launch"
    ):
        simulate(climb)[1, 1](np.zeros(1, "i8"))
    a = np.zeros(1, "i8")
    simulate(climb, max_steps=5_000)[1, 1](a)
    assert a[0] == 3_000


def test_a_launch_that_was_stopped_says_what_it_broke_before():
    def overrun(a, out):
        i = cuda.threadIdx.x
        out[i] = a[i + 1]
        if i < 32:
            while True:
                i += 1
                cuda.syncthreads()

    for strict in (True, False):
        with pytest.raises(KernelError) as caught:
            simulate(overrun, max_steps=100, strict=strict)[1, 64](np.zeros(64), np.zeros(64))
        error = caught.value
        assert str(error).startswith(f"line {line_of(overrun, 'while')}: this loop was still running after 100")
        assert "Before that: out-of-bounds in overrun: thread 63 of block 0 reads a[64]" in str(error)
        assert {f.kind for f in error.findings} == {"out-of-bounds", "barrier-divergence"}
        assert error.run.traffic.select(array="out").accesses == 64


@pytest.mark.parametrize("together", [False, True])
def test_a_launch_that_waits_for_ever_says_what_it_did_before(together):
    def kernel(flag, out):
        out[0] = cuda.threadIdx.x
        if together or cuda.threadIdx.x == 0:
            while cuda.atomic.add(flag, 0, 0) == 0:
                pass

    with pytest.raises(KernelError, match="waits(.|\n)* race") as caught:
        simulate(kernel, trace=True)[3, 64](np.zeros(1, np.int32), np.zeros(1, np.int32))
    run = caught.value.run
    assert {finding.array for finding in run.findings} == {"out"}
    assert run.traffic.select(array="out").accesses == 3 * 64
    assert {step.line for step in run.trace.steps} >= {finding.line for finding in run.findings}
