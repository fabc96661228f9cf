"""The examples in the docstrings of the public names: each name has one, and pytest runs them."""

import ast
import csv
import doctest
import json
import re
import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import GenericAlias, ModuleType

import numpy as np
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nightly import at_night
from numba import cuda, float32
from traitlets.config import LoggingConfigurable

import course_lib
from course_lib import measurements
from course_lib.exercises import progress
from course_lib.kernels import rung
from course_lib.simulator.simulation import Simulation

PACKAGE = Path(course_lib.__file__).parent
#: What users, lessons and nbgrader import names of.
PACKAGES = (
    "course_lib",
    "course_lib.classroom.publish",
    "course_lib.classroom.teach.interpreter",
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
#: The same, where it needs a package that not every installation has.
OF_AN_EXTRA = {"course_lib.classroom.nbgrader": "nbgrader"}
#: Packages with names for other files of their own room alone.
OF_A_ROOM = {f"course_lib.simulator.{name}" for name in ("checks", "checks.races", "counters")}
#: Texts with examples of several names: of instructions, which are of use together.
TEXTS = {"course_lib.kernels": PACKAGE / "kernels" / "instructions.md"}
#: Their examples take a second or more: they judge a kernel of the capstone, draw what a simulation has computed, or
#: start a kernel of Jupyter.
SLOW = ("attempt", "draw", "Waiting", "executed")
#: What an example may use without importing it: NumPy, numba, the rungs, what lessons import, and what makes trees and
#: notebooks.
NAMES = {"np": np, "cuda": cuda, "float32": float32, "rung": rung, "ast": ast, "Path": Path}
NAMES |= {make.__name__: make for make in (new_code_cell, new_markdown_cell, new_notebook)}
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


INSTALLED = [package for package, needed in OF_AN_EXTRA.items() if find_spec(needed) is not None]
PUBLIC = {package: public(package) for package in (*PACKAGES, *INSTALLED)}
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


def test_no_package_is_forgotten():
    """Whoever gives a package public names gives each an example, or says why not."""
    defining = re.compile(r"^__all__\b", re.MULTILINE)
    files = [path for path in PACKAGE.rglob("*.py") if defining.search(path.read_text(encoding="utf-8"))]
    names = {".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts) for path in files}
    assert {name.removesuffix(".__init__") for name in names} == {*PACKAGES, *OF_AN_EXTRA, *OF_A_ROOM}


@pytest.fixture
def of_a_class(tmp_path):
    """What the examples for nbgrader use: its application, and ``of_ana``, what a preprocessor gets of a submission.

    The assignment has one test, and Ana's submission is not graded.
    """
    coursedir = pytest.importorskip("nbgrader.coursedir")
    api = pytest.importorskip("nbgrader.api")
    of_ana = {
        "db_url": f"sqlite:///{(tmp_path / 'gradebook.db').as_posix()}",
        "notebook": "tiling",
        "assignment": "tiling",
        "student": "ana",
    }
    with api.Gradebook(of_ana["db_url"]) as book, warnings.catch_warnings(action="ignore"):
        book.add_assignment("tiling")
        book.add_notebook("tiling", "tiling")
        test = {"cell_type": "code", "source": "assert x == 1", "locked": True}
        book.add_source_cell("mine", "tiling", "tiling", **test)
        book.add_grade_cell("mine", "tiling", "tiling", max_score=2, cell_type="code")
        book.add_student("ana")
        book.add_submission("tiling", "ana")
    application = LoggingConfigurable()
    application.coursedir = coursedir.CourseDirectory(root=str(tmp_path))
    return {"of_ana": of_ana, "application": application, "Gradebook": api.Gradebook, "csv": csv, "json": json}


@pytest.mark.filterwarnings("ignore:No time is measured")  # after the example of `without_gpu`
@pytest.mark.parametrize(("package", "name"), cases())
def test_an_example_shows_what_it_says(package, name, monkeypatch, request, tmp_path):
    monkeypatch.setattr(progress, "place", lambda: None)
    progress.score.cache_clear()
    names = NAMES
    if package in OF_AN_EXTRA:
        names = names | request.getfixturevalue("of_a_class")
        monkeypatch.chdir(tmp_path)
    found = examples(PUBLIC[package][name], name, PUBLIC[package] | names)
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
