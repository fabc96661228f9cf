"""The loop of the simulation (:mod:`.simulation`): what happens on a multiprocessor, event by event.

numba compiles it, once: the machine code is kept beside this file, or in the user's cache. It works on NumPy's records.
Where numba is not installed, Python runs the same text on objects with the same attributes, and takes far longer.

A warp is stalled until the operands of its next instruction are there, then eligible until it issues. A scheduler acts
at one cycle at a time, its `event`; of those that act at the same cycle, the one with the lowest number is first.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple, TypeVar

import numpy as np

Function = TypeVar("Function", bound=Callable[..., Any])

try:  # from this module, which the stand-ins for an absent numba do not have
    from numba.core.decorators import njit
except ImportError:

    def _compiled(function: Function, cache: bool = False) -> Function:
        return function

else:

    def _compiled(function: Function, cache: bool = False) -> Function:
        compiled: Any = njit(function, error_model="numpy")
        if cache:
            # numba has no place for it where neither this folder nor the user's cache can be written
            with suppress(RuntimeError):
                compiled.enable_caching()
        return compiled


INFINITE = float("inf")
#: The reasons for waiting, by their places in `simulation.REASONS`. numba compiles a function again for each constant
#: that it is called with, but not for `int` of one.
ISSUING, GLOBAL, SHARED, ARITHMETIC, BARRIER, NOT_SELECTED = range(6)
#: The resources that can hold back a ready instruction: the units of its scheduler, and the two banks of registers.
NOTHING, PATH, INTEGER, MULTIPLY, UNIFORM, CONSTANT, EVEN, ODD = range(8)
UNITS = 8
#: What an instruction on the path to memory does after its wavefronts.
READS_SHARED, STORES, ENDS, FETCHES = range(4)
#: Requests that may queue at a scheduler for the path to memory before the next one must wait. No kernel measures it:
#: with 2 or 8 instead, half of the predictions of matrices in the second-level cache change by 0.3 % or less, all by
#: less than 7 %.
QUEUE = 4
#: A large prime: which of several blocks is the first to request a line is drawn by a remainder of it.
PRIME = 9973
#: The status of a warp: stalled until its operands are there, then eligible until it issues. It is inactive while it
#: issues or waits at a barrier, before it begins and after it has ended.
INACTIVE, STALLED, ELIGIBLE = range(3)
#: Numbers of a span: warp, reason, first cycle, cycle after the last.
SPAN = 4


def _record(integers: str, floats: str = "") -> np.dtype:
    """Return the type of records with these fields, whose names are separated by spaces."""
    return np.dtype([(name, np.int64) for name in integers.split()] + [(name, np.float64) for name in floats.split()])


#: A distinct instruction, with the machine's numbers. resources: the number of its record of `RESOURCES`. held_by,
#: waits_for: the reasons for waiting while its unit is busy, and while its result is missing. busy: cycles for which it
#: occupies its unit; latency: cycles from its issue, or from its last wavefront, to its result; path: cycles on the
#: path to memory; even, odd: registers that it reads; uniform_read: cycles of the uniform unit, for which it does not
#: wait. The numbers of the positions that it needs, and of its sectors, are between first and last.
INSTRUCTION = _record(
    "resources held_by waits_for after barrier pace even odd uniform_read iteration"
    " first_need last_need first_sector last_sector",
    "busy latency path",
)
#: The resources that must be free before an instruction issues: a unit, and the banks of even and of odd registers.
RESOURCES = _record("unit even odd")
#: Who wants a set of resources at a scheduler. eligible: the eligible warps whose next instruction needs them;
#: issued_while_free: the issue slots that warps took while they were free.
CONTENTION = _record("eligible", "issued_while_free")
#: A sector of global memory. name: a number made of the array's name; line, run, piece: the parts of memory that it is
#: in, piece counted over all arrays. from_dram: whether DRAM serves the array; loaded_by: the blocks that load it.
SECTOR = _record("name number line run piece from_dram", "loaded_by")
#: A warp. Its instructions are size numbers in `State.streams` from stream_start on, their results in `State.results`
#: from first_result on, the cycles at which it began iterations in `State.begun` from first_begun on. ready_at: when
#: its operands are there; since: from when it could issue; issued_when_ready: `issued_while_free` of its resources at
#: that time; free: when its last instruction had been issued; issues: from when it has issued without a wait. arrived,
#: arrived_at: of the warps at the barrier of its block in the order of their arrival, the one that has this warp's
#: place in the block.
WARP = _record(
    "block scheduler stream_start size first_result first_begun begun status position iteration arrived",
    "ready_at since issued_when_ready free issues ended arrived_at",
)
#: The result of an instruction of a warp. done: when it is there; left: when the warp could go on.
RESULT = _record("", "done left")
#: A scheduler. last: the warp that issued last; queue: when its requests have left the queue to memory; event: when it
#: acts, negative if it has no warp, infinite while it acts; next_ready: when its first stalled warp becomes eligible.
SCHEDULER = _record("last", "queue event next_ready")
#: A place for a block. age: the order in which blocks have begun; running: the warps that have not ended.
BLOCK = _record("age running round first_warp arrived")
#: A sector of one block. older, newer: its neighbours by use; arrives: when it is in the first-level cache, negative if
#: that does not hold it; dram_done: when DRAM has delivered the piece of this number, negative if nobody has asked.
SECTOR_STATE = _record("older newer", "arrives dram_done")
#: The machine's numbers, in cycles; rates are bytes per cycle. capacity: sectors in the first-level cache;
#: active_warps: the warps of a block that issue anything.
MACHINE = _record(
    "dram_bytes sector_bytes capacity rounds active_warps in_step",
    "l1 l2 dram l2_rate dram_rate barrier arrival barrier_path request",
)
#: What all schedulers share: the cycles from which the path to memory, the second-level cache, DRAM and the counter of
#: barriers are free; how many instructions were issued, spans recorded, sectors fetched and blocks begun; how many
#: sectors are in the first-level cache, and the oldest and the newest of them by use.
COMMON = _record("issued spans fetched begun cached oldest newest", "path l2 dram barriers")


class State(NamedTuple):
    """A simulation: what it is made of, and its state. Each is an array of the record with this name, or of numbers.

    resource_sets: records of `RESOURCES`; streams: numbers of instructions, warp by warp; needs: positions; accessed:
    numbers of sectors; spread, dram_spread: deviations of latencies; unit_free: for each scheduler, the cycle from
    which each of its UNITS is free; waits: cycles by reason; fetches: cycles of request and of arrival.
    """

    machine: Any
    instructions: Any
    resource_sets: Any
    sectors: Any
    streams: Any
    needs: Any
    accessed: Any
    spread: Any
    dram_spread: Any
    warps: Any
    results: Any
    begun: Any
    schedulers: Any
    unit_free: Any
    contention: Any
    blocks: Any
    sector_states: Any
    common: Any
    waits: Any
    fetches: Any


@_compiled
def pseudo_random(name: int, block: int, line: int) -> int:
    """Return a pseudo-random number that is fixed for a block's line of an array."""
    seed = name + 31 * block + line
    # seed * 2654435761 >> 8, without numbers of more than 63 bits
    return (seed * 40503 << 8) + (seed * 31153 >> 8)


