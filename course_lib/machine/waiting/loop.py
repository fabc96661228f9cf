"""The loop of the player (:mod:`.player`): what happens on a multiprocessor, event by event.

numba compiles it, once: the machine code is kept beside this file, or in the user's cache. It works on NumPy's records.
Where numba is not installed, Python runs the same text on objects with the same attributes, and takes far longer.

A warp is asleep until the operands of its next instruction are there, then awake until it issues. A scheduler acts at
one cycle at a time, its `event`; of those that act at the same cycle, the one with the lowest number is first.
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
#: The reasons for waiting, by their places in `player.REASONS`. numba compiles a function again for each
#: constant that it is called with, but not for `int` of one.
ISSUING, GLOBAL, SHARED, ARITHMETIC, BARRIER, TURN = range(6)
#: The resources that can hold back a ready instruction: the units of its scheduler, and the two banks of registers.
NOTHING, PATH, INTEGER, MULTIPLY, UNIFORM, CONSTANT, EVEN, ODD = range(8)
UNITS = 8
#: What an instruction on the path to memory does after its wavefronts.
READS_SHARED, STORES, ENDS, FETCHES = range(4)
#: Requests that may queue at a scheduler for the path to memory before the next one must wait. No kernel measures it:
#: with 2 or 8 instead, half of the predictions of matrices in the second-level cache change by 0.3 % or less, all by
#: less than 7 %.
QUEUE = 4
#: A large prime: requests are drawn by their rest.
TURNS = 9973
#: What a warp does; it is away while it issues or waits at a barrier, before it begins and after it has ended.
AWAY, ASLEEP, AWAKE = range(3)
#: Numbers of a span: warp, reason, first cycle, cycle after the last.
SPAN = 4

_N, _X = np.int64, np.float64
#: A distinct instruction, with the machine's numbers. gate: the number of its record of `GATE`. held_by, waits_for: the
#: reasons for waiting while its unit is busy, and while its result is missing. busy: cycles for which it occupies its
#: unit; latency: cycles from its issue, or from its last wavefront, to its result; path: cycles on the path to memory;
#: even, odd: registers that it reads; uniform_read: cycles of the uniform unit, for which it does not wait. The numbers
#: of the positions that it needs, and of its sectors, are between first and last.
STEP = np.dtype(
    [(name, _X) for name in ("busy", "latency", "path")]
    + [
        (name, _N)
        for name in (
            *("gate", "held_by", "waits_for", "after", "barrier", "pace", "even", "odd", "uniform_read", "iteration"),
            *("first_need", "last_need", "first_sector", "last_sector"),
        )
    ]
)
#: The resources that must be free before an instruction issues: a unit, and the banks of even and of odd registers.
GATE = np.dtype([(name, _N) for name in ("unit", "even", "odd")])
#: A gate at a scheduler. awake: its ready warps whose next instruction has this gate; passed: the issue slots that
#: warps took while it was free.
GATE_HERE = np.dtype([("awake", _N), ("passed", _X)])
#: A sector of global memory. name: a number made of the array's name; line, run, piece: the parts of memory that it is
#: in, piece counted over all arrays. from_dram: whether DRAM serves the array; loaded_by: the blocks that load it.
SECTOR = np.dtype(
    [(name, _N) for name in ("name", "number", "line", "run", "piece", "from_dram")] + [("loaded_by", _X)]
)
#: A warp. Its instructions are size numbers in `Board.code` from first_code on, their results in `Board.results` from
#: first_result on, the cycles at which it began iterations in `Board.begun` from first_begun on. wakes: when its
#: operands are there; since: from when it could issue; woken: `passed` at its gate then; free: when its last
#: instruction had been issued; issues: from when it has issued without a wait. arrived, arrived_at: of the warps at the
#: barrier of its block in the order of their arrival, the one that has this warp's place in the block.
WARP = np.dtype(
    [(name, _N) for name in ("block", "scheduler", "first_code", "size", "first_result", "first_begun", "begun")]
    + [(name, _N) for name in ("where", "position", "iteration", "arrived")]
    + [(name, _X) for name in ("wakes", "since", "woken", "free", "issues", "ended", "arrived_at")]
)
#: The result of an instruction of a warp. done: when it is there; left: when the warp could go on.
RESULT = np.dtype([("done", _X), ("left", _X)])
#: A scheduler. queue: when its requests have left the queue to memory; last: the warp that issued last; event: when it
#: acts, negative if it has no warp, infinite while it acts; next_wake: when the first of its sleeping warps is ready.
SCHEDULER = np.dtype([("queue", _X), ("last", _N), ("event", _X), ("next_wake", _X)])
#: A place for a block. age: the order in which blocks have begun; running: the warps that have not ended.
BLOCK = np.dtype([(name, _N) for name in ("age", "running", "round", "first_warp", "arrived")])
#: A sector of one block. arrives: when it is in the first-level cache, negative if that does not hold it; older, newer:
#: its neighbours by use; brought: when DRAM has delivered the piece of this number, negative if nobody has asked.
LINE = np.dtype([("arrives", _X), ("older", _N), ("newer", _N), ("brought", _X)])
#: The machine's numbers, in cycles; rates are bytes per cycle. room: sectors in the first-level cache.
MACHINE = np.dtype(
    [
        (name, _X)
        for name in ("l1", "l2", "dram", "l2_rate", "dram_rate", "barrier", "arrival", "barrier_path", "request")
    ]
    + [(name, _N) for name in ("dram_bytes", "sector_bytes", "room", "rounds", "working", "in_step")]
)
#: What there is once: the cycles from which the path to memory, the second-level cache, DRAM and the counter of
#: barriers are free; how many instructions were issued, spans recorded, sectors fetched and blocks begun; how many
#: sectors are in the first-level cache, from the oldest to the newest by use.
ONCE = np.dtype(
    [(name, _X) for name in ("path", "l2", "dram", "barriers")]
    + [(name, _N) for name in ("issued", "spans", "fetched", "begun", "cached", "oldest", "newest")]
)


class Board(NamedTuple):
    """A play: what it is made of, and its state. Each is an array of the record with this name, or of numbers.

    code: numbers of steps; needs: positions; asked: numbers of sectors; ways, dram_ways: deviations of latencies;
    at: for each scheduler, the cycle from which each of its UNITS is free; waits: cycles by reason; fetches: cycles of
    request and of arrival.
    """

    machine: Any
    steps: Any
    gates: Any
    sectors: Any
    code: Any
    needs: Any
    asked: Any
    ways: Any
    dram_ways: Any
    warps: Any
    results: Any
    begun: Any
    schedulers: Any
    at: Any
    gates_here: Any
    blocks: Any
    lines: Any
    once: Any
    waits: Any
    fetches: Any


@_compiled
def drawn(name: int, block: int, line: int) -> int:
    """Return a pseudo-random number that is fixed for a block's line of an array."""
    seed = name + 31 * block + line
    # seed * 2654435761 >> 8, without numbers of more than 63 bits
    return (seed * 40503 << 8) + (seed * 31153 >> 8)


