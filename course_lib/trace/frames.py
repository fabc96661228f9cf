"""The frames of a block's animation: in which of them each step is. The browser and static pictures have the same.

A frame lasts from one barrier's opening to the next; stores of results to global memory at its end are a frame of their
own. Without barriers, a loop that loads from global memory has a frame for each iteration, and other statements one for
each that accesses memory. The frames of several warps overlap in the recorded order, so an animation has its own: frame
by frame, and inside a frame as recorded.

A frame shows the arrays as they are after it, with what its threads read, so no element is overwritten in the frame in
which another thread has read it. And no access of an element is moved before another one's store of it, or a store
before an access: between two barriers in which the frames of several warps would do that, as they may in a race, each
warp has frames of its own, in the recorded order.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .columns import ITERATION, NONE, OPS, Columns, Table, Touches
from .structure import loops_around
from .trace import Trace

#: Iterations that are a frame each; of more, several are one frame.
MOST = 20
#: The number of what comes after all iterations.
_LATEST = 1 << 20
#: Numbers of an interval between barriers: two of each iteration, the second of results that are stored at its end.
_KEYS = 2 * (_LATEST + 1)
#: What a step does, a bit each.
_FETCHES, _READS, _RESULTS, _SHARES = 1, 2, 4, 8
_LOAD = OPS.index("load")


class StepsOfBlock(Protocol):
    """What frames depend on: the recorded steps of a block, as :class:`.replay.Timeline` has them."""

    trace: Trace
    columns: Columns
    first: int
    lines: np.ndarray
    warps: np.ndarray
    flags: np.ndarray

    @property
    def releases(self) -> tuple[int, ...]: ...

    def __len__(self) -> int: ...
    def does(self, space: str, *ops: str) -> np.ndarray: ...
    def table(self, name: str) -> Table: ...
    def expanded(self, name: str) -> Touches: ...


def frames_of(block: StepsOfBlock) -> np.ndarray:
    """Return the frame of each step of a block, a :class:`.replay.Timeline`: numbers from 0, in the recorded order."""
    does = _does(block)
    interval = np.searchsorted(block.releases, np.arange(len(block)), side="right")
    keys = _keys(block, does, interval)
    _keep_order(block, keys, interval)
    groups = np.unique(_divided(block, np.unique(keys, return_inverse=True)[1]), return_inverse=True)[1]
    shows = np.zeros(int(groups.max(initial=-1)) + 1, np.int64)
    shows[groups[does > 0]] = 1  # a group in which nobody accesses memory belongs to the next frame, or to the last
    return np.minimum(np.cumsum(shows) - shows, max(0, int(shows.sum()) - 1))[groups]


def _does(block: StepsOfBlock) -> np.ndarray:
    does = np.zeros(len(block), np.int64)
    for bit, space, ops in (
        (_FETCHES, "global", OPS[:1]),
        (_READS, "shared", OPS[:1]),
        (_RESULTS, "global", OPS[1:]),
        (_SHARES, "shared", OPS[1:]),
    ):
        does[block.does(space, *ops)] |= bit
    return does


def _keys(block: StepsOfBlock, does: np.ndarray, interval: np.ndarray) -> np.ndarray:
    """Return for each step a number by which frames are ordered.

    It holds the interval between barriers, the iteration or statement in it, and whether results are stored at its end.
    """
    warps = int(block.warps.max(initial=0)) + 1
    order = np.argsort(interval * warps + block.warps, kind="stable")  # the steps of a warp in an interval: a part
    part, does = (interval * warps + block.warps)[order], does[order]
    starts = np.flatnonzero(np.diff(part, prepend=-1))
    of, at = np.repeat(np.arange(len(starts)), np.diff([*starts, len(part)])), np.arange(len(part))

    def before(counted: np.ndarray) -> np.ndarray:
        """Return how many are before each step in its part."""
        total = np.cumsum(counted) - counted
        return total - total[starts][of]

    turn = np.zeros(len(part), np.int64)
    if (found := _fetching_loop(block, does, order, starts)) is not None:
        begins, inside = found
        iterations = np.add.reduceat(begins, starts)
        number = before(begins) + begins - 1
        each = -(-int(iterations.max()) // MOST)
        turn = np.where((number >= 0) & ~inside, _LATEST, np.maximum(0, number) // each) * (iterations > 1)[of]
    elif not block.releases:
        turn = before((does > 0).astype(np.int64))
    last = np.maximum.reduceat(np.where(does & (_FETCHES | _READS), at, -1), starts) if len(at) else at
    ends = np.where((does & _RESULTS != 0) & (at > last[of]), at, len(at))
    ends = np.minimum.reduceat(ends, starts) if len(at) else at
    keys = np.empty(len(part), np.int64)
    keys[order] = part // warps * _KEYS + 2 * turn + ((at >= ends[of]) & (ends > starts)[of])
    return keys


def _fetching_loop(
    block: StepsOfBlock, does: np.ndarray, order: np.ndarray, starts: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Return which steps, in this order, begin an iteration of a loop, and which are in it; None where there is none.

    It is the outermost loop that loads from global memory, except to copy, in several iterations of a warp between two
    barriers.
    """
    lines, begins = block.lines[order], (block.flags[order] & ITERATION) != 0
    around = loops_around(block.trace)
    kinds: dict[int, int] = {}
    for line in np.unique(lines).tolist():
        kind = int(np.bitwise_or.reduce(does[lines == line]))
        for head in around.get(line, ()):
            kinds[head] = kinds.get(head, 0) | kind
    fetching = [head for head, kind in kinds.items() if kind & _FETCHES and (kind & _READS or not kind & _SHARES)]
    for head in sorted(fetching, key=lambda head: (len(around[head]), head)):
        iterations = begins & (lines == head)
        if np.add.reduceat(iterations, starts, dtype=np.int64).max() > 1:
            inside = [line for line, heads in around.items() if head in heads]
            return iterations.astype(np.int64), np.isin(lines, inside)
    return None


