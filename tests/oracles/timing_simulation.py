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
QUEUED_REQUESTS = 4
#: A large prime: requests are drawn by their remainder.
PRIME = 9973
INFINITE = float("inf")
NO_WARP = (2**31, 0.0, -1)
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

ResourceSet = tuple[int, int, int]


class _Step(NamedTuple):
    """An instruction with the machine's numbers for it.

    resources: those that must be free before it issues; busy: cycles for which it occupies its unit; latency: cycles
    from its issue, or from its last wavefront, to its result; path: cycles on the path to memory; uniform_read: cycles
    of the uniform unit, for which it does not wait.
    """

    kind: str
    resources: ResourceSet
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
    """Return an instruction with the cycles that it takes on this multiprocessor."""
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
        resources=(unit, EVEN if even else NOTHING, ODD if odd else NOTHING),
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


def _free_from(free_from: list[float], resources: ResourceSet) -> float:
    """Return the cycle from which all resources of a set are free; `free_from` holds it for each resource."""
    unit, even, odd = resources
    free = free_from[unit]
    if even and free_from[even] > free:
        free = free_from[even]
    if odd and free_from[odd] > free:
        free = free_from[odd]
    return free


def _pseudo_random(block: int, name: str, line: int) -> int:
    """Return a pseudo-random number that is fixed for a block's line of an array."""
    return (crc32(name.encode()) + 31 * block + line) * 2654435761 >> 8


def _deviation(spread: Sequence[float], block: int, name: str, line: int) -> float:
    """Return the difference between the latency of a line and the mean."""
    return spread[_pseudo_random(block, name, line) % len(spread)] if spread else 0.0


