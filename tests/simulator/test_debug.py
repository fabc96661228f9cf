"""Kernels with debug=True: what raises in Python raises, where other kernels compute infinity, NaN or 0."""

import operator
from contextlib import nullcontext

import numpy as np
import pytest
from numba import cuda
from oracles.sources import import_kernel, line_of

from course_lib import KernelError, simulate


@cuda.jit(debug=True, opt=False)
def divides(x, y, out):
    i = cuda.grid(1)
    if i < x.size and x[i] != 9:
        out[i] = x[i] / y[i]


@pytest.mark.parametrize(
    ("statement", "operation"),
    [
        ("out[i] = x[i] / y[i]", operator.truediv),
        ("out[i] = x[i] // y[i]", operator.floordiv),
        ("out[i] = x[i] % y[i]", operator.mod),
        ("out[i] = x[i]; out[i] /= y[i]", operator.truediv),
    ],
)
@pytest.mark.parametrize("dtype", ["int8", "int64", "uint32", "float32", "float64"])
def test_a_division_by_zero_raises_as_in_python(statement, operation, dtype, folder):
    text = f"    i = cuda.grid(1)\n    if i < x.size and x[i] != 9:\n        {statement}\n"
    head = "from numba import cuda\n@cuda.jit(debug=True, opt=False)\ndef kernel(x, y, out):\n"
    kernel = import_kernel(head + text, folder)
    x, y, out = np.array([7, 9, 6, 1], dtype), np.array([2, 0, 4, 0], dtype), np.zeros(4)
    with pytest.raises(ZeroDivisionError):
        operation(x[3].item(), y[3].item())
    simulate(kernel)[1, 4](x[:3], y[:3], out)  # the thread with 0 does not divide
    assert out.tolist() == [operation(7, 2), 0, operation(6, 4), 0]
    with pytest.raises(
        KernelError, match="thread 1 of block 1 divides by zero.* debug=True.*ZeroDivisionError"
    ) as caught:
        simulate(kernel)[2, 2](x, y, out)
    assert caught.value.line == line_of(kernel, "out[i]")
    assert out[3] in (0, 1)  # no quotient is stored


def test_only_what_has_debug_raises():
    """The same function without debug goes on, and with fastmath=True, as numba compiles it, / of float32 does."""
    plain, fast = cuda.jit(divides.py_func), cuda.jit(debug=True, opt=False, fastmath=True)(divides.py_func)
    for kernel, dtype, raises in (
        *((divides, "f8", True), (plain, "f8", False), (divides, "f8", True)),
        *((fast, "f4", False), (fast, "f8", True)),
    ):
        out = np.zeros(1, dtype)
        with pytest.raises(KernelError, match="ZeroDivisionError") if raises else nullcontext():
            simulate(kernel)[1, 1](np.ones(1, dtype), np.zeros(1, dtype), out)
        assert out[0] == (0 if raises else np.inf)
