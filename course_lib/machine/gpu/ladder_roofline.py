"""Attainable and measured speed of every rung of a recorded ladder. Needs recordings, no GPU."""

from math import prod
from pathlib import Path

from ...kernels import rung
from .. import measurements, model
from ..measurements import Recording
from .counters import STALLS
from .result_types import Result, Results


def roofline(ladder: Recording, ceilings: Recording, counters: Recording | None = None) -> Results:
    """Return one row per measured rung: operations per byte requested, the bound, its limit, the measured speed.

    The bound is that of global memory and arithmetic. A rung above it reads from caches; one far below it is limited
    by something that the roofline does not contain: shared memory, waiting, or instructions beside the arithmetic.
    blocks and held_by: the blocks that fit on a multiprocessor, and the resource that limits them. With counters of
    this size (or, failing that, of another), counted_n is the size, flop_per_dram_byte the operations per byte loaded
    from DRAM after the caches, issue_percent the share of cycles in which an instruction issued, and waits_for what
    warps mostly wait for.

    >>> rows = gpu.roofline(measurements.load("ladder"), measurements.load("ceilings"))
    >>> [row["rung"] for row in rows][:3]
    ['per_row', 'per_column', 'uncoalesced']
    """
    rate = {result["ceiling"]: result for result in ceilings.results}
    arithmetic = rate["float32"]["flop_per_second"]
    memory = rate["copy"]["bytes_per_second"]
    rows = []
    for result in ladder.results:
        if "gflops" not in result or result["rung"] == "cublas":
            continue
        tile = rung(result["rung"]).tile(**result["params"]) or ()
        per_byte = model.flop_per_byte(*(result[k] for k in "MNK"), *tile)
        bound = model.attainable(per_byte, arithmetic, memory)
        held = model.occupancy(prod(result["block"]), result["registers"], result["shared_bytes"], ladder.provenance)
        rows.append(
            {
                "rung": result["rung"],
                "flop_per_byte": float(per_byte),
                "attainable_gflops": bound.flop_per_second / 1e9,
                "limit": bound.limit,
                "measured_gflops": result["gflops"],
                "blocks": held.blocks,
                "held_by": held.limit,
            }
        )
        if counters:
            rows[-1] |= _counted(counters, result)
    return rows


def roofline_of(folder: Path | None) -> Results:
    """Return the roofline of the recordings in `folder`, by default of those that come with the course."""
    where = (folder,) if folder else ()
    try:
        counters = measurements.load("counters", *where)
    except FileNotFoundError:
        counters = None
    return roofline(measurements.load("ladder", *where), measurements.load("ceilings", *where), counters)


def _counted(counters: Recording, result: Result) -> Result:
    """Return the profiler's counters of a rung, if possible for the same size; nothing of one that was not counted."""
    all_sizes = [r for r in counters.results if r["rung"] == result["rung"] and "skipped" not in r]
    if not all_sizes:
        return {}
    counted = next((r for r in all_sizes if all(r[k] == result[k] for k in "MNK")), all_sizes[0])
    moved = counted["dram_read_bytes"] + counted["dram_write_bytes"]
    size = {"counted_n": counted["M"], "flop_per_dram_byte": model.flop(*(counted[k] for k in "MNK")) / moved}
    reasons = {name: what for name, (what, _) in STALLS.items() if name != "not_selected"}
    stalls = {what: counted.get(f"stalled_{name}_percent", 0) for name, what in reasons.items()}
    return size | {"issue_percent": counted["issue_active_percent"], "waits_for": max(stalls, key=stalls.__getitem__)}
