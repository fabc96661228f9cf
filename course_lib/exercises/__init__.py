"""Exercises that grade the mechanism: the values, findings and memory traffic of the student's own kernel.

`check("name", kernel)` runs the kernel on the thread simulator and returns a `Verdict`; `explain("name", "words")`
shows a model answer after an answer in words; `predict(question, truth)` takes a guess before it shows the truth.
One file per lesson; `EXERCISES` lists them all, in the order of the course. In a notebook, importing this package also
shortens two errors (`short_tracebacks`), and `score()` keeps the answers in a file beside it (`progress`).
"""

from collections.abc import Collection
from dataclasses import replace
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from . import lessons, measured
from .grading import matrix_product
from .grading.exercise import Exercise
from .grading.explain import Explanation, compare
from .grading.grades import grade
from .grading.routines import Routine, judge
from .grading.stepper_at import panels_explained_by
from .grading.verdict import NOT_YET, Verdict
from .predict import predict
from .progress import score
from .short_tracebacks import shorten_errors

#: The file of each lesson.
MODULES = {
    found.name.removeprefix("lesson_"): import_module(f"{lessons.__name__}.{found.name}")
    for found in iter_modules(lessons.__path__)
}
for _module in (matrix_product, *MODULES.values()):
    for _name, _value in vars(_module).items():
        if getattr(_value, "__name__", "") == "diagnosis":  # made by a function, and named by its variable
            _value.__name__ = _name
_Exercises = tuple[Exercise | Routine | Explanation, ...]
LESSONS: dict[str, _Exercises] = {lesson: module.EXERCISES for lesson, module in MODULES.items()}
#: Exercises at the end of a lesson that count neither for its score nor for its minutes, and are in no assignment.
OPTIONAL: dict[str, _Exercises] = {lesson: module.OPTIONAL for lesson, module in MODULES.items()}
_LESSON = {each.name: int(lesson[:2]) for lesson, found in LESSONS.items() for each in (*found, *OPTIONAL[lesson])}
EXERCISES = {each.name: each for lesson, found in LESSONS.items() for each in (*found, *OPTIONAL[lesson])}

shorten_errors()


def check(name: str, kernel: Any, *, seed: int | None = None) -> Verdict:
    """Grade ``kernel``, or a plain function, against the exercise called ``name``; the verdict says what is wrong.

    ``seed`` draws the sizes and numbers of one launch of a kernel: by default always the same.

    Raises ValueError for a name that no exercise has, TypeError if ``name`` is not a text.

    >>> @cuda.jit
    ... def first_block_only(A, C):
    ...     C[cuda.threadIdx.y, cuda.threadIdx.x] = float32(2) * A[cuda.threadIdx.y, cuda.threadIdx.x]
    >>> verdict = check("own-element", first_block_only)
    >>> verdict.passed, verdict.points
    (False, 0)
    """
    exercise = _exercise(name, "check")
    if isinstance(exercise, Explanation):
        raise ValueError(f'{name!r} is answered in words: explain("{name}", "…")')
    if isinstance(exercise, Routine):
        verdict = judge(exercise, kernel)
    else:
        verdict = grade(exercise, kernel, seed)
        if verdict.passed:
            verdict = replace(verdict, remarks=(*verdict.remarks, *measured.remarks(exercise)))
    return _counted(replace(verdict, views=panels_explained_by(_LESSON[name])))


def explain(name: str, answer: str, found: Collection[int] | None = None) -> Verdict:
    """Show a model answer to ``name``, after an ``answer`` was written, with its points and a box to tick for each.

    The score counts the points that the reader ticks, and stores them. Without widgets, ``found`` lists their numbers,
    from 1; it is () if the answer has none.

    Raises ValueError for a name that no exercise has, TypeError if ``name`` or ``answer`` is not a text.

    >>> explain("rounding-up", "It covers the last elements with one more block.", found=[1]).points
    1
    """
    exercise = _exercise(name, "explain")
    if not isinstance(exercise, Explanation):
        raise ValueError(f'{name!r} is answered with a kernel: check("{name}", kernel)')
    if not isinstance(answer, str):
        raise TypeError(f"explain takes your answer as a text, not {answer!r}")
    ticked = [n for n in score().ticks.get(name, ()) if n <= exercise.points]
    own = (ticked or None) if found is None else found
    return _counted(compare(exercise, answer, own, lambda points: score().tick(name, points, exercise.points)))


def _exercise(name: Any, called: str) -> Exercise | Routine | Explanation:
    if not isinstance(name, str):
        what = {"check": 'check("barriers", kernel)', "explain": 'explain("name", "…")'}[called]
        raise TypeError(f"{called} takes the name of the exercise first, as in {what}, not {name!r}")
    if name not in EXERCISES:
        raise ValueError(f"there is no exercise {name!r}; the exercises are {', '.join(EXERCISES)}")
    return EXERCISES[name]


def _counted(verdict: Verdict) -> Verdict:
    """Count the points of a verdict; an answer that was not begun takes away none that are kept."""
    if any(verdict.exercise == exercise.name for found in OPTIONAL.values() for exercise in found):
        return verdict
    if verdict.status != NOT_YET or verdict.exercise not in score().points:
        score().solve(verdict.exercise, verdict.points, EXERCISES[verdict.exercise].points)
    return verdict


__all__ = ["EXERCISES", "LESSONS", "Verdict", "check", "explain", "predict", "score"]
