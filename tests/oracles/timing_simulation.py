"""The simulation of the timing model in plain Python, with heaps, sorted lists and dictionaries.

It is how the simulation was first written, and the judge of the compiled loop: same picks, same cycles.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from typing import NamedTuple
from zlib import crc32

from course_lib.machine.model.multiprocessor import Multiprocessor
from course_lib.machine.timing_model.instruction_streams import Instruction
from course_lib.simulator.hardware import LINE_BYTES, SECTOR_BYTES

#: The reasons for waiting; the first one is for the cycles in which a warp issues.
REASONS = ("issuing", "global memory", "shared memory", "arithmetic", "barrier", "not selected")
ISSUING, GLOBAL, SHARED, ARITHMETIC, BARRIER, NOT_SELECTED = range(len(REASONS))
#: Requests that may queue at a scheduler for the path to memory before the next one must wait. No kernel measures it:
#: with 2 or 8 instead, half of the predictions of matrices in the second-level cache change by 0.3 % or less, all by
#: less than 7 %.
QUEUE = 4
#: A large prime: requests are drawn by their rest.
TURNS = 9973
INFINITE = float("inf")
NOBODY = (2**31, 0.0, -1)
#: The resources that can hold back a ready instruction: the units of its scheduler, and the two banks of registers.
NOTHING, PATH, INTEGER, MULTIPLY, UNIFORM, CONSTANT, EVEN, ODD = range(8)
#: Of the kinds of instructions: the unit; the reason for waiting while that is busy, and while the result is missing.
KINDS = {
    "load": (PATH, GLOBAL, GLOBAL),
    "copy": (PATH, GLOBAL, GLOBAL),
    "store": (PATH, GLOBAL, ARITHMETIC),
    "commit": (PATH, SHARED, ARITHMETIC),
    "shared load": (PATH, SHARED, SHARED),
    "shared store": (PATH, SHARED, ARITHMETIC),
    "constant": (CONSTANT, SHARED, SHARED),
    "integer": (INTEGER, ARITHMETIC, ARITHMETIC),
    **dict.fromkeys(("multiply", "wide multiply"), (MULTIPLY, ARITHMETIC, ARITHMETIC)),
    "uniform": (UNIFORM, ARITHMETIC, ARITHMETIC),
    "barrier": (NOTHING, NOT_SELECTED, BARRIER),
}

Gate = tuple[int, int, int]


class _Step(NamedTuple):
    """An instruction with the machine's numbers for it.

    gate: the resources that must be free before it issues; busy: cycles for which it occupies its unit; latency: cycles
    from its issue, or from its last wavefront, to its result; path: cycles on the path to memory; uniform_read: cycles
    of the uniform unit, for which it does not wait.
    """

    kind: str
    gate: Gate
    held_by: int
    waits_for: int
    busy: float
    latency: float
    pace: int
    needs: tuple[int, ...]
    reads: tuple[int, int]
    uniform_read: int
    path: float
    sectors: tuple[tuple[str, int], ...]
    iteration: int


def _step(instruction: Instruction, multiprocessor: Multiprocessor) -> _Step:
    kind = instruction.kind
    (unit, held_by, waits_for), path = KINDS.get(kind, (NOTHING, NOT_SELECTED, ARITHMETIC)), 0.0
    latency = {
        "multiply-add": multiprocessor.multiply_add,
        "constant": multiprocessor.constant,
        "copy": multiprocessor.copy,
        "load": 0.0,
        "shared load": multiprocessor.latency["shared"] - multiprocessor.address,
    }
    if kind == "commit":
        path = multiprocessor.commit
    elif unit == PATH:
        path = instruction.wavefronts if kind.startswith("shared") else max(instruction.wavefronts, 1)
        if kind == "copy" and instruction.bytes == 4:
            path = multiprocessor.copy_request + path * multiprocessor.copy_row
        else:
            path *= multiprocessor.wavefront
    even, odd = instruction.reads
    busy = {"constant": multiprocessor.constant_request, "wide multiply": 2 * multiprocessor.integer}
    return _Step(
        kind=kind,
        gate=(unit, EVEN if even else NOTHING, ODD if odd else NOTHING),
        held_by=held_by,
        waits_for=waits_for,
        busy=busy.get(kind, multiprocessor.integer),
        latency=latency.get(kind, 1.0),
        pace=instruction.pace,
        needs=instruction.needs,
        reads=instruction.reads,
        uniform_read=int(instruction.uniform_read),
        path=path,
        sectors=instruction.sectors,
        iteration=instruction.iteration,
    )


def _free(at: list[float], gate: Gate) -> float:
    """Return the cycle from which all resources of a gate are free; `at` holds it for each resource."""
    unit, even, odd = gate
    free = at[unit]
    if even and at[even] > free:
        free = at[even]
    if odd and at[odd] > free:
        free = at[odd]
    return free


def _drawn(block: int, name: str, line: int) -> int:
    """Return a pseudo-random number that is fixed for a block's line of an array."""
    return (crc32(name.encode()) + 31 * block + line) * 2654435761 >> 8