@dataclass(slots=True, eq=False)
class _Scheduler:
    """A scheduler while it issues for its warps.

    free_from: the cycle from which each of its units and register banks is free; queue: the cycle at which its requests
    have left the queue to memory; last: the warp that issued last. stalled: warps that wait for operands, as (when they
    can issue, number); eligible: ready ones by the resources that their next instruction needs, as (age of the block,
    ready since, number). issued_while_free: the issue slots that warps took while a set of resources was free.
    """

    number: int
    free_from: list[float] = field(default_factory=lambda: [0.0] * (ODD + 1))
    queue: float = 0.0
    last: _Warp | None = None
    stalled: list[tuple[float, int]] = field(default_factory=list)
    eligible: dict[ResourceSet, list[tuple[int, float, int]]] = field(default_factory=dict)
    issued_while_free: dict[ResourceSet, float] = field(default_factory=dict)
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
    which it could issue; issued_when_ready: the value of `issued_while_free` of its scheduler then; free: the cycle at
    which its last instruction had been issued; issues: the cycle from which it has issued without a wait.
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
    issued_when_ready: float = 0.0
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
        """Place the warps of the first blocks on the schedulers, and begin with empty caches and queues."""
        self.multiprocessor = multiprocessor
        self.loaded_by = loaded_by or {}
        self.in_step = in_step
        self.rounds = rounds
        self.served = served
        self.capacity = max(l1_bytes // SECTOR_BYTES, 1)
        #: The sectors in the first-level cache, that used least recently first, and the cycle at which each arrives.
        self.cache = OrderedDict[tuple[int, str, int], float]()
        distinct = {id(i): i for stream in warps for i in stream}  # warps share most of them
        known = {number: _step(instruction, multiprocessor) for number, instruction in distinct.items()}
        streams = [[known[id(i)] for i in stream] for stream in warps]
        self.active_warps = sum(bool(stream) for stream in streams)  # the warps of a block that issue anything
        self.schedulers = [_Scheduler(number) for number in range(multiprocessor.schedulers)]
        self.blocks = [_Block(number, number, self.active_warps) for number in range(blocks)]
        self.blocks_begun = blocks
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
        #: When what DRAM delivers with a requested sector arrives in the second-level cache.
        self.in_second_level: dict[tuple[int, str, int], float] = {}
        self.events: list[tuple[float, int]] = []  # (time of the next action, scheduler)

    def run(self) -> None:
        """Simulate until every warp has ended."""
        for warp in self.warps:
            if warp.stream:
                self._stall(warp, 0.0)
        events = self.events
        while events:
            now, number = heappop(events)
            scheduler = self.schedulers[number]
            stalled, eligible, issued_while_free = scheduler.stalled, scheduler.eligible, scheduler.issued_while_free
            while stalled and stalled[0][0] <= now:
                ready, number_of_warp = heappop(stalled)
                warp = self.warps[number_of_warp]
                resources = warp.stream[warp.position].resources
                insort(eligible.setdefault(resources, []), (warp.block.age, ready, number_of_warp))
                warp.issued_when_ready = issued_while_free.setdefault(resources, 0.0) - (now - ready)
            selected, free = self._select(scheduler, now)
            if selected is not None:
                free = self._issue_until_held(selected, now)
            elif stalled:
                free = min(free, stalled[0][0])
            if free < INFINITE:
                heappush(events, (free, number))
            else:
                scheduler.idle = True

    def _select(self, scheduler: _Scheduler, now: float) -> tuple[_Warp | None, float]:
        """Return the warp that issues: the one that issued last if it can; else one of the block that began first.

        Of that block's warps it is the one that has been ready for the longest time. If none is ready, return None and
        the cycle at which the first will be.
        """
        free_from, last, eligible = scheduler.free_from, scheduler.last, scheduler.eligible
        last_again = (last.block.age, last.since, last.number) if last else (-1, 0.0, -1)
        first_free, of = INFINITE, None
        selected = NO_WARP
        for resources, warps in eligible.items():
            free = _free_from(free_from, resources)
            if free > now:
                first_free = min(first_free, free)
            elif last_again in warps:
                selected, of = last_again, resources
                break
            elif warps[0] < selected:
                selected, of = warps[0], resources
        if of is None:
            return None, first_free
        warps = eligible[of]
        del warps[bisect_left(warps, selected)]
        if not warps:
            del eligible[of]
        return self.warps[selected[2]], now

    def _issue_until_held(self, warp: _Warp, now: float) -> float:
        """Let a warp issue until something holds it or another one is first; return when the scheduler acts next."""
        scheduler, events, stream = warp.scheduler, self.events, warp.stream
        stalled = scheduler.stalled
        while True:
            ready, now = self._issue(warp, now), warp.free
            another_warp_is_ready = bool(stalled) and stalled[0][0] <= now
            another_scheduler_is_first = bool(events) and events[0] < (now, scheduler.number)
            if ready > now or another_warp_is_ready or another_scheduler_is_first:
                break
            if _free_from(scheduler.free_from, stream[warp.position].resources) > now:
                break
            warp.since = now
        if ready < INFINITE:
            self._stall(warp, ready)
        return now

    def _issue(self, warp: _Warp, now: float) -> float:
        """Issue the next instruction of a warp; return when the following one can, INFINITE if others decide that."""
        scheduler, position = warp.scheduler, warp.position
        step, free_from, issued_while_free = warp.stream[position], scheduler.free_from, scheduler.issued_while_free
        since = warp.since
        if since < now:
            self._record_held(warp, step.held_by, now, issued_while_free[step.resources])
        for resources in scheduler.eligible:
            if free_from[resources[0]] <= now and _free_from(free_from, resources) <= now:
                issued_while_free[resources] += 1
        finish = self._occupy(step, warp, now)
        scheduler.last = warp
        warp.done[position] = finish
        self.issued += 1
        warp.free = end = now + 1
        if step.pace > 1:  # the compiler has fixed the cycles until the next one
            self._record_wait(warp, ARITHMETIC, end, now + step.pace)
            end = now + step.pace
        warp.left[position] = end
        warp.position = position = position + 1
        if step.iteration > warp.iteration:
            warp.iteration = step.iteration
            warp.iterations.append(now)
        if step.kind != "barrier" and position < len(warp.stream):
            return self._ready(warp, end)
        if step.kind == "barrier":
            self._wait_at_barrier(warp, end)
        else:
            self._end(warp, end)
        return INFINITE

    def _occupy(self, step: _Step, warp: _Warp, now: float) -> float:
        """Let an instruction occupy its unit and the banks of its registers; return when its result is there."""
        scheduler, free_from = warp.scheduler, warp.scheduler.free_from
        unit, even, odd = step.resources
        if unit == PATH:
            self._use_path(scheduler, now, step.path)
            finish = self._access(step, warp.block, now)
        else:
            finish = now + step.latency
            if unit:
                free_from[unit] = now + step.busy
        if even:
            free_from[EVEN] = max(free_from[EVEN], now) + step.reads[0]
        if odd:
            free_from[ODD] = max(free_from[ODD], now) + step.reads[1]
        if step.uniform_read:
            free_from[UNIFORM] = max(free_from[UNIFORM], now) + step.uniform_read
        return finish

    def _record_held(self, warp: _Warp, by: int, now: float, issued_while_free: float) -> None:
        """Note that a warp was held by the unit that it needs, and by other warps that issued while that was free."""
        free = max(now - (issued_while_free - warp.issued_when_ready), warp.since)
        self._record_wait(warp, by, warp.since, free)
        self._record_wait(warp, NOT_SELECTED, free, now)

    def _end(self, warp: _Warp, now: float) -> None:
        """Note that a warp has ended; when all warps of its block have, let the next block begin in its place.

        The barriers of the other warps do not wait for it.
        """
        self._record_issuing(warp, now)
        warp.ended = now
        block = warp.block
        block.running -= 1
        if block.running:
            self._open_barrier(block, now)
        elif block.round + 1 < self.rounds:
            self._begin_next_block(block, now)

    def _begin_next_block(self, block: _Block, now: float) -> None:
        """Let the next block begin in the place of one that has ended."""
        block.round += 1
        block.age = self.blocks_begun
        self.blocks_begun += 1
        block.running = self.active_warps
        for warp in block.warps:
            if warp.stream:
                warp.position = warp.iteration = 0
                warp.issues = now
                self._stall(warp, self._ready(warp, now))

    def _use_path(self, scheduler: _Scheduler, now: float, cycles: float) -> None:
        """Queue a request at its scheduler, then pass its wavefronts through the path that all schedulers share."""
        request = self.multiprocessor.request
        leaves = max(scheduler.queue, now)
        self.path = max(self.path, leaves) + cycles
        scheduler.queue = free = max(leaves + request, self.path - cycles + 1)
        scheduler.free_from[PATH] = free - QUEUED_REQUESTS * request

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
                if len(cache) == self.capacity:
                    cache.popitem(last=False)
            cache[sector] = known
            if known > arrival:
                arrival = known
        return arrival + step.latency

    def _is_first(self, block: int, name: str, number: int) -> bool:
        """Return whether a request is the first for its lines, of those of all blocks that ask for them.

        In step all are: no line is there yet. Else one block of those that ask is the first.
        """
        return self.in_step or _pseudo_random(block, name, number) % PRIME < PRIME / self.loaded_by.get(name, 1)

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
        deviation = multiprocessor.latency["L2"] * _deviation(multiprocessor.spread, block, name, line)
        arrival = self.from_memory["L2"] + multiprocessor.latency["L2"] + deviation
        if level == "L2" or not first:
            return arrival
        piece = block, name, number * SECTOR_BYTES // multiprocessor.dram_bytes
        if piece not in self.in_second_level:
            run = number * SECTOR_BYTES // multiprocessor.dram_run
            given = multiprocessor.dram_bytes / multiprocessor.bytes_per_cycle["DRAM"]
            if self.in_step:
                given /= self.loaded_by.get(name, 1)
            queue = max(self.from_memory["DRAM"], start) + given
            self.from_memory["DRAM"] = queue
            self.in_second_level[piece] = (
                queue + multiprocessor.latency["DRAM"] + _deviation(multiprocessor.dram_spread, block, name, run)
            )
        return max(arrival, self.in_second_level[piece])

    def _ready(self, warp: _Warp, now: float) -> float:
        """Return when the operands of a warp's next instruction are available."""
        stream, done = warp.stream, warp.done
        ready, last = now, -1
        for need in stream[warp.position].needs:
            if done[need] > ready:
                ready, last = done[need], need
        if ready > now:
            self._record_wait(warp, stream[last].waits_for, now, ready)
        return ready

    def _stall(self, warp: _Warp, ready: float) -> None:
        """Suspend a warp until the operands of its next instruction are there, and its scheduler if it has no other."""
        scheduler = warp.scheduler
        warp.since = ready
        heappush(scheduler.stalled, (ready, warp.number))
        if scheduler.idle:
            scheduler.idle = False
            heappush(self.events, (ready, scheduler.number))

    def _wait_at_barrier(self, warp: _Warp, now: float) -> None:
        """Let a warp wait at a barrier for the others of its block."""
        self.barriers = (
            max(self.barriers, now) + self.multiprocessor.barrier[1]
        )  # warps are counted one after the other
        warp.block.arrived.append((warp, now))
        self._open_barrier(warp.block, now)

    def _open_barrier(self, block: _Block, now: float) -> None:
        """Open a block's barrier, which occupies the path, if all its warps that have not ended wait there."""
        arrived = block.arrived
        if not arrived or len(arrived) < block.running:
            return
        block.arrived = []
        opened = max(self.barriers, now) + self.multiprocessor.barrier[0]
        self.path = max(self.path, now) + self.multiprocessor.barrier_path
        for warp, since in arrived:
            self._record_wait(warp, BARRIER, since, opened)
            if warp.position < len(warp.stream):
                self._stall(warp, self._ready(warp, opened))
            else:
                self._end(warp, opened)

    def _record_wait(self, warp: _Warp, reason: int, first: float, last: float) -> None:
        """Record a wait, if it has any length, and the issuing before it."""
        if last > first:
            self._record_issuing(warp, first)
            warp.spans.append((REASONS[reason], first, last))
            self.waits[reason] += last - first
            warp.issues = last

    def _record_issuing(self, warp: _Warp, now: float) -> None:
        since = warp.issues
        if now > since:
            warp.spans.append((REASONS[ISSUING], since, now))
            self.waits[ISSUING] += now - since
            warp.issues = now
