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
from ...simulator.repairs import bounds, synchronization
from ...simulator.repairs.kernel_syntax import array_of, in_lines, indices, same_text
from ...simulator.repairs.table import Candidate, TryBudget, candidates, first_proven, register
from ...trace.simulate import simulate
from .baselines import NAMES_OF_BASELINES, baselines
from .budget_counts import BudgetCounts
from .conflicting_lanes import conflicting_lanes
from .exercise import (
    CHEAPER,
    MOST_WORK,
    Array,
    Budget,
    Diagnosis,
    Exercise,
    GridAndBlock,
    Hint,
    Outcome,
    Shape,
    differing,
    distinguishable,
    format_number,
)
from .lines import fill_condition_lines, shared_array_lines, store_lines, thread_number_lines, update_lines, with_lines
from .mistakes import in_text, likely_mistakes, mutations, variables
from .mistakes.in_text import ExerciseFacts
from .source import Submission, dots, is_empty, parameters, read
from .stepper_at import OpenedViewer, first_wrong_step, open_at_finding, open_at_wrong_value, without_advice
from .ungraded_remarks import remark_on_float64, remarks_on_text
from .validation import validate_submission
from .verdict import FAILED, PASSED, Check, Verdict
from .wrong_operands import with_tags

register(*in_text.ROWS, *likely_mistakes.ROWS, *variables.ROWS, *synchronization.ROWS, *bounds.ROWS, *mutations.ROWS)

_REFUSALS = (UnsupportedKernelError, KernelError, LaunchError)

#: The budget for the changes that are tried for one hint, so that a student need not wait long: the nodes of syntax of
#: all kernels that are tried, and an iteration of their loops as this part of one. A node takes 23 to 45 µs of a quiet
#: processor, an iteration 5 µs.
_MOST_WORK, _WORK_OF_AN_ITERATION = 170_000, 0.15
#: How many more are tried after one that makes the values right, but costs too much.
_MOST_FURTHER_TRIES = 40
#: The comment above the lines that a student writes.
YOUR_CODE = "# your code here"

#: The findings that a wrong index has.
_WRONG_INDEX = ("out-of-bounds", "negative-index", "misaligned-access")
#: The findings that make an answer wrong. Other warnings can apply to correct kernels, and become remarks.
_FAULTY = {name for name, kind in KINDS.items() if kind.severity == "error"} | {"negative-index"}


def grade(exercise: Exercise, kernel: Any, seed: int | None = None) -> Verdict:
    """Run ``kernel`` on every shape of ``exercise`` and return the Verdict; a wrong kernel raises no exception.

    ``seed`` draws the sizes and numbers of a further launch; by default they are always the same.
    """
    source = validate_submission(exercise, kernel, "kernel")
    if isinstance(source, Verdict):
        return _without_dots(exercise, kernel, seed) or source
    grading = Grading(exercise, kernel, source, seed)
    try:
        launched = grading.launched()
    except _REFUSALS as error:
        return grading.refused(error)
    return launched.judged()


def _without_dots(exercise: Exercise, kernel: Any, seed: int | None) -> Verdict | None:
    """The verdict on an answer in which the three dots of the skeleton are left, if it is right; else None."""
    source = read(kernel)
    if source is None or source.kernel is None or source.tree is None:
        return None
    skeleton_dots = dots(source.tree)
    if not skeleton_dots:
        return None
    function = source.kernel.changed([(node, ast.Pass()) for node in skeleton_dots])
    changed = read(function)
    assert changed is not None
    try:
        launched = Grading(exercise, function, replace(changed, decorated=source.decorated), seed).launched()
    except _REFUSALS:
        return None
    return launched.judged() if all(check.passed for check in launched.checks()) else None


def launch(
    exercise: Exercise,
    kernel: Any,
    shape: Shape,
    source: Submission | None = None,
    *,
    trace: bool = False,
    seed: int | None = None,
    grid_and_block: GridAndBlock | None = None,
    inputs: tuple[Array, ...] | None = None,
) -> Outcome:
    """Launch on matrices of small numbers, whose products and sums float32 holds exactly, with the output full of NaN.

    ``source`` is needed to count loops, ``trace`` records the launch, ``seed`` chooses other matrices, which contain
    fractions, ``grid_and_block`` another shape, ``inputs`` other numbers to read, for which ``want`` does not hold. The
    output of print() is not shown: it would appear once for each launch.
    """
    matrices, want = _matrices(exercise, shape, seed)
    inputs = inputs or matrices
    got = np.full(want.shape, np.nan, np.float32)
    grid, block = grid_and_block or exercise.task.launch(*shape)
    most_steps = exercise.task.max_steps * (1 if seed is None else MOST_WORK)
    counts = BudgetCounts()
    launcher = simulate(kernel, strict=False, trace=trace, max_steps=most_steps)
    with contextlib.redirect_stdout(io.StringIO()):
        run = replace(launcher, watching=(counts,))[grid, block](*(array.copy() for array in inputs), got)
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