def _way(ways: Sequence[float], block: int, name: str, line: int) -> float:
    """Return the difference between the latency of a line and the mean."""
    return ways[_drawn(block, name, line) % len(ways)] if ways else 0.0


@dataclass(slots=True, eq=False)
class _Scheduler:
    """A scheduler while it issues for its warps.

    at: the cycle from which each of its units and register banks is free; queue: the cycle at which its requests have
    left the queue to memory; last: the warp that issued last. asleep: warps that wait for operands, as (when they can
    issue, number); awake: ready ones by the gate of their next instruction, as (age of the block, ready since, number).
    passed: the issue slots that warps took while a gate was free.
    """

    number: int
    at: list[float] = field(default_factory=lambda: [0.0] * (ODD + 1))
    queue: float = 0.0
    last: _Warp | None = None
    asleep: list[tuple[float, int]] = field(default_factory=list)
    awake: dict[Gate, list[tuple[int, float, int]]] = field(default_factory=dict)
    passed: dict[Gate, float] = field(default_factory=dict)
    idle: bool = True


@dataclass(slots=True, eq=False)
class _Block:
    """A place for resident blocks, with the block that is there now: one of several rounds.

    age: the order in which the blocks have begun; running: the number of warps that have not ended; arrived: the warps
    that wait at the barrier, with the cycles of their arrival.
    """

    number: int
    age: int
    running: int
    warps: list[_Warp] = field(default_factory=list)
    round: int = 0
    arrived: list[tuple[_Warp, float]] = field(default_factory=list)


@dataclass(slots=True, eq=False)
class _Warp:
    """A warp while it executes its stream.

    done: when the result of each instruction is there; left: when the warp could go on after it. since: the cycle from
    which it could issue; woken: the value of `passed` of its scheduler then; free: the cycle at which its last
    instruction had been issued; issues: the cycle from which it has issued without a wait.
    """

    number: int
    block: _Block
    scheduler: _Scheduler
    stream: Sequence[_Step]
    done: list[float]
    left: list[float]
    position: int = 0
    iteration: int = 0
    since: float = 0.0
    woken: float = 0.0
    free: float = 0.0
    issues: float = 0.0
    ended: float = 0.0
    spans: list[tuple[str, float, float]] = field(default_factory=list)
    iterations: list[float] = field(default_factory=list)


