"""What a broken rule looks like: kinds, lines, words, and how a strict launch raises."""

import numpy as np
import pytest
from numba import cuda, float32, int32
from oracles.sources import line_of

from course_lib import KernelError, simulate
from course_lib.simulator.lanes.loops import Steps


def findings(kernel, grid, block, *arguments, **options):
    return simulate(kernel, strict=False, **options)[grid, block](*arguments).findings


def unsynchronized(a, out):
    tile = cuda.shared.array(64, float32)
    i = cuda.threadIdx.x
    tile[i] = a[i]
    out[i] = tile[63 - i]


@pytest.mark.parametrize("schedule", ["in-order", "reversed", 1, 2, 3])
def test_a_race_names_both_lines_whatever_the_schedule(schedule):
    a = np.arange(64, dtype="f4")
    races = [f for f in findings(unsynchronized, 1, 64, a, a.copy(), schedule=schedule) if f.kind == "race"]
    (race,) = races
    assert race.severity == "error"
    assert race.array == "tile"
    assert {race.other_line, race.line} == {line_of(unsynchronized, "tile[i] = a"), line_of(unsynchronized, "63 - i")}
    (block_a, thread_a), (block_b, thread_b) = race.threads
    assert block_a == block_b == (0, 0, 0)
    assert thread_a[0] + thread_b[0] == 63


def test_a_strict_launch_raises_once_it_has_run_and_carries_the_run():
    a, out = np.arange(64, dtype="f4"), np.zeros(64, "f4")
    with pytest.raises(KernelError) as caught:
        simulate(unsynchronized)[1, 64](a, out)
    error = caught.value
    assert error.run.traffic.select(array="a").accesses == 64
    assert {f.kind for f in error.findings} == {"race", "uninitialized-read"}
    text = "\n".join(error._render_traceback_())
    assert "tile[i] = a[i]" in text and "out[i] = tile[63 - i]" in text
    assert "course_lib" not in text and "Traceback" not in text
    assert len(text.splitlines()) <= 4


def test_an_early_return_before_a_barrier():
    def guarded(a, n):
        i = cuda.threadIdx.x
        if i >= n:
            return
        cuda.syncthreads()
        a[i] = 1

    (finding,) = findings(guarded, 1, 64, np.zeros(64, "f4"), 60)
    assert finding.kind == "barrier-divergence"
    assert (finding.line, finding.other_line) == (line_of(guarded, "syncthreads"), line_of(guarded, "return"))
    assert finding.count == 4
    assert findings(guarded, 1, 64, np.zeros(64, "f4"), 64) == ()


def test_parts_of_a_block_at_different_barriers():
    def parted(a):
        i = cuda.threadIdx.x
        if i < 40:
            a[i] = 1
            cuda.syncthreads()  # first
        else:
            cuda.syncthreads()  # second
        a[i] = 2

    (finding,) = findings(parted, 1, 64, np.zeros(64, "f4"))
    assert finding.kind == "barrier-divergence"
    assert {finding.line, finding.other_line} == {line_of(parted, "# first"), line_of(parted, "# second")}


