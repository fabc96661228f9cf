"""A global or closure variable keeps the value that it had when the kernel was first compiled, as in numba."""

import numpy as np
from numba import cuda
from oracles.sources import line_of

from course_lib import simulate

FACTOR = 2
SETTINGS = (1, 2)
TABLE = np.array([3, 1, 4, 1, 5])


@cuda.jit(device=True)
def scaled(x):
    return x * FACTOR


def test_a_changed_global_keeps_its_first_value_and_is_reported(monkeypatch):
    def kernel(a):
        a[0] = FACTOR

    a = np.zeros(1, "i8")
    assert simulate(kernel)[1, 1](a).findings == () and a[0] == 2
    monkeypatch.setitem(globals(), "FACTOR", 5)
    (finding,) = simulate(kernel)[1, 1](a).findings
    assert a[0] == 2
    assert (finding.kind, finding.severity, finding.line) == (
        "changed-constant",
        "warning",
        line_of(kernel, "= FACTOR"),
    )
    assert "FACTOR was 2" in finding.message and "is 5 now" in finding.message


def test_a_new_signature_is_compiled_with_the_new_value(monkeypatch):
    def kernel(a):
        a[0] = FACTOR

    simulate(kernel)[1, 1](np.zeros(1, "i8"))
    monkeypatch.setitem(globals(), "FACTOR", 5)
    a = np.zeros(1, "f4")
    assert simulate(kernel)[1, 1](a).findings == () and a[0] == 5


def test_a_changed_closure_variable_and_a_device_functions_global(monkeypatch):
    width = 3

    def kernel(a):
        a[0] = width
        a[1] = scaled(a[1])

    a = np.ones(2, "i8")
    simulate(kernel)[1, 1](a)
    assert tuple(a) == (3, 2)
    width = 4
    monkeypatch.setitem(globals(), "FACTOR", 5)
    run = simulate(kernel)[1, 1](a)
    assert tuple(a) == (3, 4)
    assert sorted(f.message.split()[0] for f in run.findings) == ["FACTOR", "width"]


def test_a_shape_in_a_changed_tuple(monkeypatch):
    def kernel(a):
        a[0] = SETTINGS[0]

    a = np.zeros(1, "i8")
    simulate(kernel)[1, 1](a)
    monkeypatch.setitem(globals(), "SETTINGS", (7, 2))
    assert len(simulate(kernel)[1, 1](a).findings) == 1 and a[0] == 1


def test_a_launch_that_is_refused_keeps_nothing(monkeypatch):
    def kernel(a):
        a[0] = FACTOR
        a[1] = MISSING  # noqa: F821

    import pytest

    from course_lib import UnsupportedKernelError

    a = np.zeros(2, "i8")
    with pytest.raises(UnsupportedKernelError):
        simulate(kernel)[1, 1](a)
    monkeypatch.setitem(globals(), "FACTOR", 5)
    monkeypatch.setitem(globals(), "MISSING", 1)
    try:
        assert simulate(kernel)[1, 1](a).findings == () and a[0] == 5
    finally:
        globals().pop("MISSING", None)


def test_arrays_from_outside_are_constants():
    def kernel(a):
        table = cuda.const.array_like(TABLE)
        i = cuda.grid(1)
        a[i] = table[i] + 10 * TABLE[4 - i]

    a = np.zeros(5, "i8")
    run = simulate(kernel)[1, 5](a)
    assert a.tolist() == [53, 11, 44, 11, 35] and run.findings == ()
    assert run.traffic.select(space="constant").accesses == 10
    assert run.traffic.select(space="global", op="load").accesses == 0
    TABLE[0] = 7
    try:
        run = simulate(kernel)[1, 5](a)
    finally:
        TABLE[0] = 3
    assert a.tolist() == [53, 11, 44, 11, 35]
    assert {f.kind for f in run.findings} == {"changed-constant"}
