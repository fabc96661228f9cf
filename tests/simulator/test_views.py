"""Slices, rows and transposed arrays: parts of arrays, accessed at their true addresses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda, float32, int32
from oracles.sources import line_of

from course_lib import KernelError, UnsupportedKernelError, simulate


@cuda.jit(device=True)
def total(window):
    acc = float32(0)
    for i in range(window.shape[0]):
        for j in range(window.shape[1]):
            acc += window[i, j]
    return acc


@cuda.jit(device=True)
def fill(row, value):
    for j in range(len(row)):
        row[j] = value + j


def matrix(rows=5, columns=7, dtype="f4"):
    return np.random.default_rng(3).integers(0, 99, (rows, columns)).astype(dtype)


def test_a_window_of_a_stencil():
    def kernel(A, B):
        i, j = cuda.grid(2)
        if 0 < i < A.shape[0] - 1 and 0 < j < A.shape[1] - 1:
            B[i, j] = total(A[i - 1 : i + 2, j - 1 : j + 2])

    A, B = matrix(), np.zeros((5, 7), "f4")
    run = simulate(kernel)[(1, 1), (8, 8)](A, B)
    expected = sum(np.roll(A, (a, b), (0, 1)) for a in (-1, 0, 1) for b in (-1, 0, 1))[1:-1, 1:-1]
    np.testing.assert_array_equal(B[1:-1, 1:-1], expected)
    assert run.traffic.select(op="load", array="A").accesses == 9 * 3 * 5


def test_a_window_clipped_at_the_edges_differs_between_threads():
    def kernel(A, B):
        i = cuda.grid(1)
        window = A[max(i - 1, 0) : i + 2]
        acc = 0
        for k in range(len(window)):
            acc += window[k]
        B[i] = acc + 1000 * window.size

    A, B = np.arange(1, 9), np.zeros(8, "i8")
    run = simulate(kernel)[1, 8](A, B)
    expected = [A[max(i - 1, 0) : i + 2].sum() + 1000 * len(A[max(i - 1, 0) : i + 2]) for i in range(8)]
    assert B.tolist() == expected and run.traffic.select(op="load").accesses == 22


def test_rows_are_counted_at_their_true_addresses():
    """Each thread has a row of its own: the same sectors as with two indices."""

    def rows(A, out):
        i = cuda.grid(1)
        row = A[i]
        acc = 0.0
        for k in range(row.shape[0]):
            acc += row[k]
        out[i] = acc

    def elements(A, out):
        i = cuda.grid(1)
        acc = 0.0
        for k in range(A.shape[1]):
            acc += A[i, k]
        out[i] = acc

    A = matrix(64, 24, "f8")
    first, second = np.zeros(64), np.zeros(64)
    one, other = simulate(rows)[2, 32](A, first), simulate(elements)[2, 32](A, second)
    np.testing.assert_array_equal(first, second)
    for count in ("accesses", "requests", "sectors"):
        a, b = (getattr(run.traffic.select(op="load", array="A"), count) for run in (one, other))
        assert a == b > 0


def test_stores_atomics_and_loops_through_views():
    def kernel(A, B, counts):
        fill(A[1], 10)
        fill(A[:, 2], 100)
        fill(A.T[0, ::-1], 1000)
        cuda.atomic.add(counts[1:], 1, 5)
        n = 0
        for row in B:
            for value in row:
                n += value
        counts[0] = n
        A[3][1:][0] += 1

    A, counts = np.zeros((4, 4), "i8"), np.zeros(4, "i8")
    B = matrix(3, 5, "i8")
    expected = A.copy()
    expected[1] = 10 + np.arange(4)
    expected[:, 2] = 100 + np.arange(4)
    expected[::-1, 0] = 1000 + np.arange(4)
    expected[3, 1] += 1
    simulate(kernel)[1, 1](A, B, counts)
    np.testing.assert_array_equal(A, expected)
    assert counts.tolist() == [B.sum(), 0, 5, 0]


def test_parts_of_shared_and_local_arrays():
    def kernel(A, B):
        tile = cuda.shared.array((4, 8), float32)
        own = cuda.local.array((2, 3), int32)
        i, t = cuda.threadIdx.y, cuda.threadIdx.x
        mine = tile[i]
        mine[t] = A[i, t]
        fill(own[1], t)
        cuda.syncthreads()
        B[i, t] = tile.T[t][i] + tile[i, ::-1][t] + float32(own[1, 2])

    A, B = matrix(4, 8), np.zeros((4, 8), "f4")
    run = simulate(kernel)[1, (8, 4)](A, B)
    np.testing.assert_array_equal(B, A + A[:, ::-1] + np.arange(8) + 2)
    assert run.findings == () and run.traffic.select(space="shared", op="load").accesses == 64


def test_new_dimensions():
    def kernel(A, B, out, sizes):
        i, j = cuda.grid(2)
        column, rows = A[:, None], A[np.newaxis, 1:, None, 2]
        out[i, j] = column[i, 0, j] + 10 * A[i, None][0, j] + 100 * A[..., None, ::-1][i, 0, j]
        B[:, None][i, 0, j] += A[i, j]
        if i == j == 0:
            sizes[0], sizes[1], sizes[2] = rows.shape
            sizes[3], sizes[4] = rows[0, 2, 0], column.strides[0] + column.strides[1]

    A, B, out, sizes = matrix(), np.zeros((5, 7), "f4"), np.zeros((5, 7)), np.zeros(5, "i8")
    run = simulate(kernel)[1, (5, 7)](A, B, out, sizes)
    np.testing.assert_array_equal(out, A + 10 * A + 100 * A[:, ::-1])
    np.testing.assert_array_equal(B, A)
    assert run.errors == () and sizes.tolist() == [1, 4, 1, A[3, 2], 28]

    def outside(A):
        A[:, None][1, 1, 0] = 0

    (finding,) = simulate(outside, strict=False)[1, 1](A).findings
    assert (finding.kind, finding.index) == ("out-of-bounds", (1, 1, 0))


def test_an_index_outside_a_view_but_inside_its_array_is_out_of_bounds():
    def kernel(A, B):
        i = cuda.grid(1)
        row = A[1:3]
        B[i] = row[i]

    with pytest.raises(KernelError, match="a view of A") as caught:
        simulate(kernel)[1, 4](np.arange(8), np.zeros(4, "i8"))
    (finding,) = caught.value.findings
    assert (finding.kind, finding.array, finding.index, finding.count) == ("out-of-bounds", "A", (2,), 2)


def test_a_negative_index_wraps_within_the_view():
    def kernel(A, B):
        i = cuda.grid(1)
        B[i] = A[1:4][-1 - i]

    B = np.zeros(3, "i8")
    (finding,) = simulate(kernel)[1, 3](np.arange(8), B).findings
    assert B.tolist() == [3, 2, 1] and (finding.kind, finding.count) == ("negative-index", 3)


def test_a_variable_that_is_an_array_or_a_part_of_one():
    def kernel(A, B, n):
        part = A
        if n > 3:
            part = A[2:]
        B[0] = part[0]

    B = np.zeros(1, "i8")
    simulate(kernel)[1, 1](np.arange(8), B, 5)
    assert B[0] == 2
    simulate(kernel)[1, 1](np.arange(8), B, 1)
    assert B[0] == 0


def test_rows_that_threads_of_a_warp_choose():
    def kernel(A, B):
        i = cuda.grid(1)
        row = A[0]
        if i % 2:
            row = A[i]
        B[i] = row[i]

    A, B = matrix(6, 6), np.zeros(6, "f4")
    simulate(kernel)[1, 6](A, B)
    assert B.tolist() == [A[i if i % 2 else 0, i] for i in range(6)]


def test_a_race_through_a_view_is_a_race():
    def kernel(A):
        row = A[0]
        row[cuda.threadIdx.x % 2] = cuda.threadIdx.x

    with pytest.raises(KernelError, match="race"):
        simulate(kernel)[1, 4](np.zeros((2, 4)))


def assign_to_a_slice(a):
    a[0:2] = a[2:4]  # here


def step_of_zero(a):
    a[0] = a[:: a.shape[0] - 8][0]  # here


def complex_bound(a):
    a[0] = a[1j:][0]  # here


def too_many(a):
    a[0] = a[1, :]  # here


@pytest.mark.parametrize(
    ("kernel", "error", "words"),
    [
        (assign_to_a_slice, UnsupportedKernelError, "copy it in a loop over single elements"),
        (step_of_zero, KernelError, "the step of a slice is 0"),
        (complex_bound, UnsupportedKernelError, "must be an integer"),
        (too_many, UnsupportedKernelError, "more indices than a has dimensions"),
    ],
)
def test_what_no_view_is(kernel, error, words):
    with pytest.raises(error, match=f"line {line_of(kernel, '# here')}: .*{words}"):
        simulate(kernel)[1, 1](np.zeros(8))


bound = st.integers(-9, 9) | st.none()


@given(bound, bound, bound.filter(lambda step: step != 0), bound, bound)
@settings(max_examples=60, deadline=None)
def test_bounds_follow_pythons_rules(start, stop, step, again, end):
    """A slice of a slice, each bound given or left out, as Python cuts a list."""
    from course_lib.simulator.lanes.view import bounds

    size = 7
    first, length, by = bounds(start, stop, step, np.int64(size), 1)
    expected = list(range(size))[start:stop:step]
    assert [int(first + k * by) for k in range(length)] == expected
    inner, count, _ = bounds(again, end, None, length, 1)
    assert [int(first + (inner + k) * by) for k in range(count)] == expected[again:end]