def test_a_barrier_that_warps_reach_in_different_iterations():
    def loops(a):
        i = cuda.threadIdx.x
        for k in range(2 + i // 32):
            cuda.syncthreads()
            a[i] = k

    (finding,) = findings(loops, 1, 64, np.zeros(64, "f4"))
    assert (finding.kind, finding.line) == ("barrier-divergence", line_of(loops, "syncthreads"))


def test_a_barrier_under_a_condition_that_whole_blocks_share_is_fine():
    def uniform(a):
        i = cuda.threadIdx.x
        for k in range(cuda.blockIdx.x):
            a[cuda.blockIdx.x, i] += k
            cuda.syncthreads()
        if cuda.blockIdx.x == 1:
            cuda.syncthreads()

    a = np.zeros((4, 64), "i8")
    assert findings(uniform, 4, 64, a) == ()
    np.testing.assert_array_equal(a, np.array([0, 0, 1, 3])[:, None] * np.ones(64, "i8"))


def test_an_access_outside_an_array_is_left_out_and_the_kernel_goes_on():
    def shift(a, out):
        i = cuda.threadIdx.x
        out[i] = a[0, i + 2] + 1

    a, out = np.arange(8, dtype="f4").reshape(1, 8), np.full(8, -1, "f4")
    (finding,) = [f for f in findings(shift, 1, 8, a, out) if f.kind == "out-of-bounds"]
    assert (finding.array, finding.index, finding.count) == ("a", (0, 8), 2)
    assert finding.threads == (((0, 0, 0), (6, 0, 0)),)
    np.testing.assert_array_equal(out, [3, 4, 5, 6, 7, 8, 1, 1])


def test_uninitialized_shared_local_and_variable():
    def careless(out, n):
        tile = cuda.shared.array(64, float32)
        mine = cuda.local.array(2, float32)
        i = cuda.threadIdx.x
        if i < n:
            tile[i] = 1
            mine[1] = 1
            late = float32(i)
        cuda.syncthreads()
        out[i] = tile[i] + mine[1] + late

    assert findings(careless, 1, 64, np.zeros(64, "f4"), 64) == ()
    found = findings(careless, 1, 64, np.zeros(64, "f4"), 50)
    assert {(f.kind, f.array, f.count) for f in found} == {
        ("uninitialized-read", name, 14) for name in ("tile", "mine", "late")
    }


def test_accidental_float64_names_its_operand():
    def kernel(a, n, out):
        i = cuda.grid(1)
        acc = 0.0
        acc += a[i]
        half = a[i] * 0.5
        count = a[i] * n
        out[i] = acc + half + count

    found = findings(kernel, 1, 4, np.ones(4, "f4"), np.int32(3), np.zeros(4, "f4"))
    by_line = {f.line: f.message for f in found}
    assert set(by_line) == {line_of(kernel, text) for text in ("acc += ", "0.5", "* n")}
    assert "acc is float64: the literal 0.0" in by_line[line_of(kernel, "acc += ")]
    assert "the literal 0.5" in by_line[line_of(kernel, "0.5")]
    assert "n is int32" in by_line[line_of(kernel, "* n")]
    assert findings(kernel, 1, 4, np.ones(4), np.int32(3), np.zeros(4)) == ()


def test_a_loop_that_never_ends_stops_at_its_budget():
    def spin(flag):
        while flag[0] == 0:
            pass

    def climb(out):
        while out[0] >= 0:
            out[0] += 1

    def count(out):
        for k in range(10**12):
            out[0] = k

    with pytest.raises(KernelError, match=f"line {line_of(spin, 'while')}: .*50 iterations"):
        simulate(spin, max_steps=50)[1, 1](np.zeros(1, "i4"))
    with pytest.raises(KernelError, match=f"line {line_of(climb, 'while')}: .*3,000 iterations"):
        simulate(climb, max_steps=3000)[1, 1](np.zeros(1, "i4"))
    with pytest.raises(KernelError, match=f"line {line_of(count, 'for')}"):
        simulate(count)[1, 1](np.zeros(1, "i8"))


def test_a_loop_that_waits_for_another_thread_is_told_so():
    def flag(out):
        ready = cuda.shared.array(1, int32)
        if cuda.threadIdx.x == 40:
            ready[0] = 1
        while ready[0] != 1:
            pass
        out[0] = 1

    def lock(taken, out):
        while cuda.atomic.cas(taken, 0, 0, 1) != 0:
            pass
        out[0] += 1
        cuda.atomic.exch(taken, 0, 0)

    def lock_with_a_variable(taken, out):
        got = cuda.atomic.exch(taken, 0, 1)
        while got != 0:
            got = cuda.atomic.exch(taken, 0, 1)
        out[0] += 1

    for kernel in (lock, lock_with_a_variable):
        with pytest.raises(KernelError, match=f"line {line_of(kernel, 'while')}: .*waits for something"):
            simulate(kernel)[1, 64](np.zeros(1, "i4"), np.zeros(1, "i4"))
    races = [f for f in findings(flag, 1, 64, np.zeros(1, "i4")) if f.kind == "race" and f.array == "ready"]
    assert [(f.line, f.other_line) for f in races] == [(line_of(flag, "while"), line_of(flag, "ready[0] = 1"))]


def test_a_loop_in_which_nothing_changes_is_said_never_to_end():
    def stuck(out):
        acc = 0
        while acc < 1:
            pass
        out[0] = acc

    with pytest.raises(KernelError, match=f"line {line_of(stuck, 'while')}: this loop never ends"):
        simulate(stuck)[1, 64](np.zeros(1, "i4"))


def test_a_long_loop_that_changes_something_is_let_go_on():
    def collatz(out):
        i = cuda.threadIdx.x
        steps = 0
        while out[i] < 2500:
            if steps % 2 == 1:
                out[i] += 1
            steps += 1

    def tickets(counter, out):
        while cuda.atomic.add(counter, 0, 1) < 2200:
            pass
        out[0] = counter[0]

    def turns(out):
        k = 0
        while k < 5000:
            k += 1
        out[0] = k

    out = np.zeros(4, "i4")
    simulate(collatz)[1, 4](out)
    np.testing.assert_array_equal(out, 2500)
    for kernel, arguments, want in ((tickets, (np.zeros(1, "i4"),), 2201), (turns, (), 5000)):
        out = np.zeros(1, "i4")
        simulate(kernel)[1, 1](*arguments, out)
        assert out[0] == want


def test_a_long_range_that_is_left_early_costs_what_it_runs():
    def first(a, n, out):
        i = cuda.grid(1)
        for k in range(n):
            if a[k] > i:
                break
        out[i] = k

    for n in (10**12, np.uint64(2**64 - 1)):
        out = np.zeros(8, "i8")
        simulate(first)[1, 8](np.arange(20), n, out)
        np.testing.assert_array_equal(out, np.arange(8) + 1)
    with pytest.raises(KernelError, match=f"line {line_of(first, 'for')}: .*still running after 30"):
        simulate(first, max_steps=30)[1, 8](np.zeros(40), 10**12, np.zeros(8, "i8"))


@pytest.mark.parametrize("shape", [(3, 1, 4), (1, 3, 4), (4, 3, 1), (1, 1, 5), (2, 3, 4)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_a_finding_names_the_index_whatever_the_layout(shape, order):
    def everywhere(a):
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                for k in range(a.shape[2]):
                    if i + 1 == a.shape[0] and j + 1 == a.shape[1] and k + 1 == a.shape[2]:
                        a[i, j, k] = 1

    (race,) = findings(everywhere, 1, 2, np.zeros(shape, "f4", order=order))
    assert race.index == tuple(n - 1 for n in shape)


def test_a_race_within_one_line_is_told_from_two_writes():
    def shift(a):
        i = cuda.threadIdx.x
        a[i] = a[i + 1] if i < 31 else a[i]

    (race,) = findings(shift, 1, 32, np.zeros(32))
    assert race.line == race.other_line and "read into a variable" in race.message


def test_a_while_loop_has_a_budget_of_its_own(monkeypatch):
    """Without max_steps a loop that never ends is stopped long before a launch of many loops is."""

    def climb(a, rounds, length):
        for _ in range(rounds):
            stop = a[0] + length
            while a[0] < stop:
                a[0] += 1

    monkeypatch.setattr(Steps, "WHILE_LIMIT", 500)
    assert Steps.LIMIT > 10 * Steps.WHILE_LIMIT
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

    monkeypatch.setattr(Steps, "SECONDS", 0)
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


@cuda.jit(device=True)
def kept(x, write):
    mine = cuda.local.array(2, float32)
    if write:
        mine[0] = x
    for _ in range(2):
        mine[1] = mine[0]
    return mine[1]


def test_the_local_array_of_a_device_function_is_new_in_each_call():
    def twice(out):
        i = cuda.threadIdx.x
        out[i] = kept(float32(1), True)
        out[i] += kept(float32(2), i < 60)

    out = np.zeros(64, "f4")
    (finding,) = findings(twice, 1, 64, out)
    assert (finding.kind, finding.array, finding.count) == ("uninitialized-read", "mine", 8)
    np.testing.assert_array_equal(out[:60], 3)


def test_a_local_array_that_is_declared_again_for_other_lanes_is_unwritten_there():
    def parts(out):
        i = cuda.threadIdx.x
        for k in range(4):
            if i % 4 <= k:
                mine = cuda.local.array(1, float32)
                if k == 0:
                    mine[0] = 1
                out[i] = mine[0]

    (finding,) = findings(parts, 1, 64, np.zeros(64, "f4"))
    assert (finding.kind, finding.count, finding.threads[0][1]) == ("uninitialized-read", 16 * (1 + 2 + 3), (1, 0, 0))


def test_a_thread_that_wraps_in_two_dimensions_counts_once():
    def corner(a, out):
        i = cuda.threadIdx.x
        out[i] = a[i - 2, i - 3]

    (finding,) = findings(corner, 1, 5, np.arange(25.0).reshape(5, 5), np.zeros(5))
    assert (finding.kind, finding.count, finding.index) == ("negative-index", 3, (-2, -3))
    assert "wraps the negative index in dimension 0 silently to 3" in finding.message
