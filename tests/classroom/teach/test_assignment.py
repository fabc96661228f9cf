"""Assignments for nbgrader, for Otter and plain, of all lessons."""

import ast
import json
import re
from unittest.mock import Mock

import nbformat
import pytest
from classroom.teach.cheats import LESSON, skeleton, solution

import course_lib
from course_lib.classroom.teach import isolated as module
from course_lib.classroom.teach.assignment import UNDEFENDED, assignment
from course_lib.classroom.teach.cells import GRADED, NOTEBOOKS, lesson_named, places
from course_lib.classroom.teach.command import main
from course_lib.classroom.teach.isolated import isolated
from course_lib.classroom.teach.judge import TO_READ, judge
from course_lib.classroom.teach.submission import Answer, answers
from course_lib.exercises import LESSONS
from course_lib.exercises.grading.explain import Explanation


def cells(notebook):
    return {cell["id"]: "".join(cell["source"]) for cell in notebook["cells"]}


def kernels(lesson):
    return [name for name in places(lesson) if not isinstance(GRADED[name], Explanation)]


@pytest.mark.parametrize("tool", ["nbgrader", "otter", "plain"])
@pytest.mark.parametrize("lesson", LESSONS)
def test_every_exercise_is_in_its_cell(lesson, tool):
    """With the id that `teach grade` looks for, below its own text and no other's, given or solved."""
    notebook = assignment(lesson, tool)
    nbformat.validate(nbformat.from_dict(notebook))
    texts, solved = cells(notebook), cells(assignment(lesson, tool, solved=True))
    found = answers([(c["id"], c["source"]) for c in notebook["cells"] if c["cell_type"] == "code"], places(lesson))
    assert all(answer.source and not answer.remark for answer in found.values())
    order = [cell for cell in texts if cell in {place.cell for place in places(lesson).values()}]
    assert order == [place.cell for place in places(lesson).values()]
    shown = ["".join(c["source"]) for c in nbformat.read(NOTEBOOKS / f"{lesson}.ipynb", 4).cells]
    for name in places(lesson):
        if tool != "otter":
            cell = places(lesson)[name].cell
            assert (texts[cell], solved[cell]) == (skeleton(name, lesson), solution(name, lesson))
        about = texts[f"about-{name}"]
        assert about and "Speaker notes" not in about
        assert sum(about in text for text in shown) == 1
        assert len(re.findall("(?m)^#+ ", about)) <= 1


@pytest.mark.parametrize("lesson", LESSONS)
def test_nbgrader_has_the_points_and_leaves_the_answers_alone(lesson):
    notebook = assignment(lesson, "nbgrader")
    marked = {c["id"]: c["metadata"]["nbgrader"] for c in notebook["cells"] if "nbgrader" in c["metadata"]}
    assert len({mark["grade_id"] for mark in marked.values()}) == len(marked)
    given = {cell: mark["points"] for cell, mark in marked.items() if mark["grade"] or mark["task"]}
    assert given == {
        f"{'test' if name in kernels(lesson) else 'points'}-{name}": GRADED[name].points for name in places(lesson)
    }
    assert all(mark["locked"] for mark in marked.values())
    assert not {place.cell for place in places(lesson).values()} & set(marked)


@pytest.mark.parametrize("lesson", LESSONS)
def test_a_test_for_nbgrader_needs_only_what_students_have(lesson, monkeypatch):
    """Below the lesson's imports and an answer, it ends in the points.

    `check` and `attempt` stand for those of the students' edition, which has all other names, too.
    """
    texts = cells(assignment(lesson, "nbgrader", solved=True))
    asked = []
    for name in ("check", "attempt"):
        verdict = Mock(points=GRADED, milestones=GRADED)
        monkeypatch.setattr(course_lib, name, lambda *answer, verdict=verdict: asked.append(answer) or verdict, False)
    for name in kernels(lesson):
        names = {}
        exec(texts["imports"], names)
        exec(texts[places(lesson)[name].cell], names)
        asked.clear()
        *statements, last = ast.parse(texts[f"test-{name}"]).body
        imported = {node.module for node in statements if isinstance(node, ast.ImportFrom)}
        assert imported == {"course_lib"}
        exec(compile(ast.Module(statements, []), "test", "exec"), names)
        assert eval(compile(ast.Expression(last.value), "test", "eval"), names) is GRADED
        (answer,) = asked
        assert names[places(lesson)[name].function] in answer


PROMPT = re.compile(
    r'""" # BEGIN PROMPT\n(.*)\n""" # END PROMPT\n# BEGIN SOLUTION NO PROMPT\n(.*)\n# END SOLUTION', re.DOTALL
)


