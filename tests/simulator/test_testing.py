"""``assert_clean``: what fails a launch in a reader's own tests, and what the message says."""

import numpy as np
import pytest
from numba import cuda

from course_lib import simulate
from course_lib.simulator.testing import assert_clean, differs


@cuda.jit
def double(x, out):
    i = cuda.grid(1)
    out[i] = x[i] + x[i]


@cuda.jit
def accidental(x, out):
    i = cuda.grid(1)
    if i < x.size:
        out[i] = x[i] * 2.5


def launch(kernel, n):
    return simulate(kernel, strict=False)[2, 32](np.ones(n, np.float32), np.zeros(n, np.float32))


def test_a_clean_launch():
    """64 elements of 4 bytes, loaded twice and stored once, by 2 warps: 8 sectors of each array for each time."""
    assert_clean(launch(double, 64), accesses=192, requests=6, sectors=24, wavefronts=0, bank_conflicts=0)


def test_a_budget_is_named():
    """With what the launch takes."""
    with pytest.raises(AssertionError, match=r"^double: grid 2, block 32\n  24 sectors, and the budget is 23\n"):
        assert_clean(launch(double, 64), sectors=23, accesses=192)


def test_findings_are_shown_in_the_source():
    """An index beyond the end, twice, and the line that has it."""
    with pytest.raises(AssertionError, match=r"(?s)out-of-bounds .*out-of-bounds .*out\[i\] = x\[i\] \+ x\[i\]"):
        assert_clean(launch(double, 60))


def test_kinds_that_are_accepted():
    """float64 is wanted in some kernels."""
    with pytest.raises(AssertionError, match="float64"):
        assert_clean(launch(accidental, 60))
    assert_clean(launch(accidental, 60), allow=["float64"])


def test_wrong_words():
    """A misspelt budget or kind must not pass as kept."""
    with pytest.raises(ValueError, match="'sector' is not counted; a run counts accesses, requests, sectors"):
        assert_clean(launch(double, 64), sector=1)
    with pytest.raises(ValueError, match="no kind of finding is called 'float'; there are out-of-bounds"):
        assert_clean(launch(double, 64), allow=["float"])


def test_whole_numbers_are_not_rounded():
    """An integer beside the right one is wrong, where a float is not."""
    right = np.array([100_000, 5])
    assert differs(right + 1, right).all() and not differs(right + 1.0, right).any()
