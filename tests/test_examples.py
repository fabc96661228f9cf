"""The examples in the docstrings of the public names: each name has one, and pytest runs them."""

import doctest
import re
from importlib import import_module
from pathlib import Path
from types import GenericAlias, ModuleType

import numpy as np
import pytest
from nightly import at_night
from numba import cuda, float32

import course_lib
from course_lib import measurements
from course_lib.exercises import progress
from course_lib.kernels import rung
from course_lib.simulator.simulation import Simulation

PACKAGE = Path(course_lib.__file__).parent
#: What users and lessons import names of.
PACKAGES = (
    "course_lib",
    "course_lib.exercises",
    "course_lib.kernels",
    "course_lib.machine.sliders",
    "course_lib.machine.figures",
    "course_lib.machine.gpu",
    "course_lib.machine.machine_code",
    "course_lib.machine.model",
    "course_lib.machine.profile",
    "course_lib.machine.timing_model",
    "course_lib.simulator.run",
    "course_lib.simulator.testing",
    "course_lib.trace",
    "course_lib.trace.viewer",
)
#: Texts with examples of several names: of instructions, which are of use together.
TEXTS = {"course_lib.kernels": PACKAGE / "kernels" / "instructions.md"}
#: Their examples take a second or more: they judge a kernel of the capstone, or draw what a simulation has computed.
SLOW = ("attempt", "draw", "Waiting")
#: What an example may use without importing it: NumPy, numba, the rungs, and what lessons import.
NAMES = {"np": np, "cuda": cuda, "float32": float32, "rung": rung}
NAMES |= {name: getattr(course_lib, name) for name in course_lib.__all__}
NAMES |= {name: import_module(f"course_lib.machine.{name}") for name in ("gpu", "machine_code")}


def public(package):
    """Return the functions and the classes among the public names of a package."""
    module = import_module(package)
    things = {name: getattr(module, name) for name in module.__all__}
    return {
        name: thing
        for name, thing in things.items()
        if callable(thing) and hasattr(thing, "__name__") and not isinstance(thing, ModuleType | GenericAlias)
    }


PUBLIC = {package: public(package) for package in PACKAGES}
PUBLIC["course_lib"] |= {"check_all": Simulation.check_all, "load": measurements.load}


def examples(thing, name, names):
    (found,) = doctest.DocTestFinder(recurse=False).find(thing, name, globs=dict(names))
    return found


def run(example):
    said = []
    result = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(example, out=said.append)
    assert result.failed == 0, "".join(said)


def cases():
    names = [(package, name) for package, things in PUBLIC.items() for name in things if package not in TEXTS]
    return [at_night(*case) if case[1] in SLOW else case for case in names]


@pytest.mark.filterwarnings("ignore:No time is measured")  # after the example of `without_gpu`
@pytest.mark.parametrize(("package", "name"), cases())
def test_an_example_shows_what_it_says(package, name, monkeypatch):
    monkeypatch.setattr(progress, "place", lambda: None)
    progress.score.cache_clear()
    found = examples(PUBLIC[package][name], name, PUBLIC[package] | NAMES)
    assert found.examples, f"{name} of {package} has no example"
    run(found)


@pytest.mark.parametrize("package", TEXTS)
def test_the_examples_of_a_text_show_what_they_say(package):
    """They have all public names that have no example of their own."""
    text = TEXTS[package].read_text("utf-8")
    found = doctest.DocTestParser().get_doctest(text, dict(NAMES), package, TEXTS[package].name, 0)
    run(found)
    code = "".join(example.source for example in found.examples)
    for name, thing in PUBLIC[package].items():
        own = examples(thing, name, NAMES)
        run(own)
        assert own.examples or re.search(rf"\b{name}\(", code), f"{name} of {package} is in no example"
