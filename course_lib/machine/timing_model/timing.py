"""The entry point of the timing model: the time that warps take on one multiprocessor, and what they wait for."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np

from ...simulator.hardware import SECTOR_BYTES, ceil_div
from ...trace.trace import Trace
from ..model.multiprocessor import LEVELS, Multiprocessor
from .instruction_streams import Instruction, InstructionStreams
from .simulation import REASONS, TimingSimulation

#: The part of the time until a loop's last iteration that `SimulatedTiming.cycles_per_iteration` leaves out.
SKIPPED = 0.25


@dataclass(frozen=True, eq=False)
class SimulatedTiming:
    """The timing of simulated warps, in cycles of the multiprocessor.

    `waits` maps each reason to its share of the warps' cycles.
    """

    cycles: float
    issued: float
    waits: Mapping[str, float]
    schedulers: int
    _simulation: TimingSimulation

    @cached_property
    def spans(self) -> tuple[tuple[tuple[str, float, float], ...], ...]:
        """The timeline of each warp, of resident blocks one after the other.

        It has (reason, first cycle, cycle after the last) where the warp waits, and where it issues.
        """
        return self._simulation.spans

    @cached_property
    def iterations(self) -> tuple[tuple[float, ...], ...]:
        """For each warp, the cycles at which it began the iterations of the outermost loop."""
        return self._simulation.iterations

    @cached_property
    def fetches(self) -> tuple[tuple[float, float], ...]:
        """The sectors that came from beyond the first-level cache: the cycles of request and of arrival."""
        return self._simulation.fetches

    @cached_property
    def issued_at(self) -> tuple[tuple[float, ...], ...]:
        """For each warp, the cycle at which it had issued each instruction, with the pace that the compiler gave it.

        Of several rounds, these are those of the last one.
        """
        return self._simulation.left

    @property
    def ended(self) -> tuple[float, ...]:
        """For each warp, the cycle at which it ended, in the last round."""
        return tuple(self._simulation.ended)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SimulatedTiming) and self._all() == other._all()

    def __hash__(self) -> int:
        return hash((self.cycles, self.issued))

    def _all(self) -> tuple[Any, ...]:
        timeline = self.spans, self.iterations, self.fetches, self.issued_at
        return self.cycles, self.issued, {**self.waits}, self.schedulers, timeline

    @property
    def bytes_loaded(self) -> int:
        """Bytes that came from beyond the first-level cache."""
        return SECTOR_BYTES * len(self.fetches)

    @property
    def in_flight(self) -> float:
        """The mean number of bytes in flight from beyond the first-level cache."""
        return SECTOR_BYTES * sum(arrived - asked for asked, arrived in self.fetches) / self.cycles

    def share(self, reason: str) -> float:
        """Return the share of the warps' cycles spent waiting for a reason; raise ValueError if it is none."""
        if reason not in self.waits:
            raise ValueError(f"reason is {reason!r}; choose from {_listed(self.waits)}")
        return self.waits[reason]

    def cycles_per_iteration(self) -> float:
        """Return the cycles in which every warp makes one iteration of the outermost loop, while all of them run.

        The end is where the first warp begins its last iteration. The part SKIPPED of the time until then is left
        out: in it the warps, which begin in step, drift apart. Raise ValueError if a traced run has too few iterations.
        """
        if min(map(len, self.iterations)) < 3:
            raise ValueError("the loop has fewer than 3 iterations in this trace: trace a larger K")
        last = min(begun[-1] for begun in self.iterations)
        ends = SKIPPED * last, last
        completed = sum(float(np.diff(np.interp(ends, begun, range(len(begun))))[0]) for begun in self.iterations)
        return (1 - SKIPPED) * last * len(self.iterations) / completed


def simulate_blocks(
    kernel: Any,
    trace: Trace | None,
    multiprocessor: Multiprocessor,
    blocks: int = 1,
) -> SimulatedTiming:
    """Simulate `blocks` copies of the traced run's first block on one multiprocessor; return the SimulatedTiming.

    The second-level cache serves all that the first does not hold, from which the shared arrays of the blocks are
    taken. The blocks begin together and have memory of their own. Raise ValueError for blocks that do not fit;
    `model.occupancy` says how many blocks registers allow.

    With tracing it takes less than 2 seconds of a processor for some 35,000 instructions: two tiles of `best`, the
    largest of the ladder. Tracing is more than half of that; the simulation itself is a hundredth, after the first one,
    for which numba compiles it once.

    >>> A, B, C = matrices(16, 16, 16)
    >>> kernel = rung("tiled").make(tile_width=8)
    >>> run = simulate(kernel, trace=True)[(2, 2), (8, 8)](A, B, C)
    >>> H200 = timing_model.Multiprocessor.measured(measurements.load("latencies"))
    >>> one = timing_model.simulate_blocks(kernel, run.trace, H200, blocks=1)
    >>> two = timing_model.simulate_blocks(kernel, run.trace, H200, blocks=2)
    >>> one.cycles < two.cycles < 2 * one.cycles
    True
    """
    from .traced_block import shared_bytes, traced_streams  # the compiler: imported only by readers who simulate

    warps = traced_streams(kernel, trace)
    assert trace is not None  # traced_streams() refuses it
    return simulate_warps(warps, multiprocessor, blocks, shared_bytes=shared_bytes(trace))


