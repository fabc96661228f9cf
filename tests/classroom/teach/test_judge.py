"""Answers judged from their text: right ones, wrong ones, and those of students who want points for nothing."""

import pytest
from classroom.teach.cheats import CHEATS, LESSON, solution
from exercises.tables import applied, tables
from nightly import at_night, every

from course_lib.classroom.teach.cells import GRADED, NOTEBOOKS, lesson_named, places
from course_lib.classroom.teach.judge import judge
from course_lib.classroom.teach.submission import Answer, answers
from course_lib.exercises import LESSONS
from course_lib.exercises.grading.explain import Explanation

SPEED = lesson_named("12")
ALL = [(lesson, name) for lesson in LESSONS for name in places(lesson)]
#: Their verdicts take long: the hint is found by repairs.
_COSTLY = ("everything is close", "the right values as constants")


def judged(cell, exercise="barriers", lesson=LESSON, beside=()):
    return judge(exercise, lesson, Answer(cell, tuple(beside)))


# ---- every exercise --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("place", every(12, ALL), ids=" ".join)
def test_the_solution_gets_all_points_and_the_skeleton_none(place):
    lesson, name = place
    right, empty = (
        judged(places(lesson, folder)[name].source, name, lesson) for folder in (NOTEBOOKS / "solutions", NOTEBOOKS)
    )
    if isinstance(GRADED[name], Explanation):
        assert (right.status, right.points, right.of) == ("to read", None, GRADED[name].points)
        assert right.text.strip() and right.text in solution(name, lesson)
    else:
        assert (right.status, right.points, right.of) == ("passed", GRADED[name].points, GRADED[name].points)
    assert (empty.status, empty.points, empty.of) == ("not yet", 0, GRADED[name].points)


def test_places_are_the_cells_that_ask():
    """Each exercise has a cell of its own, with an id that the solution's cell has too."""
    found, solved = (
        [place for lesson in LESSONS for place in places(lesson, folder).values()]
        for folder in (NOTEBOOKS, NOTEBOOKS / "solutions")
    )
    assert [place.exercise for place in found] == [*(e.name for es in LESSONS.values() for e in es), "capstone"]
    assert [place.cell for place in found] == [place.cell for place in solved]
    assert len({place.cell for place in found}) == len(found)


# ---- cheats ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cheat", [at_night(name) if name in _COSTLY else name for name in CHEATS])
def test_a_cheat_earns_what_its_kernel_earns(cheat):
    """Nothing beside the kernel is executed, so it gets the verdict on the kernel, or a sentence."""
    cell, status, words = CHEATS[cheat]
    verdict = judged(cell)
    assert (verdict.status, verdict.points) == (status, None if status == "to read" else 0), verdict
    assert words in (verdict.hint_id or verdict.hint)


_SCALED = "def rate(M, N, K, milliseconds):\n    return {} * M * N * K / (milliseconds / 1000) / 1e9\n"


@pytest.mark.parametrize(
    "scale, cells",
    [
        ("SCALE", ["SCALE = 2", "for SCALE in (1, 3):\n    pass"]),
        ("SCALE", ["SCALE = 2", "SCALE += 1"]),
        ("SCALE", ["SCALE = 2", "SCALE = measured()"]),
        ("SCALE", ["SCALE = 2", "del SCALE"]),
        ("SCALE", ["SCALE = 2", "match 3:\n    case SCALE:\n        pass"]),
        ("SCALE", ["SCALE = 2", "from mine import SCALE"]),
        ("SCALE", ["def change():\n    global SCALE\n    SCALE = 3\n\nchange()", "SCALE = 2"]),
        ("scale()", ["def scale():\n    return 2", "scale = half(scale)"]),
        ("scale()", ["@half\ndef scale():\n    return 2"]),
        ("SCALES[0]", ["SCALES = [2]", "SCALES.append(3)"]),
        ("SCALES['a']", ["SCALES = {'a': 2}"]),
        ("int(np.sqrt(4))", ["import mine as np"]),
        ("len(range(2))", ["range = mine"]),
        ("scale()", ["from mine import *"]),
    ],
)
def test_a_name_whose_value_is_not_read_is_left_to_a_person(scale, cells):
    """No earlier constant, import or function is used for what another statement changes."""
    verdict = judged(_SCALED.format(scale), "rate", SPEED, cells)
    assert (verdict.status, verdict.points) == ("to read", None), verdict


@pytest.mark.parametrize(
    "scale, cells",
    [
        ("SCALE", ["for SCALE in (1, 3):\n    pass", "SCALE = 2"]),
        ("int(np.sqrt(4))", ["try:\n    import numpy as np\nexcept ImportError:\n    pass"]),
        ("int(sqrt(4))", ["from math import *"]),
        ("scale()", ["scale = 5", "from functools import cache\n@cache\ndef scale():\n    return 2"]),
    ],
)
def test_a_name_whose_last_value_is_read_counts(scale, cells):
    """A later constant or function, an import that changes nothing, and all names of a module."""
    assert judged(_SCALED.format(scale), "rate", SPEED, cells).status == "passed"


