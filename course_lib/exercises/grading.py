"""How an exercise is graded: run the kernel on random matrices, then look at findings, values and budgets."""

from __future__ import annotations

import ast
import inspect
import textwrap
import zlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course_lib.simulate import simulate
from course_lib.simulator.findings import RANK, KernelError, LaunchError, UnsupportedKernelError

Shape = tuple[int, int, int]


@dataclass(frozen=True)
class Outcome:
    """One launch of the student's kernel: ``shape`` is (M, N, K); ``got`` and ``want`` are C after it and its right
    values; ``inputs`` are the arrays that the kernel was given."""

    shape: Shape
    inputs: tuple[np.ndarray, ...]
    got: np.ndarray
    want: np.ndarray
    run: Any

    def count(self, what: str, op: str, array: str) -> int:
        """The sum of "accesses", "requests" or "sectors" for one array in global memory; 0 where there is none."""
        rows = (row for row in self.run.traffic.rows if (row.space, row.op, row.array) == ("global", op, array))
        return sum(getattr(row, what) for row in rows)

    def loads_per_thread(self) -> int:
        """The most global loads that any one thread made."""
        return int(self.run.traffic.per_thread(space="global", op="load").max(initial=0))

    def barriers(self) -> int:
        """How many barriers one warp waited at, in the block where it waited most."""
        waits: dict[tuple, int] = {}
        for step in self.run.trace.steps:
            if step.barrier:
                waits[step.block, step.warp] = waits.get((step.block, step.warp), 0) + 1
        return max(waits.values(), default=0)


@dataclass(frozen=True)
class Budget:
    """A limit on what a kernel may cost: ``measure(outcome)`` ≤ ``limit(shape)``, or the student reads ``hint``.

    ``name`` says what is counted, ``formula`` the limit as the exercise states it. Where ``limit`` returns None,
    the shape is not measured.
    """

    name: str
    formula: str
    measure: Callable[[Outcome], float]
    limit: Callable[[Shape], float | None]
    hint: str


@dataclass(frozen=True)
class Exercise:
    """What `grade` needs to know.

    ``inputs(rng, M, N, K)`` makes the arrays that the kernel reads, ``answer(*inputs)`` the C that it must store;
    ``launch(M, N, K)`` is (grid, block). ``hints`` maps a kind of finding to advice; ``diagnoses`` look at an
    outcome and return advice where they recognise a mistake, else None.
    """

    name: str
    parameters: tuple[str, ...]
    shapes: tuple[Shape, ...]
    inputs: Callable[..., tuple[np.ndarray, ...]]
    answer: Callable[..., np.ndarray]
    launch: Callable[[int, int, int], tuple[tuple[int, int], tuple[int, int]]]
    budgets: tuple[Budget, ...]
    hints: Mapping[str, str] = field(default_factory=dict)
    diagnoses: tuple[Callable[[Outcome], str | None], ...] = ()


@dataclass(frozen=True, repr=False)
class Verdict:
    """What `check` found. ``status`` is "passed", "failed" or "not yet"; ``checks`` are (passed, text) pairs."""

    exercise: str
    status: str
    checks: tuple[tuple[bool, str], ...] = ()
    hint: str | None = None

    @property
    def passed(self) -> bool:
        return self.status == "passed"

    def __repr__(self) -> str:
        lines = [f"{self.exercise}: {self.status}"]
        paragraphs = [f"{'✓' if passed else '✗'} {text}" for passed, text in self.checks]
        if self.hint:
            paragraphs.append(f"Hint: {self.hint}")
        for paragraph in paragraphs:
            lines += textwrap.wrap(paragraph, 100, initial_indent="  ", subsequent_indent="    ")
        return "\n".join(lines)


#: Loop iterations in one launch: several times what the largest shape needs, and few enough that a loop which never
#: ends is reported within a second.
_MAX_STEPS = 3_000

#: Warnings that fail a kernel as errors do: an index that wraps reads what nobody meant.
_GRAVE = ("negative-index",)


def grade(exercise: Exercise, kernel) -> Verdict:
    """Run ``kernel`` on every shape of ``exercise`` and return the Verdict; raise TypeError or ValueError where
    ``kernel`` is no kernel or takes other parameters."""
    function = _function_of(exercise, kernel)
    if _is_unfilled(function):
        return _not_yet(exercise)
    try:
        outcomes = [_launch(exercise, kernel, shape) for shape in exercise.shapes]
    except (UnsupportedKernelError, KernelError, LaunchError) as error:
        return Verdict(exercise.name, "failed", ((False, "the simulator can run it"),), str(error))
    if not any(outcome.count("accesses", "store", exercise.parameters[-1]) for outcome in outcomes):
        return _not_yet(exercise)
    results = [_look_at_findings(exercise, outcomes), _look_at_values(exercise, outcomes)]
    results += [_look_at_budget(budget, outcomes) for budget in exercise.budgets]
    hint = next((advice for passed, _, advice in results if not passed), None)
    status = "passed" if all(passed for passed, _, _ in results) else "failed"
    return Verdict(exercise.name, status, tuple((passed, text) for passed, text, _ in results), hint)