@_compiled
def _record_span(state: State, spans: Any, warp: int, reason: int, first: float, last: float) -> None:
    place = state.common[0].spans * SPAN
    spans[place] = warp
    spans[place + 1] = reason
    spans[place + 2] = first
    spans[place + 3] = last
    state.common[0].spans += 1
    state.waits[reason] += last - first


@_compiled
def _record_issuing(state: State, spans: Any, warp: int, now: float) -> None:
    issues = state.warps[warp].issues
    if now > issues:
        _record_span(state, spans, warp, int(ISSUING), issues, now)
        state.warps[warp].issues = now


@_compiled
def _record_wait(state: State, spans: Any, warp: int, reason: int, first: float, last: float) -> None:
    """Record a wait, if it has any length, and the issuing before it."""
    if last > first:
        _record_issuing(state, spans, warp, first)
        _record_span(state, spans, warp, reason, first, last)
        state.warps[warp].issues = last


@_compiled
def _free_from(state: State, scheduler: int, resources: int) -> float:
    """Return the cycle from which all resources of a set are free at a scheduler."""
    needed = state.resource_sets[resources]
    first_unit = scheduler * UNITS
    free = state.unit_free[first_unit + needed.unit]
    if needed.even and state.unit_free[first_unit + EVEN] > free:
        free = state.unit_free[first_unit + EVEN]
    if needed.odd and state.unit_free[first_unit + ODD] > free:
        free = state.unit_free[first_unit + ODD]
    return free


