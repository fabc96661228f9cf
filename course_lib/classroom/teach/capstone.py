"""The kernel of a student's capstone, judged like the answer to an exercise: a point for each milestone."""

import ast
import contextlib
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...exercises.capstone import BANDS, MILESTONES, NAME, attempt
from ...exercises.capstone_costs import Size
from ...exercises.grading.exercise import Hint
from ...exercises.grading.verdict import FAILED, PASSED, Check, Verdict
from .cells import calls, parsed
from .extract import Refused, trees_of
from .names import Unknown, constant, names_of


def judge(kernel: Any, source: str, others: Sequence[str], seed: int | None = None) -> Verdict:
    """Judge a kernel by the sizes that its cell gives to ``attempt``; ``others`` are the cells whose constants it uses.

    The kernel is not compiled, so its speed is not predicted. Raise Refused for sizes that no launch can have.
    """
    names = names_of([*trees_of(others), parsed(source)])
    given: dict[str, ast.expr] = {"tile": ast.Name("TILE"), "threads": ast.Name("THREADS")}
    for call in (call for name, call in calls(parsed(source)) if name == NAME):
        given |= zip(given, call.args[2:], strict=False)
        given |= {word.arg: word.value for word in call.keywords if word.arg in given}
    tile, threads = (_size(node, names) for node in given.values())
    try:
        result = attempt(kernel, tile, threads, keep=False, seed=seed, timed=False)
    except ValueError as refusal:
        raise Refused(f"{refusal}.".replace("..", ".")) from None
    if isinstance(result, Verdict):
        return replace(result, of=len(MILESTONES))
    reached = result.milestones
    checks = tuple(Check(number < reached, each.title) for number, each in enumerate(MILESTONES))
    hint = next((Hint(each.hint, each.title) for each in MILESTONES[reached:]), None)
    costs = [(band.name, band.cost(result.costs)) for band in BANDS if not band.by_code]
    counted = ", ".join(f"{cost:.3g} {name}" for name, cost in costs if cost is not None)
    remarks = (*result.remarks, f"for each multiplication of a warp: {counted}.")
    return Verdict(NAME, FAILED if hint else PASSED, checks, hint, remarks, reached, len(MILESTONES))


def _size(node: ast.expr, names: dict[str, Any]) -> Size:
    with contextlib.suppress(Unknown):
        match constant(node, names):
            case (int(first), int(second)):
                return first, second
    raise Refused("the grader cannot read the tile or the threads: write TILE, THREADS = (16, 16), (16, 16).")
