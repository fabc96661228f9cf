"""How an exercise is graded: run the kernel on random matrices, then look at findings, values and budgets."""

from __future__ import annotations

import math
import zlib
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from course_lib.simulate import simulate
from course_lib.simulator.findings import KINDS, RANK, Finding, KernelError, LaunchError, UnsupportedKernelError
from course_lib.viewer import Stepper

from .causes import Cause, cause_in_text, remarks_on_text
from .exercise import Array, Budget, Exercise, Outcome, Shape
from .repairs import cause_by_repair
from .source import Source, is_unfilled, read, same_body
from .verdict import FAILED, NOT_YET, PASSED, Check, Verdict

_REFUSALS = (UnsupportedKernelError, KernelError, LaunchError)

#: What makes an answer wrong. The other warnings are true of kernels that give right values, and become remarks.
_BROKEN = {kind for kind, severity in KINDS.items() if severity == "error"} | {"negative-index"}


def grade(exercise: Exercise, kernel: Any) -> Verdict:
    """Run ``kernel`` on every shape of ``exercise`` and return the Verdict; a wrong kernel is never an exception."""
    source = read(kernel)
    problem = _no_kernel(exercise, source, kernel)
    if source is None or problem:
        return _failed(exercise, [Check(False, problem)], None)
    if source.tree is not None and is_unfilled(source.tree):
        return _not_yet(exercise, "put your lines where the three dots are, and run this cell again.")
    if source.tree is not None and exercise.given and same_body(source.tree, exercise.given):
        return _not_yet(exercise, "this is the kernel as it was given; change it, and run this cell again.")
    cause = cause_in_text(source, exercise.parameters[-1], alone=_is_alone(exercise))
    try:
        outcomes = [launch(exercise, kernel, shape, source.loops) for shape in exercise.shapes]
    except _REFUSALS as error:
        return _refused(exercise, kernel, source, cause, error)
    return _judged(exercise, kernel, source, cause, outcomes)


def _is_alone(exercise: Exercise) -> bool:
    """Whether one thread does all the work, as the host does."""
    launches = [exercise.launch(*shape) for shape in exercise.shapes]
    return all(math.prod((*grid, *block)) == 1 for grid, block in launches)


def launch(exercise: Exercise, kernel: Any, shape: Shape, loops: Iterable[int] = (), *, trace: bool = True) -> Outcome:
    """Launch on matrices of eighths, whose products and sums float32 holds exactly, with the output full of NaN."""
    rng = np.random.default_rng([zlib.crc32(exercise.name.encode()), *shape])
    inputs = exercise.inputs(rng, *shape)
    want = exercise.answer(*(array.astype(np.float64) for array in inputs))
    got = np.full(want.shape, np.nan, np.float32)
    grid, block = exercise.launch(*shape)
    run = simulate(kernel, strict=False, trace=trace, max_steps=exercise.max_steps)[grid, block](*inputs, got)
    return Outcome(shape, inputs, got, want, run, frozenset(loops))


def eighths(rng: np.random.Generator, *shape: int) -> NDArray[np.float32]:
    """A random float32 array of non-zero multiples of 1/8 between -2 and 2."""
    signs = rng.choice([-1, 1], shape)
    eights: NDArray[np.float32] = (signs * rng.integers(1, 17, shape) / 8).astype(np.float32)
    return eights


# ---- before a launch ------------------------------------------------------------------------------------------


def _no_kernel(exercise: Exercise, source: Source | None, kernel: Any) -> str:
    """What is wrong with the object that was handed in, in one sentence; "" where it may be launched."""
    if source is None:
        return f'check takes the kernel itself, as in check("{exercise.name}", kernel), and got {_article(kernel)}'
    code = source.function.__code__
    got = ", ".join(code.co_varnames[: code.co_argcount])
    wanted = ", ".join(exercise.parameters)
    return "" if got == wanted else f"the kernel takes ({wanted}), and {source.function.__name__} takes ({got})"


def _article(thing: Any) -> str:
    name = type(thing).__name__
    return "None" if thing is None else f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def _not_yet(exercise: Exercise, hint: str) -> Verdict:
    return Verdict(exercise.name, NOT_YET, hint=hint, of=exercise.points)


def _failed(
    exercise: Exercise, checks: list[Check], hint: str | None, remarks: tuple[str, ...] = (), opens: Any = None
) -> Verdict:
    return Verdict(exercise.name, FAILED, tuple(checks), hint, remarks, 0, exercise.points, opens)


