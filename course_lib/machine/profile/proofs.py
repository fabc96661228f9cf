"""Repairs of a kernel that are proven: a likely change is made in a copy of it, and the copy is launched again.

The changes are those of the table in `simulator.repairs`. One that was not launched, or did not help, is never
mentioned.
"""

import builtins
import contextlib
import copy
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from types import FunctionType, SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from ...simulator.check_all import SCHEDULES
from ...simulator.findings import Finding, SimulatorError
from ...simulator.language.source.function import Source
from ...simulator.language.source.names import cuda_module, is_cuda_module
from ...simulator.language.source.reading import read
from ...simulator.repairs import bounds, synchronization
from ...simulator.repairs.bounds import turned
from ...simulator.repairs.kernel_syntax import Kernel
from ...simulator.repairs.table import REPAIR, Candidate, Tries, candidates, proven, register
from ...simulator.run import Run
from ...simulator.testing import differs
from ...trace.replay import Timeline
from ...trace.simulate import simulate
from . import savings
from .costs import Cost
from .names_for_repairs import NUMBA, TYPES, is_float32, is_module, sure_names

register(*synchronization.ROWS, *bounds.ROWS, *savings.ROWS)

#: Seconds for all candidates of a launch, how many are tried, and how many repairs may be needed together.
SECONDS, MOST, TOGETHER = 5.0, 60, 3
#: A repair leaves at most this share of a cost.
LEFT = 0.75


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


@dataclass(frozen=True)
class Launched:
    """A kernel and its launch, to be launched again with changes; ``options`` are those of the decorator.

    ``wide`` are lines that compute in float64 by accident, and ``known`` the sure names of the kernel before changes.
    """

    source: Source
    options: Mapping[str, Any]
    grid: Any
    block: Any
    shared_bytes: int
    arguments: Sequence[Any]
    max_steps: int | None = None
    trace: bool = False
    wide: frozenset[int] = frozenset()
    known: Mapping[str, Any] | None = None

    @classmethod
    def of(cls, kernel: Any, *rest: Any) -> "Launched":
        """Take the launch of a dispatcher or of a plain function."""
        names = ("targetoptions", "overloads", "_can_compile")
        return cls(read(kernel), {name: getattr(kernel, name) for name in names if hasattr(kernel, name)}, *rest)

    def __call__(self, schedule: str = SCHEDULES[0], arguments: Sequence[Any] | None = None) -> tuple[Run, list[Any]]:
        """Launch with a copy of the arguments; return the run, and the arguments after it."""
        own = copy.deepcopy(list(self.arguments if arguments is None else arguments))
        kernel = SimpleNamespace(py_func=self.source.function, __name__=self.source.name, **self.options)
        with contextlib.redirect_stdout(None):
            launch = simulate(kernel, strict=False, schedule=schedule, trace=self.trace, max_steps=self.max_steps)
            return launch[self.grid, self.block, 0, self.shared_bytes](*own), own

    def changed(self, candidate: Candidate) -> "Launched":
        """Return the launch of the kernel with a change."""
        names = {"cuda": cuda_module(self.names), "float32": np.float32} | self.names  # where a repair imports them
        made = read(self.kernel.changed(candidate.changes, names))
        if not candidate.turned:
            return replace(self, source=made, known=self.sure)
        return replace(self, source=made, known=self.sure, grid=turned(self.grid), block=turned(self.block))

    @cached_property
    def names(self) -> dict[str, Any]:
        """The values of the kernel's free names."""
        function = self.source.function
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        return vars(builtins) | function.__globals__ | {name: cell.cell_contents for name, cell in cells}

    @cached_property
    def sure(self) -> Mapping[str, Any]:
        """Those of the names whose value is sure in the kernel."""
        return sure_names(self.source, self.names) if self.known is None else self.known

    @cached_property
    def cuda(self) -> str:
        """How the kernel writes numba.cuda."""
        own = [name for name, value in self.sure.items() if is_cuda_module(value)]
        packages = [f"{name}.cuda" for name, value in self.sure.items() if is_module(value, NUMBA)]
        return [*own, *packages, "cuda"][0]

    @cached_property
    def float32(self) -> str:
        """How the kernel writes float32; empty if no name for it is sure."""
        own = sorted(
            (name for name, value in self.sure.items() if is_float32(value)), key=lambda name: name != "float32"
        )
        packages = [f"{name}.float32" for name, v in self.sure.items() if v is np]
        packages += [
            f"{name}.float32" for name, v in self.sure.items() if is_module(v, TYPES) and hasattr(v, "float32")
        ]
        taken = "float32" in self.names or "float32" in self.source.locals
        return [*own, *packages, "" if taken else "float32"][0]

    @property
    def imported(self) -> str:
        """What has to be imported for `float32`, in words."""
        known = "." in self.float32 or self.float32 in self.sure
        package = "numba_cuda_mlir.types" if "mlir" in cuda_module(self.names).__name__ else "numba"
        return "" if known else f", and from {package} import float32 above the kernel"

    @cached_property
    def kernel(self) -> Kernel:
        """The text, as the rows of the table ask for it."""
        source = self.source
        arrays = [name for name, value in zip(source.parameters, self.arguments, strict=False) if np.ndim(value)]
        return Kernel(
            source.function,
            source.tree,
            source.lines,
            self.names,
            arrays=arrays,
            grid=self.grid,
            block=self.block,
            cuda=self.cuda,
            float32=self.float32,
            imported=self.imported,
            wide=self.wide,
        )


