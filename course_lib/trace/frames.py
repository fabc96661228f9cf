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

from ..simulator.hardware import ceil_div
from .columns import ITERATION, NONE, OPS, Columns, ElementAccesses, Table
from .kernel_structure import loops_around
from .trace import Trace

#: Iterations that are a frame each; of more, several are one frame.
MOST_FRAMES = 20
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
    def expand_accesses(self, name: str) -> ElementAccesses: ...


def frames_of(block: StepsOfBlock) -> np.ndarray:
    """Return the frame of each step of a block, a :class:`.replay.Timeline`: numbers from 0, in the recorded order."""
    does = _actions_of_steps(block)
    interval = np.searchsorted(block.releases, np.arange(len(block)), side="right")
    keys = _keys(block, does, interval)
    _keep_order(block, keys, interval)
    groups = np.unique(_divided(block, np.unique(keys, return_inverse=True)[1]), return_inverse=True)[1]
    shows = np.zeros(int(groups.max(initial=-1)) + 1, np.int64)
    shows[groups[does > 0]] = 1  # a group in which nobody accesses memory belongs to the next frame, or to the last
    return np.minimum(np.cumsum(shows) - shows, max(0, int(shows.sum()) - 1))[groups]


def _actions_of_steps(block: StepsOfBlock) -> np.ndarray:
    does = np.zeros(len(block), np.int64)
    for bit, space, ops in (
        (_FETCHES, "global", OPS[:1]),
        (_READS, "shared", OPS[:1]),
        (_RESULTS, "global", OPS[1:]),
        (_SHARES, "shared", OPS[1:]),
    ):
        does[block.does(space, *ops)] |= bit
    return does


class _Parts:
    """The steps of a block in parts: those of one warp between two barriers, part by part.

    ``order``: the recorded number of each step; ``number``: of its part, by interval and warp; ``starts``: where the
    parts begin; ``of``: the part of each step, counted.
    """

    def __init__(self, interval: np.ndarray, warp: np.ndarray, warps: int):
        number = interval * warps + warp
        self.order = np.argsort(number, kind="stable")
        self.number = number[self.order]
        self.starts = np.flatnonzero(np.diff(self.number, prepend=-1))
        self.of = np.repeat(np.arange(len(self.starts)), np.diff([*self.starts, len(number)]))

    def before(self, counted: np.ndarray) -> np.ndarray:
        """Return how many are before each step in its part."""
        total = np.cumsum(counted) - counted
        return total - total[self.starts][self.of]


def _keys(block: StepsOfBlock, does: np.ndarray, interval: np.ndarray) -> np.ndarray:
    """Return for each step a number by which frames are ordered.

    It holds the interval between barriers, the iteration or statement in it, and whether results are stored at its end.
    """
    warps = int(block.warps.max(initial=0)) + 1
    parts = _Parts(interval, block.warps, warps)
    keys = np.empty(len(interval), np.int64)
    iteration, at_end = _iterations(block, does, parts), _results_at_end(does[parts.order], parts)
    keys[parts.order] = parts.number // warps * _KEYS + 2 * iteration + at_end
    return keys