def _refused(exercise: Exercise, kernel: Any, source: Source, cause: Cause | None, error: Exception) -> Verdict:
    """The simulator did not launch it, or stopped it: then nothing else can be judged."""
    line = cause.line if cause else getattr(error, "line", None)
    cause = cause or cause_by_repair(source, lambda mended: _is_right(exercise, mended))
    hint = cause.advice if cause else str(error)
    checks = [Check(False, "the simulator can run it" if hint == str(error) else str(error), source.quoted(line))]
    checks.append(Check(None, f"{exercise.parameters[-1]} and its costs: not judged, since the kernel did not finish"))
    return _failed(exercise, checks, hint, remarks_on_text(source, _is_alone(exercise)))


def _is_right(exercise: Exercise, kernel: Any) -> bool:
    """Whether it breaks no rule and gives the right values, on every shape."""
    try:
        for shape in exercise.shapes:
            outcome = launch(exercise, kernel, shape, trace=False)
            if outcome.differs.any() or _broken([outcome]):
                return False
    except _REFUSALS:
        return False
    return True


# ---- after a launch -------------------------------------------------------------------------------------------


def _judged(exercise: Exercise, kernel: Any, source: Source, cause: Cause | None, outcomes: list[Outcome]) -> Verdict:
    """Rules, values and budgets, with the hint on the first that failed."""
    output = exercise.parameters[-1]
    rules, broken = _rules(source, outcomes)
    values, wrong = _values(exercise, outcomes)
    costs = [_cost(budget, exercise, outcomes, wrong is None) for budget in exercise.budgets]
    checks = [rules, values, *(check for check, _ in costs)]
    remarks = remarks_on_text(source, _is_alone(exercise))
    remarks += _warnings(outcomes) if not any("float64" in remark for remark in remarks) else ()
    if all(check.passed for check in checks):
        return Verdict(exercise.name, PASSED, tuple(checks), None, remarks, exercise.points, exercise.points)
    points = 0 if wrong else sum(check.passed is True for check in checks)
    if broken or wrong:
        cause = cause or cause_by_repair(source, lambda mended: _is_right(exercise, mended))
    if cause and (broken or wrong):
        hint = cause.advice
    elif broken:
        hint = exercise.hints.get(broken.kind) or broken.message
    elif wrong and not any(outcome.count("accesses", "store", output) for outcome in outcomes):
        hint = f"your kernel never stores into {output}: the last line of a thread is usually {output}[row, col] = …"
    elif wrong:
        hint = _advice_on_values(exercise, outcomes, wrong)
    else:
        hint = next(advice for check, advice in costs if check.passed is False)
    opens = _viewer(outcomes, broken, wrong, output)
    return Verdict(exercise.name, FAILED, tuple(checks), hint, remarks, points, exercise.points, opens)


def _broken(outcomes: list[Outcome]) -> list[Finding]:
    """The broken rules of all launches, causes first."""
    found = [finding for outcome in outcomes for finding in outcome.run.findings if finding.kind in _BROKEN]
    return sorted(found, key=lambda finding: RANK[finding.kind])


def _warnings(outcomes: list[Outcome]) -> tuple[str, ...]:
    found = {f"line {f.line}: {f.message}" for outcome in outcomes for f in outcome.run.findings if f.kind == "float64"}
    return tuple(sorted(found)[:1])


def _rules(source: Source, outcomes: list[Outcome]) -> tuple[Check, Finding | None]:
    found = _broken(outcomes)
    if not found:
        return Check(True, "no race, no access out of bounds, no barrier that part of a block misses"), None
    worst = found[0]
    return Check(False, str(worst), source.quoted(worst.other_line, worst.line)), worst


def _values(exercise: Exercise, outcomes: list[Outcome]) -> tuple[Check, Outcome | None]:
    output = exercise.parameters[-1]
    for outcome in outcomes:
        if not outcome.differs.any():
            continue
        if not outcome.count("accesses", "store", output):
            return Check(
                False, f"your kernel never stores into {output} for {_named(exercise, outcome.shape)}"
            ), outcome
        first = tuple(np.argwhere(outcome.differs)[0])
        where = ", ".join(map(str, first))
        got, want = float(outcome.got[first]), float(outcome.want[first])
        text = (
            f"{output} is wrong in {outcome.differs.sum():,} of {outcome.got.size:,} elements for "
            f"{_named(exercise, outcome.shape)}, first {output}[{where}]: got "
            f"{'nothing' if np.isnan(got) else format(got, 'g')}, wanted {want:g}"
        )
        return Check(False, text), outcome
    sizes = ", ".join(str(outcome.shape) for outcome in outcomes)
    return Check(True, f"{output} equals NumPy's for {exercise.sizes} = {sizes}"), None


