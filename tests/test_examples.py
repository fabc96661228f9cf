"""The examples in the docstrings of the public names: each name has one, and pytest runs them."""

import doctest
import inspect

import numpy as np
import pytest
from nightly import at_night
from numba import cuda, float32

import course_lib
from course_lib import measurements
from course_lib.exercises import progress
from course_lib.kernels import rung
from course_lib.simulator.simulation import Simulation
from course_lib.simulator.testing import assert_clean

#: What an example may use without importing it: NumPy, numba, the rungs, and what lessons import.
NAMES = {"np": np, "cuda": cuda, "float32": float32, "rung": rung}
NAMES |= {name: getattr(course_lib, name) for name in course_lib.__all__}
MODULES = {name for name, thing in NAMES.items() if inspect.ismodule(thing)}
PUBLIC = {name: NAMES[name] for name in course_lib.__all__ if name not in MODULES}
PUBLIC |= {"assert_clean": assert_clean, "check_all": Simulation.check_all, "load": measurements.load}


@pytest.mark.parametrize("name", [at_night(name) if name == "attempt" else name for name in PUBLIC])
def test_an_example_shows_what_it_says(name, monkeypatch):
    """That of `attempt` judges a kernel of the capstone, which takes as long as all others together."""
    monkeypatch.setattr(progress, "place", lambda: None)
    progress.score.cache_clear()
    (found,) = doctest.DocTestFinder(recurse=False).find(PUBLIC[name], name, globs={**NAMES, **PUBLIC})
    assert found.examples, f"{name} has no example"
    said = []
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(found, out=said.append)
    assert result.failed == 0, "".join(said)
