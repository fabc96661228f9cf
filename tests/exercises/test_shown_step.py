"""The step that "Show me" opens after a wrong value, held against launches in which one or two inputs are changed.

An element of the output is a polynomial of the inputs, in which no input has a square, so its differences are the
coefficients of the terms: those of the kernel, and those of the formula.
"""

import itertools
from collections import Counter

import numpy as np
import pytest
from exercises.test_exercises import HEADER, HEADERS, KERNELS, NIGHTLY, WRONG, _text, kernel_from
from nightly import at_night, every

from course_lib.exercises import EXERCISES, check
from course_lib.exercises.grading.exercise import Exercise
from course_lib.exercises.grading.grades import launch
from course_lib.exercises.grading.wrong_operands import Misread

ANSWERS = [(name, what, change) for name, what, (change, _) in WRONG + NIGHTLY if isinstance(EXERCISES[name], Exercise)]


def coefficient(compute, inputs, operands):
    """The coefficient of the product of these operands in what ``compute(inputs)`` returns."""
    total = 0.0
    for changed in itertools.product((0, 1), repeat=len(operands)):
        others = [np.array(array) for array in inputs]
        for (place, number), more in zip(operands, changed, strict=True):
            others[place].flat[number] += more
        total += (-1) ** (len(operands) - sum(changed)) * compute(tuple(others))
    return total


def shown(name, change, tmp_path):
    kernel = kernel_from(_text(name, change), tmp_path, HEADERS.get(name, HEADER))
    verdict = check(name, kernel)
    return kernel, (verdict.opened() if verdict.opens is not None else None)


def expect_true(name, kernel, opened):
    """What is said of the step is so."""
    exercise, outcome, found = EXERCISES[name], opened.outcome, opened.found
    wrong = int(np.flatnonzero(outcome.differs)[0])
    stepper = opened.stepper
    step = stepper.timeline.step(stepper.step) if stepper.step else None
    output = outcome.own_name(exercise.task.output)
    accesses = stepper.timeline.accesses(output)
    if opened.kind == "start":
        assert step is None and wrong not in accesses.element[accesses.store]
    elif opened.kind == "store":
        assert wrong in accesses.element[accesses.store & (accesses.position == stepper.step)]
    elif opened.kind == "sum":
        (lane,) = np.flatnonzero(step.threads == found.place.thread)
        value = np.asarray(step.variables[found.variable])
        np.testing.assert_equal(float(value[lane]), found.value)
        assert not found.value == found.right
    else:
        assert isinstance(found, Misread)
        places = {each: place for place, each in enumerate(exercise.parameters)}
        used = [found.unneeded] if found.unneeded else [*found.operands]
        operands = [(places[array], number) for array, number in used]

        def by_kernel(inputs):
            return float(launch(exercise, kernel, outcome.shape, inputs=inputs).got.flat[wrong])

        def by_formula(inputs):
            return float(exercise.task.answer(*(array.astype(np.float64) for array in inputs)).flat[wrong])

        if len(set(operands)) == len(operands):
            got = coefficient(by_kernel, outcome.inputs, operands)
            wanted = coefficient(by_formula, outcome.inputs, operands)
            assert got != wanted and wanted == found.repeated
        arrays = {outcome.names[array] for array, _ in found.operands}
        shared = {a for a, array in outcome.run.trace.arrays.items() if array.space != "global"}
        assert {access.array for access in step.accesses if access.op == "load"} & (arrays | shared)


@pytest.mark.parametrize("answer", every(46, ANSWERS), ids=lambda answer: f"{answer[0]}: {answer[1]}")
def test_what_is_said_of_the_step_is_so(answer, tmp_path):
    name, _, change = answer
    kernel, opened = shown(name, change, tmp_path)
    if opened is not None and opened.kind != "finding":
        expect_true(name, kernel, opened)


KINDS = {
    ("flat", "B by rows"): "operand",
    ("to-shared-memory", "A transposed"): "operand",
    ("by-sixteen", "only A goes on"): "operand",
    ("remainder", "fours counted"): "operand",
    ("gram", "rows of the block's own row"): "operand",
    ("transposed", "replaces the sum"): "sum",
    ("lost-term", "starts anew"): "sum",
    ("guarded-rows", "one sum for all columns"): "sum",
    ("transposed", "one term short"): "store",
    ("mirrored", "one half"): "start",
    ("two-by-two", "results that touch"): "operand",
}


#: By day one answer of each kind of step.
BY_DAY = {kind: answer for answer, kind in reversed(KINDS.items())}.values()


@pytest.mark.parametrize(("name", "what"), [each if each in BY_DAY else at_night(*each) for each in KINDS])
def test_the_first_wrong_step_is_shown(name, what, tmp_path):
    (change,) = (change for each, words, change in ANSWERS if (each, words) == (name, what))
    kernel, opened = shown(name, change, tmp_path)
    assert opened.kind == KINDS[name, what]
    expect_true(name, kernel, opened)


def test_numbers_that_only_a_drawn_launch_has(tmp_path):
    """A kernel that is right for whole numbers is shown with the numbers for which it is not."""
    (change,) = (
        change for name, what, change in ANSWERS if (name, what) == ("transposed", "products of whole eighths")
    )
    kernel, opened = shown("transposed", change, tmp_path)
    assert opened.outcome.differs.any()
    expect_true("transposed", kernel, opened)


@pytest.mark.nightly
def test_lanes_that_read_for_others_are_not_blamed(tmp_path):
    """In a product of matrices by a warp each lane reads elements that other lanes' results need."""
    for name in ("fragments", "more-digits"):
        for change in (change for each, _, change in ANSWERS if each == name):
            _, opened = shown(name, change, tmp_path)
            assert opened is None or opened.kind not in ("operand", "sum")


def test_answers_of_every_kind_are_here():
    assert Counter(KINDS.values()).keys() == {"operand", "sum", "store", "start"}
    assert {name for name, _ in KINDS} <= {*KERNELS}