def _advice_on_values(exercise: Exercise, outcomes: list[Outcome], wrong: Outcome) -> str:
    for outcome in outcomes:
        if not outcome.differs.any():
            continue  # a diagnosis tells wrong values from right ones: on tiny shapes they may be the same
        for diagnosis in exercise.diagnoses:
            advice = diagnosis(outcome)
            if advice:
                return advice
    output = exercise.parameters[-1]
    if wrong.count("accesses", "load", output):
        return f"{output} holds no zeros when the kernel starts: sum in a variable of the thread, and store it once."
    if np.isnan(wrong.got).any():
        return f"some elements of {output} were never stored: which thread should store each of them?"
    return "follow one thread with a pencil: which elements does it multiply, and how often?"


def _cost(budget: Budget, exercise: Exercise, outcomes: list[Outcome], right: bool) -> tuple[Check, str]:
    """A budget that was kept counts only where the values are right: doing less than the work is no saving."""
    measured = [
        (budget.measure(outcome), limit, outcome.shape)
        for outcome in outcomes
        if (limit := budget.limit(outcome.shape)) is not None
    ]
    if not measured:
        return Check(None, f"{budget.name}: no launch here measures it"), budget.hint
    got, limit, shape = max(measured, key=lambda entry: entry[0] - entry[1])
    text = f"{budget.name}: {got:g} for {_named(exercise, shape)}, allowed {limit:g} ({budget.formula})"
    if got <= limit and not right:
        return Check(None, f"{budget.name}: not judged while {exercise.parameters[-1]} is wrong"), budget.hint
    return Check(got <= limit, text), budget.hint


def _named(exercise: Exercise, shape: Shape) -> str:
    return f"{exercise.sizes} = {shape if len(shape) > 1 else shape[0]}"


# ---- the viewer at the step that went wrong -------------------------------------------------------------------


def _viewer(outcomes: list[Outcome], broken: Finding | None, wrong: Outcome | None, output: str) -> Any:
    """A function that opens the viewer at the first broken rule, else at the first wrong store; None without either."""
    if broken is not None:
        outcome = next(outcome for outcome in outcomes if broken in outcome.run.findings)
        block, thread = broken.threads[-1] if broken.threads else ((0, 0, 0), (0, 0, 0))
        return lambda: _stepper(outcome, output, block, thread, line=broken.line, index=None)
    if wrong is None:
        return None
    index = tuple(int(i) for i in np.argwhere(wrong.differs)[0])
    return lambda: _at_store(wrong, output, index)


def _at_store(outcome: Outcome, output: str, index: tuple[int, ...]) -> Stepper:
    """The viewer where this element was stored, or at the start where nobody stored it."""
    bx, by, _ = outcome.run.block
    for step in outcome.run.trace.steps:
        for access in step.accesses:
            if access.op == "load" or access.array != output:
                continue
            hits = (access.index == np.array(index)).all(axis=1)
            if hits.any():
                linear = int(access.threads[hits][0])
                thread = (linear % bx, linear // bx % by, linear // (bx * by))
                return _stepper(outcome, output, step.block, thread, line=step.line, index=index)
    return Stepper(outcome.run, wanted=_right(outcome, output))


def _stepper(
    outcome: Outcome,
    output: str,
    block: tuple[int, ...],
    thread: tuple[int, ...],
    *,
    line: int,
    index: tuple[int, ...] | None,
) -> Stepper:
    """The viewer after the first step of the thread on this line (that touches this element of the output, where one is
    given), with the wanted values beside the wrong ones."""
    bx, by, _ = outcome.run.block
    linear = thread[0] + bx * (thread[1] + by * thread[2])
    steps = [step for step in outcome.run.trace.steps if step.block == tuple(block)]
    chosen = (
        number
        for number, step in enumerate(steps, start=1)
        if step.line == line and linear in step.threads and (index is None or _touches(step, output, index))
    )
    return Stepper(
        outcome.run,
        step=next(chosen, len(steps)),
        block=tuple(block),
        thread=tuple(thread),
        wanted=_right(outcome, output),
    )


def _right(outcome: Outcome, output: str) -> dict[str, Array]:
    """What the output should hold, where the kernel has touched it."""
    array = outcome.run.trace.arrays.get(output)
    return {output: outcome.want} if array is not None and array.space == "global" else {}


def _touches(step: Any, array: str, index: tuple[int, ...]) -> bool:
    found: Array
    for access in step.accesses:
        found = access.index
        if access.array == array and (found == np.array(index)).all(axis=1).any():
            return True
    return False