@_compiled
def _span(b: Board, spans: Any, warp: int, reason: int, first: float, last: float) -> None:
    at = b.once[0].spans * SPAN
    spans[at] = warp
    spans[at + 1] = reason
    spans[at + 2] = first
    spans[at + 3] = last
    b.once[0].spans += 1
    b.waits[reason] += last - first


@_compiled
def _issued_until(b: Board, spans: Any, warp: int, now: float) -> None:
    issues = b.warps[warp].issues
    if now > issues:
        _span(b, spans, warp, int(ISSUING), issues, now)
        b.warps[warp].issues = now


@_compiled
def _wait(b: Board, spans: Any, warp: int, reason: int, first: float, last: float) -> None:
    """Record a wait, if it has any length, and the issuing before it."""
    if last > first:
        _issued_until(b, spans, warp, first)
        _span(b, spans, warp, reason, first, last)
        b.warps[warp].issues = last


@_compiled
def _free(b: Board, scheduler: int, gate: int) -> float:
    """Return the cycle from which all resources of a gate are free."""
    base, at = scheduler * UNITS, b.at
    free = at[base + b.gates[gate].unit]
    if b.gates[gate].even and at[base + EVEN] > free:
        free = at[base + EVEN]
    if b.gates[gate].odd and at[base + ODD] > free:
        free = at[base + ODD]
    return free