def _iterations(block: StepsOfBlock, does: np.ndarray, parts: _Parts) -> np.ndarray:
    """Return the iteration of each step of the parts, in the loop that loads from global memory.

    Without such a loop, in a block without barriers it is the number of the statement that accesses memory.
    """
    found = _fetching_loop(block, does, parts.order, parts.starts)
    if found is None:
        return (
            np.zeros(len(does), np.int64) if block.releases else parts.before((does[parts.order] > 0).astype(np.int64))
        )
    begins, inside = found
    iterations = np.add.reduceat(begins, parts.starts)
    number = parts.before(begins) + begins - 1
    in_a_frame = ceil_div(int(iterations.max()), MOST_FRAMES)
    after = (number >= 0) & ~inside
    return np.where(after, _LATEST, np.maximum(0, number) // in_a_frame) * (iterations > 1)[parts.of]


def _results_at_end(does: np.ndarray, parts: _Parts) -> np.ndarray:
    """Return which steps come after the last load of their part, from its first store of results on."""
    if not len(does):
        return np.zeros(0, bool)
    place = np.arange(len(does))
    last_load = np.maximum.reduceat(np.where(does & (_FETCHES | _READS), place, -1), parts.starts)
    results = (does & _RESULTS != 0) & (place > last_load[parts.of])
    first = np.minimum.reduceat(np.where(results, place, len(does)), parts.starts)
    at_end: np.ndarray = (place >= first[parts.of]) & (first > parts.starts)[parts.of]
    return at_end


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
class _Accesses:
    """What lanes do with elements of one array: a row for each element of each lane.

    ``within``: the interval or the group of the step; ``stores``: whether the element changes for the block.
    """

    step: np.ndarray
    thread: np.ndarray
    element: np.ndarray
    within: np.ndarray
    loads: np.ndarray
    stores: np.ndarray


def _conflicting(block: StepsOfBlock, within: np.ndarray, keys: np.ndarray | None = None) -> Iterator[_Accesses]:
    """Yield accesses to each array of global and shared memory that a step may change where another one accesses it.

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
            accesses = block.expand_accesses(name)
            now = changes[within[accesses.position - 1]]
            where = accesses.position[now] - 1
            loaded, stored = ~accesses.store[now], accesses.store[now] | accesses.new[now]
            yield _Accesses(where, accesses.thread[now], accesses.element[now], within[where], loaded, stored)


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
    for accesses in _conflicting(block, interval, keys):
        place = np.lexsort((accesses.step, accesses.element))
        element, step, stores = accesses.element[place], accesses.step[place], accesses.stores[place]
        any_key, stored_key = keys[step] + 1, np.where(stores, keys[step] + 1, 0)
        latest = np.where(stores, _highest_before(element, any_key), _highest_before(element, stored_key))
        changed[interval[step[latest > any_key]]] = True
    again = np.flatnonzero(changed[interval])
    if len(again):
        fresh = np.diff(interval[again], prepend=-1) != 0
        switches = np.cumsum(~fresh & (np.diff(block.warps[again].astype(np.int64), prepend=-1) != 0))
        first = np.flatnonzero(fresh)
        since = np.repeat(switches[first], np.diff([*first, len(again)]))
        keys[again] = interval[again] * _KEYS + switches - since


def _divided(block: StepsOfBlock, groups: np.ndarray) -> np.ndarray:
    """Return numbers of the same order in which a group is divided where a thread overwrites what another has read."""
    found, parts = [*_conflicting(block, groups)], groups * len(groups)
    wrong = {group for accesses in found for group in np.unique(accesses.within[_overwrites(accesses)]).tolist()}
    for group in sorted(wrong):
        begin = 0
        while True:
            rest = [_taken(accesses, (accesses.within == group) & (accesses.step >= begin)) for accesses in found]
            cuts = [int(accesses.step[bad].min()) for accesses in rest if (bad := _overwrites(accesses)).any()]
            if not cuts:
                break
            begin = min(cuts)
            parts[(groups == group) & (np.arange(len(groups)) >= begin)] += 1
    return parts


def _taken(accesses: _Accesses, chosen: np.ndarray) -> _Accesses:
    return _Accesses(*(getattr(accesses, name)[chosen] for name in accesses.__dataclass_fields__))


def _overwrites(accesses: _Accesses) -> np.ndarray:
    """Return which accesses change an element that another thread has read in an earlier step of the same group."""
    wrong = np.zeros(len(accesses.step), bool)
    if not len(wrong):
        return wrong
    # In a step stores come first: what a step itself has read, it may change.
    count = len(wrong)
    number = np.tile(np.arange(count), 2)
    loads = np.repeat([False, True], count)
    kept = np.concatenate([accesses.stores, accesses.loads])
    number, loads = number[kept], loads[kept]
    place = np.lexsort((loads, accesses.step[number], accesses.element[number], accesses.within[number]))
    number, loads = number[place], loads[place]
    fresh = (np.diff(accesses.within[number], prepend=-1) != 0) | (np.diff(accesses.element[number], prepend=-1) != 0)
    group, thread = np.cumsum(fresh), accesses.thread[number]
    most = int(thread.max()) + 1
    highest = _highest_before(group, np.where(loads, thread + 1, 0))
    lowest = _highest_before(group, np.where(loads, most - thread, 0))
    others = (highest > 0) & ((highest - 1 != thread) | (most - lowest != thread))
    wrong[number[~loads & others]] = True
    return wrong
