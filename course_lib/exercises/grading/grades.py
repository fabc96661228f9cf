"""Grade an exercise: run the kernel on random matrices, then check findings, values and budgets."""

import ast
import builtins
import contextlib
import io
import math
import zlib
from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from types import FunctionType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...simulator.findings import KINDS, RANK, Finding, KernelError, LaunchError, SimulatorError, UnsupportedKernelError
from ...simulator.launch.engine import Engine
from ...simulator.launch.prepare import prepare
from ...simulator.observer import Observer
from ...simulator.simulate import Simulation
from ...trace.record import TraceObserver
from .baselines import KNOWN, baselines
from .counts import Counts
from .exercise import MOST_WORK, Array, Budget, Exercise, Hint, Launch, Outcome, Shape, differing
from .handed_in import validate_submission
from .hints import Mistake, candidates, likely, proven, remarks_on_text, somewhere
from .operands import tagged
from .source import Submission, is_empty, parameters
from .stepper_at import Opened, at_finding, at_wrong_value
from .verdict import FAILED, PASSED, Check, Verdict

_REFUSALS = (UnsupportedKernelError, KernelError, LaunchError)

#: The findings that make an answer wrong. Other warnings can apply to correct kernels, and become remarks.
_FAULTY = {name for name, kind in KINDS.items() if kind.severity == "error"} | {"negative-index"}


def grade(exercise: Exercise, kernel: Any, seed: int | None = None) -> Verdict:
    """Run ``kernel`` on every shape of ``exercise`` and return the Verdict; a wrong kernel raises no exception.

    ``seed`` draws the sizes and numbers of a further launch; by default they are always the same.
    """
    source = validate_submission(exercise, kernel, "kernel")
    if isinstance(source, Verdict):
        return source
    grading = Grading(exercise, kernel, source, seed)
    try:
        launched = grading.launched()
    except _REFUSALS as error:
        return grading.refused(error)
    return launched.judged()


def launch(
    exercise: Exercise,
    kernel: Any,
    shape: Shape,
    source: Submission | None = None,
    *,
    tracer: type[TraceObserver] | None = None,
    seed: int | None = None,
    at: Launch | None = None,
    on: tuple[Array, ...] | None = None,
) -> Outcome:
    """Launch on matrices of small numbers, whose products and sums float32 holds exactly, with the output full of NaN.

    ``source`` is needed to count loops, ``tracer`` records the launch, ``seed`` chooses other matrices, which contain
    fractions, ``at`` another grid and block, ``on`` other numbers to read, for which ``want`` does not hold. The output
    of print() is not shown: it would appear once for each launch.
    """
    inputs, want = _matrices(exercise, shape, seed)
    inputs = on or inputs
    got = np.full(want.shape, np.nan, np.float32)
    grid, block = at or exercise.task.launch(*shape)
    most_steps = exercise.task.max_steps * (1 if seed is None else MOST_WORK)
    counts = Counts()
    launcher = Simulation(kernel, False, "in-order", tracer, most_steps, (counts,))[grid, block]
    with contextlib.redirect_stdout(io.StringIO()):
        run = launcher(*(array.copy() for array in inputs), got)
    names = dict(zip(exercise.parameters, parameters(kernel), strict=True))
    return Outcome(shape, inputs, got, want, run, counts, names, source)


@lru_cache(50)
def _matrices(exercise: Exercise, shape: Shape, seed: int | None = None) -> tuple[tuple[Array, ...], Array]:
    """The arrays that the kernel reads, and the right values of its output; read-only, since launches share them."""
    rng = np.random.default_rng([zlib.crc32(exercise.name.encode()), *shape, *(() if seed is None else (seed,))])
    inputs = exercise.task.inputs(rng, *shape)
    if seed is not None:  # multiples of 1/128, whose products and sums float32 holds exactly, too
        inputs = tuple((array / 8 + rng.integers(0, 8, array.shape) / 128).astype(np.float32) for array in inputs)
    want = exercise.task.answer(*(array.astype(np.float64) for array in inputs))
    for array in (*inputs, want):
        array.flags.writeable = False
    return inputs, want