class TimingSimulation:
    """Plays `blocks` resident blocks of warps with these programs, each followed by `rounds` - 1 others in its place.

    A warp whose program is empty has left before its block began. `run` fills `waits` (cycles by index of the reason),
    `fetches`, `issued`, and of each warp `ended` (the cycle at which it ended), `spans`, `iterations` and `left`: see
    `schedule.Play`.
    """

    def __init__(
        self,
        warps: Sequence[Sequence[Instruction]],
        multiprocessor: Multiprocessor,
        blocks: int,
        served: Mapping[str, str] | str,
        l1_bytes: int,
        *,
        rounds: int = 1,
        loaded_by: Mapping[str, float] | None = None,
        in_step: bool = False,
    ) -> None:
        self.multiprocessor = multiprocessor
        self.loaded_by = loaded_by or {}
        self.in_step = in_step
        self.rounds = rounds
        self.served = served
        self.room = max(l1_bytes // SECTOR_BYTES, 1)
        #: The sectors in the first-level cache, that used least recently first, and the cycle at which each arrives.
        self.cache = OrderedDict[tuple[int, str, int], float]()
        distinct = {id(i): i for stream in warps for i in stream}  # warps share most of them
        known = {number: _step(instruction, multiprocessor) for number, instruction in distinct.items()}
        streams = [[known[id(i)] for i in stream] for stream in warps]
        self.working = sum(bool(stream) for stream in streams)  # the warps of a block that issue anything
        self.schedulers = [_Scheduler(number) for number in range(multiprocessor.schedulers)]
        self.blocks = [_Block(number, number, self.working) for number in range(blocks)]
        self.begun = blocks
        self.warps: list[_Warp] = []
        for block in self.blocks:
            for stream in streams:
                number, size = len(self.warps), len(stream)
                scheduler = self.schedulers[number % multiprocessor.schedulers]
                warp = _Warp(number, block, scheduler, stream, done=[0.0] * size, left=[0.0] * size)
                block.warps.append(warp)
                self.warps.append(warp)
        self.waits = [0.0] * len(REASONS)
        self.issued = 0.0
        self.fetches: list[tuple[float, float]] = []
        self.path = 0.0  # the cycle from which shared memory and the first-level cache are free
        self.from_memory = dict.fromkeys(multiprocessor.bytes_per_cycle, 0.0)
        self.barriers = 0.0
        self.brought: dict[tuple[int, str, int], float] = {}  # to the second-level cache, beside the sector asked for
        self.events: list[tuple[float, int]] = []  # (time of the next action, scheduler)

    def run(self) -> None:
        """Simulate until every warp has ended."""
        for warp in self.warps:
            if warp.stream:
                self._sleep(warp, 0.0)
        events = self.events
        while events:
            now, number = heappop(events)
            scheduler = self.schedulers[number]
            asleep, awake, passed = scheduler.asleep, scheduler.awake, scheduler.passed
            while asleep and asleep[0][0] <= now:
                ready, woken = heappop(asleep)
                warp = self.warps[woken]
                gate = warp.stream[warp.position].gate
                insort(awake.setdefault(gate, []), (warp.block.age, ready, woken))
                warp.woken = passed.setdefault(gate, 0.0) - (now - ready)
            chosen, free = self._choose(scheduler, now)
            if chosen is not None:
                free = self._let(chosen, now)
            elif asleep:
                free = min(free, asleep[0][0])
            if free < INFINITE:
                heappush(events, (free, number))
            else:
                scheduler.idle = True

    def _choose(self, scheduler: _Scheduler, now: float) -> tuple[_Warp | None, float]:
        """Return the warp that issues: the one that issued last if it can; else one of the block that began first.

        Of that block's warps it is the one that has been ready for the longest time. If none is ready, return None and
        the cycle at which the first will be.
        """
        at, last, awake = scheduler.at, scheduler.last, scheduler.awake
        stays = (last.block.age, last.since, last.number) if last else (-1, 0.0, -1)
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
        return self.warps[chosen[2]], now

    def _let(self, warp: _Warp, now: float) -> float:
        """Let a warp issue until something holds it or another one is first; return when the scheduler acts next."""
        scheduler, events, stream = warp.scheduler, self.events, warp.stream
        asleep = scheduler.asleep
        while True:
            ready, now = self._issue(warp, now), warp.free
            if ready > now or (asleep and asleep[0][0] <= now) or (events and events[0] < (now, scheduler.number)):
                break
            if _free(scheduler.at, stream[warp.position].gate) > now:
                break
            warp.since = now
        if ready < INFINITE:
            self._sleep(warp, ready)
        return now

    def _issue(self, warp: _Warp, now: float) -> float:
        """Issue the next instruction of a warp; return when the following one can, INFINITE if others decide that."""
        scheduler, position = warp.scheduler, warp.position
        step, at, passed = warp.stream[position], scheduler.at, scheduler.passed
        since = warp.since
        if since < now:
            self._held(warp, step.held_by, now, passed[step.gate])
        for gate in scheduler.awake:
            if at[gate[0]] <= now and _free(at, gate) <= now:
                passed[gate] += 1
        unit, even, odd = step.gate
        if unit == PATH:
            self._pass(scheduler, now, step.path)
            finish = self._access(step, warp.block, now)
        else:
            finish = now + step.latency
            if unit:
                at[unit] = now + step.busy
        if even:
            at[EVEN] = max(at[EVEN], now) + step.reads[0]
        if odd:
            at[ODD] = max(at[ODD], now) + step.reads[1]
        if step.uniform_read:
            at[UNIFORM] = max(at[UNIFORM], now) + step.uniform_read
        scheduler.last = warp
        warp.done[position] = finish
        self.issued += 1
        warp.free = end = now + 1
        if step.pace > 1:  # the compiler has fixed the cycles until the next one
            self._wait(warp, ARITHMETIC, end, now + step.pace)
            end = now + step.pace
        warp.left[position] = end
        warp.position = position = position + 1
        if step.iteration > warp.iteration:
            warp.iteration = step.iteration
            warp.iterations.append(now)
        if step.kind != "barrier" and position < len(warp.stream):
            return self._ready(warp, end)
        (self._barrier if step.kind == "barrier" else self._end)(warp, end)
        return INFINITE

    def _held(self, warp: _Warp, by: int, now: float, passed: float) -> None:
        """Note that a warp was held by the unit that it needs, and by other warps that issued while that was free."""
        turn = max(now - (passed - warp.woken), warp.since)
        self._wait(warp, by, warp.since, turn)
        self._wait(warp, NOT_SELECTED, turn, now)

    def _end(self, warp: _Warp, now: float) -> None:
        """Note that a warp has ended; when all warps of its block have, let the next block begin in its place.

        The barriers of the other warps do not wait for it.
        """
        self._issued_until(warp, now)
        warp.ended = now
        block = warp.block
        block.running -= 1
        if block.running:
            self._open(block, now)
        elif block.round + 1 < self.rounds:
            self._follow(block, now)

    def _follow(self, block: _Block, now: float) -> None:
        """Let the next block begin in the place of one that has ended."""
        block.round += 1
        block.age = self.begun
        self.begun += 1
        block.running = self.working
        for warp in block.warps:
            if warp.stream:
                warp.position = warp.iteration = 0
                warp.issues = now
                self._sleep(warp, self._ready(warp, now))

    def _pass(self, scheduler: _Scheduler, now: float, cycles: float) -> None:
        """Queue a request at its scheduler, then pass its wavefronts through the path that all schedulers share."""
        request = self.multiprocessor.request
        leaves = max(scheduler.queue, now)
        self.path = max(self.path, leaves) + cycles
        scheduler.queue = free = max(leaves + request, self.path - cycles + 1)
        scheduler.at[PATH] = free - QUEUE * request

    def _access(self, step: _Step, block: _Block, now: float) -> float:
        """Return when the result of an access arrives whose wavefronts have passed.

        An access to global memory looks into the first-level cache, and fetches what that does not hold.
        """
        start, kind, multiprocessor, cache = self.path - 1, step.kind, self.multiprocessor, self.cache
        if kind == "shared load":
            return start + step.latency
        if kind == "store":
            moved = len(step.sectors) * SECTOR_BYTES / multiprocessor.bytes_per_cycle["L2"]
            self.from_memory["L2"] = max(self.from_memory["L2"], start) + moved
        if kind in ("store", "shared store", "commit"):
            return now + step.latency
        own = block.number + block.round * len(self.blocks)  # memory of its own
        arrival = start + multiprocessor.latency["L1"]
        first = bool(step.sectors) and self._is_first(own, *step.sectors[0])
        for name, number in step.sectors:
            sector = own, name, number
            known = cache.pop(sector, None)
            if known is None:
                known = self._fetch(sector, start, first)
                self.fetches.append((start, known))
                if len(cache) == self.room:
                    cache.popitem(last=False)
            cache[sector] = known
            if known > arrival:
                arrival = known
        return arrival + step.latency

    def _is_first(self, block: int, name: str, number: int) -> bool:
        """Return whether a request is the first for its lines, of those of all blocks that ask for them.

        In step all are: no line is there yet. Else they take turns.
        """
        return self.in_step or _drawn(block, name, number) % TURNS < TURNS / self.loaded_by.get(name, 1)

    def _fetch(self, sector: tuple[int, str, int], start: float, first: bool) -> float:
        """Return when a sector that the first-level cache does not hold arrives.

        What another block asked for first is in the second-level cache. DRAM delivers `dram_bytes` at a time: the
        neighbours of the requested sector then are in that cache, too.
        """
        multiprocessor, (block, name, number) = self.multiprocessor, sector
        level = self.served if isinstance(self.served, str) else self.served.get(name, "L2")
        self.from_memory["L2"] = (
            max(self.from_memory["L2"], start) + SECTOR_BYTES / multiprocessor.bytes_per_cycle["L2"]
        )
        line = number * SECTOR_BYTES // LINE_BYTES
        way = multiprocessor.latency["L2"] * _way(multiprocessor.spread, block, name, line)
        arrival = self.from_memory["L2"] + multiprocessor.latency["L2"] + way
        if level == "L2" or not first:
            return arrival
        piece = block, name, number * SECTOR_BYTES // multiprocessor.dram_bytes
        if piece not in self.brought:
            run = number * SECTOR_BYTES // multiprocessor.dram_run
            given = multiprocessor.dram_bytes / multiprocessor.bytes_per_cycle["DRAM"]
            if self.in_step:
                given /= self.loaded_by.get(name, 1)
            queue = max(self.from_memory["DRAM"], start) + given
            self.from_memory["DRAM"] = queue
            self.brought[piece] = (
                queue + multiprocessor.latency["DRAM"] + _way(multiprocessor.dram_spread, block, name, run)
            )
        return max(arrival, self.brought[piece])

    def _ready(self, warp: _Warp, now: float) -> float:
        """Return when the operands of a warp's next instruction are available."""
        stream, done = warp.stream, warp.done
        ready, last = now, -1
        for need in stream[warp.position].needs:
            if done[need] > ready:
                ready, last = done[need], need
        if ready > now:
            self._wait(warp, stream[last].waits_for, now, ready)
        return ready

    def _sleep(self, warp: _Warp, ready: float) -> None:
        """Suspend a warp until the operands of its next instruction are there, and its scheduler if it has no other."""
        scheduler = warp.scheduler
        warp.since = ready
        heappush(scheduler.asleep, (ready, warp.number))
        if scheduler.idle:
            scheduler.idle = False
            heappush(self.events, (ready, scheduler.number))

    def _barrier(self, warp: _Warp, now: float) -> None:
        """Let a warp wait at a barrier for the others of its block."""
        self.barriers = (
            max(self.barriers, now) + self.multiprocessor.barrier[1]
        )  # warps are counted one after the other
        warp.block.arrived.append((warp, now))
        self._open(warp.block, now)

    def _open(self, block: _Block, now: float) -> None:
        """Open a block's barrier, which occupies the path, if all its warps that have not ended wait there."""
        here = block.arrived
        if not here or len(here) < block.running:
            return
        block.arrived = []
        opened = max(self.barriers, now) + self.multiprocessor.barrier[0]
        self.path = max(self.path, now) + self.multiprocessor.barrier_path
        for warp, since in here:
            self._wait(warp, BARRIER, since, opened)
            if warp.position < len(warp.stream):
                self._sleep(warp, self._ready(warp, opened))
            else:
                self._end(warp, opened)

    def _wait(self, warp: _Warp, reason: int, first: float, last: float) -> None:
        """Record a wait, if it has any length, and the issuing before it."""
        if last > first:
            self._issued_until(warp, first)
            warp.spans.append((REASONS[reason], first, last))
            self.waits[reason] += last - first
            warp.issues = last

    def _issued_until(self, warp: _Warp, now: float) -> None:
        since = warp.issues
        if now > since:
            warp.spans.append((REASONS[ISSUING], since, now))
            self.waits[ISSUING] += now - since
            warp.issues = now
