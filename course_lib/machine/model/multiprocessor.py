"""The numbers of a multiprocessor that the timing model works with, as its own kernels measured them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from ...simulator.hardware import MULTIPROCESSOR, SCHEDULERS, WARP_SIZE

#: Equal parts into which the lines of memory are divided by latency.
PARTS = 16
#: The memory that serves an array's loads which the first-level cache does not hold.
LEVELS = ("L2", "DRAM")


@dataclass(frozen=True)
class Multiprocessor:
    """One multiprocessor: latencies and costs in cycles, rates per cycle; `Multiprocessor.measured` reads a recording.

    `barrier`: cycles from the last warp's arrival on, and between the arrivals of two. `dram_bytes`: bytes that DRAM
    delivers at a time. `address`: the part of the latency of shared memory that computes an address; `constant`: the
    latency of a kernel's arguments. `request`, `constant_request`: from one request of a scheduler to the next, to
    memory and to those. `hertz`: cycles per second.

    Cycles on the path that the requests of all schedulers share: `wavefront`; `copy_request` of an asynchronous copy of
    a word per lane, and `copy_row` for each row of memory; `commit` of the end of a group of copies; `barrier_path` of
    a barrier that opens. `spread`: relative deviations of the latencies of lines of the second-level cache from the
    mean, in equal parts of them; `dram_spread`: deviations of those of DRAM in cycles, each of `dram_run` adjacent
    bytes.

    No kernel measures `schedulers`, `max_warps`, `max_blocks` and `l1_bytes`, with shared memory: they are those that
    the CUDA C++ Programming Guide gives for compute capability 9.0.

    >>> H200 = timing_model.Multiprocessor.measured(measurements.load("latencies"))
    >>> H200.latency["L2"] > H200.latency["L1"] > H200.latency["shared"]
    True
    """

    gpu: str
    multiply_add: float
    integer: float
    latency: Mapping[str, float]
    bytes_per_cycle: Mapping[str, float]
    barrier: tuple[float, float]
    copy: float
    address: float
    constant: float
    request: float
    constant_request: float
    hertz: float
    wavefront: float
    copy_request: float
    copy_row: float
    commit: float
    barrier_path: float
    spread: Sequence[float]
    dram_spread: Sequence[float]
    schedulers: int = SCHEDULERS
    max_warps: int = MULTIPROCESSOR[0] // WARP_SIZE
    max_blocks: int = MULTIPROCESSOR[1]
    l1_bytes: int = 256 * 1024
    dram_bytes: int = 64
    dram_run: int = 512

    @classmethod
    def measured(cls, recording: Any) -> "Multiprocessor":
        """Return that of a recording of `python -m tools.lab latencies`; raise ValueError for any other."""
        if recording.what != "latencies":
            raise ValueError(
                f"a multiprocessor is read from the recording of latencies, not of {recording.what}: "
                'Multiprocessor.measured(measurements.load("latencies"))'
            )

        def of(probe: str, **which: int) -> float:
            (value,) = (
                r["value"]
                for r in recording.results
                if r["probe"] == probe and all(r.get(key) == wanted for key, wanted in which.items())
            )
            return float(value)

        by_probe = {r["probe"]: r for r in recording.results}
        l1, shared = of("L1 latency"), of("shared latency")
        of_barrier = sorted((r["warps"], r["value"]) for r in recording.results if r["probe"] == "barrier")
        kept = pace_of_barriers(by_probe["barrier"]["code"])  # a part of those; each program has its own
        slope, start = np.polyfit([w for w, _ in of_barrier], [cycles for _, cycles in of_barrier], 1)

        # One warp alone, from its sixteenth request to its thirty-second.
        asked = {
            r["requests"]: r["value"] for r in recording.results if r["probe"] == "asked for, store" and r["warps"] == 1
        }
        integer = cls.schedulers / of("integer multiply-add rate")
        near = {r["spacing"]: r["value"] for r in recording.results if r["probe"] == "DRAM neighbours"}
        far = near[max(near)]
        copy_request, copy_row, commit = _copies(recording)
        lines = by_probe["L2 latency by line"]
        # Two barriers in a round of a block of two warps.
        passed = [of("shared reads and barriers", warps=2, barriers=barriers) for barriers in (0, 2)]
        return cls(
            gpu=recording.provenance["gpu"],
            multiply_add=of("multiply-add latency"),
            integer=integer,
            latency={"L1": l1, "L2": of("L2 latency"), "DRAM": of("DRAM latency"), "shared": shared},
            bytes_per_cycle={
                level: min(r["value"] for r in recording.results if r["probe"] == f"{level} bandwidth")
                for level in LEVELS
            },
            barrier=(float(start) - kept, float(slope)),
            dram_bytes=min(spacing for spacing, value in near.items() if value > 0.9 * far),
            address=of("integer add, xor latency"),
            constant=of("constant latency") - of("integer add, xor latency"),
            request=(asked[32] - asked[16]) / 16,
            constant_request=cls.schedulers * of("constant read", warps=32),
            # in a kernel the clock is the highest; the probe "clock" is lower by what its launches begin late
            hertz=recording.provenance["clock_hertz"],
            wavefront=_wavefront(recording),
            copy_request=copy_request,
            copy_row=copy_row,
            commit=commit,
            barrier_path=passed[1] - passed[0],
            spread=[cycles / lines["value"] for cycles in lines["spread"]],
            dram_spread=_dram_spread(recording),
            dram_run=_dram_run(recording),
            copy=of("asynchronous copy and read") - l1 - shared - (of("unsigned index latency") - l1),
        )


def _wavefront(recording: Any) -> float:
    """Return the cycles of each further wavefront of a request; that launch's beginning and end are in the first."""
    found = sorted((r["stride"], r["value"]) for r in recording.results if r["probe"] == "shared read" and r["stride"])
    strides, cycles = zip(*found, strict=True)
    return float(np.polyfit(strides, cycles, 1)[0])