def repair_of(
    launched: Launched, run: Run, after: Sequence[Any], slow: Sequence[Cost], seconds: float = SECONDS
) -> Repair | None:
    """Return a repair of a launch, or None: of its findings of severity error, or else of what makes it slow.

    ``run`` is the launch, ``after`` its arguments after it, and ``slow`` its costs. No try begins after ``seconds``
    of the processor; a busy machine changes no verdict.
    """
    tries = Tries(MOST, seconds=seconds)
    if run.errors:
        return _without_errors(launched, run, after, tries)
    wide = [finding for finding in run.findings if finding.kind == "float64"]
    launched = replace(launched, wide=frozenset(finding.line for finding in wide))
    was = _traffic(run)
    problems: list[Finding | Cost] = [*wide[:1], *slow]
    for problem in problems:
        found: list[tuple[int, Repair]] = []  # with what is left of the cost

        def note(candidate: Candidate, problem: Finding | Cost = problem, found: list[Any] = found) -> bool:
            """Note a repair; the least costly of all is wanted, so that none ends the search."""
            made = _launched(launched, candidate)
            if made is None:
                return False
            changed, again, values = made
            now, left = _traffic(again), 0
            if isinstance(problem, Cost):
                left, before = now[problem.count], was[problem.count]
                proof = f"{left:,} {problem.count} instead of {before:,}, and equal values"
                helps = left <= LEFT * before and all(now[name] <= was[name] for name in was) and _same(values, after)
            else:
                proof = "no arithmetic in float64, and values equal up to rounding"
                helps = all(finding.kind != "float64" for finding in again.findings) and _alike(values, after)
            if helps and _keys(again) <= _keys(run):
                found.append((left, Repair((candidate,), proof, changed.source.function, problem)))
            return False

        kind = problem.count if isinstance(problem, Cost) else problem.kind
        proven(candidates(launched.kernel, kind, problem, REPAIR), note, tries)
        if found:
            return min(found, key=lambda each: each[0])[1]
    return None


def _launched(launched: Launched, candidate: Candidate) -> tuple[Launched, Run, list[Any]] | None:
    """Launch a changed kernel; None if the change makes no kernel, and so is no repair."""
    try:
        changed = launched.changed(candidate)
        return (changed, *changed())
    except Exception:
        return None


