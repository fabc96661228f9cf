"""Exercises on Python functions that are not kernels: they are called with chosen arguments and graded by results."""

import ast
import contextlib
import copy
import hashlib
import io
import itertools
import json
import math
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from traceback import walk_tb
from typing import Any

import numpy as np

from ...simulator.line_limit import MOST_LINES, Endless, bounded
from ...simulator.repairs.kernel_syntax import Kernel
from ...simulator.repairs.table import Candidate, RepairRow, TryBudget, candidates, first_proven, register
from .exercise import WRITE, Hint
from .lines import with_lines
from .mistakes.formulas import ROWS, relation, unused_parameters
from .source import Submission, dots
from .source import read as read_source
from .validation import validate_submission
from .verdict import FAILED, PASSED, Check, Verdict

register(*ROWS)

#: The budget for the changes that are tried for one hint: how many, and as how many a call counts that does not end,
#: which takes 0.1 s.
_MOST_TRIES, _TRIES_OF_AN_ENDLESS_CALL = 600, 20


def digest_of_result(call: str, result: bool | float) -> str:
    """Return what tells a result of a call, as a text, from others, to nine digits, and does not say it."""
    shown = str(result) if isinstance(result, bool) else f"{result + 0.0:.8e}"
    return hashlib.sha256(f"{call} {shown}".encode()).hexdigest()[:16]


def matches_digest(call: str, wanted: str, result: bool | float) -> bool:
    """Return whether a digest is that of a result, or of a number that rounding may have made of it."""
    near = {result} if isinstance(result, bool) else {result * (1 + n * 1e-9) for n in (-1, 0, 1)}
    return wanted in {digest_of_result(call, each) for each in near}


@dataclass(frozen=True)
class Case:
    """A call; ``want`` is the right result, or says whether one is; ``hint`` is advice for a wrong one.

    ``description`` stands for arguments that are too long to be shown.
    """

    arguments: tuple[Any, ...]
    want: bool | float | Callable[[bool | float], bool]
    hint: str
    description: str = ""


@dataclass(frozen=True)
class Routine:
    """A function to be written or fixed; ``given`` and ``rows`` as in `Exercise`.

    ``cases`` are examples, with advice. A few more calls are made, so that a table of them is not enough.
    """

    name: str
    parameters: tuple[str, ...]
    cases: tuple[Case, ...]
    kind: str = WRITE
    given: str = ""
    rows: tuple[RepairRow, ...] = ()

    def describe(self, case: Case) -> str:
        """How a call of this function is shown."""
        shown = zip(self.parameters, case.arguments, strict=True)
        return case.description or " ".join(", ".join(f"{name} = {value}" for name, value in shown).split())

    @property
    def points(self) -> int:
        """The points, all or none: one for each case."""
        return len(self.cases)


def routine(name: str, parameters: tuple[str, ...], *cases: Case, **more: Any) -> Routine:
    """Return the exercise on a function that these calls of it show; ``more`` are other fields of it."""
    return Routine(name, parameters, cases, **more)


#: How a function is called with arguments.
CallRunner = Callable[[Any, tuple[Any, ...]], Any]


#: No right answer is larger; a whole number may be too large for a float.
_MOST = 1e300
#: A call as JSON has it: the arguments, and what is right.
StoredCall = tuple[list[Any], bool | float | Callable[[bool | float], bool]]


def further_calls(name: str) -> list[StoredCall]:
    """Return the calls that `check` makes beside an exercise's cases, of whose results it has digests alone."""
    stored = json.loads(Path(__file__).parents[1].joinpath("digests.json").read_text(encoding="utf-8"))[name]
    return [(arguments, partial(matches_digest, json.dumps(arguments), value)) for arguments, value in stored]


def judge(
    exercise: Routine, function: Any, run: CallRunner = bounded, calls: Iterable[StoredCall] | None = None
) -> Verdict:
    """Make each case's call of ``function`` by ``run``, then ``calls``, or `further_calls`; return the Verdict.

    An exception is a failed check. There are no points unless all calls are right.
    """
    source = validate_submission(exercise, function, "function")
    if isinstance(source, Verdict):
        left = read_source(function)
        if (
            left is None
            or left.tree is None
            or not dots(left.tree)
            or not _passes_all_cases(exercise, left.function, run)
        ):
            return source
        source = left  # dots that are left below right lines do nothing
    more = [_case(*call) for call in (further_calls(exercise.name) if calls is None else calls)]
    called = []
    for case in exercise.cases:
        called.append(_check_call(source.function, case, exercise.describe(case), run))
        if getattr(called[-1][1], "id", "") == "endless":  # the next call may take as long
            break
    checks = tuple(check for check, *_ in called)
    hints = [hint for check, hint, _ in called if not check.passed]  # a wrong result says more than most exceptions
    hint = min(hints, key=lambda hint: getattr(hint, "id", "") == "raised", default="")
    if getattr(hint, "id", "") not in _IDS_THAT_NAME_THE_MISTAKE and hint:
        named = hint.startswith("line ")
        hint = _mistake(exercise, source, called, run, more) or (
            hint if named else with_lines(_only_line(source), hint)
        )
    for case in () if hint else more:
        check, *_ = _check_call(source.function, case, exercise.describe(case), run)
        if not check.passed:
            checks = (*checks, check)
            hint = Hint(
                "right in the calls above, and wrong in another: compute the answer from the arguments.", "other-calls"
            )
            break
    status, points = (FAILED, 0) if hint else (PASSED, exercise.points)
    return Verdict(exercise.name, status, checks, hint or None, (), points, exercise.points)