def pace_of_barriers(code: Sequence[str]) -> int:
    """Return the cycles for which the compiler delays a warp at most barriers of a recorded loop of them."""
    return int(np.median([int(line.split()[0]) for line in code if " BAR" in line]))


def _dram_spread(recording: Any) -> list[float]:
    """Return the deviations of the latencies of lines of DRAM from the mean in cycles, in equal parts, ascending.

    A warp that requests several lines at once waits for the last. The additional wait for 2, 4, … lines gives the
    deviation of a normal distribution.
    """
    found = {r["rows"]: r["value"] for r in recording.results if r["probe"] == "DRAM latency of rows"}
    normal = NormalDist()
    parts = np.array([normal.inv_cdf((part + 0.5) / PARTS) for part in range(PARTS)])
    ranks = np.arange(PARTS + 1) / PARTS
    last = {rows: float(parts @ np.diff(ranks**rows)) for rows in found if rows > 1}  # of so many, on average
    longer = {rows: found[rows] - found[1] for rows in last}
    deviation = sum(last[rows] * longer[rows] for rows in last) / sum(each**2 for each in last.values())
    return [float(deviation * part) for part in parts]


def _dram_run(recording: Any) -> int:
    """Return how many adjacent bytes arrive together: those of a row nearer to one line than to many rows."""
    one = min(r["value"] for r in recording.results if r["probe"] == "DRAM latency of rows")
    found = {r["bytes"]: r["value"] for r in recording.results if r["probe"] == "DRAM latency of runs"}
    apart = max(found.values())
    return int(max(size for size, value in found.items() if size == min(found) or value - one < (apart - one) / 2))


def _copies(recording: Any) -> tuple[float, float, float]:
    """Return the cycles of an asynchronous copy, of each row that it takes a part of, and of the end of a group."""
    found = [r for r in recording.results if r["probe"] == "copies in groups"]
    parts = np.array([(1, r["rows"], 1 / r["copies"]) for r in found], float)
    request, row, commit = np.linalg.lstsq(parts, np.array([r["value"] for r in found]), rcond=None)[0]
    return float(request), float(row), float(commit)