def _without_errors(launched: Launched, run: Run, after: Sequence[Any], tries: Tries) -> Repair | None:
    """Return the changes after which nothing is found and the values are equal in every order of the warps."""
    made: tuple[Candidate, ...] = ()
    for _ in range(TOGETHER):
        left = [_Left(launched, run, after)]  # the best change so far is the last one

        def holds(candidate: Candidate, left: list[_Left] = left) -> FunctionType | None:
            """Return the changed kernel if it is right."""
            start = left[0]
            again = _launched(left[0].launched, candidate)
            if again is None or not _keys(again[1]) < _keys(start.run):
                return None
            if not again[1].errors:
                right = _holds(again[0], candidate, start.run, again[2], start.after)
                left.append(_Left(*again, candidate)) if right else None
                return again[0].source.function if right else None
            if len(left) == 1 or len(_keys(again[1])) < len(_keys(left[-1].run)):
                left.append(_Left(*again, candidate))
            return None

        likely = chain.from_iterable(candidates(launched.kernel, error.kind, error, REPAIR) for error in run.errors)
        found = proven(likely, holds, tries)
        launched, run, after, best = left[-1]
        if best is None:
            return None
        made = *made, best
        if found is not None:
            nothing = "errors" if run.findings else "findings"
            proof = f"no {nothing}, and equal values in three orders of the warps"
            return Repair(made, proof, launched.source.function)
    return None


class _Left(NamedTuple):
    """A launch with what is left of the findings after a change."""

    launched: Launched
    run: Run
    after: Sequence[Any]
    change: Candidate | None = None


def _holds(changed: Launched, candidate: Candidate, run: Run, values: Sequence[Any], after: Sequence[Any]) -> bool:
    """Whether a kernel without findings gives the same values in every order, and fills what it must."""
    for schedule in SCHEDULES[1:]:
        again, others = changed(schedule)
        if again.errors or not _alike(others, values):
            return False
    if candidate.id in bounds.guards.words and not _same(values, after):
        return False  # an access outside an array was skipped: a guard changes no value
    if candidate.id in ("barrier", "read-barrier-write") and not _all_read(changed):
        return False
    return not candidate.fills or _filled(changed, candidate.fills)


def _filled(changed: Launched, names: Sequence[str]) -> bool:
    """Whether every element of these arrays is stored: it is none of two values that were there before."""
    places = [changed.source.parameters.index(name) for name in names]
    untouched = []
    for mark in (1, 2):
        arguments = copy.deepcopy(list(changed.arguments))
        for place in places:
            np.asarray(arguments[place])[...] = mark
        _, values = changed(arguments=arguments)
        untouched.append([np.asarray(values[place]) == mark for place in places])
    return not any((one & other).any() for one, other in zip(*untouched, strict=True))


def _all_read(changed: Launched) -> bool:
    """Whether some of what each line stores in shared memory is read.

    A barrier orders any two accesses, also where a tile must not be overwritten at all: then it hides the mistake.
    """
    one = replace(changed, grid=1, trace=True)
    try:
        trace = one()[0].trace
    except SimulatorError:  # too large to be traced
        return True
    assert trace is not None
    timeline = Timeline.of(trace, (0, 0, 0))
    read: dict[int, bool] = {}
    for name, array in trace.arrays.items():
        if array.space == "shared":
            touched = timeline.accesses(name)
            order = np.lexsort((touched.store, touched.position, touched.element))
            element = touched.element[order]
            atomic = touched.atomic[order]
            store = touched.store[order] & ~atomic
            used = np.append((element[1:] == element[:-1]) & ~store[1:], False)
            lines = timeline.lines[touched.position[order] - 1]
            for line in np.unique(lines[store]).tolist():
                read[line] = read.get(line, False) or bool(used[store & (lines == line)].any())
    return all(read.values())


def _keys(run: Run) -> set[Any]:
    return {finding.key for finding in run.findings}


def _traffic(run: Run) -> dict[str, int]:
    return {"wavefronts": run.traffic.wavefronts, "sectors": run.traffic.sectors}


def _alike(values: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether arrays are equal up to rounding."""
    return not any(np.any(differs(one, other)) for one, other in _arrays(values, others))


def _same(values: Sequence[Any], others: Sequence[Any]) -> bool:
    """Whether arrays are equal, bit by bit."""
    return all(one.tobytes() == other.tobytes() for one, other in _arrays(values, others))


def _arrays(values: Sequence[Any], others: Sequence[Any]) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    yield from ((np.asarray(a), np.asarray(b)) for a, b in zip(values, others, strict=True) if np.ndim(a))
