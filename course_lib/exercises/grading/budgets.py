"""The budgets of exercises: what is counted, its limit as a formula, and the advice if the limit is exceeded."""

from collections.abc import Mapping
from functools import partial

from .exercise import Budget, Outcome, ShapeTest, every_shape
from .lines import (
    barrier_lines,
    index_computation_lines,
    innermost_sum_loops,
    lines_with_most_accesses,
    lines_with_most_sectors,
    union_of_lines,
)


def global_loads(formula: str, hint: str, limit: str = "", known_costs: Mapping[str, str] | None = None) -> Budget:
    """Global loads of the thread with the most of them; ``known_costs`` as in `Budget`."""
    loads = "global loads per thread"
    return Budget(
        loads,
        formula,
        lambda outcome: outcome.most_per_thread("global", "load"),
        hint,
        limit,
        known_costs=known_costs or {},
        lines=lines_with_most_accesses("global", "load"),
    )


def global_stores(formula: str, hint: str, limit: str = "", array: str = "C") -> Budget:
    """Stores to one array, by all threads together."""
    counted = lines_with_most_accesses("global", "store", arrays=(array,))
    measure = partial(Outcome.count, what="accesses", op="store", array=array)
    return Budget(f"stores of {array}", formula, measure, hint, limit, lines=counted)


def sectors_per_request(
    array: str,
    formula: str,
    hint: str,
    where: ShapeTest = every_shape,
    limit: str = "",
    op: str = "load",
    *,
    places: bool = False,
) -> Budget:
    """32-byte sectors of the most expensive request to one array in global memory.

    A mean would let many cheap requests hide a costly one. ``places``: the hint also names the lines that compute the
    indices, as the reader writes those.
    """
    accesses = lines_with_most_sectors(array, op)
    name = f"sectors per {op} request of {array}"
    return Budget(
        name,
        formula,
        lambda outcome: outcome.counts.most_sectors(outcome.own_name(array), op),
        hint,
        limit,
        where,
        lines=union_of_lines(index_computation_lines(accesses, threads=True), accesses) if places else accesses,
    )


def shared_loads(formula: str, hint: str) -> Budget:
    """Loads from shared memory of the thread with the most of them."""
    measure = partial(Outcome.most_per_thread, space="shared", op="load")
    return Budget("shared loads per thread", formula, measure, hint, lines=lines_with_most_accesses("shared", "load"))


def shared_stores(formula: str, hint: str) -> Budget:
    """Stores to shared memory of the thread with the most of them; an atomic counts as a store."""
    few = "the kernel stores nothing into shared memory: the exercise is on a kernel that keeps its tiles there."
    counted = lines_with_most_accesses("shared", "store", "atomic")
    return Budget("shared stores per thread", formula, _shared_stores, hint, minimum=1, too_few=few, lines=counted)


def _shared_stores(outcome: Outcome) -> int:
    return outcome.most_per_thread("shared", "store") + outcome.most_per_thread("shared", "atomic")


def conflicts(hint: str) -> Budget:
    """Bank conflicts of the whole launch: wavefronts in excess of the ideal."""
    return Budget("bank conflicts", "none", lambda outcome: outcome.run.traffic.bank_conflicts, hint)


def barriers(formula: str, hint: str, limit: str = "") -> Budget:
    """Barriers at which the warp with the most of them waits."""
    few = "the kernel has no barrier: the exercise is on threads that share what they stored, and wait for it."
    return Budget(
        "barriers per warp",
        formula,
        lambda outcome: outcome.counts.most_barriers(),
        hint,
        limit,
        minimum=1,
        too_few=few,
        lines=barrier_lines,
    )


def iterations(formula: str, hint: str, limit: str = "") -> Budget:
    """Iterations of all loops of one warp; an iteration that skips its work counts, too."""
    return Budget("loop iterations", formula, Outcome.iterations, hint, limit, lines=innermost_sum_loops)


def iterations_not_unrolled(formula: str, hint: str) -> Budget:
    """Iterations of all loops of one warp, except inner loops of constant length, which a compiler unrolls."""
    return Budget("loop iterations", formula, Outcome.iterations_not_unrolled, hint, lines=innermost_sum_loops)


def unsigned_indices(hint: str) -> Budget:
    """Loads from the matrices whose index has a signed type: numba tests in each whether it is negative."""
    return Budget(
        "loads with a signed index",
        "none",
        lambda outcome: outcome.counts.signed_loads(tuple(outcome.names.values())),
        hint,
        lines=lines_with_most_accesses("global", "load"),
    )
