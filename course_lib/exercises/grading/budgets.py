"""The budgets that exercises are made of: what is counted, on what, and which advice goes with it."""

from __future__ import annotations

from collections.abc import Callable

from ...trace.record import StepObserver
from .exercise import Budget, Outcome, Shape

Limit = Callable[[Shape], float | None]


def global_loads(formula: str, limit: Limit, hint: str) -> Budget:
    """Global loads of the thread that makes most."""
    return Budget("global loads per thread", formula, Outcome.loads_per_thread, limit, hint)


def global_stores(formula: str, limit: Limit, hint: str, array: str = "C") -> Budget:
    """Stores to one array, of all threads together."""
    return Budget(f"stores of {array}", formula, lambda outcome: outcome.count("accesses", "store", array), limit, hint)


def sectors_per_request(array: str, formula: str, limit: Limit, hint: str, op: str = "load") -> Budget:
    """32-byte sectors per request of a warp to one array in global memory."""

    def measure(outcome: Outcome) -> float:
        return outcome.count("sectors", op, array) / max(1, outcome.count("requests", op, array))

    return Budget(f"sectors per {op} request of {array}", formula, measure, limit, hint)


def shared_loads(formula: str, limit: Limit, hint: str) -> Budget:
    """Loads from shared memory of the thread that makes most."""
    return Budget(
        "shared loads per thread", formula, lambda outcome: outcome.most_per_thread("shared", "load"), limit, hint
    )


def shared_stores(formula: str, limit: Limit, hint: str) -> Budget:
    """Stores to shared memory of the thread that makes most; an atomic operation is a store as well."""
    return Budget("shared stores per thread", formula, _shared_stores, limit, hint)


def _shared_stores(outcome: Outcome) -> int:
    return outcome.most_per_thread("shared", "store") + outcome.most_per_thread("shared", "atomic")


def wavefronts(formula: str, limit: Limit, hint: str) -> Budget:
    """Wavefronts of the whole launch in shared memory, loads and stores."""
    return Budget("wavefronts in shared memory", formula, lambda outcome: outcome.run.traffic.wavefronts, limit, hint)


def conflicts(hint: str, formula: str = "none", limit: Limit = lambda shape: 0) -> Budget:
    """Bank conflicts of the whole launch: wavefronts beyond the ideal."""
    return Budget("bank conflicts", formula, lambda outcome: outcome.run.traffic.bank_conflicts, limit, hint)


def barriers(formula: str, limit: Limit, hint: str) -> Budget:
    """Barriers at which one warp waits."""
    return Budget("barriers per warp", formula, Outcome.barriers, limit, hint, traced=StepObserver)


def iterations(formula: str, limit: Limit, hint: str) -> Budget:
    """Turns of all loops of one warp: a kernel that only keeps quiet in most of its turns takes them all the same."""
    return Budget("turns of the loops", formula, Outcome.iterations, limit, hint, traced=StepObserver)


def statements(formula: str, limit: Limit, hint: str) -> Budget:
    """Statements that one warp executes: what the source makes a GPU do, before its compiler tidies up."""
    return Budget("statements per warp", formula, Outcome.statements, limit, hint, traced=StepObserver)
