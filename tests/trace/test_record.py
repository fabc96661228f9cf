"""The trace: one step for every statement of every warp, in order, with accesses and values."""

import tracemalloc

import numpy as np
import pytest
from numba import cuda, float32

from course_lib import LaunchError, simulate
from course_lib.trace import record
from course_lib.trace.columns import ITERATION
from course_lib.trace.record import TraceObserver


def test_variables_and_barriers_that_return_a_value():
    def kernel(out):
        i = cuda.threadIdx.x
        half = float32(i) * float32(0.5)
        many = cuda.syncthreads_count(int(i > 10))
        out[i] = half + many

    out = np.zeros(40, "f4")
    trace = simulate(kernel, trace=True)[1, 40](out).trace
    for warp, threads in ((0, range(32)), (1, range(32, 40))):
        steps = [s for s in trace.steps if s.warp == warp]
        values = {name: list(v) for s in steps for name, v in s.variables.items()}
        assert values["half"] == [t / 2 for t in threads]
        assert values["many"] == [29] * len(threads)
        assert [s.barrier for s in steps] == [False, False, True, False]
        assert all(list(s.threads) == list(threads) for s in steps)


def test_an_iteration_is_marked_once_also_if_the_loop_is_one_line():
    """As often as its body counts; the last test of a while is marked as well."""

    def kernel(out):
        i = cuda.threadIdx.x
        for k in range(3): out[0] += 1; out[1] = k  # fmt: skip # noqa: E701, E702
        while i < 2: i += 1; out[2] += 1  # fmt: skip # noqa: E701, E702
        for _ in range(2):
            out[3] += 1

    out = np.zeros(4, "i4")
    trace = simulate(kernel, trace=True)[1, 1](out).trace
    marked = trace.columns.step["line"][trace.columns.step["flags"] & ITERATION != 0]
    assert np.unique(marked, return_counts=True)[1].tolist() == [out[0], out[2] + 1, out[3]] == [3, 3, 2]


def test_a_trace_of_many_blocks_keeps_only_what_it_shows():
    def copy(a, out):
        i = cuda.grid(1)
        x = a[i]
        if i % 3 == 0:
            out[i, 0] = x

    def peak(blocks):
        a, out = np.arange(32 * blocks, dtype="f4"), np.zeros((32 * blocks, 2), "f4", order="F")
        tracemalloc.start()
        trace = simulate(copy, trace=True)[blocks, 32](a, out).trace
        used = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert len(trace.steps) == 4 * blocks
        for step in trace.steps:
            first = 32 * step.block[0]
            for access in step.accesses:
                np.testing.assert_array_equal(access.index[:, 0], first + access.threads)
                if access.op == "store":
                    np.testing.assert_array_equal(access.values, first + access.threads)
                assert not access.index[:, 1:].any()
        return used

    assert peak(512) < 20 * peak(32)


def test_comparisons_tell_their_truth_and_what_was_compared():
    """Each link of a chain and each operand of an `and` is recorded, in its lanes; so are loops' tests."""

    def kernel(out):
        i = cuda.threadIdx.x
        if 1 < i <= 3 and out[i] == 0:
            out[i] = 7 if i == 2 else 8
        while i < 2:
            i += 1

    out = np.array([0, 0, 0, 5], "i4")
    trace = simulate(kernel, trace=True)[1, 4](out).trace
    found = [
        (c.text, c.threads.tolist(), c.truth.tolist(), np.broadcast_to(c.left, len(c.threads)).tolist())
        for step in trace.steps
        for c in step.conditions
    ]
    F, T = False, True
    assert found == [
        ("1 < i", [0, 1, 2, 3], [F, F, T, T], [1, 1, 1, 1]),
        ("i <= 3", [2, 3], [T, T], [2, 3]),
        ("out[i] == 0", [2, 3], [T, F], [0, 5]),
        ("i == 2", [2], [T], [2]),
        ("i < 2", [0, 1, 2, 3], [T, T, F, F], [0, 1, 2, 3]),
        ("i < 2", [0, 1], [T, F], [1, 2]),
        ("i < 2", [0], [F], [2]),
    ]
    np.testing.assert_array_equal(out, [0, 0, 7, 5])


def test_functions_of_other_files_are_no_steps():
    """The traffic of element_or_zero counts on the line that calls it, and only the kernel's lines are steps."""
    from course_lib.kernels.vector import element_or_zero

    def kernel(a, out):
        i = cuda.threadIdx.x
        out[i] = element_or_zero(a, 0, i)

    trace = simulate(kernel, trace=True)[1, 4](np.ones((1, 3), "f4"), np.zeros(4, "f4")).trace
    lines = [line for line, text in trace.source]
    assert [step.line - lines[0] for step in trace.steps] == [1, 2]
    assert [(a.op, a.array, a.threads.tolist()) for a in trace.steps[1].accesses] == [
        ("load", "a", [0, 1, 2]),
        ("store", "out", [0, 1, 2, 3]),
    ]


@cuda.jit(device=True)
def sum_of_two(A, i):
    total = A[i] + A[i + 1]
    return total


