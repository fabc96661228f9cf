"""The player of the model of waiting (:mod:`waiting`): an event simulation of the warps of one multiprocessor."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from heapq import heappop, heappush
from typing import NamedTuple
from zlib import crc32

from ..model.machine import Machine
from ..simulator.hardware import LINE_BYTES, SECTOR_BYTES
from .instructions import Instruction

#: The reasons for waiting; the first one is for the cycles in which a warp issues.
REASONS = ("issuing", "global memory", "shared memory", "arithmetic", "barrier", "its turn")
ISSUING, GLOBAL, SHARED, ARITHMETIC, BARRIER, TURN = range(len(REASONS))
#: Requests that may queue at a scheduler for the path to memory before the next one must wait. No kernel measures it:
#: with 2 or 8 instead, half of the predictions of matrices in the second-level cache change by 0.3 % or less, all by
#: less than 7 %.
QUEUE = 4
INFINITE = float("inf")
NOBODY = (2**31, 0.0, -1)
#: The resources that can hold back a ready instruction: the units of its scheduler, and the two banks of registers.
NOTHING, PATH, INTEGER, MULTIPLY, UNIFORM, CONSTANT, EVEN, ODD = range(8)
UNITS = {
    **dict.fromkeys(("load", "copy", "commit", "store", "shared load", "shared store"), PATH),
    "index": INTEGER,
    "integer": INTEGER,
    "multiply": MULTIPLY,
    "uniform": UNIFORM,
    "constant": CONSTANT,
}
#: The reason for waiting while that unit is busy, and (WAITS_FOR) while the result of such an instruction is missing.
HELD_BY = {
    **dict.fromkeys(("load", "copy", "store"), GLOBAL),
    **dict.fromkeys(("shared load", "shared store", "commit", "constant"), SHARED),
    **dict.fromkeys(("index", "integer", "multiply", "uniform"), ARITHMETIC),
}
WAITS_FOR = {
    **dict.fromkeys(("load", "copy"), GLOBAL),
    **dict.fromkeys(("shared load", "constant"), SHARED),
    "barrier": BARRIER,
}

Gate = tuple[int, int, int, int]


class _Step(NamedTuple):
    """An instruction with the machine's numbers for it.

    gate: the resources that must be free before it issues; busy: cycles for which it occupies its unit; slots: issue
    slots of the scheduler; latency: cycles from its issue, or from its last wavefront, to its result; path: cycles on
    the path to memory.
    """

    kind: str
    gate: Gate
    held_by: int
    waits_for: int
    busy: float
    slots: float
    latency: float
    pace: int
    needs: tuple[int, ...]
    reads: tuple[int, int]
    path: float
    sectors: tuple[tuple[str, int], ...]
    iteration: int


def _step(instruction: Instruction, machine: Machine) -> _Step:
    kind, arithmetic = instruction.kind, instruction.arithmetic
    unit, path = UNITS.get(kind, NOTHING), 0.0
    busy, slots, latency = machine.integer, 1.0, 1.0
    if kind == "index":
        busy, slots = (cost[arithmetic] * instruction.amount for cost in (machine.index, machine.slots))
        latency = max(slots, machine.index_latency[arithmetic])
    elif kind == "multiply-add":
        latency = machine.multiply_add
    elif kind == "constant":
        busy, latency = machine.constant_request, machine.constant
    elif kind == "shared load":
        latency = machine.latency["shared"] - machine.address
    elif kind == "copy":
        latency = machine.copy
    elif kind == "load":
        latency = 0.0
    if kind == "commit":
        path = machine.commit
    elif unit == PATH:
        path = instruction.wavefronts if kind.startswith("shared") else max(instruction.wavefronts, 1)
        if kind == "copy" and instruction.bytes == 4:
            path = machine.copy_request + path * machine.copy_row
        else:
            path *= machine.wavefront
    even, odd = instruction.reads
    uniform = UNIFORM if instruction.uniform_read else NOTHING
    return _Step(
        kind=kind,
        gate=(unit, EVEN if even else NOTHING, ODD if odd else NOTHING, uniform),
        held_by=HELD_BY.get(kind, TURN),
        waits_for=WAITS_FOR.get(kind, ARITHMETIC),
        busy=busy,
        slots=slots,
        latency=latency,
        pace=instruction.pace,
        needs=instruction.needs,
        reads=instruction.reads,
        path=path,
        sectors=instruction.sectors,
        iteration=instruction.iteration,
    )


def _free(at: list[float], gate: Gate) -> float:
    """Return the cycle from which all resources of a gate are free; `at` holds it for each resource."""
    unit, even, odd, uniform = gate
    free = at[unit]
    if uniform and at[uniform] > free:
        free = at[uniform]
    if even and at[even] > free:
        free = at[even]
    if odd and at[odd] > free:
        free = at[odd]
    return free


def _way(ways: Sequence[float], block: int, name: str, line: int) -> float:
    """Return the difference between the latency of a line and the mean: pseudo-random, but fixed for a line."""
    if not ways:
        return 0.0
    return ways[((crc32(name.encode()) + 31 * block + line) * 2654435761 >> 8) % len(ways)]


class _Cache:
    """Sectors of global memory in the first-level cache; the least recently used is evicted first."""

    def __init__(self, size: int) -> None:
        self.room = max(size // SECTOR_BYTES, 1)
        self.arrival: OrderedDict[tuple[int, str, int], float] = OrderedDict()

    def look(self, sector: tuple[int, str, int]) -> float | None:
        """Return the cycle at which the sector arrived or will arrive, None if it is not in the cache."""
        found = self.arrival.get(sector)
        if found is not None:
            self.arrival.move_to_end(sector)
        return found

    def bring(self, sector: tuple[int, str, int], arrival: float) -> None:
        self.arrival[sector] = arrival
        if len(self.arrival) > self.room:
            self.arrival.popitem(last=False)


class Player:
    """Plays `blocks` resident blocks of warps with these programs, each followed by `rounds` - 1 others in its place.

    A warp whose program is empty has left before its block began. `run` fills `ended` (the cycle at which each warp
    ended), `spans`, `waits` (cycles by index of the reason), `iterations`, `fetches` and `issued`: see `waiting.Play`.
    """

    def __init__(
        self,
        warps: Sequence[Sequence[Instruction]],
        machine: Machine,
        blocks: int,
        served: Mapping[str, str] | str,
        l1_bytes: int,
        rounds: int = 1,
        loaded_by: Mapping[str, float] | None = None,
    ) -> None:
        self.machine = machine
        self.loaded_by = loaded_by or {}
        self.rounds = rounds
        distinct = {id(i): i for program in warps for i in program}  # warps share most of them
        known = {number: _step(instruction, machine) for number, instruction in distinct.items()}
        block = [[known[id(i)] for i in program] for program in warps]
        self.programs = block * blocks
        self.size = len(warps)
        self.working = sum(bool(program) for program in warps)  # the warps of a block that issue anything
        self.served = served
        self.cache = _Cache(l1_bytes)
        count, schedulers = len(self.programs), machine.schedulers
        self.position = [0] * count
        self.done = [[0.0] * len(program) for program in self.programs]
        self.left = [[0.0] * len(program) for program in self.programs]  # when it could go on after each instruction
        self.since = [0.0] * count  # the cycle from which it could issue
        self.free = [0.0] * count  # the cycle at which the warp's last instruction had been issued
        self.ended = [0.0] * count
        self.issues = [0.0] * count  # the cycle from which it has issued without a wait
        self.spans: list[list[tuple[str, float, float]]] = [[] for _ in range(count)]
        self.waits = [0.0] * len(REASONS)
        self.iterations: list[list[float]] = [[] for _ in range(count)]
        self.iteration = [0] * count
        self.arrived: list[list[tuple[int, float]]] = [[] for _ in range(blocks)]
        self.running = [self.working] * blocks  # for each block, the warps that have not ended
        self.round = [0] * blocks
        self.age = list(range(blocks))  # the order in which the blocks have begun
        self.begun = blocks
        self.path = 0.0  # the cycle from which shared memory and the first-level cache are free
        self.queues = [0.0] * schedulers  # the cycle at which each scheduler's requests have left its queue
        self.last = [-1] * schedulers
        self.at = [[0.0] * (ODD + 1) for _ in range(schedulers)]  # the cycle from which each unit and bank is free
        self.from_memory = dict.fromkeys(machine.bytes_per_cycle, 0.0)
        self.barriers = 0.0
        self.brought: dict[tuple[int, str, int], float] = {}  # to the second-level cache, beside the sector asked for
        self.passed: list[dict[Gate, float]] = [{} for _ in range(schedulers)]  # what others issued since then
        self.woken = [0.0] * count  # the value of `passed` when it could issue
        self.issued = 0.0
        self.fetches: list[tuple[float, float]] = []
        self.asleep: list[list[tuple[float, int]]] = [[] for _ in range(schedulers)]  # (when it can issue, warp)
        # Ready warps, by the gate of their next instruction: (age of the block, ready since, warp).
        self.awake: list[dict[Gate, list[tuple[int, float, int]]]] = [{} for _ in range(schedulers)]
        self.events: list[tuple[float, int]] = []  # (time of the next action, scheduler)
        self.idle = set(range(schedulers))

    def run(self) -> None:
        """Simulate until every warp has ended."""
        for warp, program in enumerate(self.programs):
            if program:
                self._sleep(warp, 0.0)
        events = self.events
        while events:
            now, s = heappop(events)
            asleep, awake, passed = self.asleep[s], self.awake[s], self.passed[s]
            while asleep and asleep[0][0] <= now:
                ready, warp = heappop(asleep)
                gate = self.programs[warp][self.position[warp]].gate
                insort(awake.setdefault(gate, []), (self.age[warp // self.size], ready, warp))
                self.woken[warp] = passed.setdefault(gate, 0.0) - (now - ready)
            chosen, free = self._choose(s, now)
            if chosen is not None:
                free = self._let(chosen, s, now)
            elif asleep:
                free = min(free, asleep[0][0])
            if free < INFINITE:
                heappush(events, (free, s))
            else:
                self.idle.add(s)

    def _choose(self, s: int, now: float) -> tuple[int | None, float]:
        """Return the warp that issues: the one that issued last if it can; else one of the block that began first.

        Of that block's warps it is the one that has been ready for the longest time. If none is ready, return None and
        the cycle at which the first will be.
        """
        at, last, awake = self.at[s], self.last[s], self.awake[s]
        stays = (self.age[last // self.size], self.since[last], last) if last >= 0 else (-1, 0.0, -1)
        soonest, of = INFINITE, None
        chosen = NOBODY
        for gate, warps in awake.items():
            free = _free(at, gate)
            if free > now:
                soonest = min(soonest, free)
            elif stays in warps:
                chosen, of = stays, gate
                break
            elif warps[0] < chosen:
                chosen, of = warps[0], gate
        if of is None:
            return None, soonest
        warps = awake[of]
        del warps[bisect_left(warps, chosen)]
        if not warps:
            del awake[of]
        return chosen[2], now

    def _let(self, warp: int, s: int, now: float) -> float:
        """Let a warp issue until something holds it or another one is first; return when the scheduler acts next."""
        at, events, asleep, program = self.at[s], self.events, self.asleep[s], self.programs[warp]
        while True:
            ready, now = self._issue(warp, s, now), self.free[warp]
            if ready > now or (asleep and asleep[0][0] <= now) or (events and events[0] < (now, s)):
                break
            if _free(at, program[self.position[warp]].gate) > now:
                break
            self.since[warp] = now
        if ready < INFINITE:
            self._sleep(warp, ready)
        return now

    def _issue(self, warp: int, s: int, now: float) -> float:
        """Issue the next instruction of a warp; return when the following one can, INFINITE if others decide that."""
        program, position, at = self.programs[warp], self.position[warp], self.at[s]
        step = program[position]
        since, slots, passed = self.since[warp], step.slots, self.passed[s]
        if since < now:  # held by the unit that it needs, and by other warps that issued while that was free
            turn = max(now - (passed[step.gate] - self.woken[warp]), since)
            if since < turn:
                self._wait(warp, step.held_by, since, turn)
            if turn < now:
                self._wait(warp, TURN, turn, now)
        for gate in self.awake[s]:
            if at[gate[0]] <= now and _free(at, gate) <= now:
                passed[gate] += slots
        unit, even, odd, uniform = step.gate
        if unit == PATH:
            self._pass(s, now, step.path)
            finish = self._access(step, warp, now)
        else:
            finish = now + step.latency
            if unit:
                at[unit] = now + step.busy
        if even:
            at[EVEN] = max(at[EVEN], now) + step.reads[0]
        if odd:
            at[ODD] = max(at[ODD], now) + step.reads[1]
        if uniform:
            at[UNIFORM] = now + self.machine.integer
        self.last[s] = warp
        self.done[warp][position] = finish
        self.issued += slots
        self.free[warp] = end = now + slots
        if step.pace > slots:  # the compiler has fixed the cycles until the next one
            self._wait(warp, ARITHMETIC, end, now + step.pace)
            end = now + step.pace
        self.left[warp][position] = end
        self.position[warp] = position = position + 1
        if step.iteration > self.iteration[warp]:
            self.iteration[warp] = step.iteration
            self.iterations[warp].append(now)
        ready = INFINITE
        if step.kind == "barrier":
            self._barrier(warp, end)
        elif position < len(program):
            ready = self._ready(warp, end)
        else:
            self._end(warp, end)
        return ready

    def _end(self, warp: int, now: float) -> None:
        """Note that a warp has ended; when all warps of its block have, let the next block begin in its place.

        The barriers of the other warps do not wait for it.
        """
        self._issued_until(warp, now)
        self.ended[warp] = now
        block = warp // self.size
        self.running[block] -= 1
        if self.running[block]:
            self._open(block, now)
        elif self.round[block] + 1 < self.rounds:
            self._follow(block, now)

    def _follow(self, block: int, now: float) -> None:
        """Let the next block begin in the place of one that has ended."""
        self.round[block] += 1
        self.age[block] = self.begun
        self.begun += 1
        self.running[block] = self.working
        for warp in range(block * self.size, (block + 1) * self.size):
            if self.programs[warp]:
                self.position[warp] = self.iteration[warp] = 0
                self.issues[warp] = now
                self._sleep(warp, self._ready(warp, now))

    def _pass(self, s: int, now: float, cycles: float) -> None:
        """Queue a request at its scheduler, then pass its wavefronts through the path that all schedulers share."""
        request = self.machine.request
        leaves = max(self.queues[s], now)
        self.path = max(self.path, leaves) + cycles
        self.queues[s] = free = max(leaves + request, self.path - cycles + 1)
        self.at[s][PATH] = free - QUEUE * request

    def _access(self, step: _Step, warp: int, now: float) -> float:
        """Return when the result of an access arrives whose wavefronts have passed.

        An access to global memory looks into the first-level cache, and fetches what that does not hold.
        """
        start, kind, machine = self.path - 1, step.kind, self.machine
        if kind == "shared load":
            return start + step.latency
        if kind == "store":
            moved = len(step.sectors) * SECTOR_BYTES / machine.bytes_per_cycle["L2"]
            self.from_memory["L2"] = max(self.from_memory["L2"], start) + moved
        if kind in ("store", "shared store", "commit"):
            return now + step.latency
        block = warp // self.size
        block += self.round[block] * len(self.round)  # memory of its own
        arrival = start + machine.latency["L1"]
        for name, number in step.sectors:
            sector = block, name, number
            known = self.cache.look(sector)
            if known is None:
                known = self._fetch(sector, start)
                self.cache.bring(sector, known)
                self.fetches.append((start, known))
            if known > arrival:
                arrival = known
        return arrival + step.latency

    def _fetch(self, sector: tuple[int, str, int], start: float) -> float:
        """Return when a sector that the first-level cache does not hold arrives.

        DRAM delivers `dram_bytes` at a time: the neighbours of the requested sector then are in the second-level cache.
        """
        machine, (block, name, number) = self.machine, sector
        level = self.served if isinstance(self.served, str) else self.served.get(name, "L2")
        self.from_memory["L2"] = max(self.from_memory["L2"], start) + SECTOR_BYTES / machine.bytes_per_cycle["L2"]
        line = number * SECTOR_BYTES // LINE_BYTES
        way = machine.latency["L2"] * _way(machine.spread, block, name, line)
        arrival = self.from_memory["L2"] + machine.latency["L2"] + way
        if level == "L2":
            return arrival
        piece = block, name, number * SECTOR_BYTES // machine.dram_bytes
        if piece not in self.brought:
            run = number * SECTOR_BYTES // machine.dram_run
            given = machine.dram_bytes / machine.bytes_per_cycle["DRAM"] / self.loaded_by.get(name, 1)
            queue = max(self.from_memory["DRAM"], start) + given
            self.from_memory["DRAM"] = queue
            self.brought[piece] = queue + machine.latency["DRAM"] + _way(machine.dram_spread, block, name, run)
        return max(arrival, self.brought[piece])

    def _ready(self, warp: int, now: float) -> float:
        """Return when the operands of a warp's next instruction are available."""
        program, done = self.programs[warp], self.done[warp]
        ready, last = now, -1
        for need in program[self.position[warp]].needs:
            if done[need] > ready:
                ready, last = done[need], need
        if ready > now:
            self._wait(warp, program[last].waits_for, now, ready)
        return ready

    def _sleep(self, warp: int, ready: float) -> None:
        """Suspend a warp until the operands of its next instruction are there, and its scheduler if it has no other."""
        s = warp % self.machine.schedulers
        self.since[warp] = ready
        heappush(self.asleep[s], (ready, warp))
        if s in self.idle:
            self.idle.discard(s)
            heappush(self.events, (ready, s))

    def _barrier(self, warp: int, now: float) -> None:
        """Let a warp wait at a barrier for the others of its block."""
        self.barriers = max(self.barriers, now) + self.machine.barrier[1]  # warps are counted one after the other
        block = warp // self.size
        self.arrived[block].append((warp, now))
        self._open(block, now)

    def _open(self, block: int, now: float) -> None:
        """Open a block's barrier, which occupies the path, if all its warps that have not ended wait there."""
        here = self.arrived[block]
        if not here or len(here) < self.running[block]:
            return
        self.arrived[block] = []
        opened = max(self.barriers, now) + self.machine.barrier[0]
        self.path = max(self.path, now) + self.machine.barrier_path
        for warp, since in here:
            self._wait(warp, BARRIER, since, opened)
            if self.position[warp] < len(self.programs[warp]):
                self._sleep(warp, self._ready(warp, opened))
            else:
                self._end(warp, opened)

    def _wait(self, warp: int, reason: int, first: float, last: float) -> None:
        """Record a wait, if it has any length, and the issuing before it."""
        if last > first:
            self._issued_until(warp, first)
            self.spans[warp].append((REASONS[reason], first, last))
            self.waits[reason] += last - first
            self.issues[warp] = last

    def _issued_until(self, warp: int, now: float) -> None:
        since = self.issues[warp]
        if now > since:
            self.spans[warp].append((REASONS[ISSUING], since, now))
            self.waits[ISSUING] += now - since
            self.issues[warp] = now