@_compiled
def _next_resources(state: State, warp: int) -> int:
    """Return the number of the set of resources that a warp's next instruction needs."""
    place = state.warps[warp].stream_start + state.warps[warp].position
    return state.instructions[state.streams[place]].resources


@_compiled
def _operands_ready(state: State, spans: Any, warp: int, now: float) -> float:
    """Return when the operands of a warp's next instruction are available."""
    first = state.warps[warp].stream_start
    first_result = state.warps[warp].first_result
    instruction = state.instructions[state.streams[first + state.warps[warp].position]]
    ready = now
    last = -1
    for place in range(instruction.first_need, instruction.last_need):
        need = state.needs[place]
        done = state.results[first_result + need].done
        if done > ready:
            ready = done
            last = need
    if ready > now:
        _record_wait(state, spans, warp, state.instructions[state.streams[first + last]].waits_for, now, ready)
    return ready


@_compiled
def _stall(state: State, warp: int, ready: float) -> None:
    """Suspend a warp until the operands of its next instruction are there, and its scheduler if it has no other."""
    scheduler = state.warps[warp].scheduler
    state.warps[warp].status = STALLED
    state.warps[warp].since = ready
    state.warps[warp].ready_at = ready
    if ready < state.schedulers[scheduler].next_ready:
        state.schedulers[scheduler].next_ready = ready
    if state.schedulers[scheduler].event < 0:
        state.schedulers[scheduler].event = ready


@_compiled
def _end_warp(state: State, spans: Any, warp: int, now: float) -> bool:
    """Note that a warp has ended; when all warps of its block have, let the next block begin in its place.

    Return whether other warps of the block are running.
    """
    block = state.warps[warp].block
    _record_issuing(state, spans, warp, now)
    state.warps[warp].status = INACTIVE
    state.warps[warp].ended = now
    state.blocks[block].running -= 1
    if state.blocks[block].running > 0:
        return True
    if state.blocks[block].round + 1 < state.machine[0].rounds:
        state.blocks[block].round += 1
        state.blocks[block].age = state.common[0].begun
        state.common[0].begun += 1
        state.blocks[block].running = state.machine[0].active_warps
        other = state.blocks[block].first_warp
        while other < len(state.warps) and state.warps[other].block == block:
            if state.warps[other].size > 0:
                state.warps[other].position = 0
                state.warps[other].iteration = 0
                state.warps[other].issues = now
                _stall(state, other, _operands_ready(state, spans, other, now))
            other += 1
    return False


@_compiled
def _open_barrier(state: State, spans: Any, block: int, now: float) -> None:
    """Open a block's barrier, which occupies the path, if all its warps that have not ended wait there."""
    first = state.blocks[block].first_warp
    count = state.blocks[block].arrived
    if count == 0 or count < state.blocks[block].running:
        return
    state.blocks[block].arrived = 0
    opened = max(state.common[0].barriers, now) + state.machine[0].barrier
    state.common[0].path = max(state.common[0].path, now) + state.machine[0].barrier_path
    for place in range(first, first + count):
        warp = state.warps[place].arrived
        _record_wait(state, spans, warp, int(BARRIER), state.warps[place].arrived_at, opened)
        if state.warps[warp].position < state.warps[warp].size:
            _stall(state, warp, _operands_ready(state, spans, warp, opened))
        else:
            _end_warp(state, spans, warp, opened)