def test_a_kernel_with_a_name_that_is_not_read_is_left_to_a_person():
    """A tile's edge that a loop has changed; a decorator of the student's own."""
    verdict = judged(solution("barriers"), beside=["for TILE in (8, 16):\n    pass"])
    assert (verdict.status, verdict.points) == ("to read", None), verdict
    decorated = f"def half(f):\n    return lambda *a: f(*a) / 2\n\n@half\n{_SCALED.format(2)}"
    assert judged(decorated, "rate", SPEED).status == "to read"


def test_a_function_defined_again_inside_a_statement_is_refused():
    """Which of both is checked nobody can tell from the text."""
    again = "if np:\n    def rate(M, N, K, milliseconds):\n        return 1\n"
    assert judged(_SCALED.format(2) + again, "rate", SPEED).status == "refused"


@pytest.mark.parametrize("answer", ["print", "np", "np.mean", "np.ndarray", "np.float64", "Exception"])
def test_an_answer_that_is_no_value_is_wrong(answer):
    """A function, a module or a type fails a check, and nothing of the grader."""
    assert judged(f"def rate(M, N, K, milliseconds):\n    return {answer}\n", "rate", SPEED).status == "failed"


@pytest.mark.parametrize(
    "line, words",
    [
        ("import sys", "line 2: the grader does not evaluate `import sys`"),
        ("return open('x')", "the name open"),
        ("class A:\n        pass", "`classdef`"),
        ("return M.tofile", "`.tofile`"),
        ("M.real = 1", "an assignment to `.real`"),
        ("return solve(M)", "the name solve"),
        ("return max(iter(int, 1))", "`iter` with two arguments"),
        ("return type('T', (), {})", "`type` with three arguments"),
    ],
)
def test_what_no_table_lists_is_left_to_a_person(line, words):
    """It has no points, and the hint names its line. More such answers are in the attack suite."""
    cell = f"def rate(M, N, K, milliseconds):\n    {line}\n"
    verdict = judged(cell, "rate", SPEED, ["solve = make_solver()"])
    assert (verdict.status, verdict.points) == ("to read", None)
    assert words in verdict.hint


@pytest.mark.parametrize("line, words", [("return float('nan')", "parameter-not-used"), ("return nowhere", "raised")])
def test_what_is_wrong_is_no_question_for_a_person(line, words):
    """Python, too, says that a name is defined nowhere."""
    verdict = judged(f"def rate(M, N, K, milliseconds):\n    {line}\n", "rate", SPEED)
    assert (verdict.status, verdict.points, verdict.hint_id) == ("failed", 0, words)


@pytest.mark.parametrize("given", ["product)", "rung('tiled').make(TILE))", "lambda A, B, C: None)", "mine)"])
def test_what_check_is_given_must_be_the_name_of_a_function(given):
    text = solution("barriers").replace("product)", given)
    verdict = judged(text.replace("check(", "product = cuda.jit(product)\nmine = product\ncheck("))
    assert (verdict.status, verdict.points) == ("refused", 0)
    assert "only a function that the cell itself defines" in verdict.hint


# ---- how an answer is found ------------------------------------------------------------------------------------

_NAME = "tiles-of-transpose"
TRANSPOSED = solution(_NAME)
KERNEL, CHECK = TRANSPOSED.split("\n\n\n")
WRONG_VALUES = KERNEL.replace("+=", "=")
_TIMES = "@cuda.jit(device=True)\ndef times(a, b):\n    return a * b\n\n\n"

FORMS = {
    "another name, and a function below": (
        TRANSPOSED.replace("product_of_transpose", "mine").replace(
            "check(", "def other(a, b, c):\n    ...\n\n\ncheck("
        ),
        "is called mine here",
    ),
    "other parameters": (TRANSPOSED.replace("At", "left"), ""),
    "no check": (KERNEL, ""),
    "no check, another name": (KERNEL.replace("product_of", "my"), "is called my_transpose here"),
    "a signature": (TRANSPOSED.replace("@cuda.jit", '@cuda.jit("void(f4[:,:], f4[:,:], f4[:,:])")'), ""),
    "a constant": ("WIDTH = 2 * TILE // 2\n" + TRANSPOSED.replace("TILE", "WIDTH"), ""),
    "annotations": (TRANSPOSED.replace("(At, B, C):", "(At: np.ndarray, B, C) -> None:"), ""),
    "a launch below": (TRANSPOSED + "\nrun = simulate(product_of_transpose)[1, 1]()\nrun\n", ""),
    "a magic": ("%%time\nfiles = !ls\n" + TRANSPOSED + "\nproduct_of_transpose??", ""),
    "a wrong try above": (KERNEL.replace("float32(0)", "1") + "\n\n\n" + TRANSPOSED, ""),
    "a helper": (
        _TIMES + TRANSPOSED.replace("A_tile[ty, k] * B_tile[k, tx]", "times(A_tile[ty, k], B_tile[k, tx])"),
        "",
    ),
}


