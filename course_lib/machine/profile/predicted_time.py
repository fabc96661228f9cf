"""The time of a launch, and what slow lines cost of it, by the timing model."""

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ...simulator.findings import UnsupportedKernelError
from ...simulator.formatting import plural
from ...simulator.hardware import ceil_div
from ...trace.trace import Trace
from .. import timing_model
from ..timing_model.timing import launch_cycles
from .costs import Cost, with_ideal_access
from .residency import Residency

#: Instructions that the timing model simulates at most: it takes a few seconds for them.
MAX_SIMULATED = 2_000_000


@dataclass(frozen=True)
class Time:
    """The prediction of the timing model: cycles of one multiprocessor, and the time of the launch in microseconds.

    ``waits``: the share of the warps' cycles by reason.

    >>> launch = profile(rung("tiled").make(tile_width=16), (1, 1), (16, 16), *matrices(16, 16, 16))
    >>> launch.time.cycles > 0
    True
    """

    cycles: float
    microseconds: float
    resident: int
    waits: dict[str, float]

    def __str__(self) -> str:
        reasons = sorted(self.waits.items(), key=lambda item: -item[1])
        shares = ", ".join(f"{reason} {share:.0%}" for reason, share in reasons if share >= 0.005)
        return (
            f"{self.microseconds:,.3g} µs, by the model, if the L2 cache serves all loads: {self.cycles:,.0f} cycles "
            f"for {plural(self.resident, 'resident block')}. The warps' time: {shares}."
        )


def predicted_time(
    kernel: Any, trace: Trace | None, residency: Residency, recording: Any, slow: tuple[Cost, ...], notes: list[str]
) -> tuple[Time | None, tuple[Cost, ...]]:
    """Return what the timing model says of the launch, if it knows all that the kernel does, and of slow lines."""
    resident = min(residency.occupancy.blocks, ceil_div(residency.blocks, residency.multiprocessors))
    try:
        warps = timing_model.traced_streams(kernel, trace)
        if resident * sum(map(len, warps)) > MAX_SIMULATED:
            raise ValueError(f"{resident} resident blocks issue more than {MAX_SIMULATED:,} instructions")
        multiprocessor = timing_model.Multiprocessor.measured(recording)
        simulated_with = partial(
            timing_model.simulate_warps,
            multiprocessor=multiprocessor,
            blocks=resident,
            served="L2",
            shared_bytes=residency.shared_bytes,
        )
        timing = simulated_with(warps)
        shares = [
            cost.share
            if cost.op == "atomic"
            else max(0.0, 1 - simulated_with([with_ideal_access(cost, warp) for warp in warps]).cycles / timing.cycles)
            for cost in slow
        ]
    except (ValueError, UnsupportedKernelError) as error:
        notes.append(f"There is no time: {error}.")
        return None, slow
    cycles = launch_cycles(timing.cycles, residency.blocks, resident, residency.multiprocessors)
    time = Time(timing.cycles, 1e6 * cycles / multiprocessor.hertz, resident, dict(timing.waits))
    return time, tuple(replace(cost, share=share) for cost, share in zip(slow, shares, strict=True))
