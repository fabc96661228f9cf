"""Kernels in a test suite: a launch fails a test by its findings, or by what it requests from memory.

def test_tiled():
    run = simulate(tiled, strict=False)[(4, 4), (16, 16)](A, B, C, n)
    assert_clean(run, sectors=5_000, bank_conflicts=0)
    np.testing.assert_allclose(C, A @ B, rtol=1e-5)
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from .findings import KINDS, Finding
from .run import Run, known_counts, title

__all__ = ["Exceeded", "assert_clean", "differs", "exceeded", "not_allowed"]


@dataclass(frozen=True)
class Exceeded:
    """A budget that a launch exceeds: a count of the whole launch, and what it may be at most.

    >>> Exceeded("sectors", limit=100, value=128)
    Exceeded(count='sectors', limit=100, value=128)
    """

    count: str
    limit: int
    value: int

    @property
    def key(self) -> str:
        """What those of several launches share: the count."""
        return self.count

    def __str__(self) -> str:
        return f"{self.value:,} {title(self.count)}, and the budget is {self.limit:,}"


def not_allowed(run: Run, allowed: Sequence[str] = ()) -> list[Finding]:
    """Return the findings of other kinds than these; raise ValueError for a kind that does not exist.

    >>> run = simulate(rung("naive").make())[(2, 2), (16, 16)](*matrices(32, 32, 32))
    >>> not_allowed(run)
    []
    """
    if isinstance(allowed, str) or not isinstance(allowed, Iterable):
        raise ValueError(f"allow is {allowed!r}; give a list of kinds, as allow=['float64'], or () for none")
    if unknown := [kind for kind in allowed if kind not in KINDS]:
        raise ValueError(f"no kind of finding is called {unknown[0]!r}; there are {', '.join(KINDS)}")
    return [finding for finding in run.findings if finding.kind not in allowed]


def exceeded(run: Run, budgets: Mapping[str, int]) -> list[Exceeded]:
    """Return the budgets that a launch exceeds; raise ValueError for a count that a run does not have.

    >>> run = simulate(rung("naive").make())[(2, 2), (16, 16)](*matrices(32, 32, 32))
    >>> exceeded(run, {"accesses": 1000, "bank_conflicts": 0})
    [Exceeded(count='accesses', limit=1000, value=66560)]
    """
    if budgets:
        known_counts(tuple(budgets))
    every = [Exceeded(count, limit, getattr(run.traffic, count)) for count, limit in budgets.items()]
    return [budget for budget in every if budget.value > budget.limit]


def assert_clean(run: Run, *, allow: Sequence[str] = (), **budgets: int) -> None:
    """Raise AssertionError if a launch has findings, or exceeds a budget.

    Args:
        run: what ``simulate(kernel, strict=False)[grid, block](...)`` returned.
        allow: kinds of findings that are accepted, such as "float64".
        budgets: the most accesses, requests, sectors, wavefronts or bank_conflicts of the launch.

    Raises ValueError for a count or a kind that does not exist.

    >>> A, B, C = np.ones((3, 32, 32), np.float32)
    >>> run = simulate(rung("tiled").make(), strict=False)[(2, 2), (16, 16)](A, B, C)
    >>> assert_clean(run, bank_conflicts=0)
    """
    __tracebackhide__ = True  # pytest shows the line of the test
    found = not_allowed(run, allow)
    over = exceeded(run, budgets)
    if found or over:
        lines = [*map(str, over), *map(str, found)]
        raise AssertionError("\n".join([run.heading(), *(f"  {line}" for line in lines), f"{run.source}"]))


def differs(held: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Return where two arrays differ: floats by more than 1e-3 of an element and 1e-5 of the largest, others at all.

    >>> differs(np.float32([1, 2, 3]), np.float32([1, 2, 4]))
    array([False, False,  True])
    """
    if not {held.dtype.kind, right.dtype.kind} & set("fc"):
        return np.asarray(held != right)
    scale = float(np.abs(right[np.isfinite(right)]).max(initial=0))
    return ~np.isclose(held, right, rtol=1e-3, atol=1e-5 * scale, equal_nan=True)