@_compiled
def _use_path(state: State, scheduler: int, now: float, cycles: float) -> None:
    """Queue a request at its scheduler, then pass its wavefronts through the path that all schedulers share."""
    request = state.machine[0].request
    leaves = max(state.schedulers[scheduler].queue, now)
    path = max(state.common[0].path, leaves) + cycles
    free = max(leaves + request, path - cycles + 1)
    state.common[0].path = path
    state.schedulers[scheduler].queue = free
    state.unit_free[scheduler * UNITS + PATH] = free - QUEUE * request


@_compiled
def _remove_from_order(state: State, place: int) -> None:
    """Take a sector out of the order of use."""
    older = state.sector_states[place].older
    newer = state.sector_states[place].newer
    if older >= 0:
        state.sector_states[older].newer = newer
    else:
        state.common[0].oldest = newer
    if newer >= 0:
        state.sector_states[newer].older = older
    else:
        state.common[0].newest = older
    state.common[0].cached -= 1


@_compiled
def _append_to_order(state: State, place: int) -> None:
    """Make a sector the one that was used last."""
    newest = state.common[0].newest
    state.sector_states[place].older = newest
    state.sector_states[place].newer = -1
    if newest >= 0:
        state.sector_states[newest].newer = place
    else:
        state.common[0].oldest = place
    state.common[0].newest = place
    state.common[0].cached += 1


@_compiled
def _is_first(state: State, block: int, sector: int) -> bool:
    """Return whether a request is the first for its lines, of those of all blocks that ask for them.

    In step all are: no line is there yet. Else each is the first for some of the lines.
    """
    if state.machine[0].in_step > 0:
        return True
    name = state.sectors[sector].name
    number = state.sectors[sector].number
    return pseudo_random(name, block, number) % PRIME < PRIME / state.sectors[sector].loaded_by


@_compiled
def _deviation(spread: Any, name: int, block: int, line: int) -> float:
    """Return the difference between the latency of a line and the mean."""
    return spread[pseudo_random(name, block, line) % len(spread)] if len(spread) > 0 else 0.0


@_compiled
def _fetch(state: State, block: int, sector: int, start: float, first: bool) -> float:
    """Return when a sector that the first-level cache does not hold arrives.

    What another block asked for first is in the second-level cache. DRAM delivers `dram_bytes` at a time: the
    neighbours of the requested sector then are in that cache, too.
    """
    common = state.common[0]
    machine = state.machine[0]
    about = state.sectors[sector]
    common.l2 = max(common.l2, start) + machine.sector_bytes / machine.l2_rate
    deviation = machine.l2 * _deviation(state.spread, about.name, block, about.line)
    arrival = common.l2 + machine.l2 + deviation
    if about.from_dram == 0 or not first:
        return arrival
    piece = block * len(state.sectors) + about.piece
    if state.sector_states[piece].dram_done < 0:
        cycles = machine.dram_bytes / machine.dram_rate
        if machine.in_step > 0:
            cycles /= about.loaded_by
        common.dram = max(common.dram, start) + cycles
        deviation = _deviation(state.dram_spread, about.name, block, about.run)
        state.sector_states[piece].dram_done = common.dram + machine.dram + deviation
    return max(arrival, state.sector_states[piece].dram_done)


@_compiled
def _access(state: State, instruction: int, block: int, now: float) -> float:
    """Return when the result of an access arrives whose wavefronts have passed.

    An access to global memory looks into the first-level cache, and fetches what that does not hold.
    """
    common = state.common[0]
    machine = state.machine[0]
    about = state.instructions[instruction]
    start = common.path - 1
    if about.after == READS_SHARED:
        return start + about.latency
    if about.after == STORES:
        sectors = about.last_sector - about.first_sector
        common.l2 = max(common.l2, start) + sectors * machine.sector_bytes / machine.l2_rate
    if about.after != FETCHES:
        return now + about.latency
    own = block + state.blocks[block].round * len(state.blocks)  # memory of its own
    arrival = start + machine.l1
    asks_first = about.first_sector < about.last_sector and _is_first(state, own, state.accessed[about.first_sector])
    for number in range(about.first_sector, about.last_sector):
        sector = state.accessed[number]
        place = own * len(state.sectors) + sector
        arrives = state.sector_states[place].arrives
        if arrives >= 0:
            _remove_from_order(state, place)
        else:
            arrives = _fetch(state, own, sector, start, asks_first)
            state.fetches[2 * common.fetched] = start
            state.fetches[2 * common.fetched + 1] = arrives
            common.fetched += 1
            if common.cached == machine.capacity:
                oldest = common.oldest
                _remove_from_order(state, oldest)
                state.sector_states[oldest].arrives = -1.0
        _append_to_order(state, place)
        state.sector_states[place].arrives = arrives
        arrival = max(arrival, arrives)
    return arrival + about.latency