def whole_numbers(rng: np.random.Generator, *shape: int) -> NDArray[np.float32]:
    """A random float32 array of whole numbers from -9 to 9 without 0; their products are easy to add."""
    signs = rng.choice([-1, 1], shape)
    numbers: NDArray[np.float32] = (signs * rng.integers(1, 10, shape)).astype(np.float32)
    return numbers


class _Inside(Observer):
    """Stops a launch at the first index outside an array."""

    def out_of_bounds(self, *event: Any) -> None:
        raise KernelError("an index is outside an array")

    def negative_index(self, *event: Any) -> None:
        raise KernelError("an index is negative")


def _gives_right_values(exercise: Exercise, kernel: FunctionType, shape: Shape) -> bool:
    """Launch without counting, which takes half the time, and compare; KernelError at an index out of bounds."""
    inputs, want = _matrices(exercise, shape)
    got = np.full(want.shape, np.nan, np.float32)
    arguments = (*(array.copy() for array in inputs), got)
    grid, block = exercise.task.launch(*shape)
    prepared = prepare(kernel, grid, block, arguments)
    Engine(prepared, [_Inside()], max_steps=exercise.task.max_steps).run()
    return not differing(got, want).any()


def _faults(*outcomes: Outcome) -> list[Finding]:
    """The findings of launches that make the answer wrong, causes first."""
    found = [finding for outcome in outcomes for finding in outcome.run.findings if finding.kind in _FAULTY]
    return sorted(found, key=lambda finding: RANK[finding.kind])


def passed_by_baselines(exercise: Exercise, seed: int | None, names: Mapping[str, Any]) -> list[frozenset[int]]:
    """Return the numbers of the checks that each of the exercise's `baselines`, with the lesson's ``names``, passes."""
    used = {node.id for node in ast.walk(ast.parse(exercise.given)) if isinstance(node, ast.Name)}
    used &= names.keys() - KNOWN.keys() - vars(builtins).keys()
    return _passed(exercise, seed, tuple((n, names[n]) for n in sorted(used) if isinstance(names[n], Hashable)))


@lru_cache(200)
def _passed(exercise: Exercise, seed: int | None, names: tuple[tuple[str, Any], ...]) -> list[frozenset[int]]:
    found = []
    for source in baselines(exercise, dict(names)):
        with contextlib.suppress(*_REFUSALS):
            checks = Grading(exercise, source.function, source, seed).launched().checks()
            found.append(frozenset(number for number, check in enumerate(checks) if check.passed))
    return found


