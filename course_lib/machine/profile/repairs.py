"""Repairs of a launch: changes of its kernel that the table in `simulator.repairs` proposes, and that are proven.

Each change is made in a copy of the kernel, and the copy is launched. A change that was not launched, or did not help,
is never mentioned.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from types import FunctionType

from ...simulator.findings import Finding
from ...simulator.repairs import bounds, synchronization
from ...simulator.repairs.table import REPAIR, Candidate, TryBudget, candidates, register
from ..simulated_launch import Simulated
from . import savings
from .costs import Cost
from .proofs import avoids_float64, is_right, saves, traffic_of
from .repeatable_launch import ChangedLaunch, LaunchResult, RepeatableLaunch

register(*synchronization.ROWS, *bounds.ROWS, *savings.ROWS)

#: Seconds for all candidates of a launch, and how many are tried.
SECONDS = 5.0
MAX_TRIES = 60
#: How many changes a repair of errors may need together.
MAX_CHANGES = 3


@dataclass(frozen=True)
class Repair:
    """Changes that were made in a copy of the kernel and launched; ``proof`` says what came of it.

    ``function`` is the changed kernel, and ``problem`` what was slow, if nothing was wrong.
    """

    changes: tuple[Candidate, ...]
    proof: str
    function: FunctionType = field(repr=False, compare=False)
    problem: Finding | Cost | None = None

    @property
    def text(self) -> str:
        """The changes in words."""
        return "; and ".join(change.text for change in self.changes)


def repair_of(launch: Simulated, slow: Sequence[Cost], seconds: float = SECONDS) -> Repair | None:
    """Return a repair of a launch, or None: of its findings of severity error, or else of what makes it slow.

    ``slow`` are the costs of the launch. No try begins after ``seconds`` of the processor; a busy machine changes no
    verdict.
    """
    tries = TryBudget(MAX_TRIES, seconds=seconds)
    run = launch.run
    wide = () if run.errors else tuple(finding for finding in run.findings if finding.kind == "float64")
    again = RepeatableLaunch.of(launch, frozenset(finding.line for finding in wide))
    before = LaunchResult(again, run, launch.after)
    if run.errors:
        return _without_errors(before, tries)
    problems: list[Finding | Cost] = [*wide[:1], *slow]
    for problem in problems:
        found = [*_improvements(before, problem, tries)]
        if found:
            return min(found, key=lambda each: each[0])[1]
    return None


def _without_errors(before: LaunchResult, tries: TryBudget) -> Repair | None:
    """Return the changes after which nothing is found and the values are equal in every order of the warps."""
    changes: tuple[Candidate, ...] = ()
    for _ in range(MAX_CHANGES):
        best = _best_change(before, tries)
        if best is None:
            return None
        changes = *changes, best.change
        if not best.run.errors:
            nothing = "errors" if best.run.findings else "findings"
            proof = f"no {nothing}, and equal values in three orders of the warps"
            return Repair(changes, proof, best.launch.source.function)
        before = best
    return None


def _best_change(before: LaunchResult, tries: TryBudget) -> ChangedLaunch | None:
    """Return the first change that leaves no error and is right, or else the one that leaves the fewest findings."""
    best: ChangedLaunch | None = None
    for changed in chain.from_iterable(_launched(before.launch, error, tries) for error in before.run.errors):
        if not changed.findings < before.findings:
            continue
        if not changed.run.errors:
            if is_right(changed, before):
                return changed
        elif best is None or len(changed.findings) < len(best.findings):
            best = changed
    return best


def _improvements(before: LaunchResult, problem: Finding | Cost, tries: TryBudget) -> Iterator[tuple[int, Repair]]:
    """Yield the changes that help, each with what it leaves of a cost: the one that leaves least is wanted."""
    for changed in _launched(before.launch, problem, tries):
        if isinstance(problem, Cost):
            helps = saves(problem, changed, before)
            left = traffic_of(changed.run)[problem.count]
            was = traffic_of(before.run)[problem.count]
            proof = f"{left:,} {problem.count} instead of {was:,}, and equal values"
        else:
            helps = avoids_float64(changed, before)
            left = 0
            proof = "no arithmetic in float64, and values equal up to rounding"
        if helps:
            yield left, Repair((changed.change,), proof, changed.launch.source.function, problem)


def _launched(launch: RepeatableLaunch, problem: Finding | Cost, tries: TryBudget) -> Iterator[ChangedLaunch]:
    """Yield a launch for each change that the table proposes for a problem, for as long as the budget lasts."""
    kind = problem.count if isinstance(problem, Cost) else problem.kind
    for candidate in tries.of(candidates(launch.kernel, kind, problem, REPAIR)):
        changed = launch.launched_with(candidate)
        if changed is not None:
            yield changed
