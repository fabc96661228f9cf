"""The budgets of exercises: what is counted, its limit, and the advice if the limit is exceeded."""

from __future__ import annotations

from collections.abc import Callable

from ...trace.record import StepObserver, TraceObserver
from .exercise import Budget, Outcome, Shape

Limit = Callable[[Shape], float | None]


def global_loads(formula: str, limit: Limit, hint: str) -> Budget:
    """Global loads of the thread with the most of them."""
    return Budget("global loads per thread", formula, Outcome.loads_per_thread, limit, hint)


def global_stores(formula: str, limit: Limit, hint: str, array: str = "C") -> Budget:
    """Stores to one array, by all threads together."""
    return Budget(f"stores of {array}", formula, lambda outcome: outcome.count("accesses", "store", array), limit, hint)


def sectors_per_request(array: str, formula: str, limit: Limit, hint: str, op: str = "load") -> Budget:
    """32-byte sectors of the most expensive request to one array in global memory.

    A mean would let many cheap requests hide a costly one.
    """
    name = f"sectors per {op} request of {array}"
    return Budget(name, formula, lambda outcome: outcome.most_sectors(array, op), limit, hint, traced=TraceObserver)


def shared_loads(formula: str, limit: Limit, hint: str) -> Budget:
    """Loads from shared memory of the thread with the most of them."""
    return Budget(
        "shared loads per thread", formula, lambda outcome: outcome.most_per_thread("shared", "load"), limit, hint
    )


def shared_stores(formula: str, limit: Limit, hint: str) -> Budget:
    """Stores to shared memory of the thread with the most of them; an atomic counts as a store."""
    return Budget("shared stores per thread", formula, _shared_stores, limit, hint)


def _shared_stores(outcome: Outcome) -> int:
    return outcome.most_per_thread("shared", "store") + outcome.most_per_thread("shared", "atomic")


def wavefronts(formula: str, limit: Limit, hint: str) -> Budget:
    """Wavefronts of all loads and stores of the launch in shared memory."""
    return Budget("wavefronts in shared memory", formula, lambda outcome: outcome.run.traffic.wavefronts, limit, hint)


def conflicts(hint: str, formula: str = "none", limit: Limit = lambda shape: 0) -> Budget:
    """Bank conflicts of the whole launch: wavefronts in excess of the ideal."""
    return Budget("bank conflicts", formula, lambda outcome: outcome.run.traffic.bank_conflicts, limit, hint)


def barriers(formula: str, limit: Limit, hint: str) -> Budget:
    """Barriers at which the warp with the most of them waits."""
    return Budget("barriers per warp", formula, Outcome.barriers, limit, hint, traced=StepObserver)


def iterations(formula: str, limit: Limit, hint: str) -> Budget:
    """Iterations of all loops of one warp; an iteration that skips its work counts, too."""
    return Budget("loop iterations", formula, Outcome.iterations, limit, hint, traced=StepObserver)


def iterations_left(formula: str, limit: Limit, hint: str) -> Budget:
    """Iterations of all loops of one warp, except inner loops of constant length, which a compiler unrolls."""
    return Budget("loop iterations", formula, Outcome.iterations_left, limit, hint, traced=StepObserver)


def repeated(hint: str) -> Budget:
    """Statements of one warp in loops that compute the same in each iteration."""
    name = "statements per warp that compute what is known already"
    return Budget(name, "none", Outcome.repeated, lambda shape: 0, hint, traced=StepObserver)