@dataclass(frozen=True)
class Grading:
    """The grading of a kernel for an exercise: its launches on every shape, and what follows from them."""

    exercise: Exercise
    kernel: Any
    source: Submission
    seed: int | None = None
    outcomes: tuple[Outcome, ...] = ()

    def launched(self) -> "Grading":
        """Add the launches that are always made, and, if no value is wrong in them, the drawn one.

        Raises an error of `_REFUSALS` if the simulator refuses or stops one.
        """
        run = partial(launch, self.exercise, self.kernel, source=self.source, tracer=self.exercise.tracer)
        outcomes = tuple(run(shape) for shape in self.exercise.task.launches)
        if not any(outcome.differs.any() for outcome in outcomes):
            seed = self.seed or 0
            outcomes += (run(self.exercise.drawn(seed), seed=seed),)
        return replace(self, outcomes=outcomes)

    def refused(self, error: SimulatorError) -> Verdict:
        """Return the verdict on a kernel that the simulator refused or stopped; nothing else can be judged."""
        said = error.without_option()  # a student cannot pass the option to check
        hint, line = (self._cause.advice, self._cause.line) if self._cause else (said, None)
        lines = self.source.quoted(error.line, line)
        checks = [Check(False, "the simulator cannot run it" if hint == said else said, lines)]
        checks.append(Check(None, f"{self.output} and its costs: not judged, since the kernel did not finish"))
        return self._verdict(checks, hint, self._remarks)

    def judged(self) -> Verdict:
        """Check rules, values and budgets, and return the verdict with a hint on the first check that failed."""
        rules, values, *costs = checks = self.checks()
        remarks = self._remarks
        if not any("float64" in remark for remark in remarks):
            findings = (finding for outcome in self.outcomes for finding in outcome.run.findings)
            remarks += tuple(sorted({f"line {f.line}: {f.message}" for f in findings if f.kind == "float64"})[:1])
        if self.seed is not None and (drawn := self._drawn):
            remarks += (f"{self._named(drawn.shape)} and its numbers were drawn by the seed {self.seed}.",)
        if not all(check.passed for check in checks):
            hint = self._hint(rules_hold=rules.passed is True, costs=costs)
            return self._verdict(checks, hint, remarks, points=self._earned(checks), opens=self._viewer())
        doubt = self._doubt()
        if doubt is None:
            return self._verdict(checks, None, remarks, points=self.exercise.points)
        place, checks[place], hint = doubt
        return self._verdict(checks, hint, remarks)

    def checks(self) -> list[Check]:
        """Rules, values, and each budget."""
        return [self._rules(), self._values(), *map(self._cost, self.exercise.budgets)]

    def _earned(self, checks: list[Check]) -> int:
        """The points of an answer that failed: its checks that passed, if values are right and no baseline has all.

        Where a baseline passes every check, the exercise asks for that kernel, so it is none.
        """
        passed = {number for number, check in enumerate(checks) if check.passed}
        if self._wrong or not passed or self._is_unshared:
            return 0
        met = passed_by_baselines(self.exercise, self.seed, self.source.known)
        return 0 if any(passed <= each and len(each) < len(checks) for each in met) else len(passed)

    def _verdict(self, checks: list[Check], hint: str | None, remarks: tuple[str, ...], **more: Any) -> Verdict:
        status, of = FAILED if hint is not None else PASSED, self.exercise.points
        return Verdict(self.exercise.name, status, tuple(checks), hint, remarks, of=of, **more)

    # ---- what several checks need ------------------------------------------------------------------------------

    @property
    def output(self) -> str:
        """The kernel's name for the array that it must store into."""
        return self.source.parameters[-1]

    @cached_property
    def _alone(self) -> bool:
        """Whether one thread does all the work, as on the host."""
        launches = [self.exercise.task.launch(*shape) for shape in self.exercise.task.shapes]
        return all(math.prod((*grid, *block)) == 1 for grid, block in launches)

    @cached_property
    def _fault(self) -> Finding | None:
        """The first finding that makes the answer wrong."""
        return next(iter(_faults(*self.outcomes)), None)

    @property
    def _drawn(self) -> Outcome | None:
        """The drawn launch, if it was made."""
        return self.outcomes[-1] if len(self.outcomes) > len(self.exercise.task.launches) else None

    @cached_property
    def _wrong(self) -> Outcome | None:
        """The first launch with a wrong value."""
        return next((outcome for outcome in self.outcomes if outcome.differs.any()), None)

    @cached_property
    def _cause_in_text(self) -> Mistake | None:
        kinds = ("text",) if self._alone else ("text", "threads")
        return next(candidates(self.source, *kinds, output=self.output), None)

    @cached_property
    def _cause(self) -> Mistake | None:
        """The cause of a mistake, if the text shows it or a repair proves it."""
        return self._cause_in_text or likely(self.source, self._is_right, self.exercise.fixed)

    @property
    def _remarks(self) -> tuple[str, ...]:
        return remarks_on_text(self.source, self._alone)

    def _named(self, shape: Shape) -> str:
        return f"{self.exercise.task.sizes} = {shape if len(shape) > 1 else shape[0]}"

    @property
    def _is_unshared(self) -> bool:
        """Whether each element is stored once, and a thread stores those of others as well."""
        task, last = self.exercise.task, self.outcomes[-1]
        once = last.count("accesses", "store", task.output) <= last.got.size
        return once and last.most_per_thread("global", "store", task.output) > task.share(*last.shape)

    def _never_stores(self, outcome: Outcome) -> bool:
        return not any(outcome.count("accesses", op, self.exercise.task.output) for op in ("store", "atomic"))

    # ---- changed kernels ---------------------------------------------------------------------------------------

    @cached_property
    def _cheapest_failure(self) -> tuple[Shape, ...]:
        """The smallest shape whose launch fails, if one does."""
        failed = (outcome.shape for outcome in self.outcomes if outcome.differs.any() or _faults(outcome))
        return tuple(sorted(failed, key=math.prod)[:1])

    def _is_right(self, changed: FunctionType) -> bool:
        """Whether a changed kernel breaks no rule and gives the right values, on every shape.

        The cheapest launch that failed comes first: its indices and values are checked before a launch with all
        observers.
        """
        first = self._cheapest_failure
        try:
            if first and not _gives_right_values(self.exercise, changed, first[0]):
                return False
            for shape in dict.fromkeys((*first, *self.exercise.task.launches)):
                outcome = launch(self.exercise, changed, shape)
                if outcome.differs.any() or _faults(outcome) or outcome.stored_elsewhere():
                    return False
        except _REFUSALS:
            return False
        return True

    # ---- checks ------------------------------------------------------------------------------------------------

    def _rules(self) -> Check:
        if self._fault:
            said = str(self._fault).removesuffix("; guard the access with an if")  # the hint gives the advice
            return Check(False, said, self.source.quoted(self._fault.other_line, self._fault.line))
        elsewhere = next(filter(None, (outcome.stored_elsewhere() for outcome in self.outcomes)), None)
        if elsewhere:
            array, line = elsewhere
            said = f"line {line} stores into {array}, which the kernel may only read"
            return Check(False, said, self.source.quoted(line))
        kept = "no access out of bounds"
        return Check(True, kept if self._alone else f"no race, {kept}, no barrier that part of a block misses")

    def _values(self) -> Check:
        outcome = self._wrong
        if outcome and self._never_stores(outcome):
            return Check(False, f"your kernel never stores into {self.output} for {self._named(outcome.shape)}")
        if outcome:
            first = tuple(np.argwhere(outcome.differs)[0])
            where = ", ".join(map(str, first))
            got, want = float(outcome.got[first]), float(outcome.want[first])
            unwritten = any(finding.kind == "uninitialized-read" for finding in outcome.run.findings)
            none = "an undefined value" if unwritten else "nothing"
            text = (
                f"{self.output} is wrong in {outcome.differs.sum():,} of {outcome.got.size:,} elements for "
                f"{self._named(outcome.shape)}, first {self.output}[{where}]: got "
                f"{none if np.isnan(got) else format(got, 'g')}, wanted {want:g}"
            )
            return Check(False, text)
        if self._fault and self._fault.severity == "error":
            why = f"with {self._fault.kind}, the result is not defined"
            return Check(None, f"{self.output} is right here, but may be wrong on a GPU: {why}")
        sizes = ", ".join(str(shape if len(shape) > 1 else shape[0]) for shape in self.exercise.task.launches)
        return Check(True, f"{self.output} equals NumPy's for {self.exercise.task.sizes} = {sizes}")

    def _cost(self, budget: Budget) -> Check:
        """The check of a budget; it passes only if the values are right, since doing less work is no saving."""
        measured = [
            (budget.measure(outcome), budget.allowed(self.exercise.task.named(outcome.shape)), outcome.shape)
            for outcome in self.outcomes
            if budget.where(outcome.shape)
        ]
        if not measured:
            return Check(None, f"{budget.name}: no launch here measures it")
        got, limit, shape = max(measured, key=lambda entry: (entry[0] < budget.least, entry[0] - entry[1]))
        holds = budget.least <= got <= limit
        if holds and self._wrong:
            return Check(None, f"{budget.name}: not judged while {self.exercise.task.output} is wrong")
        allowed = f"at least {budget.least}" if got < budget.least else f"allowed {limit:g} ({budget.formula})"
        return Check(holds, f"{budget.name}: {got:g} for {self._named(shape)}, {allowed}")

    def _doubt(self) -> tuple[int, Check, str] | None:
        """A further fault of a kernel that passes every check: (number of the check, its new text, a hint); else None.

        One thread may do all the work, or the kernel may need square blocks.
        """
        task = self.exercise.task
        for outcome in self.outcomes:
            most, share = outcome.most_per_thread("global", "store", task.output), task.share(*outcome.shape)
            if most > share:
                wanted = "one element" if share == 1 else f"{share:,} elements"
                text = (
                    f"the work is not shared: one thread stores {most:,} elements of {self.output} for "
                    f"{self._named(outcome.shape)}, where each should store {wanted} at most"
                )
                hint = f"the launch has more threads than work: let each of them compute its own part of {self.output}."
                return 0, Check(False, text), Hint(hint, "work-not-shared")
        return self._only_in_square_blocks(task.launches[-1])

    def _only_in_square_blocks(self, shape: Shape) -> tuple[int, Check, str] | None:
        """`_doubt` about a kernel that uses the width of its blocks as their height: blocks half as high show it."""
        cause = next(candidates(self.source, "blocks"), None)
        (across, down, *deep), (width, height, *depth) = (
            (*sizes, 1)[:3] for sizes in self.exercise.task.launch(*shape)
        )
        if cause is None or width != height or height % 2:
            return None
        flat = (across, 2 * down, *deep), (width, height // 2, *depth)
        other = launch(self.exercise, self.kernel, shape, at=flat)
        if not other.differs.any() and not _faults(other):
            return None
        text = f"{self.output} is right only where blocks are square: in blocks of {width}×{height // 2} it is not"
        return 1, Check(False, text, self.source.quoted(cause.line)), cause.advice

    # ---- hints -------------------------------------------------------------------------------------------------

    def _hint(self, rules_hold: bool, costs: list[Check]) -> str:
        """Advice on the first check that failed."""
        if self._wrong and self._wrong is self._drawn:
            read = " and ".join(self.source.parameters[:-1])
            right = f"{self.output} is right in the launches that check always makes, and wrong in another one"
            return Hint(
                f"{right}: compute it from {read}, for any sizes and any numbers, also fractions.", "other-numbers"
            )
        cause = self._cause if self._fault or self._wrong else self._cause_in_text
        if cause:
            return cause.advice
        if self._fault:
            return self._advice_on_a_rule(self._fault)
        if not rules_hold:
            *names, last = self.source.parameters[:-1]
            inputs = f"{', '.join(names)} and {last}" if names else last
            hint = f"only read {inputs}: keep what you compute in variables, and store it into {self.output}."
            return Hint(hint, "only-read")
        if self._wrong:
            return self._advice_on_values(self._wrong)
        checked = zip(self.exercise.budgets, costs, strict=True)
        budget, check = next((budget, check) for budget, check in checked if check.passed is False)
        return Hint(budget.too_few if "at least" in check.text else budget.hint, budget.name)

    def _advice_on_a_rule(self, broken: Finding) -> str:
        advice = None
        if broken.kind == "out-of-bounds":
            # An error in every launch may exceed the matrices in only some of them: the others show the cause.
            cause = proven(self.source, candidates(self.source, "lengths"), self._is_right)
            advice = cause.advice if cause else self._diagnosed(o for o in self.outcomes if not o.run.findings)
        own = Hint(self.exercise.hints.get(broken.kind, ""), broken.kind)
        if own and not advice and broken.kind == "out-of-bounds" and (place := self._place()):
            return Hint(f"{own} {place[:1].upper()}{place[1:]}", broken.kind)  # which index the exercise speaks of
        return advice or own or self._place() or Hint(broken.message, broken.kind)

    def _advice_on_values(self, wrong: Outcome) -> str:
        if all(map(self._never_stores, self.outcomes)):
            usual = f"the last line of a thread is usually {self.output}[row, col] = …"
            return Hint(f"your kernel never stores into {self.output}: {usual}", "never-stored")
        advice = self._diagnosed(self.outcomes)
        if advice:
            return advice
        if any(wrong.count("accesses", op, self.exercise.task.output) for op in ("load", "atomic")):
            hint = (
                f"{self.output} is not zero when the kernel starts: sum in a variable of the thread, and store it once."
            )
            return Hint(hint, "not-zero-at-the-start")
        stored = wrong.got[~np.isnan(wrong.got)]
        if stored.size and not stored.any():
            hint = f"every element stored into {self.output} is 0: no product reaches the sum before it is stored."
            return Hint(hint, "only-zeros")
        place = self._place()
        if place:
            return place
        if np.isnan(wrong.got).any():
            hint = f"some elements of {self.output} were never stored: which thread should store each of them?"
            return Hint(hint, "some-never-stored")
        return Hint("follow one thread with a pencil: which elements does it multiply, and how often?", "pencil")

    def _diagnosed(self, outcomes: Iterable[Outcome]) -> str | None:
        """The first advice of a diagnosis, for launches with wrong values: on tiny shapes the values may be right."""
        wrong = [outcome for outcome in outcomes if outcome.differs.any()]
        found = (Hint(d(outcome) or "", d.__name__) for outcome in wrong for d in self.exercise.diagnoses)
        return next(filter(None, found), None)

    def _place(self) -> str | None:
        cause = somewhere(self.source, self._is_right, self.exercise.given)
        return cause.advice if cause else None

    def _viewer(self) -> Callable[[], Opened] | None:
        """A function that opens the viewer at the first finding, else at the first step that makes a value wrong.

        None if there is neither, or if the kernel has no step to show.
        """
        broken, wrong = self._fault, self._wrong
        if broken is not None:
            outcome = next(outcome for outcome in self.outcomes if broken in outcome.run.findings)
            return lambda: at_finding(self._traced(outcome), broken, self.output)
        if wrong is None or (self.source.tree is not None and is_empty(self.source.tree)):
            return None
        task = self.exercise.task

        def launched(inputs: tuple[Array, ...]) -> Array:
            return self._again(wrong, on=inputs, tracer=None).got

        return lambda: at_wrong_value(self._traced(wrong), self._tagged(wrong), task, self.output, launched)

    def _traced(self, outcome: Outcome) -> Outcome:
        return outcome if self.exercise.tracer else self._again(outcome)

    def _tagged(self, outcome: Outcome) -> Outcome | None:
        """The launch of an outcome again, traced, on numbers of which none occurs twice; None if that cannot be."""
        numbers = tagged(outcome.inputs)
        try:
            return None if numbers is None else self._again(outcome, on=numbers)
        except _REFUSALS:  # what the kernel does depends on the numbers
            return None

    def _again(
        self,
        outcome: Outcome,
        on: tuple[Array, ...] | None = None,
        tracer: type[TraceObserver] | None = TraceObserver,
    ) -> Outcome:
        seed = (self.seed or 0) if outcome is self._drawn else None
        return launch(self.exercise, self.kernel, outcome.shape, self.source, tracer=tracer, seed=seed, on=on)