@_compiled
def _occupy(state: State, scheduler: int, block: int, instruction: int, now: float) -> float:
    """Let an instruction occupy its unit and the banks of its registers; return when its result is there."""
    about = state.instructions[instruction]
    unit = state.resource_sets[about.resources].unit
    first_unit = scheduler * UNITS
    if unit == PATH:
        _use_path(state, scheduler, now, about.path)
        finish = _access(state, instruction, block, now)
    else:
        finish = now + about.latency
        if unit > 0:
            state.unit_free[first_unit + unit] = now + about.busy
    for bank, cycles in ((EVEN, about.even), (ODD, about.odd), (UNIFORM, about.uniform_read)):
        if cycles > 0:
            state.unit_free[first_unit + bank] = max(state.unit_free[first_unit + bank], now) + cycles
    return finish


@_compiled
def _issue(state: State, spans: Any, warp: int, now: float) -> float:
    """Issue the next instruction of a warp; return when the following one can, INFINITE if others decide that."""
    this = state.warps[warp]
    position = this.position
    instruction = state.streams[this.stream_start + position]
    about = state.instructions[instruction]
    first_set = this.scheduler * len(state.resource_sets)
    if this.since < now:  # held by the unit, and by other warps that issued while that was free
        others = state.contention[first_set + about.resources].issued_while_free - this.issued_when_ready
        could_issue = max(now - others, this.since)
        _record_wait(state, spans, warp, about.held_by, this.since, could_issue)
        _record_wait(state, spans, warp, int(NOT_SELECTED), could_issue, now)
    for number in range(len(state.resource_sets)):
        contention = state.contention[first_set + number]
        if contention.eligible > 0 and _free_from(state, this.scheduler, number) <= now:
            contention.issued_while_free += 1.0
    finish = _occupy(state, this.scheduler, this.block, instruction, now)
    state.schedulers[this.scheduler].last = warp
    state.common[0].issued += 1
    result = state.results[this.first_result + position]
    result.done = finish
    end = now + 1.0
    this.free = end
    if about.pace > 1:  # the compiler has fixed the cycles until the next one
        _record_wait(state, spans, warp, int(ARITHMETIC), end, now + about.pace)
        end = now + about.pace
    result.left = end
    this.position = position + 1
    if about.iteration > this.iteration:
        this.iteration = about.iteration
        state.begun[this.first_begun + this.begun] = now
        this.begun += 1
    if about.barrier > 0:  # warps are counted one after the other
        state.common[0].barriers = max(state.common[0].barriers, end) + state.machine[0].arrival
        block = state.blocks[this.block]
        arrival = state.warps[block.first_warp + block.arrived]
        arrival.arrived = warp
        arrival.arrived_at = end
        block.arrived += 1
        _open_barrier(state, spans, this.block, end)
    elif position + 1 < this.size:
        return _operands_ready(state, spans, warp, end)
    elif _end_warp(state, spans, warp, end):
        _open_barrier(state, spans, this.block, end)  # the other warps do not wait for it
    return INFINITE


@_compiled
def _make_eligible(state: State, scheduler: int, now: float) -> None:
    """Make those warps of a scheduler eligible whose operands are there."""
    soonest = INFINITE
    for warp in range(scheduler, len(state.warps), len(state.schedulers)):
        if state.warps[warp].status == STALLED:
            ready = state.warps[warp].ready_at
            if ready <= now:
                contention = state.contention[scheduler * len(state.resource_sets) + _next_resources(state, warp)]
                contention.eligible += 1
                state.warps[warp].issued_when_ready = contention.issued_while_free - (now - ready)
                state.warps[warp].status = ELIGIBLE
            elif ready < soonest:
                soonest = ready
    state.schedulers[scheduler].next_ready = soonest