class _StopOutOfBounds(Observer):
    """Stops a launch at the first index outside an array."""

    def out_of_bounds(self, *event: Any) -> None:
        raise KernelError("an index is outside an array")

    def negative_index(self, *event: Any) -> None:
        raise KernelError("an index is negative")


def _gives_right_values(
    exercise: Exercise, kernel: FunctionType, shape: Shape, seed: int | None, tries: TryBudget
) -> bool:
    """Launch without counting, which takes half the time, and compare; KernelError at an index out of bounds."""
    inputs, want = _matrices(exercise, shape, seed)
    got = np.full(want.shape, np.nan, np.float32)
    arguments = (*(array.copy() for array in inputs), got)
    engine = _uncounted(kernel, exercise.task.launch(*shape), arguments, exercise.task.max_steps)
    try:
        engine.run()
    finally:
        tries.spend(_WORK_OF_AN_ITERATION * engine.budget.taken)
    return not differing(got, want).any()


def run_uncounted(kernel: Any, grid_and_block: GridAndBlock, arguments: tuple[Array, ...], max_steps: int) -> None:
    """Launch on these arrays and count nothing; raise KernelError at an index out of bounds or below zero."""
    _uncounted(kernel, grid_and_block, arguments, max_steps).run()


def _uncounted(kernel: Any, grid_and_block: GridAndBlock, arguments: tuple[Array, ...], max_steps: int) -> Engine:
    return Engine(prepare(kernel, *grid_and_block, arguments), [_StopOutOfBounds()], max_steps=max_steps)


def _faults(*outcomes: Outcome) -> list[Finding]:
    """The findings of launches that make the answer wrong, causes first."""
    found = [finding for outcome in outcomes for finding in outcome.run.findings if finding.kind in _FAULTY]
    return sorted(found, key=lambda finding: RANK[finding.kind])


