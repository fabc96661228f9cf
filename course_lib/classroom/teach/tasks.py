"""The tasks of a process of `sandbox.py`: each takes and returns values of JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from .cells import places
from .judge import judge
from .submission import Answer, answers, as_json, read


def read_notebook(path: str, lesson: str) -> dict[str, Any]:
    """Return the answers in a notebook."""
    return as_json(answers(read(Path(path)), places(lesson)))


def judge_answer(exercise: str, lesson: str, answer: Sequence[Any], own: bool) -> dict[str, Any]:
    """Return the verdict on one of them."""
    source, others, remark = answer
    return asdict(judge(exercise, lesson, Answer(source, tuple(others), remark), own))


def attempt_in(path: str) -> dict[str, Any]:
    """Return the kernel of the capstone in a notebook, judged and scored."""
    from .capstone import judged  # the model of waiting, which no other task needs

    return asdict(judged(Path(path)))


TASKS: Mapping[str, Callable[..., dict[str, Any]]] = {
    "read": read_notebook,
    "judge": judge_answer,
    "attempt": attempt_in,
}