@_compiled
def _gate(b: Board, warp: int) -> int:
    """Return the gate of a warp's next instruction."""
    return b.steps[b.code[b.warps[warp].first_code + b.warps[warp].position]].gate


@_compiled
def _ready(b: Board, spans: Any, warp: int, now: float) -> float:
    """Return when the operands of a warp's next instruction are available."""
    first, results = b.warps[warp].first_code, b.warps[warp].first_result
    step = b.code[first + b.warps[warp].position]
    ready, last = now, -1
    for at in range(b.steps[step].first_need, b.steps[step].last_need):
        need = b.needs[at]
        if b.results[results + need].done > ready:
            ready, last = b.results[results + need].done, need
    if ready > now:
        _wait(b, spans, warp, b.steps[b.code[first + last]].waits_for, now, ready)
    return ready


@_compiled
def _sleep(b: Board, warp: int, ready: float) -> None:
    """Suspend a warp until the operands of its next instruction are there, and its scheduler if it has no other."""
    scheduler = b.warps[warp].scheduler
    b.warps[warp].where = ASLEEP
    b.warps[warp].since = ready
    b.warps[warp].wakes = ready
    if ready < b.schedulers[scheduler].next_wake:
        b.schedulers[scheduler].next_wake = ready
    if b.schedulers[scheduler].event < 0:
        b.schedulers[scheduler].event = ready


@_compiled
def _end(b: Board, spans: Any, warp: int, now: float) -> bool:
    """Note that a warp has ended; when all warps of its block have, let the next block begin in its place.

    Return whether other warps of the block are running.
    """
    block = b.warps[warp].block
    _issued_until(b, spans, warp, now)
    b.warps[warp].where = AWAY
    b.warps[warp].ended = now
    b.blocks[block].running -= 1
    if b.blocks[block].running > 0:
        return True
    if b.blocks[block].round + 1 < b.machine[0].rounds:
        b.blocks[block].round += 1
        b.blocks[block].age = b.once[0].begun
        b.once[0].begun += 1
        b.blocks[block].running = b.machine[0].working
        other = b.blocks[block].first_warp
        while other < len(b.warps) and b.warps[other].block == block:
            if b.warps[other].size > 0:
                b.warps[other].position = 0
                b.warps[other].iteration = 0
                b.warps[other].issues = now
                _sleep(b, other, _ready(b, spans, other, now))
            other += 1
    return False


@_compiled
def _open(b: Board, spans: Any, block: int, now: float) -> None:
    """Open a block's barrier, which occupies the path, if all its warps that have not ended wait there."""
    first, count = b.blocks[block].first_warp, b.blocks[block].arrived
    if count == 0 or count < b.blocks[block].running:
        return
    b.blocks[block].arrived = 0
    opened = max(b.once[0].barriers, now) + b.machine[0].barrier
    b.once[0].path = max(b.once[0].path, now) + b.machine[0].barrier_path
    for at in range(first, first + count):
        warp = b.warps[at].arrived
        _wait(b, spans, warp, int(BARRIER), b.warps[at].arrived_at, opened)
        if b.warps[warp].position < b.warps[warp].size:
            _sleep(b, warp, _ready(b, spans, warp, opened))
        else:
            _end(b, spans, warp, opened)


@_compiled
def _pass(b: Board, scheduler: int, now: float, cycles: float) -> None:
    """Queue a request at its scheduler, then pass its wavefronts through the path that all schedulers share."""
    request = b.machine[0].request
    leaves = max(b.schedulers[scheduler].queue, now)
    path = max(b.once[0].path, leaves) + cycles
    free = max(leaves + request, path - cycles + 1)
    b.once[0].path = path
    b.schedulers[scheduler].queue = free
    b.at[scheduler * UNITS + PATH] = free - QUEUE * request


