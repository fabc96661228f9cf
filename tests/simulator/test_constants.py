"""A global or closure variable keeps the value that it had when the kernel was first compiled, as in numba."""

import numpy as np
import pytest
from numba import cuda
from oracles.sources import line_of

from course_lib import UnsupportedKernelError, simulate

FACTOR = 2
SETTINGS = (1, 2)


@cuda.jit(device=True)
def scaled(x):
    return x * FACTOR


def launched(kernel, dtype="i8", size=1):
    """Return what an array of ones holds after a launch with one thread, and the findings."""
    a = np.ones(size, dtype)
    run = simulate(kernel)[1, 1](a)
    return a.tolist(), run.findings


def test_a_changed_global_keeps_its_first_value_and_is_reported(monkeypatch):
    """Arguments of other types are compiled with the new value."""

    def kernel(a):
        a[0] = FACTOR

    assert launched(kernel) == ([2], ())
    monkeypatch.setitem(globals(), "FACTOR", 5)
    held, (finding,) = launched(kernel)
    assert (held, finding.kind, finding.severity) == ([2], "changed-constant", "warning")
    assert finding.line == line_of(kernel, "= FACTOR")
    assert "FACTOR was 2" in finding.message and "is 5 now" in finding.message
    assert launched(kernel, "f4") == ([5], ())


def test_a_changed_closure_variable_a_tuple_and_a_device_functions_global(monkeypatch):
    width = 3

    def kernel(a):
        a[0] = width
        a[1] = scaled(a[1])
        a[2] = SETTINGS[0]

    assert launched(kernel, size=3) == ([3, 2, 1], ())
    width = 4
    monkeypatch.setitem(globals(), "FACTOR", 5)
    monkeypatch.setitem(globals(), "SETTINGS", (7, 2))
    held, findings = launched(kernel, size=3)
    assert held == [3, 2, 1]
    assert sorted(f.message.split()[0] for f in findings) == ["FACTOR", "SETTINGS", "width"]


def test_a_launch_that_is_refused_keeps_nothing(monkeypatch):
    def kernel(a):
        a[0] = FACTOR
        a[1] = MISSING  # noqa: F821

    with pytest.raises(UnsupportedKernelError):
        launched(kernel, size=2)
    monkeypatch.setitem(globals(), "FACTOR", 5)
    monkeypatch.setitem(globals(), "MISSING", 1)
    assert launched(kernel, size=2) == ([5, 1], ())


def test_arrays_from_outside_are_constants():
    table = np.array([3, 1, 4, 1, 5])

    def kernel(a):
        constant = cuda.const.array_like(table)
        i = cuda.grid(1)
        a[i] = constant[i] + 10 * table[4 - i]

    a = np.zeros(5, "i8")
    run = simulate(kernel)[1, 5](a)
    assert a.tolist() == [53, 11, 44, 11, 35] and run.findings == ()
    assert run.traffic.select(space="constant").accesses == 10
    assert run.traffic.select(space="global", op="load").accesses == 0
    table[0] = 7
    run = simulate(kernel)[1, 5](a)
    assert a.tolist() == [53, 11, 44, 11, 35]
    assert {f.kind for f in run.findings} == {"changed-constant"}


PART = slice(1, 6, 2)


def test_a_slice_from_outside_is_a_constant(monkeypatch):
    """As if it were written there, also in an index of several dimensions."""
    column = slice(None)

    def kernel(a, b):
        a[PART][1] = 5
        part = b[column, 1]
        part[2] = 7

    a, b, c = np.zeros(8), np.zeros((3, 2)), np.zeros(8)
    assert simulate(kernel)[1, 1](a, b).findings == ()
    assert a.tolist() == [0, 0, 0, 5, 0, 0, 0, 0] and b.tolist() == [[0, 0], [0, 0], [0, 7]]
    monkeypatch.setitem(globals(), "PART", slice(4, 8))
    (finding,) = simulate(kernel)[1, 1](c, b).findings
    assert c.tolist() == a.tolist() and (finding.kind, "PART" in finding.message) == ("changed-constant", True)


@pytest.mark.parametrize("own", [False, True])
@pytest.mark.parametrize("inline", ["always", True, "never"])
def test_a_function_that_is_written_out_in_place_may_return_any_array(own, inline):
    """numba-cuda's inline="always"; numba's own inline=True compiles the function by itself, and it may not."""
    quarter = slice(4, 8)

    @cuda.jit(device=True)
    def allocated(shared):
        if own:
            array = cuda.local.array(4, "int32")
        else:
            array = shared[quarter]
        for i in range(4):
            array[i] = 0
        return array

    allocated.targetoptions["inline"] = inline

    @cuda.jit
    def kernel(out):
        t = cuda.threadIdx.x
        shared = cuda.shared.array(64, "int32")
        a = allocated(shared)
        b = allocated(shared)
        a[1] = t + 1
        b[1] += 10
        out[t, 0] = a[1]
        out[t, 1] = b[1]

    out = np.zeros((2 if own else 1, 2), np.int32)
    if inline != "always":
        with pytest.raises(UnsupportedKernelError, match="returns only an array that is an argument"):
            simulate(kernel)[1, len(out)](out)
        return
    run = simulate(kernel)[1, len(out)](out)
    assert out.tolist() == ([[1, 10], [2, 10]] if own else [[11, 11]]) and run.findings == ()
