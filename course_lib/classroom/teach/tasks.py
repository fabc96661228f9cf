"""The tasks of a process of `sandbox.py`."""

from collections.abc import Callable, Mapping
from functools import partial
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


def attempt(name: str, data: bytes, seed: int | None = None, timed: bool = False) -> Any:
    """Return the kernel of the capstone in a notebook or an archive, judged; if ``timed``, also compiled and scored."""
    from .capstone import judged  # the model of waiting, which no other task needs

    return judged(name, data, seed, timed)


TASKS: Mapping[str, Callable[..., Any]] = {
    "read": read,
    "judge": judge_each,
    "attempt": attempt,
    "time": partial(attempt, timed=True),
}