@_compiled
def _forget(b: Board, place: int) -> None:
    """Take a sector out of the order of use."""
    older, newer = b.lines[place].older, b.lines[place].newer
    if older >= 0:
        b.lines[older].newer = newer
    else:
        b.once[0].oldest = newer
    if newer >= 0:
        b.lines[newer].older = older
    else:
        b.once[0].newest = older
    b.once[0].cached -= 1


@_compiled
def _keep(b: Board, place: int) -> None:
    """Make a sector the one that was used last."""
    newest = b.once[0].newest
    b.lines[place].older = newest
    b.lines[place].newer = -1
    if newest >= 0:
        b.lines[newest].newer = place
    else:
        b.once[0].oldest = place
    b.once[0].newest = place
    b.once[0].cached += 1


@_compiled
def _is_first(b: Board, block: int, sector: int) -> bool:
    """Return whether a request is the first for its lines, of those of all blocks that ask for them.

    In step all are: no line is there yet. Else they take turns.
    """
    if b.machine[0].in_step > 0:
        return True
    name, number = b.sectors[sector].name, b.sectors[sector].number
    return drawn(name, block, number) % TURNS < TURNS / b.sectors[sector].loaded_by


@_compiled
def _way(ways: Any, name: int, block: int, line: int) -> float:
    """Return the difference between the latency of a line and the mean."""
    return ways[drawn(name, block, line) % len(ways)] if len(ways) > 0 else 0.0


@_compiled
def _fetch(b: Board, block: int, sector: int, start: float, first: bool) -> float:
    """Return when a sector that the first-level cache does not hold arrives.

    What another block asked for first is in the second-level cache. DRAM delivers `dram_bytes` at a time: the
    neighbours of the requested sector then are in that cache, too.
    """
    name = b.sectors[sector].name
    b.once[0].l2 = max(b.once[0].l2, start) + b.machine[0].sector_bytes / b.machine[0].l2_rate
    way = b.machine[0].l2 * _way(b.ways, name, block, b.sectors[sector].line)
    arrival = b.once[0].l2 + b.machine[0].l2 + way
    if b.sectors[sector].from_dram == 0 or not first:
        return arrival
    piece = block * len(b.sectors) + b.sectors[sector].piece
    if b.lines[piece].brought < 0:
        given = b.machine[0].dram_bytes / b.machine[0].dram_rate
        if b.machine[0].in_step > 0:
            given /= b.sectors[sector].loaded_by
        queue = max(b.once[0].dram, start) + given
        b.once[0].dram = queue
        way = _way(b.dram_ways, name, block, b.sectors[sector].run)
        b.lines[piece].brought = queue + b.machine[0].dram + way
    return max(arrival, b.lines[piece].brought)


@_compiled
def _access(b: Board, step: int, block: int, now: float) -> float:
    """Return when the result of an access arrives whose wavefronts have passed.

    An access to global memory looks into the first-level cache, and fetches what that does not hold.
    """
    start, after, latency = b.once[0].path - 1, b.steps[step].after, b.steps[step].latency
    first, last = b.steps[step].first_sector, b.steps[step].last_sector
    if after == READS_SHARED:
        return start + latency
    if after == STORES:
        moved = (last - first) * b.machine[0].sector_bytes / b.machine[0].l2_rate
        b.once[0].l2 = max(b.once[0].l2, start) + moved
    if after != FETCHES:
        return now + latency
    own = block + b.blocks[block].round * len(b.blocks)  # memory of its own
    arrival = start + b.machine[0].l1
    asks_first = first < last and _is_first(b, own, b.asked[first])
    for at in range(first, last):
        sector = b.asked[at]
        place = own * len(b.sectors) + sector
        known = b.lines[place].arrives
        if known >= 0:
            _forget(b, place)
        else:
            known = _fetch(b, own, sector, start, asks_first)
            fetched = b.once[0].fetched
            b.fetches[2 * fetched] = start
            b.fetches[2 * fetched + 1] = known
            b.once[0].fetched = fetched + 1
            if b.once[0].cached == b.machine[0].room:
                oldest = b.once[0].oldest
                _forget(b, oldest)
                b.lines[oldest].arrives = -1.0
        _keep(b, place)
        b.lines[place].arrives = known
        arrival = max(arrival, known)
    return arrival + latency


