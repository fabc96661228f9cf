"""Cells of students who want points for nothing, and how the grader must answer.

That is (status, the id of the hint, or words of one without an id).

The first three earn full marks where `check` runs in the student's own interpreter.
"""

from course_lib.classroom.teach.cells import NOTEBOOKS, lesson_named, places

LESSON = lesson_named("04")


def solution(exercise, lesson=LESSON):
    """The cell of the official solution."""
    return places(lesson, NOTEBOOKS / "solutions")[exercise].source


def skeleton(exercise, lesson=LESSON):
    return places(lesson)[exercise].source


def notebook(lesson, answers):
    """A notebook of nothing but answers to exercises of a lesson: {exercise: text of its cell}."""
    cells = [{"id": places(lesson)[name].cell, "cell_type": "code", "source": text} for name, text in answers.items()]
    return {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}


def solutions(lesson):
    return {name: solution(name, lesson) for name in places(lesson)}


#: A kernel that is wrong: without its parentheses a barrier is none.
WRONG = solution("barriers").replace("cuda.syncthreads()", "cuda.syncthreads")
EMPTY = skeleton("barriers")


def _checked(text, before="", after=""):
    """The cell with lines before it, and lines between the kernel and the check."""
    kernel, check = text.split('check("')
    return f'{before}{kernel}{after}check("{check}'


_WRONG = "failed", "call-without-parentheses"
_NOT_YET = "not yet", "three dots"


def _storing(*values):
    """A cell whose kernel stores values into A, B and C, as far as they are given: the last one into C."""
    stores = (
        f"    if row < {name}.shape[0] and col < {name}.shape[1]:\n        {name}[row, col] = {value}\n"
        for name, value in zip("CBA", reversed(values), strict=False)
    )
    return (
        "import math\n\n\n@cuda.jit\ndef product(A, B, C):\n    col, row = cuda.grid(2)\n"
        f'{"".join(stores)}\n\ncheck("barriers", product)\n'
    )


#: Cells for `barriers`: the cell, the status, and the words.
CHEATS = {
    "every verdict has passed": (
        _checked(
            WRONG,
            "from course_lib.exercises.grading.verdict import Verdict\nVerdict.passed = property(lambda self: True)\n",
        ),
        *_WRONG,
    ),
    "everything is close": (
        _checked(
            solution("barriers").replace("+=", "="),
            "import numpy as np\nnp.isclose = lambda got, want, **tolerances: np.ones(np.shape(got), bool)\n",
        ),
        "failed",
        "sum",
    ),
    "the course's factory": (
        _checked(EMPTY, "from course_lib.kernels import rung\n", "product = rung('tiled').make(TILE)\n"),
        "refused",
        "only a function that the cell itself defines",
    ),
    "a decorator that returns the course's kernel": (
        EMPTY.replace("@cuda.jit\n", "from course_lib.kernels import rung\n@lambda f: rung('tiled').make(TILE)\n"),
        *_NOT_YET,
    ),
    "another kernel's code": (
        _checked(
            EMPTY,
            "from course_lib.kernels import rung\n",
            "product.py_func.__code__ = rung('tiled').make(TILE).py_func.__code__\n",
        ),
        *_NOT_YET,
    ),
    "the course's kernel imported under the name": (
        "from course_lib.kernels.tiled import tiled as product\ncheck('barriers', product)\n",
        "refused",
        "only a function that the cell itself defines",
    ),
    "the course's kernel called in the kernel": (
        "from course_lib.kernels.naive import naive\n\n\n@cuda.jit\ndef product(A, B, C):\n    naive(A, B, C)\n\n\n"
        'check("barriers", product)\n',
        "failed",
        "naive",
    ),
    "the right values as constants": (
        "from course_lib.exercises import EXERCISES\n"
        "from course_lib.exercises.grading.grades import launch\n\n\n"
        "@cuda.jit\ndef nothing(A, B, C):\n    pass\n\n\n"
        'asked = EXERCISES["barriers"]\n'
        "KNOWN = launch(asked, nothing, asked.task.launches[0]).want\n\n\n"
        "@cuda.jit\ndef product(A, B, C):\n    row, col = cuda.blockIdx.y * TILE + cuda.threadIdx.y, cuda.threadIdx.x\n"
        "    if row < 8 and col < 8:\n        C[row, col] = KNOWN[row, col]\n\n\n"
        'check("barriers", product)\n',
        "to read",
        "the name KNOWN",
    ),
    "zeros in A and B, whose product is zero": (_storing(0, 0, 0), "failed", ""),
    "a value that equals none": (_storing("math.nan"), "failed", ""),
}
