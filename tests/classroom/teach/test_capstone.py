"""The kernel of the capstone: a point for each milestone, or why there is none."""

import inspect
import textwrap

import pytest
from classroom.teach.cheats import skeleton, solution

from course_lib.classroom.teach.cells import lesson_named, places
from course_lib.classroom.teach.judge import judge
from course_lib.classroom.teach.submission import Answer, answers
from course_lib.exercises import capstone
from course_lib.exercises.capstone import NAME
from course_lib.kernels.naive import naive
from course_lib.kernels.tiled import tiled

LESSON = lesson_named("17")
MINE = textwrap.dedent(inspect.getsource(naive.py_func)).replace("def naive(", "def mine(")
#: One thread for each element of C, in blocks of 8×8; slow, right and short.
NAIVE = f"TILE, THREADS = (8, 8), (8, 8)\n\n\n{MINE}\n\nattempt(mine, TILE, THREADS)\n"
TILED = textwrap.dedent(inspect.getsource(tiled(16).py_func)).replace("dtype", "float32")
TILED = f"T = 16\n{TILED}\n\nattempt(tiled, threads=(16, 16), tile=(16, 16))\n"
GIVEN = skeleton(NAME, LESSON)


@pytest.mark.parametrize(
    "source, status, points, told",
    [
        (NAIVE + 'check("plan", plan, 7)\n', "failed", 0, "tiled"),
        (TILED, "failed", 1, "2×2"),
        (NAIVE.replace("row < M and ", ""), "failed", 0, "row"),
        (GIVEN, "not yet", 0, "three dots"),
        (NAIVE.replace("(8, 8), (8, 8)", "(8, 8), open('x').read()"), "refused", 0, "TILE, THREADS = (16, 16)"),
        (NAIVE.replace("THREADS)", "(64, 64))"), "refused", 0, "at most 1,024"),
        ("def mine(A, B, C:\n", "failed", 0, "is no Python"),
        ("print('nothing')", "not yet", 0, "defines no function"),
    ],
)
def test_a_kernel_has_a_point_for_each_milestone_or_a_reason(source, status, points, told):
    found = judge(NAME, LESSON, Answer(source))
    assert (found.status, found.points, found.of) == (status, points, 5), found
    assert told in found.hint_id + found.hint
    assert [passed for passed, *_ in found.checks].count(True) == points


def test_a_kernel_costs_what_arithmetic_says():
    """A warp is 4 rows of 8: for each k it loads 4 elements of A, in a sector each, and a sector of B."""
    found = judge(NAME, LESSON, Answer(NAIVE))
    assert "5 sectors of global memory" in " ".join(found.remarks), found


def test_the_cell_is_found_by_its_id_or_by_its_attempt():
    """Not the one in which the lesson tries a kernel of the ladder."""
    place = places(LESSON)[NAME]
    tried = ("tiled-report", 'attempt(rung("tiled").make(tile_width=16), (16, 16), (16, 16), keep=False)')
    for cells in ([tried, (place.cell, NAIVE)], [(place.cell, GIVEN), ("new", NAIVE), tried], [("new", NAIVE), tried]):
        assert answers(cells, {NAME: place})[NAME].source == NAIVE
    assert answers([(place.cell, GIVEN), tried], {NAME: place})[NAME].source == GIVEN


def test_the_seed_draws_sizes(monkeypatch):
    seeds = []
    monkeypatch.setattr(capstone, "costs", lambda *more: seeds.append(more[-2:]) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        judge(NAME, LESSON, Answer(NAIVE), 7)
    assert seeds == [(7, False)]


@pytest.mark.nightly
def test_the_solution_has_all_points():
    found = judge(NAME, LESSON, Answer(solution(NAME, LESSON)), 7)
    assert (found.status, found.points) == ("passed", 5)