@pytest.mark.parametrize("lesson", LESSONS)
def test_otter_has_skeleton_and_solution_and_a_test_for_each_point(lesson):
    texts = cells(assignment(lesson, "otter"))
    for name, place in places(lesson).items():
        assert f"points: {GRADED[name].points}" in texts[f"begin-{name}"]
        tests = [text for cell, text in texts.items() if re.fullmatch(rf"test-{name}-\d+", cell)]
        if name in kernels(lesson):
            assert PROMPT.fullmatch(texts[place.cell]).groups() == (skeleton(name, lesson), solution(name, lesson))
            assert [re.search(r">= (\d+)", test)[1] for test in tests] == [
                str(point) for point in range(1, GRADED[name].points + 1)
            ]
        else:
            assert "manual: true" in texts[f"begin-{name}"] and tests == []
            assert texts[place.cell] == skeleton(name, lesson)


def test_a_test_of_otter_says_what_is_to_be_read(monkeypatch):
    """Of an answer without points it fails with the verdict, in which the teacher finds why."""
    lesson = lesson_named("12")
    texts = cells(assignment(lesson, "otter"))
    verdict = judge("rate", lesson, Answer("def rate(M, N, K, milliseconds):\n    return open(M)\n"))
    assert verdict.status == TO_READ
    monkeypatch.setattr(module, "isolated", lambda name: verdict)
    for point in range(1, verdict.of + 1):
        with pytest.raises(AssertionError, match=f"rate: {TO_READ}"):
            exec(texts[f"test-rate-{point}"], {})


def test_the_command_writes_a_notebook(tmp_path, capsys):
    assert main(["assignment", "4", "--out", str(tmp_path / "new")]) == 0
    path = tmp_path / "new" / f"{LESSON}.ipynb"
    assert capsys.readouterr().out == f"{path}: 4 exercises, 15 points\n"
    assert json.loads(path.read_text(encoding="utf-8")) == assignment(LESSON, "plain")


def test_nbgrader_gets_a_course(tmp_path, capsys):
    """With a source and the configuration, which stays; solutions are a submission, and in no source."""
    for solved, folder in ((), ("source",)), (("--solved",), ("submitted", "solved")):
        assert main(["assignment", "4", "--for", "nbgrader", *solved, "--out", str(tmp_path)]) == 0
        path = tmp_path.joinpath(*folder, LESSON, f"{LESSON}.ipynb")
        assert json.loads(path.read_text(encoding="utf-8")) == assignment(LESSON, "nbgrader", bool(solved))
    assert len(list(tmp_path.rglob("*.ipynb"))) == 2
    said = capsys.readouterr().out
    assert said.count(str(tmp_path / "nbgrader_config.py")) == 2


def test_otter_says_what_it_cannot_defend(tmp_path, capsys):
    assert main(["assignment", "4", "--for", "otter", "--out", str(tmp_path)]) == 0
    assert UNDEFENDED in capsys.readouterr().out


# ---- what the tests of both tools call -------------------------------------------------------------------------


@pytest.mark.parametrize("above, below", [([skeleton("barriers")], []), ([], [skeleton("barriers")])])
def test_the_test_reads_the_answer_that_was_executed_last(above, below, monkeypatch):
    """Also where the lesson's own cell was executed after it."""
    worker = Mock(**{"do.side_effect": ValueError("as asked")})
    monkeypatch.setattr(module, "shared_worker", lambda limits: worker)
    verdict = isolated("barriers", ["", "TILE = 8", *above, solution("barriers"), *below, "rest"], seed=5)
    _, lesson, answers, seed = worker.do.call_args.args
    ((name, (source, others, _)),) = answers.items()
    assert (name, lesson, source, seed) == ("barriers", LESSON, solution("barriers"), 5)
    assert others == (*below, "rest", "", "TILE = 8", *above)
    assert str(verdict) == "barriers: stopped, 0 of 5 points. as asked."


def test_what_cannot_be_judged_is_told():
    """An exercise that there is not; and no cells, outside of a notebook."""
    with pytest.raises(ValueError, match="there is no exercise 'none'"):
        isolated("none", [])
    with pytest.raises(RuntimeError, match="there is none here"):
        isolated("barriers")


@pytest.mark.nightly
def test_the_isolated_grader_judges(monkeypatch):
    right, wrong = (isolated("barriers", [text]) for text in (solution("barriers"), skeleton("barriers")))
    assert (right.points, right.of, wrong.points) == (5, 5, 0)
    assert str(wrong).startswith("barriers: not yet, 0 of 5 points. put your lines")
