"""Attainable beside measured, for every rung of a recorded ladder. Needs recordings, no GPU."""

from math import prod

from .. import model
from ..kernels import rung


def roofline(ladder, ceilings):
    """Return one row per measured rung: operations per byte asked for, the bound, its limit, what was measured.

    The bound is that of global memory and arithmetic. A rung above it is served by caches; one far below it is
    held up by something the roofline does not know: shared memory, waiting, or instructions beside the arithmetic.
    blocks and held_by say how many blocks fit on a multiprocessor, and which resource is used up first.
    """
    rate = {result["ceiling"]: result for result in ceilings.results}
    arithmetic, memory = rate["float32"]["flop_per_second"], rate["copy"]["bytes_per_second"]
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
    return rows
