"""Statements that mean every element of an array: a number into a part of one, ``fill``, NumPy's functions into one."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import cuda, float32, int32

from course_lib import KernelError, UnsupportedKernelError, simulate


@cuda.jit(device=True)
def clear(row):
    row[:] = 0


def rows(A):
    i = cuda.grid(1)
    if i < A.shape[0]:
        A[i] = i
        A[i, 1:-1] = 10 + i
        A[i][::3] = 0.5
        row = A[i, i:]
        row[-1:] = -1


def test_a_number_into_parts_of_an_array():
    """As NumPy stores it, in rows of which each thread has one."""
    A = np.full((6, 8), 9.0, np.float32)
    expected = A.copy()
    for i in range(6):
        expected[i] = i
        expected[i, 1:-1] = 10 + i
        expected[i][::3] = 0.5
        expected[i, -1:] = -1

    run = simulate(rows)[1, 32](A)

    np.testing.assert_array_equal(A, expected)
    assert run.findings == ()
    assert run.traffic.select(op="store").accesses == 6 * (8 + 6 + 3 + 1)
    assert run.traffic.requests == 8 + 6 + 3 + 1
    assert run.traffic.select(op="load").accesses == 0


bound = st.integers(-9, 9) | st.none()


@given(bound, bound, bound.filter(lambda step: step != 0), st.integers(-3, 3))
@settings(max_examples=60, deadline=None)
def test_the_elements_are_those_of_numpys_slice(start, stop, step, value):
    """The bounds differ between the threads, as those of a variable do."""

    def kernel(A, start, stop, step, value):
        t = cuda.threadIdx.x
        A[t, start + t : stop + t : step] = value

    def left_open(A, start, stop, step, value):
        t = cuda.threadIdx.x
        A[t, ::step] = value
        A[t, start:] = value + 1
        A[t, :stop] = value + 2

    A = np.zeros((4, 7), np.int64)
    expected = A.copy()
    whole = None not in (start, stop, step)
    start, stop, step = (1 if b is None else b for b in (start, stop, step))
    for t in range(4):
        if whole:
            expected[t, start + t : stop + t : step] = value
        else:
            expected[t, ::step], expected[t, start:], expected[t, :stop] = value, value + 1, value + 2

    simulate(kernel if whole else left_open)[1, 4](A, start, stop, step, value)

    np.testing.assert_array_equal(A, expected)


def test_shared_and_local_arrays_and_arguments_are_filled():
    def kernel(out):
        t = cuda.threadIdx.x
        tile = cuda.shared.array((4, 8), float32)
        own = cuda.local.array(5, int32)
        tile[t, ...] = t
        own[:] = 2.9
        own[1:3].fill(t)
        clear(own[3:])
        cuda.syncthreads()
        out[t] = 0
        for k in range(5):
            out[t] = 10 * out[t] + own[k]
        out[t] += tile[3 - t, 7] / float32(2)

    out = np.zeros(4)
    assert simulate(kernel)[1, 4](out).findings == ()
    assert out.tolist() == [20001.5, 21101.0, 22200.5, 23300.0]


def test_what_is_not_filled_is_uninitialized():
    def kernel(out):
        own = cuda.local.array(4, int32)
        own[1:] = 7
        out[0] = own[0]

    run = simulate(kernel, strict=False)[1, 1](np.zeros(1))
    assert [(f.kind, f.index) for f in run.findings] == [("uninitialized-read", (0,))]


def test_threads_that_fill_one_array_race():
    """And so do those that read what another fills; the rule sees each element's store."""

    def all_of_them(tile):
        tile[:] = 0

    def one_of_them(out):
        t = cuda.threadIdx.x
        tile = cuda.shared.array(32, float32)
        if t == 0:
            tile[:] = 0
        out[t] = tile[t]

    run = simulate(all_of_them, strict=False)[1, 64](np.zeros(8))
    assert [f.kind for f in run.findings] == ["race"]
    run = simulate(one_of_them, strict=False)[1, 32](np.zeros(32))
    assert [f.kind for f in run.findings] == ["race"]


def into_an_array(A, B):
    A[:] = B


def rows_into_a_row(A, B):
    A[0] = B[1]


def a_tuple(A, B):
    A[0, :3] = (1, 2, 3)


def a_sum(A, B):
    A[1:] += 1


def a_complex(A, B):
    A[:] = 2j


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (into_an_array, "takes one number for all of its elements; B is a 2-dimensional array"),
        (rows_into_a_row, r"B\[1\] is a 1-dimensional array of float64: copy it in a loop"),
        (a_tuple, r"\(1, 2, 3\) is a tuple"),
        (a_sum, "is part of an array, not an element; write a loop"),
        (a_complex, "complex128 does not convert to float64"),
    ],
)
def test_what_a_part_of_an_array_does_not_take(kernel, words):
    """numba compiles none of them for a GPU either, for want of memory to copy through, but a tuple."""
    with pytest.raises(UnsupportedKernelError, match=words):
        simulate(kernel)[1, 1](np.zeros((4, 4)), np.zeros((4, 4)))


# --- NumPy's functions with an array for the result -----------------------------------------------------------------


def test_numpys_functions_store_in_an_array():
    """Of numbers and of arrays, which broadcast as NumPy's do."""

    def kernel(A, row, out, turned, angle):
        np.maximum(A, row, out)
        np.arctan2(2.0, row, turned.T)
        np.logical_not(A[1:, 0], angle)

    A, row = np.linspace(-2, 2, 12).reshape(3, 4), np.array([0.5, -1.0, 0.0, 1.5])
    A[1, 0] = 0
    out, turned, angle = np.zeros((3, 4)), np.zeros((4, 3), np.float32), np.zeros(2)

    run = simulate(kernel)[1, 1](A, row, out, turned, angle)

    np.testing.assert_array_equal(out, np.maximum(A, row))
    np.testing.assert_array_equal(turned.T, np.broadcast_to(np.arctan2(2.0, row), (3, 4)).astype(np.float32))
    assert angle.tolist() == [1.0, 0.0]
    assert run.traffic.select(op="load", array="row").accesses == 24


def test_shapes_that_do_not_broadcast():
    def kernel(A, out):
        np.sin(A, out)

    with pytest.raises(KernelError, match="a dimension of A has 3 elements, and that of out 4"):
        simulate(kernel)[1, 1](np.zeros(3), np.zeros((2, 4)))


def into_integers(A, out):
    np.sin(A[0, 0], out)


def too_deep(A, out):
    np.sin(A, out[0])


def used(A, out):
    out[0, 0] = np.sin(A[0, 0], out)


def into_a_number(A, out):
    np.sin(A[0, 0], 2)


@pytest.mark.parametrize(
    ("kernel", "words"),
    [
        (into_integers, "np.sin gives float64, which out of int32 does not take"),
        (too_deep, "A is a 2-dimensional array of float64, and the result a 1-dimensional"),
        (used, "stores in out; write it as a statement"),
        (into_a_number, "takes 1 argument and perhaps an array for the result, and 2 is int64"),
    ],
)
def test_outputs_that_are_refused(kernel, words):
    with pytest.raises(UnsupportedKernelError, match=words):
        simulate(kernel)[1, 1](np.zeros((2, 4)), np.zeros((2, 4), np.int32))
