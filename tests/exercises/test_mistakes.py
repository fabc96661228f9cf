"""The table of mistakes: what is tried, for whom, and what is said of a change that is proven."""

import os
import subprocess
import sys

import numpy as np
import pytest
from exercises.test_exercises import HEADER, kernel_from, skeletons, solutions

from course_lib.exercises import check
from course_lib.exercises.grading.mistakes.formulas import relation
from course_lib.exercises.grading.source import read
from course_lib.simulator.repairs.kernel_syntax import Kernel
from course_lib.simulator.repairs.table import TABLE, Candidate, Texts, TryBudget, candidates, first_proven


def test_every_row_has_words_for_a_reader():
    """And each row is in the table once."""
    assert all(any(texts) for row in TABLE for texts in row.texts.values())
    assert len(set(map(id, TABLE))) == len(TABLE)


def test_the_first_change_that_holds_is_named_within_the_budget():
    tried = []
    found = [Candidate(str(n), n) for n in range(9)]

    def holds(candidate):
        tried.append(candidate.line)
        return candidate.line == 2

    assert first_proven(found, holds, TryBudget(9)).id == "2" and tried == [0, 1, 2]
    assert first_proven(found, holds, TryBudget(2)) is None and tried == [0, 1, 2, 0, 1]
    assert first_proven(found, holds, TryBudget(9, each=5)) is None and tried == [0, 1, 2, 0, 1, 0]
    assert first_proven(found, holds, TryBudget(9, seconds=-1)) is None


def test_a_hint_names_the_line_and_a_repair_the_change():
    candidate = Candidate("x", 3, values={"name": "acc"}, texts=Texts("write {name} = 0", "{name} has no value"))
    assert (candidate.text, candidate.hint) == ("write acc = 0", "line 3: acc has no value")


def test_nothing_is_tried_where_a_launch_cannot_begin(tmp_path, monkeypatch):
    """A kernel for blocks of 32 threads, that the exercise launches in blocks of 64."""
    text = solutions()["transposed"].replace("@cuda.jit", "@cuda.jit(launch_bounds=32)")
    kernel = kernel_from(text.replace("acc +=", "acc ="), tmp_path)
    monkeypatch.setattr(Kernel, "changed", lambda *_: pytest.fail("a change was tried"))
    verdict = check("transposed", kernel)
    assert verdict.status == "failed" and verdict.hint_id == ""


@pytest.mark.parametrize("name", ["triple-loop", "transposed", "which-bank"])
def test_dots_below_right_lines_do_nothing(name, tmp_path):
    """Right lines pass; wrong ones, and none, are not yet an answer."""
    before, dots, after = skeletons()[name].partition("...\n")
    at = solutions()[name].splitlines(keepends=True)
    lines = [line for line in at if line not in skeletons()[name].splitlines(keepends=True)]
    indent = before[len(before.rstrip(" ")) :]
    text = before + "".join(lines).lstrip() + indent + dots + after
    assert check(name, kernel_from(text, tmp_path)).passed, text
    wrong = text.replace("+=", "-=").replace("% 32", "% 31")
    assert check(name, kernel_from(wrong, tmp_path)).status == "not yet"


def test_a_warning_of_a_change_that_is_tried_is_not_shown(tmp_path, recwarn):
    """NumPy warns of the median of nothing, and the answer takes no such median."""
    text = "def typical(milliseconds, warmups):\n    return float(np.median(sorted(milliseconds)[warmups:-1]))\n"
    assert not check("typical", kernel_from(text, tmp_path, "import numpy as np\n\n\n"))
    assert not recwarn.list


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("block-sums", ("    if t == 0:\n        C[", "    if True:\n        C[")),
        ("guarded-rows", ("if row < M", "if row <= M")),
    ],
)
def test_a_kernel_whose_result_is_not_defined_earns_nothing(name, change, tmp_path):
    text = solutions()[name]
    assert change[0] in text or name == "guarded-rows", text
    verdict = check(name, kernel_from(text.replace(*change), tmp_path))
    assert (verdict.status, verdict.points) == ("failed", 0), verdict


def test_a_change_is_proposed_only_to_those_it_has_words_for(tmp_path):
    source = read(kernel_from(solutions()["barriers"], tmp_path, HEADER))
    assert [*candidates(source.kernel, "wrong", reader="repair")] == []
    assert len([*candidates(source.kernel, "wrong")]) > 50


@pytest.mark.parametrize(
    ("make", "id"),
    [
        (lambda want: 100 * want, "percent"),
        (lambda want: 1 - want, "complement"),
        (lambda want: 1 / want, "upside-down"),
        (lambda want: want - 1, "one-less"),
        (np.floor, "rounded-down"),
        (lambda want: 3 * want, "a-constant-factor"),
    ],
)
def test_what_all_results_have_in_common_is_named(make, id):
    wanted = [0.5, 0.8, 1.25, 7.0]
    assert relation([(float(make(want)), want) for want in wanted]).id == id
    assert relation([(float(make(want)), want) for want in wanted[:3]] + [(0.1, 7.0)]) is None


#: Prints what is tried for an answer in which several sums have several names, in its order.
TRIED = """
import sys
from course_lib.exercises import check
from course_lib.exercises.grading.mistakes.in_text import ExerciseFacts
from course_lib.exercises.grading.source import read
from course_lib.simulator.repairs.table import candidates
sys.path.append(sys.argv[1])
from sums import sums
print([(each.id, each.values) for each in candidates(read(sums).kernel, "likely", ExerciseFacts("C"))])
"""
SUMS = "".join(f"    first_{n} = 0\n" for n in range(9)) + "".join(f"    later_{n} += A[{n}, 0]\n" for n in range(9))


@pytest.mark.nightly
def test_the_order_of_what_is_tried_is_the_same_in_every_process(tmp_path):
    """Else the budget would end elsewhere, and another change may be the first that holds."""

    (tmp_path / "sums.py").write_text(f"def sums(A, B, C):\n{SUMS}    C[0, 0] = 0\n", encoding="utf-8")

    def printed(seed):
        command = [sys.executable, "-c", TRIED, str(tmp_path)]
        run = subprocess.run(command, env=os.environ | {"PYTHONHASHSEED": seed}, capture_output=True, text=True)
        return run.stdout

    first = printed("1")
    assert first.count("begun-as-another") == 81
    assert printed("2") == first


def test_no_remark_says_how_to_write_what_the_hint_calls_wrong(tmp_path):
    """The product of whole numbers is computed in float64, and that is not its mistake."""
    text = solutions()["triple-loop"].replace("A[row, k]", "int(A[row, k])")
    verdict = check("triple-loop", kernel_from(text, tmp_path))
    assert verdict.hint_id == "cut-to-whole-numbers" and not verdict.remarks