@cuda.jit(device=True)
def twice_the_sum(A, i):
    total = sum_of_two(A, i)
    total = total + total
    return total


def test_a_name_in_a_function_and_in_its_caller_is_two():
    """A returned value goes to the statement that called, though the function assigns that name later."""

    def kernel(A, out):
        i = cuda.threadIdx.x
        total = sum_of_two(A, i) + sum_of_two(A, i + 1)
        other = sum_of_two
        total = other(A, i) + twice_the_sum(A, i)
        out[i] = total

    A, out = np.arange(8, dtype="f4"), np.zeros(4, "f4")
    trace = simulate(kernel, trace=True)[1, 4](A, out).trace
    source = dict(trace.source)
    found = [
        (source[step.line].strip(), {name: value.tolist() for name, value in step.variables.items()})
        for step in trace.steps
        if any(name.endswith("total") for name in step.variables)
    ]
    one, three = [1, 3, 5, 7], [3, 9, 15, 21]
    assert found == [
        ("total = A[i] + A[i + 1]", {"sum_of_two.total": one}),
        ("total = A[i] + A[i + 1]", {"sum_of_two.total": [3, 5, 7, 9]}),
        ("total = sum_of_two(A, i) + sum_of_two(A, i + 1)", {"total": [4, 8, 12, 16]}),
        ("total = A[i] + A[i + 1]", {"sum_of_two.total": one}),
        ("total = A[i] + A[i + 1]", {"sum_of_two.total": one}),
        ("total = sum_of_two(A, i)", {"twice_the_sum.total": one}),
        ("total = total + total", {"twice_the_sum.total": [2, 6, 10, 14]}),
        ("total = other(A, i) + twice_the_sum(A, i)", {"total": three}),
    ]


def test_a_compare_and_swap_has_two_operands():
    """They are the expected and the new value; only a lane that found what it expected stored its own."""

    def kernel(lock):
        cuda.atomic.cas(lock, 0, 0, cuda.threadIdx.x + 7)

    trace = simulate(kernel, trace=True)[1, 4](np.zeros(1, "i8")).trace
    (access,) = (access for step in trace.steps for access in step.accesses)
    assert access.operation == "cas"
    assert access.given.tolist() == [[0, 7], [0, 8], [0, 9], [0, 10]]
    assert access.old.tolist() == [0, 7, 7, 7]
    assert access.values.tolist() == [7, 7, 7, 7]


@pytest.fixture
def recorded_statements(monkeypatch):
    """The lines of the statements that are recorded, one for each warp and chunk of blocks."""
    lines = []
    recorded = TraceObserver._open

    def spy(self, vector, line, mask, flags):
        lines.append(line)
        return recorded(self, vector, line, mask, flags)

    monkeypatch.setattr(TraceObserver, "_open", spy)
    return lines


def counting(counts, n):
    for i in range(n):
        cuda.atomic.add(counts, i % 3, 1)


@pytest.mark.parametrize(("grid", "block", "recorded"), [(1, 64, 50), (64, 32, 1000 // 8 // 64 + 1)])
def test_a_long_launch_is_refused_after_few_statements(monkeypatch, recorded_statements, grid, block, recorded):
    """All its steps are counted after 50; or after an eighth of those shown, if one statement is 64 blocks' step."""
    monkeypatch.setattr(record, "MAX_STEPS", 1000)
    monkeypatch.setattr(record, "COUNT_AFTER", 50)
    with pytest.raises(LaunchError, match="more than 1,000 steps"):
        simulate(counting, trace=True)[grid, block](np.zeros(3, "i4"), 400)
    assert len(recorded_statements) == recorded


def test_counting_the_steps_changes_neither_results_nor_trace(monkeypatch, recorded_statements):
    """The launch runs once as the user sees it, though its steps were counted when it had begun."""
    found = []
    for after in (50, 10_000):
        monkeypatch.setattr(record, "COUNT_AFTER", after)
        counts = np.array([5, 0, 0], "i4")
        run = simulate(counting, trace=True)[1, 64](counts, 100)
        np.testing.assert_array_equal(counts, [5 + 34 * 64, 33 * 64, 33 * 64])
        columns = run.trace.columns
        kept = [column.tolist() for table in (columns.step, columns.access) for column in table.values()]
        found.append((run.traffic.accesses, kept, len(recorded_statements)))
        recorded_statements.clear()
    assert found[0] == found[1]
    assert found[0][2] > 50


@cuda.jit
def sum_of_fields(r, out):
    i = cuda.grid(1)
    out[i] = r[i].a + r[i].b


def test_fields_of_records_have_their_initial_values():
    """Arrays of the trace like any other: a field that is read before anybody stores to it is not empty."""
    r = np.zeros(4, np.dtype([("a", np.float32), ("b", np.float32)]))
    r["a"], r["b"] = np.arange(4), np.arange(4) / 2
    run = simulate(sum_of_fields, trace=True)[1, 4](r, np.zeros(4, np.float32))
    assert run.trace.arrays["r.a"].initial.tolist() == [0, 1, 2, 3]
    assert run.trace.arrays["r.b"].initial.tolist() == [0, 0.5, 1, 1.5]
