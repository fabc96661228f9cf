"""The tasks of a process of `sandbox.py`: each takes and returns values of JSON."""

from base64 import b64decode
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from .cells import places
from .judge import judge
from .submission import Answer, best


def read_notebook(name: str, data: str, lesson: str) -> dict[str, Any]:
    """Return the answers in a notebook or an archive, whose bytes come as text of base 64 (`submission.best`)."""
    return best(name, b64decode(data), lesson, places(lesson))


def judge_answer(exercise: str, lesson: str, answer: Sequence[Any], seed: int | None = None) -> dict[str, Any]:
    """Return the verdict on one of them."""
    return asdict(judge(exercise, lesson, Answer(*answer), seed))


def attempt_in(name: str, data: str, seed: int | None = None, timed: bool = False) -> dict[str, Any]:
    """Return the kernel of the capstone in a notebook or an archive, judged; if ``timed``, also compiled and scored."""
    from .capstone import judged  # the model of waiting, which no other task needs

    return asdict(judged(name, b64decode(data), seed, timed))


TASKS: Mapping[str, Callable[..., dict[str, Any]]] = {
    "read": read_notebook,
    "judge": judge_answer,
    "attempt": attempt_in,
    "time": partial(attempt_in, timed=True),
}
