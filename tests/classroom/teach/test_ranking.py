"""The ranking of a class in the capstone: places, ties, kernels without a place, and nothing of a student executed."""

import inspect
import json
import textwrap

import pytest
from classroom.teach.cheats import COPY
from classroom.teach.here import do, here, rows

from course_lib.classroom.teach import capstone
from course_lib.classroom.teach.capstone import RANKED, Kernel, judged
from course_lib.classroom.teach.command import main
from course_lib.classroom.teach.ranking import page, ranked
from course_lib.exercises.capstone import Attempt, Costs
from course_lib.kernels.naive import naive
from course_lib.machine import compiler

MINE = textwrap.dedent(inspect.getsource(naive.py_func)).replace("def naive(", "def mine(")
#: One thread for each element of C, in blocks of 8×8; slow, right and short.
NAIVE = f"TILE, THREADS = (8, 8), (8, 8)\n\n\n{MINE}\n\nattempt(mine, TILE, THREADS)\n"
#: With x along the rows of C: more sectors for each load of A, and of C.
SLOWER = (
    NAIVE.replace("cuda.threadIdx.y", "ty")
    .replace("cuda.threadIdx.x", "cuda.threadIdx.y")
    .replace("ty\n", "cuda.threadIdx.x\n")
)


@pytest.fixture
def save(tmp_path):
    """A function that writes the notebook of a student: the lesson's cell for the kernel."""

    def save(student, source, cell="own-kernel"):
        path = tmp_path / "in" / f"{student}.ipynb"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps({"cells": [{"id": cell, "cell_type": "code", "source": source}]}))
        return path

    return save


def judge(path):
    return judged(path.name, path.read_bytes(), timed=False)


def test_a_kernel_costs_what_arithmetic_says_and_nothing_else_is_executed(save, tmp_path, monkeypatch):
    """A warp is 4 rows of 8: for each k it loads 4 elements of A, in a sector each, and a sector of B.

    What is beside the kernel is not executed, nor its decorators and defaults.
    """
    monkeypatch.chdir(tmp_path)
    touch = "open('executed', 'w')"
    source = f"import course_lib.machine.waiting as w\nw.attempt = {touch}\n{NAIVE}\n{touch}\n"
    source = source.replace("@cuda.jit\n", f"@cuda.jit\n@(lambda f: {touch})\n").replace("C):", f"C={touch}):")
    found = judge(save("anna", source, "lost"))
    assert (found.status, found.tile, found.threads) == (RANKED, (8, 8), (8, 8)), found
    assert found.costs[0] == 5
    assert not (tmp_path / "executed").exists()


@pytest.mark.nightly
def test_x_along_the_rows_costs_more(save):
    """8 lanes side by side load 8 rows of A, each from a sector of its own, and 4 columns of B from one."""
    assert judge(save("ben", SLOWER)).costs[0] == 9


@pytest.mark.parametrize(
    "source, status, told",
    [
        (NAIVE.replace("row < M and ", ""), "failed", "ragged"),
        ("TILE, THREADS = (16, 16), (16, 16)\n\n@cuda.jit\ndef mine(A, B, C):\n    ...\n", "not yet", "three dots"),
        (NAIVE.replace("(8, 8), (8, 8)", "(8, 8), open('x').read()"), "refused", "TILE = (16, 16)"),
        (NAIVE.replace("THREADS)", "(64, 64))"), "refused", "at most 1,024"),
        ("from course_lib.kernels import rung\nmine = rung('best').make()\n", "refused", "only a function"),
        ("def mine(A, B, C:\n", "failed", "is no Python"),
        (COPY.replace("= TILE", "= 8").replace("product", "mine").split("check(")[0], "refused", "tiled of the"),
        ("print('nothing')", "missing", "defines no function"),
    ],
)
def test_who_has_no_place_reads_why(save, source, status, told):
    found = judge(save("carl", source))
    assert (found.status, found.points) == (status, 0) and told in found.hint, found


def test_equal_points_share_a_place_and_failures_come_last():
    kernels = {
        "zoe": Kernel("failed", "a race"),
        "ben": Kernel(RANKED, points=9),
        "anna": Kernel(RANKED, points=9),
        "carl": Kernel(RANKED, points=20),
        "dora": Kernel(RANKED, points=3),
        "eve": Kernel("missing", "no kernel"),
        "fay": Kernel(RANKED, points=0),
    }
    places = [(place, student) for place, student, _ in ranked(kernels)]
    assert places == [(1, "carl"), (2, "anna"), (2, "ben"), (4, "dora"), (5, "fay"), (None, "eve"), (None, "zoe")]


def test_the_command_writes_a_table_and_a_page_and_goes_on(save, tmp_path, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr("course_lib.classroom.teach.grade.Sandbox", here(lambda *task: asked.append(task) or do(*task)))
    costly = lambda kernel, tile, threads, keep, seed, timed: Attempt("mine", tile, threads, Costs(5, 0, 0, 0, 0))  # noqa: E731
    monkeypatch.setattr(capstone, "attempt", costly)
    save("anna", NAIVE)
    save("=ben", NAIVE.replace("acc", "total"))
    save("<b>carl", "...")
    (tmp_path / "in" / "dora.ipynb").write_text("no notebook", encoding="utf-8")
    command = ["ranking", str(tmp_path / "in"), "--csv", str(tmp_path / "r.csv"), "--page", str(tmp_path / "r.html")]
    assert main(command) == 0
    assert "4 submissions: 2 ranked, 2 without a place" in capsys.readouterr().out
    assert [(row["place"], row["student"], row["status"]) for row in rows(tmp_path, "r.csv")] == [
        ("1", "'=ben", RANKED),
        ("1", "anna", RANKED),
        ("", "<b>carl", "missing"),
        ("", "dora", "unreadable"),
    ]
    page = (tmp_path / "r.html").read_text("utf-8")
    assert "&lt;b&gt;carl" in page and "<b>carl" not in page
    assert "Kernels that are nearly the same" in page and "<td>=ben, anna</td>" in page
    asked.clear()
    save("anna", SLOWER)
    assert main(command) == 0
    assert [task for task, *_ in asked] == ["attempt", "time"], "only the changed notebook is judged again"
    asked.clear()
    assert main([*command, "--seed", "7"]) == 0
    assert {seed for *_, seed in asked} == {7} and len(asked) == 6, "another seed judges all again"


def test_a_kernel_that_is_nearly_the_courses_is_listed(save):
    """The naive kernel, which is too short to be refused, with a statement that nobody reads."""
    found = judge(save("anna", NAIVE.replace(MINE, f"{MINE}    spare = row\n")))
    assert (found.status, found.course[0]) == (RANKED, "the kernel naive") and found.course[1] == 1
    assert "<td>the kernel naive of the course, anna</td>" in page([(1, "anna", found)])


@pytest.mark.nightly
@pytest.mark.skipif(not compiler.available(), reason="the compiler is not installed")
def test_an_accepted_kernel_is_compiled_behind_walls_and_timed(save, tmp_path):
    """The naive kernel in blocks of 8×8: an H200 reaches 1,340 GFLOP/s with blocks of 32×32."""
    save("anna", NAIVE)
    out = ["--csv", str(tmp_path / "r.csv"), "--page", str(tmp_path / "r.html")]
    assert main(["ranking", str(tmp_path / "in"), *out]) == 0
    (row,) = rows(tmp_path, "r.csv")
    assert 500 < float(row["GFLOP/s, at least"]) < 1_340 and not row["hint"], row
