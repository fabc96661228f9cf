"""Points only for the mechanism: texts that make no use of an exercise's idea, and what they earn."""

import math
import re
from collections import defaultdict
from functools import partial

import numpy as np
import pytest
from exercises import oracles
from exercises.answers.shortcuts import NEIGHBOURS_BY_ONE_THREAD, ONE_THREAD
from exercises.test_exercises import DOTS, HEADER, HEADERS, KERNELS, kernel_from, skeletons, solutions
from nightly import at_night, every

from course_lib.classroom.teach.judge import draw_calls
from course_lib.exercises import EXERCISES, check
from course_lib.exercises.grading.baselines import naive
from course_lib.exercises.grading.exercise import Exercise
from course_lib.exercises.grading.grades import grade
from course_lib.exercises.grading.routines import digest_of_result, further_calls, judge, matches_digest

_IDLE = "nothing = 0\n"


def _given_and_idle(name):
    """The kernel that is given, with one more statement; in a skeleton it takes the place of the dots."""
    filled = DOTS.sub(lambda dots: dots[0].replace("...\n", _IDLE), skeletons()[name])
    return re.sub(r"(\ndef .*:\n)( +)(?!.*\ndef )", rf"\1\2{_IDLE}\2", "\n" + filled, flags=re.DOTALL)


def _up_to_tested(name):
    """The solution, which does nothing where an array is larger than in the launches that check always makes."""
    task, most = EXERCISES[name].task, defaultdict(int)
    for shape in task.launches:
        for i, array in enumerate(task.inputs(np.random.default_rng(0), *shape)):
            for axis, size in enumerate(array.shape):
                most[i, axis] = max(most[i, axis], size)
    *before, head, body = re.split(r"(def .*:\n)", solutions()[name])
    names = re.findall(r"\w+", head.partition("(")[2])
    larger = " or ".join(f"{names[i]}.shape[{axis}] > {size}" for (i, axis), size in most.items())
    return "".join([*before, head, f"    if {larger}:\n        return\n", body])


def _table(name, cases):
    known = {repr(case.arguments): case.want for case in cases}
    names = ", ".join(EXERCISES[name].parameters)
    return f"TABLE = {known!r}\n\n\ndef answer({names}):\n    return TABLE.get(repr(({names},)), 0)\n"


def _constants(name):
    names = ", ".join(EXERCISES[name].parameters)
    wanted = {repr(case.want) for case in EXERCISES[name].cases}
    return [f"def answer({names}):\n    return {want}\n" for want in sorted(wanted)]


def texts(name):
    """The texts without the idea of an exercise: {what: texts of that kind}."""
    found = {"untouched": [skeletons()[name]], "given + no-op": [_given_and_idle(name)]}
    if isinstance(exercise := EXERCISES[name], Exercise):
        idle = [naive(exercise, True)] if any(budget.minimum for budget in exercise.budgets) else []
        return found | {"naive": [naive(exercise), *idle], "up to the tested sizes": [_up_to_tested(name)]}
    cases = exercise.cases
    less = [_table(name, [c for c in cases if c is not left]) for left in (cases[0], cases[-1])]
    return found | {"best constant": _constants(name), "table less one": less, "whole table": [_table(name, cases)]}


def points(name, what, folder):
    """The most points of the texts of this kind."""
    header = HEADERS.get(name, HEADER)
    return max(check(name, kernel_from(text, folder, header)).points for text in texts(name)[what])


_ASKED = {"naive": "the exercise asks for this kernel, and its lesson is about how one writes it"}
_PROMISED = {"up to the tested sizes": "the exercise promises that no matrix is larger"}
#: Texts with a part of the idea, and why.
PART = {
    **dict.fromkeys(("triple-loop", "lost-term", "column-thread", "own-element", "flat", "guarded-rows"), _ASKED),
    **dict.fromkeys(("half-a-guard", "few-threads", "sum-in-register", "transposed", "report-kernel"), _ASKED),
    **dict.fromkeys(("side-by-side", "along-the-row", "rows-of-b"), _ASKED),
    **dict.fromkeys(("share-of-k", "add-shares"), _ASKED),
    **dict.fromkeys(("to-shared-memory", "divergent"), _PROMISED),
}


@pytest.mark.parametrize("name", every(12, KERNELS))
def test_what_makes_no_use_of_the_idea_earns_nothing(name, tmp_path):
    earned = {what: points(name, what, tmp_path) for what in texts(name)}
    assert {what for what, reached in earned.items() if reached} == set(PART.get(name, {})), earned


