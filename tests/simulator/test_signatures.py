"""Signatures in decorators cast arguments and results, and are chosen among, as numba does."""

import numpy as np
import pytest
from oracles.sources import import_kernel

from course_lib import LaunchError, UnsupportedKernelError, simulate

HEAD = """
from types import SimpleNamespace

from numba import float32, int32, int64, void


class Jitted:
    def __init__(self, function):
        self.py_func = function


class cuda:
    jit = staticmethod(lambda *signature, **options: Jitted)  # numba's own asks for a driver when it is given one
"""


def kernel_of(text, folder):
    return import_kernel(HEAD + text, folder)


def test_a_device_functions_arguments_and_result_are_cast(tmp_path):
    kernel = kernel_of(
        """
@cuda.jit("int32(int32, int32)", device=True)
def added(x, y):
    return x + y + 0.75

def kernel(a, out):
    out[0] = added(a[0], 2.9)
""",
        tmp_path,
    )
    out = np.zeros(1)
    run = simulate(kernel)[1, 1](np.array([1.9], "f4"), out)
    assert out[0] == 3 and run.findings == ()


def test_a_result_of_float32_is_no_accident(tmp_path):
    kernel = kernel_of(
        """
@cuda.jit("float32(int64)", device=True)
def half(n):
    return n / 2

def kernel(a, n):
    a[0] = a[1] + half(n)
""",
        tmp_path,
    )
    a = np.ones(2, "f4")
    assert simulate(kernel)[1, 1](a, 3).findings == () and a[0] == 2.5


@pytest.mark.parametrize("signature", ['"void(float32[:], int32)"', "void(float32[:], int32)", "(float32[:], int32)"])
def test_a_kernels_arguments_are_cast(tmp_path, signature):
    kernel = kernel_of(
        f"""
@cuda.jit({signature})
def kernel(a, n):
    a[0] = n
""",
        tmp_path,
    )
    a = np.zeros(1, "f4")
    simulate(kernel)[1, 1](a, 2.9)
    assert a[0] == 2
    simulate(kernel)[1, 1](a, 2**32 + 5)
    assert a[0] == 5


def test_a_python_float_is_cast_to_float32_and_no_accident(tmp_path):
    kernel = kernel_of(
        """
@cuda.jit("void(float32[:], float32)")
def kernel(a, factor):
    a[0] = a[0] * factor
""",
        tmp_path,
    )
    a = np.ones(1, "f4")
    assert simulate(kernel)[1, 1](a, 0.1).findings == () and a[0] == np.float32(0.1)


def test_the_best_of_several_signatures(tmp_path):
    kernel = kernel_of(
        """
@cuda.jit(["int32(int32)", "float32(float32)"], device=True)
def same(x):
    return x

def kernel(a, b, out):
    out[0] = same(a[0])
    out[1] = same(b[0])
    out[2] = same(b[0] + a[0])
""",
        tmp_path,
    )
    out = np.zeros(3)
    simulate(kernel)[1, 1](np.array([2.5], "f4"), np.array([7], "i2"), out)
    assert tuple(out) == (2.5, 7, 9.5)


def test_arrays_of_another_type_are_refused(tmp_path):
    kernel = kernel_of(
        """
@cuda.jit("void(float32[:], int32)")
def kernel(a, n):
    a[0] = n
""",
        tmp_path,
    )
    with pytest.raises(LaunchError, match="is compiled for .* alone"):
        simulate(kernel)[1, 1](np.zeros(1), 1)


def test_two_signatures_equally_near_are_refused(tmp_path):
    kernel = kernel_of(
        """
@cuda.jit(["int64(int64, float64)", "int64(float64, int64)"], device=True)
def first(x, y):
    return x

def kernel(a):
    a[0] = first(a[0], a[0])
""",
        tmp_path,
    )
    with pytest.raises(UnsupportedKernelError, match="equally well"):
        simulate(kernel)[1, 1](np.zeros(1, "i8"))


@pytest.mark.parametrize("signature", ["void(float32[:]", "void(teleport)", "7"])
def test_what_is_no_signature(tmp_path, signature):
    kernel = kernel_of(
        f"""
@cuda.jit("{signature}")
def kernel(a):
    a[0] = 1
""",
        tmp_path,
    )
    with pytest.raises(UnsupportedKernelError, match="is no signature"):
        simulate(kernel)[1, 1](np.zeros(1))


def test_an_unknown_type_in_a_signature_is_refused(tmp_path):
    kernel = kernel_of(
        """
@cuda.jit("void(unicode_type)")
def kernel(a):
    a[0] = 1
""",
        tmp_path,
    )
    with pytest.raises(UnsupportedKernelError, match="unicode_type"):
        simulate(kernel)[1, 1](np.zeros(1))
