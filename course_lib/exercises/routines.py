"""Exercises on Python functions that are no kernels: called on chosen arguments, judged by what they return."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass
from typing import Any

from .exercise import WRITE
from .source import is_unfilled, read, same_body
from .verdict import FAILED, NOT_YET, PASSED, Check, Verdict


@dataclass(frozen=True)
class Case:
    """One call: ``said`` describes it, ``want`` is what it must return, ``hint`` helps where it does not."""

    said: str
    arguments: tuple[Any, ...]
    want: bool | float
    hint: str


@dataclass(frozen=True)
class Routine:
    """A function to be written or mended; ``given`` as in `Exercise`."""

    name: str
    parameters: tuple[str, ...]
    cases: tuple[Case, ...]
    kind: str = WRITE
    given: str = ""

    @property
    def points(self) -> int:
        """One for each case."""
        return len(self.cases)


def judge(exercise: Routine, function: Any) -> Verdict:
    """Call ``function`` with the arguments of each case and return the Verdict; its exceptions are failed checks."""
    source = read(function)
    if source is None:
        text = f'check takes the function itself, as in check("{exercise.name}", function), not {function!r}'
        return Verdict(exercise.name, FAILED, (Check(False, text),), of=exercise.points)
    code = source.function.__code__
    got, wanted = ", ".join(code.co_varnames[: code.co_argcount]), ", ".join(exercise.parameters)
    if got != wanted:
        text = f"the function takes ({wanted}), and {source.function.__name__} takes ({got})"
        return Verdict(exercise.name, FAILED, (Check(False, text),), of=exercise.points)
    if source.tree is not None and is_unfilled(source.tree):
        hint = "put your lines where the three dots are, and run this cell again."
        return Verdict(exercise.name, NOT_YET, hint=hint, of=exercise.points)
    if source.tree is not None and exercise.given and same_body(source.tree, exercise.given):
        hint = "this is the function as it was given; change it, and run this cell again."
        return Verdict(exercise.name, NOT_YET, hint=hint, of=exercise.points)
    called = [_called(source.function, case) for case in exercise.cases]
    checks = [check for check, _ in called]
    points = sum(check.passed is True for check in checks)
    hint = next((hint for check, hint in called if not check.passed), "")
    status = PASSED if points == exercise.points else FAILED
    return Verdict(exercise.name, status, tuple(checks), hint or None, (), points, exercise.points)


def _called(function: Any, case: Case) -> tuple[Check, str]:
    """Whether the call returns what it must, and advice for where it does not."""
    try:
        got = function(*copy.deepcopy(case.arguments))
    except Exception as error:
        said = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
        raised = f"{type(error).__name__}: {said}".rstrip(": ")
        hint = f"the function must return an answer, and for {case.said} it raised {raised}."
        return Check(False, f"{case.said}: {raised}"), hint
    if got is None:
        hint = "the function returns nothing: end it in `return` and the answer."
    elif isinstance(got, list | tuple | dict) or getattr(got, "ndim", 0) > 0:
        hint = "the function returns many answers, an array or a list: make one of them, as with .all()."
    else:
        hint = case.hint
    return Check(_same(got, case.want), f"{case.said}: got {_shown(got)}, wanted {_shown(case.want)}"), hint


def _same(got: Any, want: bool | float) -> bool:
    """Whether ``got`` is the wanted answer: yes or no exactly, a number but for rounding."""
    value = got.item() if hasattr(got, "item") and getattr(got, "ndim", 0) == 0 else got
    if isinstance(want, bool):
        return isinstance(value, bool) and value == want
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return number and math.isclose(value, want, rel_tol=1e-9)


def _shown(value: Any) -> str:
    value = value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, int | float):
        return f"{value:,.6g}"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiou' or name == 'ndarray' else 'a'} {name}"
