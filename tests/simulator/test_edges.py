"""Sources at the edges: files that were edited, code that was exchanged, and deep nesting."""

import os

import numpy as np
import pytest
from oracles.sources import import_kernel, import_module

from course_lib import UnsupportedKernelError, simulate


def append(module, text, mode="a"):
    """Change the file of a module after its import."""
    with open(module.__file__, mode) as file:
        file.write(text)
    os.utime(module.__file__, (2e9, 2e9))


def test_a_file_that_was_edited_after_its_import(tmp_path):
    """The text in the file is no longer what the imported function does: neither may be taken for the other."""
    module = import_module("def kernel(out):\n    out[0] = 1\n", tmp_path)
    append(module, "def kernel(out):\n    out[0] = 2\n", "w")
    with pytest.raises(UnsupportedKernelError, match="import"):
        simulate(module.kernel)[1, 1](np.zeros(1))


def test_an_edit_elsewhere_in_the_file_and_a_closure(tmp_path):
    inner = "    def kernel(out):\n        for k in range(n):\n            out[k] = n / 7.5\n"
    module = import_module(f"def make(n):\n{inner}    return kernel\n", tmp_path)
    append(module, "\nother = 1\n")
    out = np.zeros(3)
    simulate(module.make(2))[1, 1](out)
    assert out.tolist() == [2 / 7.5, 2 / 7.5, 0]


def test_code_that_is_exchanged_in_a_function(tmp_path):
    """As a reloader does: the function object stays, and its code is new."""
    old, new = (import_module(f"def kernel(out):\n    out[0] = {n}\n", tmp_path).kernel for n in (1, 2))
    out = np.zeros(1)
    simulate(old)[1, 1](out)
    old.__code__ = new.__code__
    simulate(old)[1, 1](out)
    assert out[0] == 2


@pytest.mark.parametrize("terms", [400, 700])
def test_a_sum_of_many_terms(terms, tmp_path):
    sum_of_all = " + ".join(f"{k} * x[{k}]" for k in range(terms))
    kernel = import_kernel(f"def kernel(x, out):\n    out[0] = {sum_of_all}\n", tmp_path)
    x, out = np.arange(terms), np.zeros(1, np.int64)
    simulate(kernel)[1, 1](x, out)
    assert out[0] == sum(k * k for k in range(terms))


def test_too_many_levels(tmp_path):
    chain = "".join(f"    elif n == {k}:\n        out[0] = {k}\n" for k in range(1, 120))
    kernel = import_kernel(f"def kernel(n, out):\n    if n == 0:\n        out[0] = 0\n{chain}", tmp_path)
    with pytest.raises(UnsupportedKernelError, match="elif"):
        simulate(kernel)[1, 1](3, np.zeros(1))
