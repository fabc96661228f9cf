"""Exercises on Python functions that are not kernels: they are called with chosen arguments and graded by results."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...simulator.bounded import MOST_LINES, Endless, bounded
from .exercise import WRITE, Hint
from .handed_in import look_at
from .verdict import FAILED, PASSED, Check, Verdict


@dataclass(frozen=True)
class Case:
    """One call: ``said`` describes it, ``want`` is the right result, ``hint`` is the advice for a wrong one."""

    said: str
    arguments: tuple[Any, ...]
    want: bool | float
    hint: str


@dataclass(frozen=True)
class Routine:
    """A function to be written or fixed; ``given`` as in `Exercise`.

    ``another(rng)`` returns the arguments and the result of one more call, so that a table of ``cases`` is not enough.
    """

    name: str
    parameters: tuple[str, ...]
    cases: tuple[Case, ...]
    another: Callable[[np.random.Generator], tuple[tuple[Any, ...], bool | float]]
    kind: str = WRITE
    given: str = ""

    @property
    def points(self) -> int:
        """The points: one for each case."""
        return len(self.cases)


#: How a function is called with arguments.
Run = Callable[[Any, tuple[Any, ...]], Any]


def judge(exercise: Routine, function: Any, run: Run = bounded) -> Verdict:
    """Call ``function`` by ``run`` with each case's arguments and return the Verdict; exceptions are failed checks."""
    source = look_at(exercise, function, "function")
    if isinstance(source, Verdict):
        return source
    called = [_called(source.function, case, run) for case in exercise.cases]
    checks = [check for check, _ in called]
    points = sum(check.passed is True for check in checks)
    hint = next((hint for check, hint in called if not check.passed), "")
    if points == exercise.points and (doubt := _doubt(exercise, source.function, run)):
        return Verdict(exercise.name, FAILED, (*checks, doubt[0]), doubt[1], (), 0, exercise.points)
    status = PASSED if points == exercise.points else FAILED
    return Verdict(exercise.name, status, tuple(checks), hint or None, (), points, exercise.points)


def _doubt(exercise: Routine, function: Any, run: Run) -> tuple[Check, str] | None:
    """A failed check and a hint for a function that is right in all cases, but wrong in another call; else None."""
    arguments, want = exercise.another(np.random.default_rng())
    given = ", ".join(f"{name} = {value}" for name, value in zip(exercise.parameters, arguments, strict=True))
    hint = "right in the calls that check always makes, and wrong in another: compute the answer from the arguments."
    check, _ = _called(function, Case(" ".join(given.split()), arguments, want, hint), run)
    return None if check.passed else (check, Hint(hint, "other-calls"))


def _called(function: Any, case: Case, run: Run) -> tuple[Check, str]:
    """Check the result of a call; also return advice in case it is wrong."""
    try:
        got = run(function, copy.deepcopy(case.arguments))
    except Endless as endless:
        said = f"line {endless.line}: this loop was still running after {MOST_LINES:,} lines"
        return Check(False, f"{case.said}: {said}"), Hint(f"{said}; check what ends it.", "endless")
    except Exception as error:
        said = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
        raised = f"{type(error).__name__}: {said}".rstrip(": ")
        hint = Hint(f"the function must return an answer, and for {case.said} it raised {raised}.", "raised")
        if "for ^:" in said:
            hint = Hint("^ is not a power in Python: 10⁹ is 10**9, or 1e9.", "power")
        return Check(False, f"{case.said}: {raised}"), hint
    if got is None:
        hint = Hint("the function returns nothing: end it with `return` and the answer.", "returns-nothing")
    elif isinstance(got, str):
        hint = Hint("the function returns a text: return the answer itself.", "returns-text")
    elif isinstance(got, list | tuple | dict) or getattr(got, "ndim", 0) > 0:
        many = "the function returns many answers, an array or a list: combine them into one, as .all() does."
        hint = Hint(many, "returns-many")
    else:
        hint = Hint(case.hint, case.said)
    return Check(_same(got, case.want), f"{case.said}: got {_shown(got)}, wanted {_shown(case.want)}"), hint


def _same(got: Any, want: bool | float) -> bool:
    """Whether ``got`` is the wanted answer: equal for a bool, equal except for rounding for a number."""
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
