"""print, assert and raise in kernels."""

import numpy as np
import pytest
from numba import cuda, float32
from oracles.sources import line_of

from course_lib import KernelError, UnsupportedKernelError, simulate
from course_lib.simulator.lanes.printed import MOST_LINES


@cuda.jit(device=True)
def root(x):
    if x < 0:
        raise ValueError("negative {}")
    return x * float32(0.5)


def test_threads_print_in_their_order(capsys):
    def kernel(a):
        i = cuda.grid(1)
        if i % 2 == 0:
            print("thread {}", i, "has", a[i], int(i > 2))
        if i == 4:
            print()
            print("last")

    run = simulate(kernel, schedule="reversed")[3, 2](np.linspace(0, 1, 6, dtype="f4"))
    expected = "thread {} 0 has 0.000000 0\nthread {} 2 has 0.400000 0\nthread {} 4 has 0.800000 1\n\nlast\n"
    assert run.printed == expected and capsys.readouterr().out == expected


def test_a_launch_that_prints_too_much_is_cut(capsys):
    def kernel(a):
        for _ in range(3):
            print(cuda.grid(1))

    run = simulate(kernel)[100, 100](np.zeros(1))
    lines = run.printed.splitlines()
    assert len(lines) == MOST_LINES + 1 and "left out" in lines[-1]
    capsys.readouterr()


def test_a_launch_that_prints_nothing_says_nothing(capsys):
    def kernel(a):
        a[0] = 1

    assert simulate(kernel)[1, 1](np.zeros(1)).printed == "" and capsys.readouterr().out == ""


def test_an_assertion_that_fails_ends_its_threads():
    def kernel(a, b):
        i = cuda.grid(1)
        assert a[i] < 3, "too large"
        b[i] = 1

    a, b = np.arange(6), np.zeros(6, "i8")
    with pytest.raises(KernelError, match="assert a\\[i\\] < 3, 'too large'") as caught:
        simulate(kernel)[2, 3](a, b)
    (finding,) = caught.value.findings
    assert (finding.kind, finding.line, finding.count) == ("failed-assertion", line_of(kernel, "assert"), 3)
    assert finding.threads == (((1, 0, 0), (0, 0, 0)),)
    assert b.tolist() == [1, 1, 1, 0, 0, 0]


def test_assertions_that_hold_are_silent():
    def kernel(a):
        assert a[0] > 0 and cuda.grid(1) < 4
        a[1] = 2

    a = np.ones(2)
    assert simulate(kernel)[1, 1](a).findings == () and a[1] == 2


def test_an_exception_in_a_device_function_names_its_line_and_thread():
    def kernel(a, b):
        i = cuda.grid(1)
        if i < 3:
            b[i] = root(a[i])

    a, b = np.array([4, -1, 2, -5], "f4"), np.zeros(4, "f4")
    run = simulate(kernel, strict=False)[1, 4](a, b)
    raised = next(f for f in run.findings if f.kind == "raised-exception")
    assert (raised.line, raised.count, raised.threads) == (line_of(root.py_func, "raise"), 1, (((0, 0, 0), (1, 0, 0)),))
    assert "raise ValueError('negative {}')" in raised.message
    assert (b[0], b[2]) == (2, 1)


def test_a_raise_on_every_path_ends_the_kernel():
    def kernel(a):
        a[0] = 1
        raise RuntimeError

    a = np.zeros(1)
    (finding,) = simulate(kernel, strict=False)[1, 1](a).findings
    assert finding.kind == "raised-exception" and a[0] == 1


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("print(a)", "write an element"),
        ("print(a[0], end='')", "without names"),
        ("raise", "name the exception"),
        ("print(a[0] > 1)", "does not take a bool"),
    ],
)
def test_what_cannot_be_said(tmp_path, statement, words):
    from oracles.sources import import_kernel

    kernel = import_kernel(f"def kernel(a):\n    {statement}\n", tmp_path)
    with pytest.raises(UnsupportedKernelError, match=words):
        simulate(kernel)[1, 1](np.zeros(1))