def _function_of(exercise: Exercise, kernel):
    """The Python function of a numba kernel or of a plain function, after a look at its parameters."""
    function = getattr(kernel, "py_func", kernel)
    if not inspect.isfunction(function):
        raise TypeError(
            f'check takes the kernel itself, as in check("{exercise.name}", kernel), not {type(kernel).__name__}'
        )
    wanted, got = ", ".join(exercise.parameters), ", ".join(inspect.signature(function).parameters)
    if got != wanted:
        raise ValueError(f"the kernel of {exercise.name!r} takes ({wanted}), and {function.__name__} takes ({got})")
    return function


def _is_unfilled(function) -> bool:
    """Whether a ``...`` of the skeleton still stands in the body, or the body raises NotImplementedError."""
    try:
        tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, SyntaxError):  # no source, or a lambda in the middle of a line: the simulator says so better
        return False
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and node.value.value is Ellipsis:
            return True
        if isinstance(node, ast.Raise) and "NotImplementedError" in ast.dump(node):
            return True
    return False


def _not_yet(exercise: Exercise) -> Verdict:
    return Verdict(exercise.name, "not yet", hint="put your lines where the three dots are, and run this cell again.")


def _launch(exercise: Exercise, kernel, shape: Shape) -> Outcome:
    """Launch on matrices of eighths, whose products and sums float32 holds exactly, with C full of NaN."""
    rng = np.random.default_rng([zlib.crc32(exercise.name.encode()), *shape])
    inputs = exercise.inputs(rng, *shape)
    want = exercise.answer(*(array.astype(np.float64) for array in inputs))
    got = np.full(want.shape, np.nan, np.float32)
    grid, block = exercise.launch(*shape)
    run = simulate(kernel, strict=False, trace=True, max_steps=_MAX_STEPS)[grid, block](*inputs, got)
    return Outcome(shape, inputs, got, want, run)


def eighths(rng: np.random.Generator, rows: int, cols: int) -> np.ndarray:
    """A random float32 matrix of non-zero multiples of 1/8 between -2 and 2."""
    signs = rng.choice([-1, 1], (rows, cols))
    return (signs * rng.integers(1, 17, (rows, cols)) / 8).astype(np.float32)


def _look_at_findings(exercise: Exercise, outcomes: list[Outcome]) -> tuple[bool, str, str | None]:
    found = [
        finding
        for outcome in outcomes
        for finding in outcome.run.findings
        if finding.severity == "error" or finding.kind in _GRAVE
    ]
    if not found:
        return True, "no race, no access out of bounds, no barrier that part of a block misses", None
    worst = min(found, key=lambda finding: RANK[finding.kind])
    advice = exercise.hints.get(worst.kind)
    return False, str(worst), advice or worst.message


def _look_at_values(exercise: Exercise, outcomes: list[Outcome]) -> tuple[bool, str, str | None]:
    output = exercise.parameters[-1]
    for outcome in outcomes:
        differs = ~np.isclose(outcome.got, outcome.want, rtol=1e-5, atol=1e-5)
        if differs.any():
            where = ", ".join(map(str, np.argwhere(differs)[0]))
            text = (
                f"{output} is wrong in {differs.sum():,} of {differs.size:,} elements for {_named(outcome.shape)}, "
                f"first in {output}[{where}]"
            )
            return False, text, _advice_on_values(exercise, outcomes, outcome)
    sizes = ", ".join(str(outcome.shape) for outcome in outcomes)
    return True, f"{output} equals NumPy's for (M, N, K) = {sizes}", None


def _advice_on_values(exercise: Exercise, outcomes: list[Outcome], wrong: Outcome) -> str:
    for outcome in outcomes:
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


def _look_at_budget(budget: Budget, outcomes: list[Outcome]) -> tuple[bool, str, str | None]:
    measured = [
        (budget.measure(outcome), budget.limit(outcome.shape), outcome.shape)
        for outcome in outcomes
        if budget.limit(outcome.shape) is not None
    ]
    got, limit, shape = max(measured, key=lambda entry: entry[0] - entry[1])
    passed = got <= limit
    text = f"{budget.name}: {got:g} for {_named(shape)}, allowed {limit:g} ({budget.formula})"
    return passed, text, None if passed else budget.hint


def _named(shape: Shape) -> str:
    return f"(M, N, K) = {shape}"
