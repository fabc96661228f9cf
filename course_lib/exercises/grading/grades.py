"""Grade an exercise: run the kernel on random matrices, then check findings, values and budgets."""

from __future__ import annotations

import contextlib
import io
import math
import secrets
import zlib
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...simulate import Simulation
from ...simulator.findings import KINDS, RANK, Finding, KernelError, LaunchError, SimulatorError, UnsupportedKernelError
from ...simulator.launch.engine import Engine
from ...simulator.launch.prepare import prepare
from ...simulator.observer import Observer
from ...trace.record import TraceObserver
from .causes import Cause, cause_in_text, mixed_directions, remarks_on_text
from .exercise import Array, Budget, Exercise, Launch, Outcome, Shape, Tracer, differing
from .handed_in import look_at
from .opening import at_finding, at_wrong_store
from .places import cause_by_place
from .repairs import cause_by_length, cause_by_repair, spread
from .source import Submission, is_empty, parameters
from .verdict import FAILED, PASSED, Check, Verdict

_REFUSALS = (UnsupportedKernelError, KernelError, LaunchError)

#: The findings that make an answer wrong. Other warnings can apply to correct kernels, and become remarks.
_BROKEN = {kind for kind, severity in KINDS.items() if severity == "error"} | {"negative-index"}


def grade(exercise: Exercise, kernel: Any) -> Verdict:
    """Run ``kernel`` on every shape of ``exercise`` and return the Verdict; a wrong kernel raises no exception."""
    source = look_at(exercise, kernel, "kernel")
    if isinstance(source, Verdict):
        return source
    cause = cause_in_text(source, source.parameters[-1], alone=_is_alone(exercise))
    try:
        outcomes = [launch(exercise, kernel, shape, source, tracer=exercise.traced) for shape in exercise.task.launches]
        counted = outcomes
        if exercise.traced and source.is_crowded:
            laid_out = spread(source)
            counted = [
                launch(exercise, laid_out.function, shape, laid_out, tracer=exercise.traced)
                for shape in exercise.task.launches
            ]
    except _REFUSALS as error:
        return _refused(exercise, kernel, source, cause, error)
    return _judged(exercise, kernel, source, cause, outcomes, counted)


def _is_alone(exercise: Exercise) -> bool:
    """Does one thread do all the work, as on the host?"""
    launches = [exercise.task.launch(*shape) for shape in exercise.task.shapes]
    return all(math.prod((*grid, *block)) == 1 for grid, block in launches)


def launch(
    exercise: Exercise,
    kernel: Any,
    shape: Shape,
    source: Submission | None = None,
    *,
    tracer: Tracer = None,
    seed: int | None = None,
    at: Launch | None = None,
) -> Outcome:
    """Launch on matrices of small numbers, whose products and sums float32 holds exactly, with the output full of NaN.

    ``source`` is needed to count loops, ``tracer`` records the launch, ``seed`` chooses other matrices, which contain
    fractions, ``at`` another grid and block. The output of print() is not shown: it would appear once for each launch.
    """
    inputs, want, got = _matrices(exercise, shape, seed)
    grid, block = at or exercise.task.launch(*shape)
    launcher = Simulation(kernel, False, "in-order", tracer, exercise.task.max_steps)[grid, block]
    with contextlib.redirect_stdout(io.StringIO()):
        run = launcher(*(array.copy() for array in inputs), got)
    names = dict(zip(exercise.parameters, parameters(kernel), strict=True))
    return Outcome(shape, inputs, got, want, run, names, source)


def _matrices(exercise: Exercise, shape: Shape, seed: int | None = None) -> tuple[tuple[Array, ...], Array, Array]:
    """The arrays that the kernel reads, the right values of its output, and the output before the launch."""
    rng = np.random.default_rng([zlib.crc32(exercise.name.encode()), *shape, *(() if seed is None else (seed,))])
    inputs = exercise.task.inputs(rng, *shape)
    if seed is not None:  # multiples of 1/128, whose products and sums float32 holds exactly, too
        inputs = tuple((array / 8 + rng.integers(0, 8, array.shape) / 128).astype(np.float32) for array in inputs)
    want = exercise.task.answer(*(array.astype(np.float64) for array in inputs))
    return inputs, want, np.full(want.shape, np.nan, np.float32)


def whole_numbers(rng: np.random.Generator, *shape: int) -> NDArray[np.float32]:
    """A random float32 array of whole numbers from -9 to 9 without 0; their products are easy to add."""
    signs = rng.choice([-1, 1], shape)
    numbers: NDArray[np.float32] = (signs * rng.integers(1, 10, shape)).astype(np.float32)
    return numbers


