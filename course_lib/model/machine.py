"""The numbers of a multiprocessor that the model of waiting works with, as its own kernels measured them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

#: Where the loads of an array come from: the level of the memory that serves what the first-level cache does not hold.
LEVELS = ("L2", "DRAM")


@dataclass(frozen=True)
class Machine:
    """One multiprocessor: latencies and costs in cycles, rates per cycle; `Machine.measured` reads a recording.

    An index, a guard, an addition and a turn of a loop cost what numba makes of them: `index` cycles of a scheduler's
    integer units, `slots` instructions issued, `index_latency` until the result, each by kind. `barrier`: cycles from
    the last warp's arrival, and between the arrivals of two. DRAM gives `dram_bytes` at a time. `address`: what the
    latency of shared memory holds for making an address; `constant`: the latency of a kernel's arguments. `request`,
    `constant_request`: from one request of a scheduler to the next, to memory and to those. `hertz`: cycles a second.
    """

    gpu: str
    multiply_add: float
    integer: float
    latency: Mapping[str, float]
    bytes_per_cycle: Mapping[str, float]
    barrier: tuple[float, float]
    index: Mapping[str, float]
    slots: Mapping[str, float]
    index_latency: Mapping[str, float]
    copy: float
    address: float
    constant: float
    request: float
    constant_request: float
    hertz: float
    schedulers: int = 4
    l1_bytes: int = 256 * 1024
    dram_bytes: int = 64

    @classmethod
    def measured(cls, recording: Any) -> Machine:
        """Return the machine of a recording of `python -m course_lib.gpu latencies`."""
        value = {(r["probe"], *_which(r)): r["value"] for r in recording.results}

        def of(probe: str, *which: int) -> float:
            return float(value[(probe, *which)])

        l1, shared = of("L1 latency"), of("shared latency")
        of_barrier = sorted((r["warps"], r["value"]) for r in recording.results if r["probe"] == "barrier")
        slope, start = np.polyfit([w for w, _ in of_barrier], [cycles for _, cycles in of_barrier], 1)
        # A turn of those loops holds two accesses, and their multiply-add, which the empty loop has as well.
        by_probe = {r["probe"]: r for r in recording.results}

        def each(key: str) -> dict[str, float]:
            empty = by_probe["loop index rate"][key]
            turns = {kind: by_probe[f"{kind} index rate"][key] for kind in ("signed", "unsigned", "guarded")}
            costs = {kind: (turn - empty) / 2 - 1 for kind, turn in turns.items()}
            shared = by_probe["shared index rate, in a loop"][key] - empty - 1
            guard = costs["guarded"] - costs["signed"]
            return {**costs, "shared": shared, "guard": guard, "loop": empty - 1}

        # One warp alone, from its sixteenth request to its thirty-second.
        asked = {
            r["requests"]: r["value"] for r in recording.results if r["probe"] == "asked for, store" and r["warps"] == 1
        }
        cycles, slots = each("value"), each("instructions")
        integer = 4 / of("integer multiply-add rate")
        # An addition of 64 bits is two instructions.
        cycles["add"], slots["add"] = 2 * integer, 2.0
        near = {r["spacing"]: r["value"] for r in recording.results if r["probe"] == "DRAM neighbours"}
        far = near[max(near)]
        return cls(
            gpu=recording.provenance["gpu"],
            multiply_add=of("multiply-add latency"),
            integer=integer,
            latency={"L1": l1, "L2": of("L2 latency"), "DRAM": of("DRAM latency"), "shared": shared},
            bytes_per_cycle={
                level: min(r["value"] for r in recording.results if r["probe"] == f"{level} bandwidth")
                for level in LEVELS
            },
            barrier=(float(start + slope), float(slope)),
            index=cycles,
            slots=slots,
            index_latency={
                "signed": of("signed index latency") - l1,
                "unsigned": of("unsigned index latency") - l1,
                "shared": of("unsigned index latency") - l1,
                "guard": of("guarded index latency") - of("signed index latency"),
                **{kind: cycles[kind] for kind in ("loop", "add")},
            },
            dram_bytes=min(spacing for spacing, value in near.items() if value > 0.9 * far),
            address=of("integer add, xor latency"),
            constant=of("constant latency") - of("integer add, xor latency"),
            request=(asked[32] - asked[16]) / 16,
            constant_request=4 * of("constant read", 32),
            hertz=of("clock"),
            copy=of("asynchronous copy and read") - l1 - shared - (of("unsigned index latency") - l1),
        )


def _which(result: Mapping[str, Any]) -> Sequence[int]:
    return [result[key] for key in ("stride", "blocks", "warps") if key in result]