def passed_by_baselines(exercise: Exercise, seed: int | None, names: Mapping[str, Any]) -> list[frozenset[int]]:
    """Return the numbers of the checks that each of the exercise's `baselines`, with the lesson's ``names``, passes."""
    used = {node.id for node in ast.walk(ast.parse(exercise.given)) if isinstance(node, ast.Name)}
    used &= names.keys() - NAMES_OF_BASELINES.keys() - vars(builtins).keys()
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
        run = partial(launch, self.exercise, self.kernel, source=self.source, trace=self.exercise.traced)
        outcomes = tuple(run(shape) for shape in self.exercise.task.launches)
        if not any(outcome.differs.any() for outcome in outcomes):
            seed = self.seed or 0
            outcomes += (run(self.exercise.draw_shape(seed), seed=seed),)
        return replace(self, outcomes=outcomes)

    def refused(self, error: SimulatorError) -> Verdict:
        """Return the verdict on a kernel that the simulator refused or stopped; nothing else can be judged."""
        said = error.without_option()  # a student cannot pass the option to check
        cause = self._cause_of_refusal(error)
        hint, line = (_hint_of(cause), cause.line) if cause else (said, None)
        lines = self.source.numbered_lines(error.line, line)
        checks = [Check(False, "the simulator cannot run it" if hint == said else said, lines)]
        checks.append(Check(None, f"{self.output} and its costs: not judged, since the kernel did not finish"))
        return self._verdict(checks, hint, self._remarks)

    def judged(self) -> Verdict:
        """Check rules, values and budgets, and return the verdict with a hint on the first check that failed."""
        rules, values, *costs = checks = self.checks()
        remarks = self._remarks
        if not any("float64" in remark for remark in remarks):
            findings = (finding for outcome in self.outcomes for finding in outcome.run.findings)
            wide = (
                remark_on_float64(self.source, each.line, each.message) for each in findings if each.kind == "float64"
            )
            remarks += tuple(sorted(set(wide))[:1])
        if self.seed is not None and (drawn := self._drawn_outcome):
            remarks += (f"{self._sizes_and_values(drawn.shape)} and its numbers were drawn by the seed {self.seed}.",)
        if not all(check.passed for check in checks):
            hint = self._hint(rules_hold=rules.passed is True, costs=costs)
            # A remark would tell how to write well what the hint says is wrong.
            remarks = tuple(each for each in remarks if each.partition(":")[0] != hint.partition(":")[0])
            return self._verdict(checks, hint, remarks, points=self._earned(checks), opens=self._viewer())
        fault = self._further_fault()
        if fault is None:
            return self._verdict(checks, None, remarks, points=self.exercise.points)
        place, checks[place], hint = fault
        return self._verdict(checks, hint, remarks)

    def checks(self) -> list[Check]:
        """Rules, values, and each budget."""
        return [self._check_rules(), self._check_values(), *map(self._check_budget, self.exercise.budgets)]

    def _earned(self, checks: list[Check]) -> int:
        """The points of an answer that failed: its checks that passed, if values are right and no baseline has all.

        Where a baseline passes every check, the exercise asks for that kernel, so it is none.
        """
        passed = {number for number, check in enumerate(checks) if check.passed}
        if self._wrong or not passed or self._work_is_not_shared:
            return 0
        met = passed_by_baselines(self.exercise, self.seed, self.source.names)
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
    def _single_thread(self) -> bool:
        """Whether one thread does all the work, as on the host."""
        launches = [self.exercise.task.launch(*shape) for shape in self.exercise.task.shapes]
        return all(math.prod((*grid, *block)) == 1 for grid, block in launches)

    @cached_property
    def _facts(self) -> ExerciseFacts:
        """What rows of mistakes need to know of the exercise."""
        task = self.exercise.task
        several = any(task.elements_per_thread(*shape) > 1 for shape in task.shapes)
        return ExerciseFacts(self.output, several, self._single_thread)

    @cached_property
    def _fault(self) -> Finding | None:
        """The first finding that makes the answer wrong."""
        return next(iter(_faults(*self.outcomes)), None)

    @property
    def _drawn_outcome(self) -> Outcome | None:
        """The drawn launch, if it was made."""
        return self.outcomes[-1] if len(self.outcomes) > len(self.exercise.task.launches) else None

    @cached_property
    def _wrong(self) -> Outcome | None:
        """The first launch with a wrong value."""
        return next((outcome for outcome in self.outcomes if outcome.differs.any()), None)

    # ---- mistakes and their repairs ----------------------------------------------------------------------------

    @cached_property
    def _tries(self) -> TryBudget:
        """The budget of this answer."""
        return TryBudget(_MOST_WORK, len(self.source.kernel.nodes) if self.source.kernel else 1)

    def _candidates(self, kind: str, problem: Any = None) -> list[Candidate]:
        """What the exercise's rows and the table propose, the student's own lines first; nothing without a source."""
        kernel = self.source.kernel
        if kernel is None:
            return []
        found = candidates(kernel, kind, self._facts if problem is None else problem, rows=self.exercise.rows)
        written = min((number for number, line in self.source.lines.items() if YOUR_CODE in line), default=0)
        theirs = {*map(str.strip, self.exercise.given.splitlines()), *self.exercise.given_lines}
        lines = {number: text.strip() for number, text in self.source.lines.items()}
        ranked = [(lines.get(each.line) in theirs or each.line < written, each) for each in found]
        if problem is None:  # else the line is that of a finding
            ranked = [each for each in ranked if lines.get(each[1].line) not in self.exercise.given_lines]
        return [each for _, each in sorted(ranked, key=lambda each: each[0])]

    def _first_proven(
        self, holds: Callable[[FunctionType], bool], *kinds: str, problem: Any = None
    ) -> Candidate | None:
        """The first change for these kinds of problems that is proven."""

        def proves(candidate: Candidate) -> bool:
            assert self.source.kernel is not None
            return candidate.certain or holds(self.source.kernel.changed(candidate.changes))

        found = (each for kind in kinds for each in self._candidates(kind, problem))
        return first_proven(found, proves, self._tries)

    def _best_proven(self, *kinds: str) -> Candidate | None:
        """The first change after which every check passes, or else the first that makes the values right."""
        right: list[Candidate] = []
        tried_further = 0

        def proves(candidate: Candidate) -> bool:
            assert self.source.kernel is not None
            nonlocal tried_further
            changed = self.source.kernel.changed(candidate.changes)
            if self._is_right(changed):
                right.append(candidate)
                return self._passes(changed)
            tried_further += bool(right)
            return tried_further > _MOST_FURTHER_TRIES

        found = first_proven((each for kind in kinds for each in self._candidates(kind)), proves, self._tries)
        if not right:
            return None
        return right[-1] if found is right[-1] else right[0]

    @cached_property
    def _cause_in_text(self) -> Candidate | None:
        kinds = ("text",) if self._single_thread else ("text", "threads")
        return next((each for kind in kinds for each in self._candidates(kind)), None)

    @cached_property
    def _cause(self) -> Candidate | None:
        """The cause of a mistake, if the text shows it or a repair proves it."""
        return self._cause_in_text or self._first_proven(self._is_right, "likely")

    def _cause_of_refusal(self, error: SimulatorError) -> Candidate | None:
        """The same for a kernel that did not finish; nothing is tried where a launch cannot begin."""
        if self._cause_in_text or isinstance(error, LaunchError):
            return self._cause_in_text
        kinds = ("refused", "likely") if isinstance(error, UnsupportedKernelError) else ("likely",)
        return self._first_proven(self._is_right, *kinds)

    @property
    def _remarks(self) -> tuple[str, ...]:
        return remarks_on_text(self.source, self._single_thread)

    def _sizes_and_values(self, shape: Shape) -> str:
        return f"{self.exercise.task.sizes} = {shape if len(shape) > 1 else shape[0]}"

    @property
    def _work_is_not_shared(self) -> bool:
        """Whether each element is stored once, and a thread stores those of others as well."""
        task, last = self.exercise.task, self.outcomes[-1]
        once = last.count("accesses", "store", task.output) <= last.got.size
        return once and last.most_per_thread("global", "store", task.output) > task.elements_per_thread(*last.shape)

    def _stores_nothing(self, outcome: Outcome) -> bool:
        return not any(outcome.count("accesses", op, self.exercise.task.output) for op in ("store", "atomic"))

    # ---- changed kernels ---------------------------------------------------------------------------------------

    @cached_property
    def _cheapest_failure(self) -> tuple[tuple[Shape, int | None], ...]:
        """The smallest launch that fails, if one does, with the seed of its numbers."""
        failed = [outcome for outcome in self.outcomes if outcome.differs.any() or _faults(outcome)]
        cheapest = sorted(failed, key=lambda outcome: math.prod(outcome.shape))[:1]
        return tuple((outcome.shape, self._seed_of(outcome)) for outcome in cheapest)

    def _seed_of(self, outcome: Outcome) -> int | None:
        return (self.seed or 0) if outcome is self._drawn_outcome else None

    def _is_right(self, changed: FunctionType) -> bool:
        """Whether a changed kernel breaks no rule and gives the right values, on every shape.

        The cheapest launch that failed comes first: its indices and values are checked before a launch with all
        observers.
        """
        first = self._cheapest_failure
        try:
            if first and not _gives_right_values(self.exercise, changed, *first[0], self._tries):
                return False
            others = ((shape, None) for shape in self.exercise.task.launches)
            for shape, seed in dict.fromkeys((*first, *others)):
                outcome = launch(self.exercise, changed, shape, seed=seed)
                self._tries.spend(_WORK_OF_AN_ITERATION * outcome.counts.iterations)
                if outcome.differs.any() or _faults(outcome) or outcome.store_to_input():
                    return False
        except _REFUSALS:
            return False
        return True

    def _passes(self, changed: FunctionType) -> bool:
        """Whether a changed kernel passes every check."""
        if not self._is_right(changed):
            return False
        source = read(changed)
        assert source is not None
        try:
            checks = replace(self, kernel=changed, source=source, outcomes=()).launched().checks()
        except _REFUSALS:
            return False
        return all(check.passed is not False for check in checks)

    # ---- checks ------------------------------------------------------------------------------------------------

    def _check_rules(self) -> Check:
        if self._fault:
            said = str(self._fault).replace(
                self._fault.message, without_advice(self._fault)
            )  # the hint gives the advice
            return Check(False, said, self.source.numbered_lines(self._fault.other_line, self._fault.line))
        elsewhere = next(filter(None, (outcome.store_to_input() for outcome in self.outcomes)), None)
        if elsewhere:
            array, line = elsewhere
            said = f"line {line} stores into {array}, which the kernel may only read"
            return Check(False, said, self.source.numbered_lines(line))
        kept = "no access out of bounds"
        return Check(True, kept if self._single_thread else f"no race, {kept}, no barrier that part of a block misses")

    def _check_values(self) -> Check:
        outcome = self._wrong
        if outcome and self._stores_nothing(outcome):
            return Check(
                False, f"your kernel never stores into {self.output} for {self._sizes_and_values(outcome.shape)}"
            )
        if outcome:
            first = tuple(np.argwhere(outcome.differs)[0])
            where = ", ".join(map(str, first))
            got, want = float(outcome.got[first]), float(outcome.want[first])
            unwritten = any(finding.kind == "uninitialized-read" for finding in outcome.run.findings)
            none = "an undefined value" if unwritten else "nothing"
            shown, wanted = distinguishable(got, want)
            text = (
                f"{self.output} is wrong in {outcome.differs.sum():,} of {outcome.got.size:,} elements for "
                f"{self._sizes_and_values(outcome.shape)}, first {self.output}[{where}]: got "
                f"{none if np.isnan(got) else shown}, wanted {wanted}"
            )
            return Check(False, text)
        if self._fault and self._fault.severity == "error":
            why = f"with {self._fault.kind}, the result is not defined"
            return Check(None, f"{self.output} is right here, but may be wrong on a GPU: {why}")
        sizes = ", ".join(str(shape if len(shape) > 1 else shape[0]) for shape in self.exercise.task.launches)
        return Check(True, f"{self.output} equals NumPy's for {self.exercise.task.sizes} = {sizes}")

    def _check_budget(self, budget: Budget) -> Check:
        """The check of a budget.

        It passes only if the values are right, since doing less work is no saving, and if they are defined.
        """
        measured = [
            (budget.measure(outcome), budget.allowed(self.exercise.task.sizes_by_name(outcome.shape)), outcome.shape)
            for outcome in self.outcomes
            if budget.where(outcome.shape)
        ]
        if not measured:
            return Check(None, f"{budget.name}: no launch here measures it")
        got, limit, shape = max(measured, key=lambda entry: (entry[0] < budget.minimum, entry[0] - entry[1]))
        holds = budget.minimum <= got <= limit
        broken = self._fault.kind if self._fault and self._fault.severity == "error" else ""
        if holds and (self._wrong or broken):
            why = f"{self.exercise.task.output} is wrong" if self._wrong else f"there is a finding: {broken}"
            return Check(None, f"{budget.name}: not judged while {why}")
        allowed = (
            f"at least {budget.minimum}"
            if got < budget.minimum
            else f"allowed {format_number(limit)} ({budget.formula})"
        )
        return Check(holds, f"{budget.name}: {format_number(got)} for {self._sizes_and_values(shape)}, {allowed}")

    def _further_fault(self) -> tuple[int, Check, str] | None:
        """A further fault of a kernel that passes every check: (number of the check, its new text, a hint); else None.

        One thread may do all the work, or the kernel may need square blocks.
        """
        task = self.exercise.task
        for outcome in self.outcomes:
            most, share = (
                outcome.most_per_thread("global", "store", task.output),
                task.elements_per_thread(*outcome.shape),
            )
            if most > share and outcome.count("accesses", "store", task.output) > outcome.got.size:
                text = (
                    f"one thread stores {most:,} times into {self.output} for {self._sizes_and_values(outcome.shape)}"
                )
                hint = f"an element of {self.output} is stored again and again: store it once, after its loop."
                said = f"{text}, where {share:,} is enough"
                return 0, Check(False, said), Hint(with_lines(store_lines(outcome), hint), "stored-again")
            if most > share:
                wanted = "one element" if share == 1 else f"{share:,} elements"
                text = (
                    f"the work is not shared: one thread stores {most:,} elements of {self.output} for "
                    f"{self._sizes_and_values(outcome.shape)}, where each should store {wanted} at most"
                )
                hint = f"the launch has more threads than work: let each of them compute its own part of {self.output}."
                return 0, Check(False, text), Hint(with_lines(store_lines(outcome), hint), "work-not-shared")
        return self._only_in_square_grids() or self._only_in_square_blocks(task.launches[-1])

    def _only_in_square_grids(self) -> tuple[int, Check, str] | None:
        """`_further_fault` about a kernel that is right only in launches that also serve the given kernel."""
        task = self.exercise.task
        if task.finished_launch is None:
            return None
        for shape in task.launches:
            finished = task.finished_launch(*shape)
            other = launch(self.exercise, self.kernel, shape, self.source, grid_and_block=finished)
            if other.differs.any() or _faults(other):
                grid, sizes = "×".join(map(str, finished[0])), self._sizes_and_values(shape)
                text = f"{self.output} is right only in square grids: for {sizes} in a grid of {grid} not"
                hint = (
                    "x counts columns and y counts rows, in the number of the block, in its size, and in the number of "
                    "the thread."
                )
                return 1, Check(False, text), Hint(with_lines(thread_number_lines(other), hint), "only-in-square-grids")
        return None

    def _only_in_square_blocks(self, shape: Shape) -> tuple[int, Check, str] | None:
        """`_further_fault` about a kernel that takes blocks to be square: blocks half as high show it."""
        cause = next(iter(self._candidates("blocks")), None)
        (across, down, *deep), (width, height, *depth) = (
            (*sizes, 1)[:3] for sizes in self.exercise.task.launch(*shape)
        )
        if cause is None or width != height or height % 2:
            return None
        flat = (across, 2 * down, *deep), (width, height // 2, *depth)
        other = launch(self.exercise, self.kernel, shape, grid_and_block=flat)
        if not other.differs.any() and not _faults(other):
            return None
        text = f"{self.output} is right only where blocks are square: in blocks of {width}×{height // 2} it is not"
        return 1, Check(False, text, self.source.numbered_lines(cause.line)), _hint_of(cause)

    # ---- hints -------------------------------------------------------------------------------------------------

    def _hint(self, rules_hold: bool, costs: list[Check]) -> str:
        """Advice on the first check that failed."""
        if self._wrong and self._wrong is self._drawn_outcome:
            if cause := self._cause_in_text or self._first_proven(self._is_right, "fractions"):
                return _hint_of(cause)
            read = " and ".join(self.source.parameters[:-1])
            right = f"{self.output} is right in the launches that check always makes, and wrong in another one"
            return Hint(
                f"{right}: compute it from {read}, for any sizes and any numbers, also fractions.", "other-numbers"
            )
        cause = self._cause if self._fault or self._wrong else self._cause_in_text
        if cause:
            return _hint_of(cause)
        if self._fault:
            return self._advice_on_a_rule(self._fault)
        if not rules_hold:
            *names, last = self.source.parameters[:-1]
            inputs = f"{', '.join(names)} and {last}" if names else last
            hint = f"only read {inputs}: keep what you compute in variables, and store it into {self.output}."
            elsewhere = filter(None, (outcome.store_to_input() for outcome in self.outcomes))
            return Hint(with_lines({line for _, line in elsewhere}, hint), "only-read")
        if self._wrong:
            return self._advice_on_values(self._wrong)
        checked = zip(self.exercise.budgets, costs, strict=True)
        budget, check = next((budget, check) for budget, check in checked if check.passed is False)
        return self._advice_on_a_cost(budget, "at least" in check.text)

    def _advice_on_a_rule(self, broken: Finding) -> str:
        """Advice on a finding: a proven change, the exercise's words for the array of the finding, or its kind's."""
        if cause := self._one_direction():
            return _hint_of(cause)
        # A barrier may make values right where the exercise needs none: what is proven must also keep the budgets.
        if cause := self._first_proven(self._passes, broken.kind, problem=broken):
            return _hint_of(cause)
        advice = None
        # An error in every launch may exceed the matrices in only some of them: the others show the cause.
        inside = [outcome for outcome in self.outcomes if not outcome.run.findings]
        if broken.kind == "out-of-bounds":
            cause = self._first_proven(self._is_right, "lengths")
            advice = _hint_of(cause) if cause else self._diagnosed(inside, self.exercise.diagnoses)
        # An index may be right where a budget is not kept yet. A barrier that only makes values right may be too many,
        # and what makes a costly kernel's values right may take back what its reader has made cheaper.
        open_budgets = broken.kind in _WRONG_INDEX and self.exercise.kind != CHEAPER
        small = self._best_proven("wrong") if not advice and open_budgets else None
        if not advice and (cause := small or self._first_proven(self._passes, "wrong")):
            return _hint_of(cause)
        if not advice and broken.kind == "out-of-bounds":
            advice = self._diagnosed(inside, self.exercise.symptoms)
        return advice or self._exercise_advice(broken) or Hint(broken.message, broken.kind)

    def _exercise_advice(self, broken: Finding) -> str | None:
        """The exercise's words for a finding, with the lines of all findings that they are for."""
        if (key := self._hint_key(broken)) is None:
            return None
        alike = [each for each in _faults(*self.outcomes) if self._hint_key(each) == key]
        lines = {line for each in alike for line in (each.line, each.other_line) if line is not None}
        if broken.kind == "uninitialized-read" and self.source.kernel:
            lines |= fill_condition_lines(self.source.kernel, broken.array)
        if broken.kind == "misaligned-access" and self.source.kernel and broken.array:
            lines |= {*shared_array_lines(self.source.kernel, {broken.array})}
        return Hint(with_lines(lines, self.exercise.hints[key]), key)

    def _hint_key(self, broken: Finding) -> str | None:
        """Which of the exercise's words are for a finding."""
        exercise = {own: name for name, own in zip(self.exercise.parameters, self.source.parameters, strict=True)}
        array = exercise.get(broken.array or "")
        place = f"{broken.kind} of {array}" if array else f"{broken.kind} in shared memory"
        keys = [f"{broken.kind} of {broken.array}", place, broken.kind]
        if broken.verbs == ("writes", "writes"):
            keys.insert(0, f"{broken.kind} of two stores")
        return next((key for key in keys if key in self.exercise.hints), None)

    def _one_direction(self) -> Candidate | None:
        """Where a kernel uses direction y of a launch that has none."""
        launches = (self.exercise.task.launch(*shape) for shape in self.exercise.task.launches)
        if any(math.prod((*grid[1:], *block[1:])) > 1 for grid, block in launches) or self._single_thread:
            return None
        return next(iter(self._candidates("directions")), None)

    def _advice_on_values(self, wrong: Outcome) -> str:
        """Say what may have made the values wrong: the first cause that holds, from the surest to the vaguest."""
        if all(map(self._stores_nothing, self.outcomes)):
            place = self.exercise.task.element.partition("[")[2].partition("] =")[0]
            usual = f"the last line of a thread is usually {self.output}[{place}] = …"
            return Hint(f"your kernel never stores into {self.output}: {usual}", "never-stored")
        if cause := self._one_direction():
            return _hint_of(cause)
        if advice := self._diagnosed(self.outcomes, self.exercise.diagnoses):
            return advice
        if any(wrong.count("accesses", op, self.exercise.task.output) for op in ("load", "atomic")):
            hint = (
                f"nothing has set {self.output} to zero when the kernel starts, so nothing can be added to it: compute "
                "the whole sum first, and store it once."
            )
            return Hint(with_lines(update_lines(wrong), hint), "not-zero-at-the-start")
        stored = wrong.got[~np.isnan(wrong.got)]
        if stored.size and not stored.any():
            hint = f"every element stored into {self.output} is 0: no product reaches the sum before it is stored."
            return Hint(with_lines(store_lines(wrong), hint), "only-zeros")
        if cause := self._best_proven("lengths", "wrong"):
            return _hint_of(cause)
        if advice := self._diagnosed(self.outcomes, self.exercise.symptoms):
            return advice
        if np.isnan(wrong.got).any():
            return self._never_stored(wrong)
        if step := self._first_wrong_step(wrong):
            line, said = step
            return Hint(f"line {line}, the first time that it goes wrong: {said}.", "first-wrong-step")
        return Hint("follow one thread with a pencil: which elements does it multiply, and how often?", "pencil")

    def _never_stored(self, wrong: Outcome) -> str:
        """Say which elements were never stored: whole rows or columns, if they are."""
        left = np.isnan(wrong.got)
        if left.ndim == 2 and left.any(axis=1).sum() * left.shape[1] == left.sum():
            which = f"{_rows_or_columns('row', np.flatnonzero(left.any(axis=1)))} of {self.output}"
        elif left.ndim == 2 and left.any(axis=0).sum() * left.shape[0] == left.sum():
            which = f"{_rows_or_columns('column', np.flatnonzero(left.any(axis=0)))} of {self.output}"
        else:
            first = ", ".join(map(str, np.argwhere(left)[0]))
            others = f", and {left.sum() - 1} others" if left.sum() > 1 else ""
            which = f"{self.output}[{first}]{others}"
        if late := self._loop_that_begins_late(np.argwhere(left)):
            loop, more = late
            said = (
                f"this loop begins with {ast.unparse(loop.target)} = {_range_start(loop)}, so {which} is never stored"
            )
            also = f", and {in_lines(more)} begin{'s' * (len(more) == 1)} with 1, too" if more else ""
            return Hint(f"line {loop.lineno}: {said}{also}.", "some-never-stored")
        who = "iteration" if self._single_thread else "thread"
        asked = f"for {self._sizes_and_values(wrong.shape)} nothing is stored into {which}: which {who} should do it?"
        return Hint(with_lines(store_lines(wrong), asked), "some-never-stored")

    def _loop_that_begins_late(self, left: NDArray[np.int_]) -> tuple[ast.For, list[int]] | None:
        """The loop that begins behind the elements that were never stored, and the lines of others that begin with 1.

        Its counter is an index of the store.
        """
        kernel = self.source.kernel
        late = [loop for loop in kernel.nodes_of(ast.For) if _range_start(loop) > 0] if kernel else []
        for place in kernel.nodes_of(ast.Subscript) if kernel else ():
            if array_of(place) == self.output and isinstance(place.ctx, ast.Store):
                for dimension, index in enumerate(indices(place)):
                    for loop in late:
                        if same_text(index, loop.target) and (left[:, dimension] < _range_start(loop)).all():
                            return loop, [
                                other.lineno for other in late if other is not loop and _range_start(other) == 1
                            ]
        return None

    def _first_wrong_step(self, wrong: Outcome) -> tuple[int, str] | None:
        """The line of the first step that makes a value wrong, and what is wrong there."""
        if self.source.tree is None:
            return None
        return first_wrong_step(
            self._traced(wrong), self._tagged(wrong), self.exercise.task, self.output, self._output_for(wrong)
        )

    def _advice_on_a_cost(self, budget: Budget, too_few: bool) -> str:
        if too_few:
            return Hint(budget.too_few, budget.name)
        if budget.name.startswith("barriers") and (cause := self._first_proven(self._passes, "barriers")):
            return _hint_of(cause)
        loads = budget.name.startswith("global loads")
        if (loads or budget.name.startswith("sectors per load")) and (line := self._loads_beside_a_tile()):
            return line
        if loads and (cause := self._first_proven(self._passes, "loads")):
            return _hint_of(cause)
        if budget.name.startswith("stores of") and (cause := self._first_proven(self._passes, "stores")):
            return _hint_of(cause)
        banks = budget.name.startswith("bank conflicts")
        where, array = self._bank_conflict() if banks else ("", "")
        worst = max(self.outcomes, key=lambda outcome: budget.measure(outcome) if budget.where(outcome.shape) else -1)
        costs = [
            (budget.measure(each), self.exercise.task.sizes_by_name(each.shape))
            for each in self.outcomes
            if budget.where(each.shape)
        ]
        advice = budget.advice(costs).replace("{array}", array)
        advice = f"{where}{advice[:1].upper()}{advice[1:]}" if where else with_lines(budget.lines(worst), advice)
        return Hint(advice, budget.name)

    def _bank_conflict(self) -> tuple[str, str]:
        """The line with the most bank conflicts, and two lanes that meet there, if a trace shows them; the array."""
        outcome = max(self.outcomes, key=lambda outcome: outcome.run.traffic.bank_conflicts)
        worst = max(outcome.run.traffic.rows, key=lambda row: row.bank_conflicts)
        said = conflicting_lanes(self._traced(outcome).run.trace, worst.line)
        return f"line {worst.line}: {said}. " if said else "", worst.array

    def _loads_beside_a_tile(self) -> str | None:
        """Advice on a line that loads what a tile holds already; it is not the line that fills the tile."""
        kernel = self.source.kernel
        fills = {array_of(fill.source): fill for fill in kernel.fills} if kernel else {}
        filling = {fill.source.lineno for fill in kernel.fills} if kernel else set()
        rows = [row for row in self.outcomes[0].run.traffic.rows if (row.space, row.op) == ("global", "load")]
        for row in sorted(rows, key=lambda row: -row.accesses):
            if row.array in fills and row.line not in filling:
                fill = fills[row.array]
                hint = (
                    f"line {row.line} loads {row.array} from global memory, and line {fill.statement.lineno} has "
                    f"copied what it needs into {array_of(fill.target)}: read it there."
                )
                return Hint(hint, "loads-beside-a-tile")
        return None

    @staticmethod
    def _diagnosed(outcomes: Iterable[Outcome], diagnoses: Iterable[Diagnosis]) -> str | None:
        """The first advice of a diagnosis, for launches with wrong values: on tiny shapes the values may be right."""
        diagnoses = tuple(diagnoses)
        wrong = [outcome for outcome in outcomes if outcome.differs.any()]
        found = (Hint(each(outcome) or "", each.__name__) for outcome in wrong for each in diagnoses)
        return next(filter(None, found), None)

    def _viewer(self) -> Callable[[], OpenedViewer] | None:
        """A function that opens the viewer at the first finding, else at the first step that makes a value wrong.

        None if there is neither, or if the kernel has no step to show.
        """
        broken, wrong = self._fault, self._wrong
        if broken is not None:
            outcome = next(outcome for outcome in self.outcomes if broken in outcome.run.findings)
            return lambda: open_at_finding(self._traced(outcome), broken, self.output)
        if wrong is None or (self.source.tree is not None and is_empty(self.source.tree)):
            return None
        task, launched = self.exercise.task, self._output_for(wrong)
        return lambda: open_at_wrong_value(self._traced(wrong), self._tagged(wrong), task, self.output, launched)

    def _output_for(self, outcome: Outcome) -> Callable[[tuple[Array, ...]], Array]:
        """A function that returns the output of the same launch for other inputs."""
        return lambda inputs: self._relaunch(outcome, inputs=inputs, trace=False).got

    def _traced(self, outcome: Outcome) -> Outcome:
        return outcome if self.exercise.traced else self._relaunch(outcome)

    def _tagged(self, outcome: Outcome) -> Outcome | None:
        """The launch of an outcome again, traced, on numbers of which none occurs twice; None if that cannot be."""
        numbers = with_tags(outcome.inputs)
        try:
            return None if numbers is None else self._relaunch(outcome, inputs=numbers)
        except _REFUSALS:  # what the kernel does depends on the numbers
            return None

    def _relaunch(self, outcome: Outcome, inputs: tuple[Array, ...] | None = None, trace: bool = True) -> Outcome:
        seed = self._seed_of(outcome)
        return launch(self.exercise, self.kernel, outcome.shape, self.source, trace=trace, seed=seed, inputs=inputs)


def _hint_of(cause: Candidate) -> Hint:
    """The hint of a mistake."""
    return Hint(cause.hint, cause.id)


def _range_start(loop: ast.For) -> int:
    """The number with which a range begins; 0 if the text does not show it."""
    match loop.iter:
        case ast.Call(ast.Name("range"), [ast.Constant(int(first)), _, *_]):
            return first
    return 0


def _rows_or_columns(noun: str, numbers: NDArray[np.int_]) -> str:
    """Name one row, a few of them, or the first and the last: row 0, rows 8 to 12."""
    first, last = int(numbers[0]), int(numbers[-1])
    if len(numbers) == 1:
        return f"{noun} {first}"
    if last - first + 1 == len(numbers):
        return f"{noun}s {first} to {last}"
    shown = ", ".join(map(str, numbers[:3].tolist()))
    return f"{noun}s {shown}" + (", …" if len(numbers) > 3 else "")