@_compiled
def _occupy(b: Board, scheduler: int, block: int, step: int, now: float) -> float:
    """Let an instruction occupy its unit and the banks of its registers; return when its result is there."""
    base, gate = scheduler * UNITS, b.steps[step].gate
    unit = b.gates[gate].unit
    if unit == PATH:
        _pass(b, scheduler, now, b.steps[step].path)
        finish = _access(b, step, block, now)
    else:
        finish = now + b.steps[step].latency
        if unit > 0:
            b.at[base + unit] = now + b.steps[step].busy
    if b.steps[step].even > 0:
        b.at[base + EVEN] = max(b.at[base + EVEN], now) + b.steps[step].even
    if b.steps[step].odd > 0:
        b.at[base + ODD] = max(b.at[base + ODD], now) + b.steps[step].odd
    if b.steps[step].uniform_read > 0:
        b.at[base + UNIFORM] = max(b.at[base + UNIFORM], now) + b.steps[step].uniform_read
    return finish


@_compiled
def _issue(b: Board, spans: Any, warp: int, now: float) -> float:
    """Issue the next instruction of a warp; return when the following one can, INFINITE if others decide that."""
    scheduler, block, position = b.warps[warp].scheduler, b.warps[warp].block, b.warps[warp].position
    step = b.code[b.warps[warp].first_code + position]
    gate, gates = b.steps[step].gate, len(b.gates)
    since = b.warps[warp].since
    if since < now:  # held by the unit, and by other warps that issued while that was free
        turn = max(now - (b.gates_here[scheduler * gates + gate].passed - b.warps[warp].woken), since)
        _wait(b, spans, warp, b.steps[step].held_by, since, turn)
        _wait(b, spans, warp, int(TURN), turn, now)
    for each in range(gates):
        if b.gates_here[scheduler * gates + each].awake > 0 and _free(b, scheduler, each) <= now:
            b.gates_here[scheduler * gates + each].passed += 1.0
    finish = _occupy(b, scheduler, block, step, now)
    b.schedulers[scheduler].last = warp
    b.once[0].issued += 1
    result = b.warps[warp].first_result + position
    b.results[result].done = finish
    end = now + 1.0
    b.warps[warp].free = end
    if b.steps[step].pace > 1:  # the compiler has fixed the cycles until the next one
        _wait(b, spans, warp, int(ARITHMETIC), end, now + b.steps[step].pace)
        end = now + b.steps[step].pace
    b.results[result].left = end
    b.warps[warp].position = position + 1
    if b.steps[step].iteration > b.warps[warp].iteration:
        b.warps[warp].iteration = b.steps[step].iteration
        b.begun[b.warps[warp].first_begun + b.warps[warp].begun] = now
        b.warps[warp].begun += 1
    if b.steps[step].barrier > 0:  # warps are counted one after the other
        b.once[0].barriers = max(b.once[0].barriers, end) + b.machine[0].arrival
        at = b.blocks[block].first_warp + b.blocks[block].arrived
        b.warps[at].arrived = warp
        b.warps[at].arrived_at = end
        b.blocks[block].arrived += 1
        _open(b, spans, block, end)
    elif position + 1 < b.warps[warp].size:
        return _ready(b, spans, warp, end)
    elif _end(b, spans, warp, end):
        _open(b, spans, block, end)  # the other warps do not wait for it
    return INFINITE


@_compiled
def _wake(b: Board, scheduler: int, now: float) -> None:
    """Let the warps of a scheduler be awake whose operands are there."""
    soonest = INFINITE
    for warp in range(scheduler, len(b.warps), len(b.schedulers)):
        if b.warps[warp].where == ASLEEP:
            ready = b.warps[warp].wakes
            if ready <= now:
                gate = scheduler * len(b.gates) + _gate(b, warp)
                b.gates_here[gate].awake += 1
                b.warps[warp].woken = b.gates_here[gate].passed - (now - ready)
                b.warps[warp].where = AWAKE
            elif ready < soonest:
                soonest = ready
    b.schedulers[scheduler].next_wake = soonest