def _case(stored: list[Any], want: Any) -> Case:
    """One of the further calls."""
    arguments = (
        np.float32(each["float32"]) if isinstance(each, dict) and "float32" in each else each for each in stored
    )
    return Case(tuple(arguments), want, "")


def _only_line(source: Submission) -> list[int]:
    """The line of a function that has one."""
    body = [node for node in source.tree.body if not _is_text(node)] if source.tree else []
    return [body[0].lineno] if len(body) == 1 and isinstance(body[0], ast.Return) else []


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


#: Hints that name the mistake already.
_IDS_THAT_NAME_THE_MISTAKE = ("endless", "power", "returns-nothing", "returns-text", "returns-many")


def _passes_all_cases(exercise: Routine, function: Any, run: CallRunner) -> bool:
    """Whether a function is right in the exercise's calls."""
    return all(_check_call(function, case, "", run)[0].passed for case in exercise.cases)


def _mistake(
    exercise: Routine,
    source: Submission,
    called: Sequence[tuple[Check, str, Any]],
    run: CallRunner,
    more: Sequence[Case],
) -> Hint | None:
    """The mistake that the text, all results together, or a proven change show; None if none does."""
    kernel = source.kernel
    if kernel is None:
        return None
    wrong = [case for (check, *_), case in zip(called, exercise.cases, strict=False) if not check.passed]
    nearly: list[tuple[Candidate, Case]] = []
    tries = TryBudget(_MOST_TRIES)

    def holds(candidate: Candidate, kernel: Kernel = kernel) -> bool:
        if candidate.certain:
            return True
        with contextlib.redirect_stdout(io.StringIO()), warnings.catch_warnings(action="ignore"):
            changed = kernel.changed(candidate.changes)
            failed = [*itertools.islice(_failed_cases((*exercise.cases, *more), changed, run, tries), 2)]
        if len(failed) == 1 and failed[0].hint and len(wrong) >= _FEWEST_WRONG_CALLS:
            nearly.append((candidate, failed[0]))
        return not failed

    raised = any(getattr(hint, "id", "") == "raised" for _, hint, _ in called)
    if (unused := unused_parameters(kernel)) and not raised:
        if cause := first_proven(candidates(kernel, "unused", unused), holds, tries):
            alone = cause.id == "parameter-not-used" and len(unused) == 1
            return _with_advice(cause, wrong[0].hint if alone else "")
    results = [(got, case.want) for (_, _, got), case in zip(called, exercise.cases, strict=False)]
    if len(results) == len(exercise.cases) and all(map(_are_numbers, results)):
        if common := relation([(float(got), float(want)) for got, want in results]):  # type: ignore[arg-type]
            advice = wrong[0].hint if common.id == "a-constant-factor" else ""
            said = f"{common} {advice[:1].upper()}{advice[1:]}".rstrip()
            return Hint(with_lines((node.lineno for node in kernel.nodes_of(ast.Return)), said), common.id)
    found = first_proven(candidates(kernel, "formula", rows=exercise.rows), holds, tries)
    if found is not None:
        # where only the place is known, the advice of the first call that is wrong says more
        return _with_advice(found, wrong[0].hint if found.id in _IDS_OF_A_PLACE else "")
    if nearly:
        return _with_advice(nearly[0][0], f"with that put right, one call is still wrong: {nearly[0][1].hint}")
    if (below := _below_zero(exercise, called)) is not None:
        return below
    return None


def _failed_cases(cases: Iterable[Case], changed: Any, run: CallRunner, tries: TryBudget) -> Iterator[Case]:
    """The cases in which a changed function is wrong."""
    for case in cases:
        check, hint, _ = _check_call(changed, case, "", run)
        if getattr(hint, "id", "") == "endless":
            tries.spend(_TRIES_OF_AN_ENDLESS_CALL)
        if not check.passed:
            yield case


