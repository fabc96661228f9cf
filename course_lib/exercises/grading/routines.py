"""Exercises on Python functions that are not kernels: they are called with chosen arguments and graded by results."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
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

    ``cases`` are examples, with advice. A few more calls are drawn, so that a table of them is not enough.
    """

    name: str
    parameters: tuple[str, ...]
    cases: tuple[Case, ...]
    kind: str = WRITE
    given: str = ""

    @property
    def points(self) -> int:
        """The points, all or none: one for each case."""
        return len(self.cases)


#: How a function is called with arguments.
Run = Callable[[Any, tuple[Any, ...]], Any]


#: How many of an exercise's stored calls are made.
CALLS = 5


def drawn(name: str, seed: int) -> Iterator[tuple[tuple[Any, ...], bool | float]]:
    """Draw stored calls of an exercise: the arguments, and what is right. Of answers that are truths there are both."""
    stored = json.loads(Path(__file__).parents[1].joinpath("drawn.json").read_text(encoding="utf-8"))[name]
    rng = np.random.default_rng(seed)
    chosen: list[int] = []
    while len({stored[i][1] for i in chosen}) < 2:
        chosen = rng.choice(len(stored), CALLS, replace=False).tolist()
    for arguments, want in (stored[i] for i in chosen):
        yield tuple(np.float32(e["float32"]) if isinstance(e, dict) and "float32" in e else e for e in arguments), want


def judge(exercise: Routine, function: Any, run: Run = bounded, *, seed: int | None = None) -> Verdict:
    """Call ``function`` by ``run`` with each case's arguments, and some that ``seed`` draws, and return the Verdict.

    An exception is a failed check. There are no points unless all calls are right.
    """
    source = look_at(exercise, function, "function")
    if isinstance(source, Verdict):
        return source
    called = [_called(source.function, case, run) for case in exercise.cases]
    checks = tuple(check for check, _ in called)
    hint = next((hint for check, hint in called if not check.passed), "")
    for arguments, want in () if hint else drawn(exercise.name, seed or 0):
        said = ", ".join(f"{name} = {value}" for name, value in zip(exercise.parameters, arguments, strict=True))
        check, _ = _called(source.function, Case(" ".join(said.split()), arguments, want, ""), run)
        if not check.passed:
            checks = (*checks, check)
            hint = Hint(
                "right in the calls above, and wrong in another: compute the answer from the arguments.", "other-calls"
            )
            break
    points = 0 if hint else exercise.points
    return Verdict(exercise.name, FAILED if hint else PASSED, checks, hint or None, (), points, exercise.points)


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
