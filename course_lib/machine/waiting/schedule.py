"""The entry point of the model of waiting (:mod:`waiting`): a play of warps on one multiprocessor."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np

from ...simulator.hardware import SECTOR_BYTES, ceil_div
from ...trace.trace import Trace
from ..model.machine import LEVELS
from ..model.machine import Machine as Machine
from .player import REASONS as REASONS
from .player import Instruction, Player, Programs

#: The part of the time until a loop's last iteration that `Play.cycles_per_iteration` leaves out.
SKIPPED = 0.25


@dataclass(frozen=True, eq=False)
class Play:
    """A simulated launch. Cycles are the machine's; `waits` maps each reason to its share of the warps' cycles."""

    cycles: float
    issued: float
    waits: Mapping[str, float]
    schedulers: int
    _player: Player

    @cached_property
    def spans(self) -> tuple[tuple[tuple[str, float, float], ...], ...]:
        """The timeline of each warp, of resident blocks one after the other.

        It has (reason, first cycle, cycle after the last) where the warp waits, and where it issues.
        """
        return self._player.spans

    @cached_property
    def iterations(self) -> tuple[tuple[float, ...], ...]:
        """For each warp, the cycles at which it began the iterations of the outermost loop."""
        return self._player.iterations

    @cached_property
    def fetches(self) -> tuple[tuple[float, float], ...]:
        """The sectors that came from beyond the first-level cache: the cycles of request and of arrival."""
        return self._player.fetches

    @cached_property
    def issued_at(self) -> tuple[tuple[float, ...], ...]:
        """For each warp, the cycle at which it had issued each instruction, with the pace that the compiler gave it.

        Of several rounds, these are those of the last one.
        """
        return self._player.left

    @property
    def ended(self) -> tuple[float, ...]:
        """For each warp, the cycle at which it ended, in the last round."""
        return tuple(self._player.ended)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Play) and self._all() == other._all()

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
        made = sum(float(np.diff(np.interp(ends, begun, range(len(begun))))[0]) for begun in self.iterations)
        return (1 - SKIPPED) * last * len(self.iterations) / made


def play(
    kernel: Any,
    trace: Trace | None,
    machine: Machine,
    blocks: int = 1,
) -> Play:
    """Play `blocks` copies of the traced run's first block on one multiprocessor; return the Play.

    The second-level cache serves all that the first does not hold, from which the shared arrays of the blocks are
    taken. The blocks begin together and have memory of their own. Raise ValueError for blocks that do not fit;
    `model.occupancy` says how many blocks registers allow.

    With tracing it takes less than 2 seconds of a processor for some 35,000 instructions: two tiles of `best`, the
    largest of the ladder. Tracing is more than half of that; the play itself is a hundredth, after the first one, for
    which numba compiles it once.
    """
    from .traced import programs, shared_bytes  # the compiler: imported only by readers who play

    warps = programs(kernel, trace)
    assert trace is not None  # programs() refuses it
    return play_programs(warps, machine, blocks, shared_bytes=shared_bytes(trace))


def play_programs(
    warps: Sequence[Sequence[Instruction]] | Programs,
    machine: Machine,
    blocks: int = 1,
    served: Mapping[str, str] | str = "L2",
    shared_bytes: int = 0,
    *,
    rounds: int = 1,
    loaded_by: Mapping[str, float] | None = None,
    in_step: bool = False,
) -> Play:
    """Play `blocks` resident blocks of warps with these programs; in the place of each, `rounds` blocks in sequence.

    warps: a program for each warp of a block, or the `Programs` of several plays.
    served: the level that serves an array's sectors that the first-level cache does not hold, "L2" or "DRAM", for all
    arrays or by name. shared_bytes: those of each block, taken from the first-level cache.
    loaded_by: how many of the blocks that run at the same time, on all multiprocessors, load the same data of an array,
    by its name; DRAM delivers it once. By default each block loads data of its own. in_step: whether these blocks ask
    for it at the same time, so that all wait for DRAM; else each request is the first of them in its turn.
    """
    if not isinstance(machine, Machine):
        raise TypeError(f"machine is a {type(machine).__name__}; give a Machine, such as Machine.measured(recording)")
    if not isinstance(blocks, Integral) or blocks < 1:
        raise ValueError(f"a multiprocessor holds a whole number of blocks, one or more, not {blocks!r}")
    if not isinstance(rounds, Integral) or rounds < 1:
        raise ValueError(f"rounds must be a whole number, 1 or more, not {rounds!r}")
    wrong = {served} - {*LEVELS} if not isinstance(served, Mapping) else {*served.values()} - {*LEVELS}
    if wrong:
        raise ValueError(f"arrays are served from {_listed(LEVELS)}, not from {_listed(wrong)}")
    if blocks > machine.max_blocks or blocks * len(warps) > machine.max_warps:
        raise ValueError(
            f"{blocks} blocks of {len(warps)} warps do not fit: a multiprocessor holds {machine.max_warps} warps, "
            f"of {machine.max_blocks} blocks at most"
        )
    if not 0 <= blocks * shared_bytes <= machine.l1_bytes:
        raise ValueError(
            f"{blocks} blocks with {shared_bytes:,} bytes of shared memory each do not fit into the "
            f"{machine.l1_bytes:,} bytes that it shares with the first-level cache"
        )
    programs = warps if isinstance(warps, Programs) else Programs(warps)
    if not len(programs.code):
        raise ValueError("no warp of the traced block issues anything: trace a launch in which a thread has work")
    l1_bytes = machine.l1_bytes - blocks * shared_bytes
    player = Player(programs, machine, blocks, served, l1_bytes, rounds=rounds, loaded_by=loaded_by, in_step=in_step)
    player.run()
    whole = sum(player.waits)
    return Play(
        cycles=max(player.ended),
        issued=player.issued,
        waits={reason: amount / whole for reason, amount in zip(REASONS, player.waits, strict=True)},
        schedulers=machine.schedulers,
        _player=player,
    )


def _listed(names: Iterable[object]) -> str:
    return ", ".join(f'"{name}"' for name in sorted(map(str, names)))


def time_of(block_cycles: float, blocks: int, resident: int, multiprocessors: int) -> float:
    """Return the cycles of a whole launch: rounds of resident blocks, none of which waits for another.

    The last round counts in full: its blocks take the same time, however few they are.
    """
    return ceil_div(blocks, resident * multiprocessors) * block_cycles