def _failed(
    exercise: Exercise, checks: list[Check], hint: str | None, remarks: tuple[str, ...] = (), opens: Any = None
) -> Verdict:
    return Verdict(exercise.name, FAILED, tuple(checks), hint, remarks, 0, exercise.points, opens)


def _refused(
    exercise: Exercise, kernel: Any, source: Submission, cause: Cause | None, error: SimulatorError
) -> Verdict:
    """The verdict on a kernel that the simulator refused or stopped; nothing else can be judged."""
    said = error.without_option()  # a student cannot pass the option to check
    line = cause.line if cause else error.line
    cause = cause or cause_by_repair(source, _trial(exercise, []), exercise.fixed)
    hint = cause.advice if cause else said
    checks = [Check(False, "the simulator can run it" if hint == said else said, source.quoted(line))]
    checks.append(Check(None, f"{source.parameters[-1]} and its costs: not judged, since the kernel did not finish"))
    return _failed(exercise, checks, hint, remarks_on_text(source, _is_alone(exercise)))


#: Is a changed kernel right?
_Trial = Callable[[FunctionType], bool]


def _trial(exercise: Exercise, outcomes: list[Outcome]) -> _Trial:
    """`_is_right`, beginning with the launch that shows at the lowest cost that a changed kernel is still wrong."""
    failed = (outcome for outcome in outcomes if outcome.differs.any() or _broken([outcome]))
    return partial(_is_right, exercise, min(failed, key=lambda outcome: math.prod(outcome.shape), default=None))


def _is_right(exercise: Exercise, first: Outcome | None, kernel: FunctionType) -> bool:
    """Does the kernel break no rule and give the right values, on every shape? That of ``first`` is tried first.

    For that shape, indices and values are checked before a launch with all observers.
    """
    try:
        if first is not None and not _gives_right_values(exercise, kernel, first.shape):
            return False
        shapes = exercise.task.launches if first is None else (first.shape, *exercise.task.launches)
        for shape in dict.fromkeys(shapes):
            outcome = launch(exercise, kernel, shape)
            if outcome.differs.any() or _broken([outcome]) or _stored_elsewhere(exercise, [outcome]):
                return False
    except _REFUSALS:
        return False
    return True


class _Inside(Observer):
    """Stops a launch at the first index outside an array."""

    def out_of_bounds(self, *event: Any) -> None:
        raise KernelError("an index is outside an array")

    def negative_index(self, *event: Any) -> None:
        raise KernelError("an index is negative")


def _gives_right_values(exercise: Exercise, kernel: FunctionType, shape: Shape) -> bool:
    """Launch without counting, which takes half the time, and compare; KernelError at an index out of bounds."""
    inputs, want, got = _matrices(exercise, shape)
    arguments = (*(array.copy() for array in inputs), got)
    grid, block = exercise.task.launch(*shape)
    prepared = prepare(kernel, grid, block, arguments)
    Engine(prepared, [_Inside()], max_steps=exercise.task.max_steps).run()
    return not differing(got, want).any()


# ---- after a launch -------------------------------------------------------------------------------------------


def _judged(
    exercise: Exercise,
    kernel: Any,
    source: Submission,
    cause: Cause | None,
    outcomes: list[Outcome],
    counted: list[Outcome],
) -> Verdict:
    """Check rules, values and budgets, with a hint on the first one that failed.

    The budgets are measured on the launches ``counted``, of the same kernel with each statement on a separate line.
    """
    output = source.parameters[-1]
    rules, broken = _rules(exercise, source, outcomes)
    values, wrong = _values(exercise, outcomes, broken)
    costs = [_cost(budget, exercise, counted, wrong is None) for budget in exercise.budgets]
    checks = [rules, values, *(check for check, _ in costs)]
    remarks = remarks_on_text(source, _is_alone(exercise))
    remarks += _warnings(outcomes) if not any("float64" in remark for remark in remarks) else ()
    if all(check.passed for check in checks):
        doubt = _doubt(exercise, kernel, source, outcomes)
        if doubt:
            place, check, hint = doubt
            checks[place] = check
            points = 0 if check is checks[1] else exercise.points - 1
            return Verdict(exercise.name, FAILED, tuple(checks), hint, remarks, points, exercise.points)
        return Verdict(exercise.name, PASSED, tuple(checks), None, remarks, exercise.points, exercise.points)
    points = 0 if wrong else sum(check.passed is True for check in checks)
    if broken or wrong:
        cause = cause or cause_by_repair(source, _trial(exercise, outcomes), exercise.fixed)
    if cause:
        hint = cause.advice
    elif rules.passed is False and not broken:
        hint = f"{_inputs_of(source)} only to be read: keep what you compute in variables, and store it into {output}."
    elif broken:
        hint = _advice_on_a_rule(exercise, source, outcomes, broken)
    elif wrong and not any(outcome.count("accesses", "store", exercise.task.output) for outcome in outcomes):
        hint = f"your kernel never stores into {output}: the last line of a thread is usually {output}[row, col] = …"
    elif wrong:
        hint = _advice_on_values(exercise, source, outcomes, wrong)
    else:
        hint = next(advice for check, advice in costs if check.passed is False)
    opens = _viewer(exercise, kernel, source, outcomes, broken, wrong)
    return Verdict(exercise.name, FAILED, tuple(checks), hint, remarks, points, exercise.points, opens)


