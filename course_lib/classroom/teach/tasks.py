"""The tasks of a process of `sandbox.py`."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from .cells import places
from .judge import judge
from .submission import best


def read(name: str, data: bytes, lesson: str) -> dict[str, Any]:
    """Return the answers in a notebook or an archive (`submission.best`)."""
    return best(name, data, lesson, places(lesson))


def attempt(name: str, data: bytes, seed: int | None = None, timed: bool = False) -> Any:
    """Return the kernel of the capstone in a notebook or an archive, judged; if ``timed``, also compiled and scored."""
    from .capstone import judged  # the model of waiting, which no other task needs

    return judged(name, data, seed, timed)


TASKS: Mapping[str, Callable[..., Any]] = {
    "read": read,
    "judge": judge,
    "attempt": attempt,
    "time": partial(attempt, timed=True),
}
