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

What it knows: schedulers that issue one instruction a cycle, each to its own warps, to the same one as long as it can,
then to the youngest; results that come after a latency; the integer units; the banks of registers, where the machine
code names them; each scheduler's queue of requests to memory, and the path on which all of them meet (one wavefront a
cycle); what the second-level cache and DRAM give per cycle; a first-level cache of whole sectors, in order of use;
barriers. What it does not: the cache of instructions, collisions of requests beyond the first-level cache, and the
blocks of other multiprocessors, except through the share of bandwidth that is measured with all of them busy.

That a scheduler stays with a warp is what `course_lib.gpu.sharing.order` measured: of eight warps that ask for nothing
but issue slots, three are done when four could be. That it then takes the youngest is from Huerta, Abaie Shoushtary,
Cruz, González, "Analyzing Modern NVIDIA GPU cores" (2025), section 5.1. Blocks that run at unlike pace do not meet at
their barriers and their loads all at once, as those do of which the one goes first that waits longest.
"""

from __future__ import annotations

import heapq
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..simulator.hardware import SECTOR_BYTES, ceil_div
from ..trace.trace import Trace
from .instructions import Instruction, programs
from .machine import Machine as Machine

#: What a warp can wait for; the first stands for the cycles in which it issues.
REASONS = ("issuing", "global memory", "shared memory", "arithmetic", "barrier", "its turn")
#: Requests that may queue at a scheduler for the memory's path before the next one must wait.
QUEUE = 4
INFINITE = float("inf")
#: What goes by the path to shared memory and the first-level cache, and the units of a scheduler that are busy longer
#: than a cycle with a warp.
PATH = ("load", "copy", "store", "shared load", "shared store")
UNITS = ("integer", "multiply", "uniform", "constant")
UNIT_OF = {
    "index": "integer",
    "integer": "integer",
    "multiply": "multiply",
    "uniform": "uniform",
    "constant": "constant",
}
UNIT_REASON = {
    "load": 1,
    "copy": 1,
    "store": 1,
    "shared load": 2,
    "shared store": 2,
    **dict.fromkeys(UNIT_OF, 3),
    "constant": 2,
}
KIND_REASON = {"load": 1, "copy": 1, "shared load": 2, "constant": 2, "multiply-add": 3, "index": 3, "barrier": 4}


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

    With tracing it takes less than 2 seconds of a processor for some 20,000 instructions: 10 tiles of `tiled`, or one
    of `best`; two of `best`, 35,000, take 3. The play itself is a tenth of that at most, tracing and lowering the rest.
    """
    return play_programs(programs(kernel, trace), machine, blocks, served, shared_bytes)


def play_programs(
    warps: Sequence[Sequence[Instruction]],
    machine: Machine,
    blocks: int = 1,
    served: Mapping[str, str] | str = "L2",
    shared_bytes: int = 0,
    rounds: int = 1,
) -> Play:
    """Play `blocks` blocks of warps with these programs; in each one's place so many, one after the other."""
    if blocks < 1:
        raise ValueError(f"a multiprocessor holds one block or more, not {blocks}")
    player = _Player(warps, machine, blocks, served, machine.l1_bytes - blocks * shared_bytes, rounds)
    return player.run()