@_compiled
def _select(state: State, scheduler: int, now: float) -> tuple[int, float]:
    """Return the warp that issues: the one that issued last if it can; else one of the block that began first.

    Of that block's warps it is the one that has been ready for the longest time. If none is ready, return -1 and the
    cycle at which the first will be.
    """
    soonest = INFINITE
    selected = -1
    last = state.schedulers[scheduler].last
    if last >= 0 and state.warps[last].status == ELIGIBLE:
        if _free_from(state, scheduler, _next_resources(state, last)) <= now:
            selected = last
    if selected < 0:
        first = 0
        longest = 0.0
        for warp in range(scheduler, len(state.warps), len(state.schedulers)):
            if state.warps[warp].status == ELIGIBLE:
                free = _free_from(state, scheduler, _next_resources(state, warp))
                age = state.blocks[state.warps[warp].block].age
                since = state.warps[warp].ready_at
                if free > now:
                    soonest = min(soonest, free)
                elif selected < 0 or age < first or (age == first and since < longest):
                    selected = warp
                    first = age
                    longest = since
    if selected >= 0:
        state.warps[selected].status = INACTIVE
        state.contention[scheduler * len(state.resource_sets) + _next_resources(state, selected)].eligible -= 1
    return selected, soonest


@_compiled
def _next_scheduler(state: State) -> int:
    """Return the scheduler that acts next, -1 if none will."""
    found = -1
    soonest = INFINITE
    for scheduler in range(len(state.schedulers)):
        event = state.schedulers[scheduler].event
        if 0 <= event < soonest:
            found, soonest = scheduler, event
    return found


@_compiled
def _issues_again(state: State, warp: int, ready: float, now: float) -> bool:
    """Return whether the warp that has issued can issue again at once, with nothing else to happen before."""
    scheduler = state.warps[warp].scheduler
    if ready > now or state.schedulers[scheduler].next_ready <= now:
        return False
    other = _next_scheduler(state)
    if other >= 0:
        event = state.schedulers[other].event
        if event < now or (event == now and other < scheduler):
            return False
    return _free_from(state, scheduler, _next_resources(state, warp)) <= now


def _run(state: State, spans: Any, most_spans: int) -> Any:
    """Simulate until every warp has ended: change the state, and return the spans.

    most_spans: how many of them one instruction can cause.
    """
    for warp in range(len(state.warps)):
        if state.warps[warp].size > 0:
            _stall(state, warp, 0.0)
    while True:
        scheduler = _next_scheduler(state)
        if scheduler < 0:
            return spans
        now = state.schedulers[scheduler].event
        state.schedulers[scheduler].event = INFINITE
        if state.schedulers[scheduler].next_ready <= now:
            _make_eligible(state, scheduler, now)
        warp, free = _select(state, scheduler, now)
        if warp < 0:
            free = min(free, state.schedulers[scheduler].next_ready)
        else:
            issues = True
            while issues:
                if (state.common[0].spans + most_spans) * SPAN > len(spans):
                    spans = doubled(spans)
                ready = _issue(state, spans, warp, now)
                now = state.warps[warp].free
                issues = _issues_again(state, warp, ready, now)
                if issues:
                    state.warps[warp].since = now
            if ready < INFINITE:
                _stall(state, warp, ready)
            free = now
        state.schedulers[scheduler].event = free if free < INFINITE else -1.0


run = _compiled(_run, cache=True)  # with the functions that it calls
#: Whether numba has compiled the loop, which then takes arrays; else lists.
COMPILED = hasattr(run, "signatures")

if COMPILED:

    @_compiled
    def doubled(spans: Any) -> Any:
        """Return the numbers with room for as many again."""
        more = np.zeros(2 * len(spans))
        for place in range(len(spans)):
            more[place] = spans[place]
        return more

else:

    def doubled(spans: Any) -> Any:
        """Return the numbers with room for as many again."""
        return spans + [0.0] * len(spans)