#: So many calls must be wrong if a change after which one of them still is counts as the cause of the others.
_FEWEST_WRONG_CALLS = 3
#: Hints that name a place, and little else.
_IDS_OF_A_PLACE = ("one-name-or-number", "two-names-or-numbers", "off-by-one")


def _with_advice(cause: Candidate, advice: str) -> Hint:
    """The hint of a mistake, and a call's advice after it."""
    return Hint(f"{cause.hint} {advice[:1].upper()}{advice[1:]}".rstrip(), cause.id)


def _below_zero(exercise: Routine, called: Sequence[tuple[Check, str, Any]]) -> Hint | None:
    """Advice on a result below zero where no right one is: what is subtracted grows too far."""
    results = [got for _, _, got in called]
    wants = [case.want for case in exercise.cases]
    if not all(_are_numbers((want,)) and want >= 0 for want in wants):  # type: ignore[operator]
        return None
    for (_, advice, got), case in zip(called, exercise.cases, strict=False):
        if _are_numbers((got,)) and got < 0 and min(results, key=_python_number) is got:
            said = f"for {exercise.describe(case)} the result is {_in_words(got)}, and no right one is below zero"
            more = f"{advice[:1].upper()}{advice[1:]}"
            return Hint(f"{said}: too much is subtracted there. {more}", "below-zero")
    return None


def _are_numbers(values: Iterable[Any]) -> bool:
    return all(
        isinstance(_python_number(each), int | float) and not isinstance(_python_number(each), bool) for each in values
    )


def _check_call(function: Any, case: Case, call: str, run: CallRunner) -> tuple[Check, str, Any]:
    """Check the result of a call; also return advice in case it is wrong, and the result."""
    try:
        got = run(function, copy.deepcopy(case.arguments))
    except Endless as endless:
        said = f"line {endless.line}: this loop was still running after {MOST_LINES:,} lines"
        return Check(False, f"{call}: {said}"), Hint(f"{said}; check what ends it.", "endless"), None
    except Exception as error:
        said = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
        name = type(error).__name__  # that of a class of its own, if it was raised in another process
        raised = f"{name}: {said}".rstrip(": ")
        id = "failed-assertion" if name == "AssertionError" else "raised"
        advice = f"the function must return an answer, and for {call} it raised {raised}."
        hint = Hint(with_lines(_raised_in(function, error), advice), id)
        if "for ^:" in said:
            hint = Hint("^ is not a power in Python: 10⁹ is 10**9, or 1e9.", "power")
        return Check(False, f"{call}: {raised}"), hint, None
    if got is None:
        hint = Hint("the function returns nothing: end it with `return` and the answer.", "returns-nothing")
    elif isinstance(got, str):
        hint = Hint("the function returns a text: return the answer itself.", "returns-text")
    elif isinstance(got, list | tuple | dict) or (isinstance(got, np.ndarray) and got.ndim > 0):
        many = "the function returns many answers, an array or a list: combine them into one, as .all() does."
        hint = Hint(many, "returns-many")
    else:
        hint = Hint(case.hint, call)
    right = _is_right(got, case.want)
    digits = 4 if right or _in_words(got, 4) != _in_words(case.want, 4) else 6
    wanted = "which is wrong" if callable(case.want) else f"wanted {_in_words(case.want, digits)}"
    return Check(right, f"{call}: got {_in_words(got, digits)}, {wanted}"), hint, got


def _raised_in(function: Any, error: Exception) -> list[int]:
    """The line of a function in which an exception came out; none if it was called in another process."""
    frames = [frame for frame in walk_tb(error.__traceback__) if frame[0].f_code is getattr(function, "__code__", None)]
    return [line for _, line in frames[-1:]]


def _is_right(got: Any, want: Any) -> bool:
    """Whether ``got`` is the wanted answer: equal for a bool, equal except for rounding for a number."""
    value = _python_number(got)
    if not isinstance(value, bool | int | float) or abs(value) > _MOST:
        return False
    if callable(want):
        return bool(want(value))
    if isinstance(want, bool) or isinstance(value, bool):
        return value is want
    return math.isclose(value, want, rel_tol=1e-9)


def _python_number(value: Any) -> Any:
    """A number of NumPy's as one of Python's."""
    return value.item() if hasattr(value, "item") and getattr(value, "ndim", 0) == 0 else value


def _in_words(value: Any, digits: int = 4) -> str:
    """A result in words; a fraction has so many digits."""
    value = _python_number(value)
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, int | float):
        return (
            "a number beyond 1e300"
            if abs(value) > _MOST
            else f"{value:,.{6 if float(value).is_integer() else digits}g}"
        )
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiou' or name == 'ndarray' else 'a'} {name}"