@dataclass(frozen=True)
class _Events:
    """What lanes do with elements of one array: a row for each element of each lane.

    ``within``: the interval or the group of the step; ``stores``: whether the element changes for the block.
    """

    step: np.ndarray
    thread: np.ndarray
    element: np.ndarray
    within: np.ndarray
    loads: np.ndarray
    stores: np.ndarray


def _events(block: StepsOfBlock, within: np.ndarray, keys: np.ndarray | None = None) -> Iterator[_Events]:
    """Yield the events of each array of global and shared memory in which a step may change what another one accesses.

    ``within``: the interval or the group of each step. Where ``keys`` are given, only those of several keys matter.
    """
    columns, table = block.columns, block.table("access")
    step = table["step"] - block.first
    loads = table["op"] == _LOAD
    stores = ~loads | (table["values"] != NONE)
    for number, name in enumerate(columns.arrays):
        if block.trace.arrays[name].space == "local":
            continue
        mine = np.flatnonzero(table["array"] == number)
        at = within[step[mine]]
        changes = np.zeros(int(at.max(initial=-1)) + 1, bool)
        changes[at[stores[mine]]] = True
        if keys is None:
            read = np.zeros(len(changes), bool)
            read[at[loads[mine]]] = True
            changes &= read
        else:
            low, high = np.full(len(changes), np.iinfo(np.int64).max), np.full(len(changes), -1)
            np.minimum.at(low, at, keys[step[mine]])
            np.maximum.at(high, at, keys[step[mine]])
            changes &= low < high
        if changes.any():
            touches = block.expanded(name)
            now = changes[within[touches.position - 1]]
            where = touches.position[now] - 1
            loaded, stored = ~touches.store[now], touches.store[now] | touches.new[now]
            yield _Events(where, touches.thread[now], touches.element[now], within[where], loaded, stored)


def _highest_before(group: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Return the highest value so far, not negative, in each one's group; groups are consecutive."""
    if not len(value):
        return value
    base = np.cumsum(np.diff(group, prepend=group[:1]) != 0) * (int(value.max()) + 1)
    return np.maximum.accumulate(base + value) - base


def _keep_order(block: StepsOfBlock, keys: np.ndarray, interval: np.ndarray) -> None:
    """Give each warp keys of its own, in the recorded order, between two barriers where keys would change the order.

    It is the order in which an element is stored and accessed.
    """
    if (np.diff(keys) >= 0).all():
        return
    changed = np.zeros(int(interval.max()) + 1, bool)
    for events in _events(block, interval, keys):
        place = np.lexsort((events.step, events.element))
        element, step, stores = events.element[place], events.step[place], events.stores[place]
        any_key, stored_key = keys[step] + 1, np.where(stores, keys[step] + 1, 0)
        latest = np.where(stores, _highest_before(element, any_key), _highest_before(element, stored_key))
        changed[interval[step[latest > any_key]]] = True
    again = np.flatnonzero(changed[interval])
    if len(again):
        fresh = np.diff(interval[again], prepend=-1) != 0
        turns = np.cumsum(~fresh & (np.diff(block.warps[again].astype(np.int64), prepend=-1) != 0))
        first = np.flatnonzero(fresh)
        since = np.repeat(turns[first], np.diff([*first, len(again)]))
        keys[again] = interval[again] * _KEYS + turns - since


def _divided(block: StepsOfBlock, groups: np.ndarray) -> np.ndarray:
    """Return numbers of the same order in which a group is divided where a thread overwrites what another has read."""
    found, parts = [*_events(block, groups)], groups * len(groups)
    wrong = {group for events in found for group in np.unique(events.within[_overwrites(events)]).tolist()}
    for group in sorted(wrong):
        begin = 0
        while True:
            rest = [_taken(events, (events.within == group) & (events.step >= begin)) for events in found]
            cuts = [int(events.step[bad].min()) for events in rest if (bad := _overwrites(events)).any()]
            if not cuts:
                break
            begin = min(cuts)
            parts[(groups == group) & (np.arange(len(groups)) >= begin)] += 1
    return parts


def _taken(events: _Events, chosen: np.ndarray) -> _Events:
    return _Events(*(getattr(events, name)[chosen] for name in events.__dataclass_fields__))


def _overwrites(events: _Events) -> np.ndarray:
    """Return which events change an element that another thread has read in an earlier step of the same group."""
    wrong = np.zeros(len(events.step), bool)
    if not len(wrong):
        return wrong
    # In a step stores come first: what a step itself has read, it may change.
    count = len(wrong)
    number = np.tile(np.arange(count), 2)
    loads = np.repeat([False, True], count)
    kept = np.concatenate([events.stores, events.loads])
    number, loads = number[kept], loads[kept]
    place = np.lexsort((loads, events.step[number], events.element[number], events.within[number]))
    number, loads = number[place], loads[place]
    fresh = (np.diff(events.within[number], prepend=-1) != 0) | (np.diff(events.element[number], prepend=-1) != 0)
    group, thread = np.cumsum(fresh), events.thread[number]
    most = int(thread.max()) + 1
    highest = _highest_before(group, np.where(loads, thread + 1, 0))
    lowest = _highest_before(group, np.where(loads, most - thread, 0))
    others = (highest > 0) & ((highest - 1 != thread) | (most - lowest != thread))
    wrong[number[~loads & others]] = True
    return wrong