@pytest.mark.parametrize("name, text", [("neighbours", NEIGHBOURS_BY_ONE_THREAD), ("along-the-row", ONE_THREAD)])
def test_one_thread_that_does_the_work_of_all_earns_nothing(name, text, tmp_path):
    """It loads each element once, and waits for nobody."""
    verdict = check(name, kernel_from(text, tmp_path))
    assert (verdict.status, verdict.points) == ("failed", 0), verdict


def _graded(name, function, seed):
    """The verdict with the sizes and calls that a grader draws."""
    exercise = EXERCISES[name]
    return (
        grade(exercise, function, seed)
        if isinstance(exercise, Exercise)
        else judge(exercise, function, calls=draw_calls(name, seed))
    )


@pytest.mark.parametrize("want", [1 / 3, 0.0, 98765432.1, -7, 9.999999995, True])
def test_a_digest_fits_what_rounding_made_of_a_result(want):
    fit = partial(matches_digest, "f(1)", digest_of_result("f(1)", want))
    assert (
        not fit(not want)
        and not matches_digest("f(2)", digest_of_result("f(1)", want), want)
        and not fit(want * (1 + 1e-6) + 1e-6)
    )
    assert fit(True) if want is True else all(fit(want * (1 + step * 1e-10)) for step in range(-9, 10))


def test_a_number_that_no_float_holds_is_wrong_and_no_error():
    verdict = judge(EXERCISES["busy"], lambda tiles, at_once: 10**400)
    assert "got a number beyond 1e300, wanted" in verdict.checks[0].text and verdict.points == 0


@pytest.mark.parametrize("seed", [1, *map(at_night, (2, 10, 11))])
def test_another_seed_earns_as_little(seed, tmp_path):
    for name in KERNELS[seed::18]:
        header = HEADERS.get(name, HEADER)
        assert _graded(name, kernel_from(solutions()[name], tmp_path, header), seed), name
        for what, kernels in texts(name).items():
            reached = [_graded(name, kernel_from(text, tmp_path, header), seed).points for text in kernels]
            assert bool(max(reached)) == (what in PART.get(name, {})), (name, what)


def test_sizes_are_drawn_beyond_all_others_and_of_the_same_kind():
    """Where an exercise promises a divisor or equal sizes, they stay; other seeds draw other sizes."""
    for name, exercise in EXERCISES.items():
        if isinstance(exercise, Exercise):
            drawn, launches = [exercise.draw_shape(seed) for seed in range(12)], exercise.task.launches
            if exercise.task.larger_sizes == "every":
                assert all(size > max(sizes) for shape in drawn for size, *sizes in zip(shape, *launches, strict=True))
            assert len(set(drawn)) > 1 or name == "to-shared-memory", name
            for *sizes, shape_sizes in zip(*launches, zip(*drawn, strict=True), strict=True):
                assert not any(size % math.gcd(*sizes) for size in shape_sizes), name
    assert all(M == N for M, N, K in map(EXERCISES["gram"].draw_shape, range(12)))


@pytest.mark.parametrize("name", oracles.ORACLES)
def test_a_routine_s_cases_are_right(name):
    exercise, (_, right) = EXERCISES[name], oracles.ORACLES[name]
    assert [right(*case.arguments) for case in exercise.cases] == pytest.approx([case.want for case in exercise.cases])


def test_the_stored_calls_are_those_of_the_oracles():
    """The grader has the results of calls, and not the formula that gives them; `check` has digests of other calls."""
    for file, text in oracles.texts().items():
        assert file.read_text(encoding="utf-8") == text, "run tests/exercises/oracles.py"
    for name in oracles.ORACLES:
        checked = [arguments for arguments, _ in further_calls(name)]
        assert len(checked) == oracles.CHECKED and not any(
            call in checked for seed in range(9) for call, _ in draw_calls(name, seed)
        )
    assert set(PART) <= set(KERNELS)
    assert {name for name in KERNELS if not isinstance(EXERCISES[name], Exercise)} == set(oracles.ORACLES)


def test_a_number_of_numpy_in_the_lesson_earns_no_points(tmp_path):
    """What is given needs the lesson's TILE, of whatever type it is, to show what it passes without an idea."""
    header = "import numpy as np\n" + HEADER.replace("TILE = 8", "TILE = np.int32(8)")
    assert check("too-deep", kernel_from(_given_and_idle("too-deep"), tmp_path, header)).points == 0
