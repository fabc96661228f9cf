"""A value that is float64 by accident is reported wherever it meets a float32, by one rule for every way there."""

import math

import numpy as np
import pytest
from numba import cuda, float32, float64

from course_lib import simulate


@cuda.jit(device=True)
def half(n):
    return n / 2


@cuda.jit(device=True)
def added(x, y):
    return x + y


def warnings(kernel, *arguments):
    run = simulate(kernel, strict=False)[1, 4](*arguments)
    return [f.message for f in run.findings if f.kind == "float64"]


def x_and_n(n=3):
    return np.ones(8, "f4"), n


def test_a_quotient_through_a_device_function():
    def kernel(x, n):
        x[0] = x[1] + half(n)

    (message,) = warnings(kernel, *x_and_n())
    assert "n / 2, a quotient of int64 and int64" in message


def test_a_quotient_handed_to_a_device_function():
    def kernel(x, n):
        x[0] = added(x[1], n / 2)

    (message,) = warnings(kernel, *x_and_n())
    assert "x + y is computed in float64" in message and "n / 2" in message


def test_a_quotient_in_a_tuple():
    def kernel(x, n):
        pair = (n / 2, 1)
        x[0] = x[1] + pair[0]

    (message,) = warnings(kernel, *x_and_n())
    assert "n / 2" in message


def test_a_quotient_unpacked_from_a_tuple():
    def kernel(x, n):
        first, _ = n / 2, 1
        x[0] = x[1] + first

    assert len(warnings(kernel, *x_and_n())) == 1


@pytest.mark.parametrize("name", ["sqrt", "erf", "lgamma", "exp", "floor"])
def test_math_of_an_integer(name):
    function = getattr(math, name)

    def kernel(x, n):
        x[0] = x[1] + function(n)

    (message,) = warnings(kernel, *x_and_n())
    assert "function(n), math of int64" in message


def test_cube_roots_of_an_integer():
    def kernel(x, n):
        x[0] = x[1] + cuda.cbrt(n)

    (message,) = warnings(kernel, *x_and_n())
    assert "cuda.cbrt(n), math of int64" in message


def test_atan2_of_integers_is_no_quotient():
    def kernel(x, n):
        x[0] = x[1] + math.atan2(n, n)

    (message,) = warnings(kernel, *x_and_n())
    assert "math of int64 and int64" in message and "quotient" not in message


def test_fma():
    def kernel(x, n):
        x[0] = cuda.fma(x[1], x[2], n)

    (message,) = warnings(kernel, *x_and_n())
    assert "cuda.fma(x[1], x[2], n) is computed in float64" in message


def test_a_quotient_of_integers_alone_is_no_accident():
    def kernel(x, n):
        x[0] = n / 2

    assert warnings(kernel, *x_and_n()) == []


# --- what was asked for ------------------------------------------------------------------------------------------


def test_a_float64_array_asks_for_float64():
    def kernel(x, d):
        x[0] = x[1] + d[0]

    assert warnings(kernel, np.ones(8, "f4"), np.ones(8)) == []


def test_one_operand_that_was_asked_for_is_enough():
    """d is float64 because the array is, n / 2 by accident: their sum was asked for, and so is what it meets."""

    def kernel(x, d, n):
        x[0] = x[1] + (d[0] + n / 2)

    assert warnings(kernel, np.ones(8, "f4"), np.ones(8), 3) == []


def test_one_path_that_was_asked_for_is_enough():
    def kernel(x, d, n):
        value = n / 2
        if n > 2:
            value = d[0]
        x[0] = x[1] + value

    assert warnings(kernel, np.ones(8, "f4"), np.ones(8), 3) == []


def test_one_side_that_was_asked_for_is_enough():
    def kernel(x, d, n):
        x[0] = x[1] + (d[0] if n > 2 else n / 2)
        x[2] = x[1] + max(d[0], n / 2)
        x[3] = x[1] + (d[0] or n / 2)

    assert warnings(kernel, np.ones(8, "f4"), np.ones(8), 3) == []


def test_a_conversion_asks_for_its_type():
    def kernel(x, n):
        x[0] = x[1] + float64(n)
        x[2] = x[1] + float(n)
        x[3] = x[1] + float32(n / 2)

    assert warnings(kernel, *x_and_n()) == []


@pytest.mark.parametrize("n", [7, -7])
def test_divmod_divides_the_first_by_the_second(n):
    def kernel(a, n, m):
        a[0], a[1] = divmod(n, m)

    a = np.zeros(2, "i8")
    simulate(kernel)[1, 1](a, n, 3)
    assert tuple(a) == divmod(n, 3)


def test_the_arguments_of_divmod_are_evaluated_once():
    def kernel(a, b):
        a[0], a[1] = divmod(b[0], b[1])

    run = simulate(kernel)[1, 1](np.zeros(2, "i8"), np.array([7, 3]))
    assert run.traffic.select(op="load").accesses == 2
