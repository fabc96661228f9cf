"""Judgement of an answer from its text, in a separate process: for the tests in nbgrader and Otter.

It cannot defend the points there: both tools run it in the interpreter that has executed the student's cells, and one
of them can replace this function. Points that count come from `grade`.
"""

import atexit
from collections.abc import Sequence
from dataclasses import replace
from functools import cache

from IPython import get_ipython

from ...exercises import LESSONS
from ...exercises.grading.explain import Explanation
from .cells import GRADED, places
from .judge import STOPPED, Judged, from_json, unjudged
from .submission import Answer, answers
from .worker import STANDARD, Limits, Stopped, Worker


def isolated(
    exercise: str, cells: Sequence[str] | None = None, seed: int | None = None, limits: Limits = STANDARD
) -> Judged:
    """Judge the answer to ``exercise`` in the notebook's cells, by default those that this interpreter executed.

    ``seed`` draws sizes and calls.
    Raises ValueError for a name that no exercise has, and RuntimeError outside of a notebook if no cells are given.
    """
    lesson = next((lesson for lesson in LESSONS if exercise in places(lesson)), None)
    if lesson is None:
        raise ValueError(f"there is no exercise {exercise!r}")
    texts = _executed() if cells is None else cells
    place = {exercise: places(lesson)[exercise]}
    answer = answers([("", text) for text in texts], place)[exercise]
    return judged_answer(exercise, lesson, answer, shared_worker(limits), seed)


#: Of processor time, for one notebook.
SECONDS = 60


def limits_for(lesson: str, seconds: int = SECONDS) -> Limits:
    """Return the limits of one answer: those of a notebook that are not in words share its seconds equally, so that one
    that is stopped takes no time from another."""
    judged = [name for name in places(lesson) if not isinstance(GRADED[name], Explanation)]
    return Limits(seconds=max(1, seconds // len(judged)))


def judged_notebook(data: bytes, lesson: str, worker: Worker, seed: int | None = None) -> list[Judged]:
    """Return the verdict on each exercise of a lesson in a notebook, which is read and judged in the worker.

    An answer that was stopped has no points, since a person has to look at it. ``seed`` draws sizes and calls. Raises
    ValueError or Stopped if the notebook cannot be read.
    """
    found = worker.do("read", data, lesson)
    rows = [judged_answer(name, lesson, Answer(*found[name]), worker, seed) for name in places(lesson)]
    return [replace(row, points=None) if row.status == STOPPED else row for row in rows]


def judged_answer(name: str, lesson: str, answer: Answer, worker: Worker, seed: int | None = None) -> Judged:
    """Return the verdict on one answer, judged in the worker."""
    try:
        return Judged(**from_json(worker.do("judge", lesson, {name: answer}, seed)[name]))
    except (Stopped, ValueError) as error:
        return unjudged(name, STOPPED, f"{error}.")


def _executed() -> list[str]:
    """The cells that were executed, in this order."""
    if (shell := get_ipython()) is None:
        raise RuntimeError("isolated reads the cells of a notebook, and there is none here; name them in cells=")
    return list(shell.history_manager.input_hist_raw)


@cache
def shared_worker(limits: Limits) -> Worker:
    """Return the worker that all calls with these limits share: it takes seconds to start."""
    worker = Worker(limits)
    atexit.register(worker.__exit__)
    return worker
