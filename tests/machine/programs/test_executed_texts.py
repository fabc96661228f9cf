"""Kernels whose text a program executes, and ``exec`` as the program knows it."""

import inspect
import linecache
import traceback

import numpy as np
import pytest
from numba import cuda

from course_lib import without_gpu
from course_lib.machine.programs.executed_texts import readable_texts

ADDS = "@cuda.jit\ndef made(x):\n    x[cuda.threadIdx.x] += {number}\n"


def of_a_text(number):
    names = {"cuda": cuda}
    exec(ADDS.format(number=number), names)
    return names["made"]


def test_kernels_of_texts_are_simulated_each_by_its_own():
    """Two of one name and one line, as of a factory; numba's simulator runs them, too."""
    x = np.zeros(8, np.float32)
    with without_gpu():
        one, other = of_a_text(1), of_a_text(20)
        one[1, 8](x)
        other[1, 8](x)
        one[1, 8](x)
    assert x.tolist() == [22] * 8


def test_a_kernel_of_a_text_that_is_compiled_first():
    """As by code that makes kernels; flags of the caller are taken over."""
    x, names = np.zeros(8, np.float32), {"cuda": cuda}
    with without_gpu():
        exec(compile(ADDS.format(number=3), "<string>", "exec"), names)
        names["made"][1, 8](x)
        assert compile("1 + 1", "<string>", "eval").co_filename == "<string>"
        assert eval(compile("1 + 1", "<own>", mode="eval", optimize=2)) == 2
    assert x.tolist() == [3] * 8


def test_functions_of_texts_without_def():
    """Of ``eval`` and of ``exec``, each text with a lambda."""
    x, names = np.full(8, 3.0), {"cuda": cuda}
    with without_gpu():
        twice = cuda.jit(device=True)(eval(" lambda a: a * 2"))
        exec("plus = cuda.jit(device=True)(lambda a, b: a + b)", names)
        plus = names["plus"]

        @cuda.jit
        def both(x):
            i = cuda.threadIdx.x
            x[i] = plus(twice(x[i]), 1)

        both[1, 8](x)
    assert x.tolist() == [7] * 8


def seen():
    """Return what ``eval`` sees, in all ways of calling it."""
    own, names = 1, {"own": 2}
    given = eval("(lambda: own)()", names), eval("(lambda a=own: a)()", names, {"own": 3}), eval("own", {}, names)
    return own, given, eval("(lambda a=own: a)()"), eval("sorted(name for name in dir())")


def test_eval_sees_the_same_names():
    """As Python's own, with the globals and locals of its caller, or with those that it is given."""
    with readable_texts():
        kept = seen()
    assert kept == seen()


def scopes():
    """Return what texts define and see, in all ways of calling ``exec``."""
    seen = {"own": 1}
    exec("def f():\n    return own\nf2 = own + 1", seen)
    exec("def g(): pass\nhere = sorted(name for name in ('seen', 'numbers') if name in dir())")
    apart: dict[str, object] = {}
    exec("def h(): pass\nnumber = own", seen, apart)
    numbers = sorted(name for name in seen if not name.startswith("__"))
    return numbers, sorted(apart), seen["f"](), seen["f2"], locals().get("here", "not written back")


def test_exec_sees_and_binds_the_same_names():
    """As Python's own, with the globals and locals of its caller, or with those that it is given."""
    with readable_texts():
        kept = scopes()
    assert kept == scopes()


def test_a_text_is_shown_where_it_fails():
    """By inspect and in tracebacks; code that is no text is executed as it is."""
    names = {}
    with readable_texts():
        exec("def fails():\n    raise ValueError('here')\n", names)
        exec(compile("two = 2", "<own>", "exec"), names)
        with pytest.raises(SyntaxError):
            exec("def f(:")
    with pytest.raises(ValueError) as raised:
        names["fails"]()
    assert names["two"] == 2
    assert "raise ValueError('here')" in "".join(traceback.format_exception(raised.value))
    assert inspect.getsource(names["fails"]).startswith("def fails")
    linecache.checkcache()
    assert inspect.getsource(names["fails"]).startswith("def fails")


def test_a_text_takes_over_the_future_of_its_caller():
    """As ``from __future__ import annotations`` in the file that executes it, and nothing else."""
    text = 'from __future__ import annotations\nnames = {}\nexec("def f(x: absent): pass", names)'
    with readable_texts():
        exec(text, space := {})
    assert space["names"]["f"].__annotations__ == {"x": "absent"}