def simulate_warps(
    warps: Sequence[Sequence[Instruction]] | InstructionStreams,
    multiprocessor: Multiprocessor,
    blocks: int = 1,
    served: Mapping[str, str] | str = "L2",
    shared_bytes: int = 0,
    *,
    rounds: int = 1,
    loaded_by: Mapping[str, float] | None = None,
    in_step: bool = False,
) -> SimulatedTiming:
    """Simulate `blocks` resident blocks of warps; in the place of each, `rounds` blocks run in sequence.

    warps: a stream of instructions for each warp of a block, or the `InstructionStreams` of several simulations.
    served: the level that serves an array's sectors that the first-level cache does not hold, "L2" or "DRAM", for all
    arrays or by name. shared_bytes: those of each block, taken from the first-level cache.
    loaded_by: how many of the blocks that run at the same time, on all multiprocessors, load the same data of an array,
    by its name; DRAM delivers it once. By default each block loads data of its own. in_step: whether these blocks ask
    for it at the same time, so that all wait for DRAM; else each request is the first of them in its turn.

    >>> H200 = timing_model.Multiprocessor.measured(measurements.load("latencies"))
    >>> from course_lib.machine.timing_model.instruction_streams import Instruction
    >>> timing_model.simulate_warps([[Instruction("multiply-add", 0)] * 64], H200).cycles
    64.0
    """
    if not isinstance(multiprocessor, Multiprocessor):
        raise TypeError(
            f"multiprocessor is a {type(multiprocessor).__name__}; give a Multiprocessor, such as "
            "Multiprocessor.measured(recording)"
        )
    if not isinstance(blocks, Integral) or blocks < 1:
        raise ValueError(f"a multiprocessor holds a whole number of blocks, one or more, not {blocks!r}")
    if not isinstance(rounds, Integral) or rounds < 1:
        raise ValueError(f"rounds must be a whole number, 1 or more, not {rounds!r}")
    wrong = {served} - {*LEVELS} if not isinstance(served, Mapping) else {*served.values()} - {*LEVELS}
    if wrong:
        raise ValueError(f"arrays are served from {_listed(LEVELS)}, not from {_listed(wrong)}")
    if blocks > multiprocessor.max_blocks or blocks * len(warps) > multiprocessor.max_warps:
        raise ValueError(
            f"{blocks} blocks of {len(warps)} warps do not fit: a multiprocessor holds "
            f"{multiprocessor.max_warps} warps, of {multiprocessor.max_blocks} blocks at most"
        )
    if not 0 <= blocks * shared_bytes <= multiprocessor.l1_bytes:
        raise ValueError(
            f"{blocks} blocks with {shared_bytes:,} bytes of shared memory each do not fit into the "
            f"{multiprocessor.l1_bytes:,} bytes that it shares with the first-level cache"
        )
    streams = warps if isinstance(warps, InstructionStreams) else InstructionStreams(warps)
    if not len(streams.numbers):
        raise ValueError("no warp of the traced block issues anything: trace a launch in which a thread has work")
    l1_bytes = multiprocessor.l1_bytes - blocks * shared_bytes
    simulation = TimingSimulation(
        streams, multiprocessor, blocks, served, l1_bytes, rounds=rounds, loaded_by=loaded_by, in_step=in_step
    )
    simulation.run()
    whole = sum(simulation.waits)
    return SimulatedTiming(
        cycles=max(simulation.ended),
        issued=simulation.issued,
        waits={reason: amount / whole for reason, amount in zip(REASONS, simulation.waits, strict=True)},
        schedulers=multiprocessor.schedulers,
        _simulation=simulation,
    )


def _listed(names: Iterable[object]) -> str:
    return ", ".join(f'"{name}"' for name in sorted(map(str, names)))


def launch_cycles(block_cycles: float, blocks: int, resident: int, multiprocessors: int) -> float:
    """Return the cycles of a whole launch: rounds of resident blocks, none of which waits for another.

    The last round counts in full: its blocks take the same time, however few they are.
    """
    return ceil_div(blocks, resident * multiprocessors) * block_cycles