class _Cache:
    """Sectors of global memory in the first-level cache, the least recently used leaving first."""

    def __init__(self, size: int) -> None:
        self.room = max(size // SECTOR_BYTES, 1)
        self.arrival: OrderedDict[tuple[int, str, int], float] = OrderedDict()

    def look(self, sector: tuple[int, str, int]) -> float | None:
        """When the sector arrived or will, or None if it is not here."""
        found = self.arrival.get(sector)
        if found is not None:
            self.arrival.move_to_end(sector)
        return found

    def bring(self, sector: tuple[int, str, int], arrival: float) -> None:
        self.arrival[sector] = arrival
        if len(self.arrival) > self.room:
            self.arrival.popitem(last=False)


class _Player:
    def __init__(
        self,
        warps: Sequence[Sequence[Instruction]],
        machine: Machine,
        blocks: int,
        served: Mapping[str, str] | str,
        l1_bytes: int,
        rounds: int = 1,
    ) -> None:
        self.machine = machine
        self.rounds = rounds
        self.programs = [program for _ in range(blocks) for program in warps]
        self.block_of = [block for block in range(blocks) for _ in warps]
        self.size = len(warps)
        self.served = served
        self.cache = _Cache(l1_bytes)
        count = len(self.programs)
        self.position = [0] * count
        self.done: list[list[float]] = [[0.0] * len(program) for program in self.programs]
        self.since = [0.0] * count  # when it could issue
        self.free = [0.0] * count  # when the warp has issued what it issued last
        self.spans: list[list[tuple[int, float, float]]] = [[] for _ in range(count)]
        self.turns: list[list[float]] = [[] for _ in range(count)]
        self.turn = [0] * count
        self.arrived: dict[int, list[tuple[int, float]]] = {}
        self.running = [self.size] * blocks  # the warps of each that have not come to their end
        self.round = [0] * blocks
        self.path = 0.0  # when shared memory and the first-level cache are free again
        self.queues = [0.0] * machine.schedulers  # when what is asked for at each scheduler has left for there
        self.last = [-1] * machine.schedulers
        self.banks = [[0.0, 0.0] for _ in range(machine.schedulers)]
        self.from_memory = dict.fromkeys(machine.bytes_per_cycle, 0.0)
        self.barriers = 0.0
        self.brought: dict[tuple[int, str, int], float] = {}  # to the second-level cache, with the sector asked for
        self.units = {unit: [0.0] * machine.schedulers for unit in UNITS}
        self.issued = 0.0
        self.fetches: list[tuple[float, float]] = []

    def run(self) -> Play:
        schedulers = range(self.machine.schedulers)
        self.asleep: list[list[tuple[float, int]]] = [[] for _ in schedulers]  # (when it can issue, warp)
        self.awake: list[list[int]] = [[] for _ in schedulers]
        for warp, begins in enumerate(self.since):
            self.asleep[warp % len(schedulers)].append((begins, warp))
        events = [(self.asleep[s][0][0], s) for s in schedulers if self.asleep[s]]
        self.idle = {s for s in schedulers if not self.asleep[s]}
        self.events = events
        while events:
            now, s = heapq.heappop(events)
            asleep, awake = self.asleep[s], self.awake[s]
            while asleep and asleep[0][0] <= now:
                awake.append(heapq.heappop(asleep)[1])
            chosen, free = self._choose(s, now)
            if chosen is not None:
                awake.remove(chosen)
                self._issue(chosen, s, now)
                free = self.free[chosen]  # the scheduler, for another warp
            elif asleep:
                free = min(free, asleep[0][0])
            if free < INFINITE or awake:
                heapq.heappush(events, (free, s))
            elif asleep:
                heapq.heappush(events, (max(now, asleep[0][0]), s))
            else:
                self.idle.add(s)
        return self._result()

    def _choose(self, s: int, now: float) -> tuple[int | None, float]:
        """Return the warp that issues: the one that issued last if it can, else the youngest that can.

        If none can, return when the first will.
        """
        soonest, awake, last = INFINITE, self.awake[s], self.last[s]
        awake.sort(reverse=True)
        for warp in (last, *awake) if last in awake else awake:
            busy = self._busy_until(s, self.programs[warp][self.position[warp]])
            if busy <= now:
                return warp, now
            soonest = min(soonest, busy)
        return None, soonest

    def _busy_until(self, s: int, instruction: Instruction) -> float:
        """When the unit that an instruction goes to takes it, and the registers' banks give its operands."""
        kind = instruction.kind
        unit = UNIT_OF.get(kind)
        busy = 0.0
        if unit is not None:
            busy = self.units[unit][s]
        elif kind in PATH:
            busy = self.queues[s] - QUEUE * self.machine.request
        even, odd = instruction.reads
        if even:
            busy = max(busy, self.banks[s][0])
        if odd:
            busy = max(busy, self.banks[s][1])
        return busy

    def _issue(self, warp: int, s: int, now: float) -> None:
        """Issue the next instruction of a warp."""
        position = self.position[warp]
        instruction = self.programs[warp][position]
        kind = instruction.kind
        machine = self.machine
        slots = 1.0
        since = self.since[warp]
        held = min(
            max(self._busy_until(s, instruction), since), now
        )  # by the unit that it goes to, then by other warps
        self._span(warp, UNIT_REASON.get(kind, 5), since, held)
        self._span(warp, 5, held, now)
        if kind == "multiply-add":
            finish = now + machine.multiply_add
        elif kind == "index":
            self.units["integer"][s] = now + machine.index[instruction.arithmetic] * instruction.amount
            slots = machine.slots[instruction.arithmetic] * instruction.amount
            finish = now + max(slots, machine.index_latency[instruction.arithmetic])
        elif kind == "shared load":
            self._pass(s, now, instruction.wavefronts)
            finish = self.path - 1 + machine.latency["shared"] - (machine.address if instruction.pace > 1 else 0)
        elif kind == "shared store":
            self._pass(s, now, instruction.wavefronts)
            finish = now + 1
        elif kind in ("load", "copy", "store"):
            self._pass(s, now, max(instruction.wavefronts, 1))
            finish = self._memory(instruction, warp, now)
        elif kind == "constant":
            self.units["constant"][s] = now + machine.constant_request
            finish = now + machine.constant
        else:
            finish = now + 1
            if kind in UNIT_OF:
                self.units[UNIT_OF[kind]][s] = now + machine.integer
        for bank, reads in enumerate(instruction.reads):
            self.banks[s][bank] = max(self.banks[s][bank], now) + reads
        self.last[s] = warp
        self.done[warp][position] = finish
        self.issued += slots
        self._span(warp, 0, now, now + slots)
        end = now + slots
        if instruction.pace > end - now:  # the compiler knows how long the next one has to wait
            self._span(warp, 3, end, now + instruction.pace)
            end = now + instruction.pace
        self.free[warp] = now + slots
        self.position[warp] = position + 1
        if instruction.turn > self.turn[warp]:
            self.turn[warp] = instruction.turn
            self.turns[warp].append(now)
        if kind == "barrier":
            self._barrier(warp, end)
        elif position + 1 < len(self.programs[warp]):
            self._next(warp, end)
        if self.position[warp] == len(self.programs[warp]):
            self._end(self.block_of[warp], end)

    def _end(self, block: int, now: float) -> None:
        """Let a block of the same follow one whose warps have all come to their end."""
        self.running[block] -= 1
        if self.running[block] or self.round[block] + 1 == self.rounds:
            return
        self.round[block] += 1
        self.running[block] = self.size
        for warp in range(block * self.size, (block + 1) * self.size):
            self.position[warp] = self.turn[warp] = 0
            self._next(warp, now)

    def _pass(self, s: int, now: float, wavefronts: int) -> None:
        """Queue a request at its scheduler, and let its wavefronts pass where those of all schedulers meet."""
        leaves = max(self.queues[s], now)
        self.path = max(self.path, leaves) + wavefronts
        self.queues[s] = max(leaves + self.machine.request, self.path - wavefronts + 1)

    def _memory(self, instruction: Instruction, warp: int, now: float) -> float:
        """Pass the first-level cache, and fetch what it does not hold; return when all of it has arrived."""
        machine, block = self.machine, self.block_of[warp]
        block += self.round[block] * len(self.round)  # memory of its own
        start = self.path - 1
        if instruction.kind == "store":
            level = "L2"
            queue = max(self.from_memory[level], start)
            self.from_memory[level] = queue + len(instruction.sectors) * SECTOR_BYTES / machine.bytes_per_cycle[level]
            return now + 1
        arrival = start + machine.latency["L1"]
        for name, number in instruction.sectors:
            sector = block, name, number
            known = self.cache.look(sector)
            if known is None:
                known = self._fetch(sector, start)
                self.cache.bring(sector, known)
                self.fetches.append((start, known))
            arrival = max(arrival, known)
        return arrival + (machine.copy if instruction.kind == "copy" else 0.0)

    def _fetch(self, sector: tuple[int, str, int], start: float) -> float:
        """Return when a sector that the first-level cache does not hold arrives.

        DRAM gives `dram_bytes` at a time: the neighbours of what was asked for wait in the second-level cache.
        """
        machine, (block, name, number) = self.machine, sector
        level = self.served if isinstance(self.served, str) else self.served.get(name, "L2")
        self.from_memory["L2"] = max(self.from_memory["L2"], start) + SECTOR_BYTES / machine.bytes_per_cycle["L2"]
        arrival = self.from_memory["L2"] + machine.latency["L2"]
        if level == "L2":
            return arrival
        piece = block, name, number * SECTOR_BYTES // machine.dram_bytes
        if piece not in self.brought:
            queue = max(self.from_memory["DRAM"], start) + machine.dram_bytes / machine.bytes_per_cycle["DRAM"]
            self.from_memory["DRAM"] = queue
            self.brought[piece] = queue + machine.latency["DRAM"]
        return max(arrival, self.brought[piece])

    def _next(self, warp: int, now: float) -> None:
        """Queue a warp for its next instruction, when what that needs is there."""
        program, done = self.programs[warp], self.done[warp]
        instruction = program[self.position[warp]]
        ready, reason = now, 5
        for need in instruction.needs:
            if done[need] > ready:
                ready, reason = done[need], KIND_REASON.get(program[need].kind, 3)
        self._span(warp, reason, now, ready)
        s = warp % self.machine.schedulers
        self.since[warp] = ready
        heapq.heappush(self.asleep[s], (ready, warp))
        if s in self.idle:
            self.idle.discard(s)
            heapq.heappush(self.events, (ready, s))

    def _barrier(self, warp: int, now: float) -> None:
        """Let a warp wait for the others of its block; the last one opens the barrier."""
        first, each = self.machine.barrier
        self.barriers = max(self.barriers, now) + each  # one warp after the other is noted
        block = self.block_of[warp]
        here = self.arrived.setdefault(block, [])
        here.append((warp, now))
        if len(here) < self.size:
            return
        for other, since in here:
            opened = self.barriers + first
            self._span(other, 4, since, opened)
            if self.position[other] < len(self.programs[other]):
                self._next(other, opened)
        self.arrived[block] = []

    def _span(self, warp: int, reason: int, first: float, last: float) -> None:
        if last > first:
            self.spans[warp].append((reason, first, last))

    def _result(self) -> Play:
        cycles = max(self.free)
        total = [0.0] * len(REASONS)
        for spans in self.spans:
            for reason, first, last in spans:
                total[reason] += last - first
        whole = sum(total)
        return Play(
            cycles,
            self.issued,
            {reason: amount / whole for reason, amount in zip(REASONS, total, strict=True)},
            tuple(tuple((REASONS[reason], first, last) for reason, first, last in spans) for spans in self.spans),
            tuple(map(tuple, self.turns)),
            tuple(self.fetches),
            self.machine.schedulers,
        )


def time_of(turn_cycles: float, turns: float, blocks: int, resident: int, multiprocessors: int) -> float:
    """Return the cycles of a whole launch: rounds of resident blocks, each of so many turns of its loop.

    The last round counts in full, as long as it may be: its blocks take their time, however few they are.
    """
    return ceil_div(blocks, resident * multiprocessors) * turns * turn_cycles
