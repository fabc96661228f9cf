"""The tasks of a process of `sandbox.py`."""

from collections.abc import Callable, Mapping
from typing import Any

from .cells import places
from .judge import Judged, judge
from .submission import Answer, best


def read(name: str, data: bytes, lesson: str) -> dict[str, Any]:
    """Return the answers in a notebook or an archive (`submission.best`)."""
    return best(name, data, lesson, places(lesson))


def judge_each(lesson: str, answers: Mapping[str, Answer], seed: int | None = None) -> dict[str, Judged]:
    """Return the verdicts on the answers to these exercises of a lesson."""
    return {name: judge(name, lesson, answer, seed) for name, answer in answers.items()}


TASKS: Mapping[str, Callable[..., Any]] = {"read": read, "judge": judge_each}