def _broken(outcomes: list[Outcome]) -> list[Finding]:
    """The findings of all launches that make the answer wrong, causes first."""
    found = [finding for outcome in outcomes for finding in outcome.run.findings if finding.kind in _BROKEN]
    return sorted(found, key=lambda finding: RANK[finding.kind])


def _warnings(outcomes: list[Outcome]) -> tuple[str, ...]:
    found = {f"line {f.line}: {f.message}" for outcome in outcomes for f in outcome.run.findings if f.kind == "float64"}
    return tuple(sorted(found)[:1])


def _stored_elsewhere(exercise: Exercise, outcomes: list[Outcome]) -> tuple[str, int] | None:
    """A global array other than the output that the kernel stores into, and the line of the store; else None."""
    for outcome in outcomes:
        for row in outcome.run.traffic.rows:
            if row.space == "global" and row.op != "load" and row.array in map(outcome.own, exercise.parameters[:-1]):
                return row.array, row.line
    return None


def _inputs_of(source: Submission) -> str:
    *names, last = source.parameters[:-1]
    return f"{', '.join(names)} and {last} are" if names else f"{last} is"


def _rules(exercise: Exercise, source: Submission, outcomes: list[Outcome]) -> tuple[Check, Finding | None]:
    found = _broken(outcomes)
    elsewhere = _stored_elsewhere(exercise, outcomes)
    if elsewhere and not found:
        array, line = elsewhere
        return Check(
            False, f"line {line} stores into {array}, which the kernel was given to read", source.quoted(line)
        ), None
    if not found:
        kept = "no access out of bounds"
        if not _is_alone(exercise):
            kept = f"no race, {kept}, no barrier that part of a block misses"
        return Check(True, kept), None
    worst = found[0]
    said = str(worst).removesuffix("; guard the access with an if")  # the hint gives the advice
    return Check(False, said, source.quoted(worst.other_line, worst.line)), worst


def _values(exercise: Exercise, outcomes: list[Outcome], broken: Finding | None) -> tuple[Check, Outcome | None]:
    output = outcomes[0].own(exercise.task.output)
    for outcome in outcomes:
        if not outcome.differs.any():
            continue
        if not outcome.count("accesses", "store", exercise.task.output):
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
    if broken and KINDS[broken.kind] == "error":
        text = f"{output} is right here, but may be wrong on a GPU: with {broken.kind}, the result is not defined"
        return Check(None, text), None
    sizes = ", ".join(str(outcome.shape if len(outcome.shape) > 1 else outcome.shape[0]) for outcome in outcomes)
    return Check(True, f"{output} equals NumPy's for {exercise.task.sizes} = {sizes}"), None


def _doubt(
    exercise: Exercise, kernel: Any, source: Submission, outcomes: list[Outcome]
) -> tuple[int, Check, str] | None:
    """A further fault of a kernel that passes every check: (the check it concerns, its new text, a hint); else None.

    One thread may do all the work, results may be stored in the program, or the kernel may need square blocks.
    """
    output = source.parameters[-1]
    for outcome in outcomes:
        most, share = outcome.stores_per_thread(exercise.task.output), exercise.task.share(*outcome.shape)
        if most > share:
            wanted = "one element" if share == 1 else f"{share:,} elements"
            text = (
                f"the work is not shared: one thread stores {most:,} elements of {output} for "
                f"{_named(exercise, outcome.shape)}, where each should store {wanted} at most"
            )
            hint = f"the launch has more threads than work: let each of them compute its own part of {output}."
            return 0, Check(False, text), hint
    shape = exercise.task.launches[-1]
    other = launch(exercise, kernel, shape, seed=secrets.randbits(32))
    if other.differs.any():
        names = " and ".join(source.parameters[:-1])
        text = f"{output} is right for the numbers that check always takes, and wrong for others of the same shapes"
        return 1, Check(False, text), f"compute {output} from {names}, whatever numbers they hold, fractions too."
    return _only_in_square_blocks(exercise, kernel, source, shape)