@pytest.mark.parametrize("form", every(3, FORMS))
def test_a_right_answer_in_another_form_counts(form):
    cell, said = FORMS[form]
    verdict = judged(cell, _NAME)
    assert (verdict.status, verdict.points) == ("passed", 4), verdict
    assert said in verdict._repr_html_()


def test_a_function_may_be_in_another_cell():
    """Of the student's notebook; the lesson's own text never counts."""
    verdict = judged(CHECK, _NAME, beside=["import math", KERNEL])
    assert (verdict.status, verdict.points) == ("passed", 4) and "in another cell" in verdict._repr_html_()
    assert judged("", _NAME, beside=["import math"]).hint == "the cell defines no function of (At, B, C)."


@pytest.mark.parametrize(
    "text",
    ["-" * 50_000 + "1", "(" * 50_000, "cuda" + ".x" * 20_000, "cuda" + ".x" * 2_000 + "()", "1" + "+1" * 999, "1\0"],
)
def test_a_cell_that_cannot_be_parsed_harms_no_other(text):
    assert judged(f"x = {text}").status == "failed"
    assert judged(TRANSPOSED, _NAME, beside=[f"x = {text}"]).status == "passed"


def test_names_come_from_the_notebook_then_from_the_lesson():
    """A constant of another cell holds, and a later one replaces it; one that a cell computes is not read."""
    kernel = TRANSPOSED.replace("TILE", "WIDTH")
    assert judged(kernel, _NAME).status == "failed"
    assert judged(kernel, _NAME, beside=["WIDTH = 4", "WIDTH = 8"]).status == "passed"
    assert judged(TRANSPOSED, _NAME, beside=["TILE = int(input())"]).status == "to read"


def test_the_cell_is_known_by_its_id_then_by_its_call_then_by_its_function():
    place = places(LESSON)["barriers"]
    kernel = place.source.split("\n\n\ncheck")[0]
    cells = [("a", kernel), (place.cell, "one"), ("b", place.source), ("c", "rest")]
    only = {"barriers": place}
    assert answers(cells, only)["barriers"] == Answer("one", (place.source, "rest", kernel), "")
    cells[1] = place.cell, place.source
    assert answers([("d", solution("barriers")), *cells], only)["barriers"].source == solution("barriers")
    assert answers([cells[0], *cells[2:]], only)["barriers"].source == place.source
    assert "found by the function product" in answers([cells[0], cells[3]], only)["barriers"].remark
    assert answers([cells[3]], only)["barriers"].source is None


def test_an_answer_in_words_may_be_in_a_variable():
    cell = solution("two-barriers")
    text = cell.split('"""')[1]
    named = f'mine = """{text}"""\nexplain("two-barriers", mine)'
    assert judged(named, "two-barriers").text == text
    assert judged('explain("two-barriers", open("friend.txt").read())', "two-barriers").status == "not yet"


def test_a_function_may_use_imports_constants_and_other_functions():
    cell = """from math import isnan
GIGA = 2**-1 * (2 << 0) * 10**9


def flop(M, N, K):
    return 2 * M * N * K


def rate(M: int, N: int, K: int, milliseconds: float = 1.0) -> float:
    assert not isnan(milliseconds)
    return flop(M, N, K) / milliseconds * 1000 / GIGA
"""
    verdict = judged(cell, "rate", SPEED)
    assert (verdict.status, verdict.points) == ("passed", verdict.of), verdict


_GRADED = {exercise.name for exercise in LESSONS[SPEED]}
_RIGHT = tables("lesson_12_speed_tests")["RIGHT"]
OTHERS = [(name, change) for name in sorted(_GRADED & set(_RIGHT)) for change in _RIGHT[name].values()]


@pytest.mark.parametrize("name, change", OTHERS, ids=[name for name, _ in OTHERS])
def test_the_functions_that_check_takes_are_taken(name, change):
    verdict = judged(applied(change, solution(name, SPEED), ""), name, SPEED)
    assert (verdict.status, verdict.points) == ("passed", verdict.of), verdict


@pytest.mark.parametrize("newline", [at_night(c) for c in "\x0c\x1c\u2028"] + ["\r"])
def test_the_text_that_is_judged_is_the_function_that_was_found(newline, tmp_path):
    """A character that ends a line for some readers only must not put another text in its place.

    The repairs that look for a hint define a function by its text, and that executes the defaults in it.
    """
    file = tmp_path / "executed"
    hidden = WRONG_VALUES.replace("product_of_transpose(At, B, C)", f"hidden(At, B, C=open({str(file)!r}, 'w'))")
    lines = WRONG_VALUES.count("\n") + 1
    judged(f"x = 1  #{newline * lines}\n{WRONG_VALUES}\n{hidden}\n{CHECK}", _NAME)
    assert not file.exists()


def test_a_verdict_quotes_the_students_lines():
    cell = "\n\n" + KERNEL.replace("cuda.syncthreads()", "cuda.syncthreads  # wait") + f"\n\n\n{CHECK}"
    line = cell.split("\n").index("        cuda.syncthreads  # wait") + 1
    assert f"line {line} | cuda.syncthreads  # wait" in judged(cell, _NAME)._repr_html_()
