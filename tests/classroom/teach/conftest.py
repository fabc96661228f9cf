"""Fixtures of the tests that grade a folder: `judged` and `folder`."""

import json
from dataclasses import asdict

import pytest
from classroom.teach.here import WORDS, do, here
from classroom.teach.made_class import exercises

from course_lib.classroom.teach import grade as command
from course_lib.classroom.teach.judge import unjudged


@pytest.fixture
def judged(monkeypatch):
    """What was judged: (exercise, its cell, the seed). The sandbox is this process; kernels are "not yet" unseen."""
    asked = []

    def noted(task, *arguments):
        if task == "judge":
            lesson, answers, seed = arguments
            asked.extend((name, answer.source, seed) for name, answer in answers.items())
            unseen = {name for name, answer in answers.items() if name != WORDS and answer.source is not None}
            rows = {name: asdict(unjudged(name, "not yet", "")) for name in unseen}
            return rows | do(task, lesson, {name: a for name, a in answers.items() if name not in unseen}, seed)
        return do(task, *arguments)

    monkeypatch.setattr(command, "Sandbox", here(noted))
    return asked


@pytest.fixture
def folder(tmp_path):
    """Two students: anna's notebook, and ben's folder."""
    handed_in = tmp_path / "submitted"
    (handed_in / "ben" / "lesson").mkdir(parents=True)
    for name in ("anna", "ben/lesson/my work"):
        (handed_in / f"{name}.ipynb").write_text(json.dumps(exercises()), encoding="utf-8")
    return tmp_path