@_compiled
def _choose(b: Board, scheduler: int, now: float) -> tuple[int, float]:
    """Return the warp that issues: the one that issued last if it can; else one of the block that began first.

    Of that block's warps it is the one that has been ready for the longest time. If none is ready, return -1 and the
    cycle at which the first will be.
    """
    soonest, last = INFINITE, b.schedulers[scheduler].last
    if last >= 0 and b.warps[last].where == AWAKE and _free(b, scheduler, _gate(b, last)) <= now:
        chosen = last
    else:
        chosen, first, longest = -1, 0, 0.0
        for warp in range(scheduler, len(b.warps), len(b.schedulers)):
            if b.warps[warp].where == AWAKE:
                free = _free(b, scheduler, _gate(b, warp))
                age, since = b.blocks[b.warps[warp].block].age, b.warps[warp].wakes
                if free > now:
                    soonest = min(soonest, free)
                elif chosen < 0 or age < first or (age == first and since < longest):
                    chosen, first, longest = warp, age, since
    if chosen >= 0:
        b.warps[chosen].where = AWAY
        b.gates_here[scheduler * len(b.gates) + _gate(b, chosen)].awake -= 1
    return chosen, soonest


@_compiled
def _next(b: Board) -> int:
    """Return the scheduler that acts next, -1 if none will."""
    found, soonest = -1, INFINITE
    for scheduler in range(len(b.schedulers)):
        event = b.schedulers[scheduler].event
        if 0 <= event < soonest:
            found, soonest = scheduler, event
    return found


@_compiled
def _goes_on(b: Board, warp: int, ready: float, now: float) -> bool:
    """Return whether the warp that has issued can issue again at once, with nothing else to happen before."""
    scheduler = b.warps[warp].scheduler
    if ready > now or b.schedulers[scheduler].next_wake <= now:
        return False
    other = _next(b)
    if other >= 0:
        event = b.schedulers[other].event
        if event < now or (event == now and other < scheduler):
            return False
    return _free(b, scheduler, _gate(b, warp)) <= now


def _run(b: Board, spans: Any, most: int) -> Any:
    """Simulate until every warp has ended: change the board, and return the spans.

    most: how many spans one instruction can cause.
    """
    for warp in range(len(b.warps)):
        if b.warps[warp].size > 0:
            _sleep(b, warp, 0.0)
    while True:
        scheduler = _next(b)
        if scheduler < 0:
            return spans
        now = b.schedulers[scheduler].event
        b.schedulers[scheduler].event = INFINITE
        if b.schedulers[scheduler].next_wake <= now:
            _wake(b, scheduler, now)
        warp, free = _choose(b, scheduler, now)
        if warp < 0:
            free = min(free, b.schedulers[scheduler].next_wake)
        else:
            going = True
            while going:
                if (b.once[0].spans + most) * SPAN > len(spans):
                    spans = grown(spans)
                ready = _issue(b, spans, warp, now)
                now = b.warps[warp].free
                going = _goes_on(b, warp, ready, now)
                if going:
                    b.warps[warp].since = now
            if ready < INFINITE:
                _sleep(b, warp, ready)
            free = now
        b.schedulers[scheduler].event = free if free < INFINITE else -1.0


run = _compiled(_run, cache=True)  # with the functions that it calls
#: Whether numba has compiled the loop, which then takes arrays; else lists.
COMPILED = hasattr(run, "signatures")

if COMPILED:

    @_compiled
    def grown(spans: Any) -> Any:
        """Return the numbers with room for as many again."""
        more = np.zeros(2 * len(spans))
        for place in range(len(spans)):
            more[place] = spans[place]
        return more

else:

    def grown(spans: Any) -> Any:
        """Return the numbers with room for as many again."""
        return spans + [0.0] * len(spans)