def _only_in_square_blocks(
    exercise: Exercise, kernel: Any, source: Submission, shape: Shape
) -> tuple[int, Check, str] | None:
    """`_doubt` about a kernel that uses the width of its blocks as their height: it fails in blocks half as high."""
    cause = mixed_directions(source.tree) if source.tree else None
    (across, down, *deep), (width, height, *depth) = ((*sizes, 1)[:3] for sizes in exercise.task.launch(*shape))
    if cause is None or width != height or height % 2:
        return None
    flat = (across, 2 * down, *deep), (width, height // 2, *depth)
    other = launch(exercise, kernel, shape, at=flat)
    if not other.differs.any() and not _broken([other]):
        return None
    text = (
        f"{source.parameters[-1]} is right only where blocks are square: in blocks of {width}×{height // 2} it is not"
    )
    return 1, Check(False, text, source.quoted(cause.line)), cause.advice


def _place(exercise: Exercise, source: Submission, outcomes: list[Outcome]) -> str | None:
    cause = cause_by_place(source, _trial(exercise, outcomes))
    return cause.advice if cause else None


def _advice_on_a_rule(exercise: Exercise, source: Submission, outcomes: list[Outcome], broken: Finding) -> str:
    advice = None
    if broken.kind == "out-of-bounds":
        # An error in every launch may exceed the matrices in only some of them: the others show the cause.
        cause = cause_by_length(source, _trial(exercise, outcomes))
        seen = [outcome for outcome in outcomes if not outcome.run.findings]
        advice = cause.advice if cause else _diagnosed(exercise, seen)
    return advice or exercise.hints.get(broken.kind) or _place(exercise, source, outcomes) or broken.message


def _diagnosed(exercise: Exercise, outcomes: list[Outcome]) -> str | None:
    """The first advice of a diagnosis, for launches with wrong values: on tiny shapes the values may be right."""
    found = (diagnosis(o) for o in outcomes if o.differs.any() for diagnosis in exercise.diagnoses)
    return next(filter(None, found), None)


def _advice_on_values(exercise: Exercise, source: Submission, outcomes: list[Outcome], wrong: Outcome) -> str:
    advice = _diagnosed(exercise, outcomes)
    if advice:
        return advice
    output = source.parameters[-1]
    if wrong.count("accesses", "load", exercise.task.output):
        return f"{output} is not zero when the kernel starts: sum in a variable of the thread, and store it once."
    stored = wrong.got[~np.isnan(wrong.got)]
    if stored.size and not stored.any():
        return f"every element stored into {output} is 0: no product reaches the sum before it is stored."
    place = _place(exercise, source, outcomes)
    if place:
        return place
    if np.isnan(wrong.got).any():
        return f"some elements of {output} were never stored: which thread should store each of them?"
    return "follow one thread with a pencil: which elements does it multiply, and how often?"


def _cost(budget: Budget, exercise: Exercise, outcomes: list[Outcome], right: bool) -> tuple[Check, str]:
    """The check of a budget; it passes only if the values are right, since doing less work is no saving."""
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
        return Check(None, f"{budget.name}: not judged while {exercise.task.output} is wrong"), budget.hint
    return Check(got <= limit, text), budget.hint


def _named(exercise: Exercise, shape: Shape) -> str:
    return f"{exercise.task.sizes} = {shape if len(shape) > 1 else shape[0]}"


def _viewer(
    exercise: Exercise,
    kernel: Any,
    source: Submission,
    outcomes: list[Outcome],
    broken: Finding | None,
    wrong: Outcome | None,
) -> Any:
    """A function that opens the viewer at the first finding, else at the first wrong store; None if there is neither,
    or if the kernel has no step to show."""

    def traced(outcome: Outcome) -> Outcome:
        if exercise.traced is TraceObserver:
            return outcome
        return launch(exercise, kernel, outcome.shape, tracer=TraceObserver)

    output = source.parameters[-1]
    if broken is not None:
        outcome = next(outcome for outcome in outcomes if broken in outcome.run.findings)
        return lambda: at_finding(traced(outcome), broken, output)
    if wrong is None or (source.tree is not None and is_empty(source.tree)):
        return None
    return lambda: at_wrong_store(traced(wrong), output)
