"""A model of waiting: the warps of one multiprocessor, cycle by cycle, and what each of them waits for.

    from course_lib import measurements, simulate
    from course_lib.model import waiting
    run = simulate(kernel, trace=True)[grid, block](A, B, C)
    machine = waiting.Machine.measured(measurements.load("latencies"))
    play = waiting.play(kernel, run.trace, machine, blocks=2)
    play.cycles, play.issued_per_cycle, play.share("global memory")

It is a model: it plays instructions that it thinks a compiler makes (:mod:`instructions`), or those that one made
(:mod:`machine_code`), on a machine of a few queues, whose numbers are measured by kernels made for that. The simulator
claims counts, never times; this claims times, and says beside every measured one how far off it is.

What it knows: schedulers that issue one instruction a cycle, each to its own warps; results that come after a latency,
each line of the second-level cache after its own; the integer units, and the unit of values that a whole warp has in
common, which whoever reads one that the loop changes keeps busy, too; the banks of registers, where the machine code
names them; each scheduler's queue of requests to memory, and the path on which all of them meet (one wavefront a cycle;
copies, the ends of their groups and barriers that open take longer); what the second-level cache and DRAM give per
cycle; a first-level cache of whole sectors, in order of use; barriers. What it does not: the cache of instructions,
collisions of requests beyond the first-level cache, and the blocks of other multiprocessors, except through the share
of bandwidth that is measured with all of them busy, and through what they load of the same.

Who goes first. A scheduler stays with a warp as long as that can issue: of eight warps that ask for nothing but issue
slots, three are done when four could be (`course_lib.gpu.sharing.order`). Then comes a warp of the block that began
first: beside full multiprocessors a block's first lap takes 2.7 times as long as its last one, before which older ones
have gone. Of one block it is the warp that can issue for the longest time: 32 that ask for shared memory are done
within 2 % of each other (`course_lib.gpu.crowds.orders`). An order by age alone would let warps wait at the barriers of
large blocks; by the wait alone, all blocks would meet at their barriers and their loads at once.

Where it is known to be wrong. Which level serves an array is said (`served`), not found: with K a few tiles long, as in
a traced run, every cache would hold all. Of matrices that the second-level cache does not keep, as those of n = 2048, a
launch brings each line from DRAM once; whoever asks first waits for it (for 16 lines at once 950 cycles), and others
that have caught up with it wait, too. That costs tiled up to 10 % and prefetched nearly nothing, and is not in the
plays: with matrices that the cache keeps ("cached" in the judgement), tiled is off by 2 % where with those of n = 2048
it is by 10. Copies of parts of 4 rows are dearer than kernels find them (pipelined of T = 8: 10 % too slow). What many
warps wait for integer units the profiler counts for the most part as waiting for their turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..simulator.hardware import SECTOR_BYTES, ceil_div
from ..trace.trace import Trace
from .instructions import Instruction, programs
from .machine import Machine as Machine
from .player import REASONS as REASONS
from .player import Player


@dataclass(frozen=True)
class Play:
    """How it went. Cycles are the machine's; `waits` maps each reason to its share of the warps' cycles.

    `spans[w]` is the timeline of warp w (resident blocks one after the other): (reason, first cycle, cycle after the
    last) where it waits, and where it issues. `turns[w]` holds the cycle at which warp w began each turn of the
    outermost loop. `fetches` are the sectors that came from beyond the first-level cache, each with the cycle at which
    it was asked for and that at which it arrived.
    """

    cycles: float
    issued: float
    waits: Mapping[str, float]
    spans: tuple[tuple[tuple[str, float, float], ...], ...]
    turns: tuple[tuple[float, ...], ...]
    fetches: tuple[tuple[float, float], ...]
    schedulers: int

    @property
    def bytes_loaded(self) -> int:
        """Bytes that came from beyond the first-level cache."""
        return SECTOR_BYTES * len(self.fetches)

    @property
    def in_flight(self) -> float:
        """The mean of the bytes that were on their way from there."""
        return SECTOR_BYTES * sum(arrived - asked for asked, arrived in self.fetches) / self.cycles

    @property
    def issued_per_cycle(self) -> float:
        """Instructions issued per cycle of a scheduler: 1 at most."""
        return self.issued / self.cycles / self.schedulers

    def share(self, reason: str) -> float:
        """The share of the warps' cycles that they wait for a reason."""
        return self.waits[reason]

    def cycles_per_turn(self, skip: float = 0.25) -> float:
        """Return the cycles in which every warp makes one turn of the outermost loop, while all of them run.

        They run until the first begins its last turn; the part `skip` of that time, in which they fall out of the step
        in which they begin, is left out. Raise ValueError where the traced run has too few turns.
        """
        if min(map(len, self.turns)) < 3:
            raise ValueError("the loop has fewer than 3 turns in this trace: trace a larger K")
        last = min(turns[-1] for turns in self.turns)
        ends = skip * last, last
        made = sum(float(np.diff(np.interp(ends, turns, range(len(turns))))[0]) for turns in self.turns)
        return (1 - skip) * last * len(self.turns) / made


def play(
    kernel: Any,
    trace: Trace,
    machine: Machine,
    blocks: int = 1,
    served: Mapping[str, str] | str = "L2",
    shared_bytes: int = 0,
) -> Play:
    """Play `blocks` copies of the traced run's first block on one multiprocessor; return the Play.

    served: which level serves an array's sectors that the first-level cache does not hold, "L2" or "DRAM", for all
    arrays or by name. shared_bytes of each block are taken from the first-level cache. The blocks begin together and
    have memory of their own.

    With tracing it takes less than 2 seconds of a processor for some 35,000 instructions: two tiles of `best`, the
    largest of the ladder. The play itself is a tenth of that, tracing more than half.
    """
    return play_programs(programs(kernel, trace), machine, blocks, served, shared_bytes)


def play_programs(
    warps: Sequence[Sequence[Instruction]],
    machine: Machine,
    blocks: int = 1,
    served: Mapping[str, str] | str = "L2",
    shared_bytes: int = 0,
    rounds: int = 1,
    loaded_by: Mapping[str, float] | None = None,
) -> Play:
    """Play `blocks` blocks of warps with these programs; in each one's place `rounds`, one after the other.

    loaded_by: how many of the blocks that run at the same time, on all multiprocessors, load the same of an array, by
    name; DRAM gives it once. By default each block loads what no other does.
    """
    if blocks < 1:
        raise ValueError(f"a multiprocessor holds one block or more, not {blocks}")
    player = Player(warps, machine, blocks, served, machine.l1_bytes - blocks * shared_bytes, rounds, loaded_by)
    player.run()
    whole = sum(player.waits)
    return Play(
        max(player.free),
        player.issued,
        {reason: amount / whole for reason, amount in zip(REASONS, player.waits, strict=True)},
        tuple(map(tuple, player.spans)),
        tuple(map(tuple, player.turns)),
        tuple(player.fetches),
        machine.schedulers,
    )


def time_of(turn_cycles: float, turns: float, blocks: int, resident: int, multiprocessors: int) -> float:
    """Return the cycles of a whole launch: rounds of resident blocks, each of so many turns of its loop.

    The last round counts in full, as long as it may be: its blocks take their time, however few they are.
    """
    return ceil_div(blocks, resident * multiprocessors) * turns * turn_cycles
