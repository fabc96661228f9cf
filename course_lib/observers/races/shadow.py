"""For each word of an array, the accesses that a later one can still race with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from ...simulator.hardware import WARP_SIZE
from .releases import Releases, Stamps

if TYPE_CHECKING:
    from ...simulator.findings import FindingKey
    from ...simulator.geometry import Launch
    from ...simulator.lanes.access import Site
    from ...simulator.lanes.arrays import Pattern
    from ...simulator.lanes.memory import GlobalArray, SharedArray
    from ...simulator.lanes.warp import WarpVector

Ints = np.ndarray[Any, np.dtype[np.int64]]
#: Which lanes, as a boolean array of a whole vector.
Lanemask = np.ndarray[Any, np.dtype[np.bool_]]

READ, WRITE, ATOMIC = 0, 1, 2
KIND = {"load": READ, "store": WRITE, "bulk": WRITE, "atomic": ATOMIC}
#: Accessor slots kept for each word and kind of access; see Shadow.
SLOTS = ("latest", "other_lane", "other_warp", "other_block")


class Reporter(Protocol):
    """Whoever is told of a race; ``one`` and ``other`` are (thread id, line, kind) of two accesses, in any order.

    ``reported`` lists what was told since somebody emptied it: the finding, and whether another report of it can
    still change more than its count.
    """

    launch: Launch
    reported: list[tuple[FindingKey, bool]]

    def repeat(self, key: FindingKey, times: int) -> None:
        """The race was seen so many times again."""

    def report(
        self, array: Any, word: int, one: tuple[int, int, int], other: tuple[int, int, int], same_value: bool
    ) -> None: ...


@dataclass(slots=True)
class Access:
    """One logged access: everything the replay needs."""

    line: int
    kind: int
    vector: WarpVector
    pattern: Pattern
    base: int
    order: tuple[Any, Any]  # see WarpVector.order
    value: Any = None  # what was written

    @classmethod
    def at(cls, site: Site, pattern: Pattern, base: int, value: Any) -> Access:
        kind, vector = KIND[site.op], site.vector
        return cls(site.line, kind, vector, pattern, base, vector.order, value if kind == WRITE else None)


class ActiveLanes:
    """The active lanes of one access, as columns: thread, block, ``who`` and ``when`` (see Slot)."""

    def __init__(self, access: Access, mask: Lanemask, epoch: Ints) -> None:
        vector = access.vector
        clock: Any = access.order[0]
        self.known: Ints | None = access.order[1]
        self.access, self.mask = access, mask
        self.thread: Ints = vector.ids[mask]
        self.block: Ints = np.broadcast_to(vector.chunk.linear, vector.shape)[mask]
        self.who = (self.thread + 1 << LINE_BITS) + access.line
        self.when = (np.broadcast_to(epoch, vector.shape)[mask] << CLOCK_BITS) + np.broadcast_to(
            np.asarray(clock), vector.shape
        )[mask]
        self.place: Ints | None = None  # of each lane's block in the chunk
        if self.known is not None:
            self.place = np.broadcast_to(vector.chunk.places, vector.shape)[mask]

    @property
    def barriers(self) -> Ints:
        """How many its block had passed."""
        return np.asarray(self.when >> CLOCK_BITS)

    def take(self, chosen: Ints) -> ActiveLanes:
        """These lanes only."""
        some = object.__new__(ActiveLanes)
        some.access, some.mask, some.known = self.access, self.mask, self.known
        for name in ("thread", "block", "who", "when", "place"):
            column = getattr(self, name)
            setattr(some, name, None if column is None else column[chosen])
        return some

    def knows(self, threads: Ints, whens: Ints, first: int) -> np.ndarray:
        """Has each lane met, in a syncwarp, the access that a lane of its own warp made earlier?

        ``first`` is the thread of lane 0, relative to the block.
        """
        clock = whens & CLOCK_MASK
        if self.known is None:
            return np.asarray(clock < (self.when & CLOCK_MASK))
        threads_per_block = self.access.vector.launch.threads_per_block
        origin = self.block * threads_per_block + first
        lanes = np.clip(threads - origin, 0, self.known.shape[1] - 1)  # of other warps: not looked at
        return np.asarray(self.known[self.thread - origin, lanes, self.place] >= clock)


#: A slot packs a thread and a line into one number, and a block's barriers and a lane's syncwarps into another.
LINE_BITS, CLOCK_BITS = 20, 32
LINE_MASK, CLOCK_MASK = (1 << LINE_BITS) - 1, (1 << CLOCK_BITS) - 1


class Slot:
    """One access of each word: ``who`` (thread + 1 and line; 0 for nobody) and ``when`` (barriers and syncwarps).

    ``stamp`` holds the fences that the thread had passed, in kernels that have fences. Zeros, so that the words that
    nobody touches take no memory.
    """

    def __init__(self, words: int, stamped: bool) -> None:
        self.who, self.when = np.zeros(words, np.int64), np.zeros(words, np.int64)
        self.stamp: Stamps | None = np.zeros(words, np.int32) if stamped else None

    def put(self, keys: Ints, who: Ints, when: Ints, stamp: Stamps | None) -> None:
        self.who[keys] = who
        self.when[keys] = when
        if self.stamp is not None and stamp is not None:
            self.stamp[keys] = stamp


@dataclass(slots=True, eq=False)
class Transition:
    """What an access did to a state of the words: the next state, and the races that it added to the count of."""

    state: int
    found: list[FindingKey]
    times: int = 0


class Memory:
    """Accesses that a loop repeats, and what they did to the few words that they touch.

    What an access does depends on what the slots hold of its words. A loop such as ``a[0] += 1`` leads from one such
    state to another and back, so each step is worked out once (some 40 µs) and looked up afterwards (2 µs).
    """

    WORDS, KEYS, TIMES = 1024, 16, 3

    def __init__(self) -> None:
        self.order: object = None  # of the accesses, and the barriers passed: with others, everything differs
        self.epoch: object = None
        self.seen: dict[tuple[Any, ...], int] = {}  # how often; cleared where there are too many to be a loop's
        self.words: Ints = np.zeros(0, np.int64)  # that a state speaks of
        self.states: dict[bytes, int] = {}
        self.state: int | None = None  # None: not known
        self.steps: dict[tuple[int | None, tuple[Any, ...]], Transition] = {}
        self.written: dict[tuple[Any, ...], Access] = {}  # looked-up writes, whose values are not in the shadow yet

    def recognises(self, key: tuple[Any, ...]) -> bool:
        """Does this access look like one of a loop's?"""
        if len(self.seen) > self.KEYS:
            self.seen.clear()
        self.seen[key] = self.seen.get(key, 0) + 1
        return self.seen[key] > self.TIMES

    def state_after(self, keys: Ints, slots: dict[tuple[int, str], Slot]) -> int | None:
        """The number of the state that the words are in; None where they are too many."""
        words = np.union1d(self.words, keys)
        if words.size > self.WORDS:
            return None
        if words.size > self.words.size:  # states of fewer words say too little
            self.words = words
            self.states.clear()
            self.state = None
        held = b"".join(slot.who[words].tobytes() + slot.when[words].tobytes() for slot in slots.values())
        return self.states.setdefault(repr(list(slots)).encode() + held, len(self.states) + 1)


class Shadow:
    """For each word, who read it, wrote it and updated it atomically, as far as that can still race.

    Of the threads that read a word (or updated it), four are kept: the latest, and one that differs from it in its
    lane (same warp, nothing between them), in its warp (same block, no barrier between them) and in its block.
    Whatever thread comes next, if it races with any earlier one, it races with one of these; only where more than
    two lanes of a warp read one word and a syncwarp then orders some of them, or where threads of more than two blocks
    do and a release then orders some, can one be forgotten. A write is ordered after all that it does not race with,
    so only the latest writer is kept.
    """

    def __init__(self, observer: Reporter, array: GlobalArray | SharedArray, releases: Releases | None = None) -> None:
        self.observer, self.array, self.releases = observer, array, releases
        self.threads = observer.launch.threads_per_block
        self.words = array.words()
        self.slots: dict[tuple[int, str], Slot] = {}  # (kind, which of SLOTS); one that is never needed is missing
        self.values: np.ndarray | None = None  # what was last written, to say when two writers agreed
        self.memory = Memory() if releases is None else None

    def see(self, access: Access, epoch: Ints) -> None:
        """:meth:`apply`, or what it did to the same words in the same state before."""
        memory = self.memory
        if memory is None:
            self.apply(access, epoch)
            return
        if memory.order is not access.order or memory.epoch is not epoch:
            self.forget()
            memory = self.memory = Memory()
            memory.order, memory.epoch = access.order, epoch
        key = access.line, access.kind, access.pattern, access.base
        step = memory.steps.get((memory.state, key))
        if step is not None:
            step.times += 1
            memory.state = step.state
            if access.kind == WRITE:
                memory.written.pop(key, None)
                memory.written[key] = access
            return
        self._save_values()
        self.observer.reported.clear()
        self.apply(access, epoch)
        if memory.recognises(key):
            keys = np.unique(self.array.keys(access.vector, access.pattern, access.base))
            state = memory.state_after(keys, self.slots)
            if memory.state is not None and state is not None and all(final for _, final in self.observer.reported):
                memory.steps[memory.state, key] = Transition(state, [key for key, _ in self.observer.reported])
            memory.state = state
        else:
            memory.state = None

    def forget(self) -> None:
        """Write down what was only remembered."""
        if self.memory is None:
            return
        self._save_values()
        for step in self.memory.steps.values():
            for key in step.found:
                self.observer.repeat(key, step.times)
        self.memory.steps.clear()

    def _save_values(self) -> None:
        """What the remembered writes wrote, the latest last."""
        if self.memory is None or self.values is None:
            return
        for access in self.memory.written.values():
            mask = access.vector.full(access.pattern.mask)
            keys = np.broadcast_to(self.array.keys(access.vector, access.pattern, access.base), mask.shape)[mask]
            self.values[keys] = np.broadcast_to(np.asarray(access.value), mask.shape)[mask]
        self.memory.written.clear()

    def apply(self, access: Access, epoch: Ints) -> None:
        vector, pattern = access.vector, access.pattern
        if pattern.mask is False:
            return
        mask = vector.full(pattern.mask)
        keys = np.broadcast_to(self.array.keys(vector, pattern, access.base), vector.shape)[mask]
        me = ActiveLanes(access, mask, epoch)
        opponents = {READ: (WRITE, ATOMIC), WRITE: (READ, WRITE, ATOMIC), ATOMIC: (READ, WRITE)}[access.kind]
        for kind in opponents:
            for name in SLOTS:
                slot = self.slots.get((kind, name))
                if slot is not None:
                    self._compare(keys, me, slot, kind)
        if "meetings" not in pattern.memo:  # it does not depend on the base
            pattern.memo["meetings"] = meetings(keys, me)
        if access.kind == WRITE:
            self._write(keys, me, pattern.memo["meetings"])
        elif pattern.memo["meetings"] is None:
            self._enter(keys, me, access.kind)
        else:
            for chosen in pattern.memo["meetings"]:
                self._enter(keys[chosen], me.take(chosen), access.kind)
        if self.releases is not None and access.kind == ATOMIC:
            self.releases.update(self.array, keys, me.thread, me.barriers)

    def _compare(self, keys: Ints, me: ActiveLanes, slot: Slot, kind: int) -> None:
        """Report the first of the lanes that race with the accesses in ``slot``."""
        who = slot.who[keys]
        thread = (who >> LINE_BITS) - 1
        racing = (who > 0) & (thread != me.thread)
        if not racing.any():
            return
        block, warp = self._place(thread)
        mine = me.access.vector.warp
        when = slot.when[keys]
        racing &= (block != me.block) | (
            (when >> CLOCK_BITS == me.when >> CLOCK_BITS) & ((warp != mine) | ~me.knows(thread, when, mine * WARP_SIZE))
        )
        places = np.flatnonzero(racing)
        if self.releases is not None and self.releases.fenced:
            places = self._unordered(places, keys, me, slot, thread, when)
        if places.size:
            i, access = places[0], me.access
            same = (
                kind == access.kind == WRITE
                and self.values is not None
                and (self.values[keys] == self._values(me))[places].all()
            )
            self.observer.report(
                self.array,
                int(keys[i]),
                (int(thread[i]), int(who[i] & LINE_MASK), kind),
                (int(me.thread[i]), access.line, access.kind),
                bool(same),
            )

    def _unordered(self, places: Ints, keys: Ints, me: ActiveLanes, slot: Slot, thread: Ints, when: Ints) -> Ints:
        """These lanes from the first on that no release orders after the access in the slot."""
        assert self.releases is not None and slot.stamp is not None
        stamps, now = slot.stamp[keys], me.barriers
        for count, i in enumerate(places):
            one = int(thread[i]), int(stamps[i]), int(when[i]) >> CLOCK_BITS
            if not self.releases.ordered(*one, int(me.thread[i]), int(now[i])):
                return places[count:]
        return places[:0]

    def _stamps(self, me: ActiveLanes) -> Stamps | None:
        return None if self.releases is None else self.releases.stamps[me.thread]

    def _place(self, thread: Ints) -> tuple[Ints, Ints]:
        """(block, warp in the block) of threads."""
        block = thread // self.threads
        return block, (thread - block * self.threads) // WARP_SIZE

    def _slot(self, kind: int, name: str) -> Slot:
        if (kind, name) not in self.slots:
            self.slots[kind, name] = Slot(self.words, self.releases is not None)
        return self.slots[kind, name]

    @staticmethod
    def _values(me: ActiveLanes) -> np.ndarray:
        """The values written, one for each active lane."""
        return np.broadcast_to(np.asarray(me.access.value), me.mask.shape)[me.mask]

    def _write(self, keys: Ints, me: ActiveLanes, meet: list[Ints] | None) -> None:
        """The latest writer of each word; what came before is ordered before it, or was reported."""
        values = self._values(me)
        if meet is not None:
            self._collide(keys, me, values)
        if self.values is None:
            self.values = np.zeros(self.words, self.array.dtype)
        self.values[keys] = values
        self._slot(WRITE, "latest").put(keys, me.who, me.when, self._stamps(me))
        for (kind, _), slot in self.slots.items():
            if kind != WRITE:
                slot.who[keys] = 0

    def _collide(self, keys: Ints, me: ActiveLanes, values: np.ndarray) -> None:
        """Lanes that write one word in the same instruction."""
        order = np.lexsort((me.thread, keys))
        twice = np.flatnonzero(np.diff(keys[order]) == 0)
        a, b = order[twice], order[twice + 1]
        self.observer.report(
            self.array,
            int(keys[a[0]]),
            (int(me.thread[a[0]]), me.access.line, WRITE),
            (int(me.thread[b[0]]), me.access.line, WRITE),
            bool((values[a] == values[b]).all()),
        )

    def _enter(self, keys: Ints, me: ActiveLanes, kind: int) -> None:
        """One accessor a word: move the slots on."""
        latest = self._slot(kind, "latest")
        who, when = latest.who[keys], latest.when[keys]
        stamp = None if latest.stamp is None else latest.stamp[keys]
        known = who > 0
        if known.any():
            thread = (who >> LINE_BITS) - 1
            block, warp = self._place(thread)
            mine = me.access.vector.warp
            same_block = known & (block == me.block)
            same_epoch = same_block & (when >> CLOCK_BITS == me.when >> CLOCK_BITS)
            same_warp = same_epoch & (warp == mine)
            same_step = same_warp & ~me.knows(thread, when, mine * WARP_SIZE)
            for name, replace, keep in (
                ("other_block", known & ~same_block, same_block),
                ("other_warp", same_epoch & ~same_warp, same_warp),
                ("other_lane", same_step & (thread != me.thread), same_step),
            ):
                if (kind, name) not in self.slots and not replace.any():
                    continue
                slot = self._slot(kind, name)
                if name == "other_lane" and me.known is not None:
                    other = (slot.who[keys] >> LINE_BITS) - 1
                    keep = same_warp & ~me.knows(other, slot.when[keys], mine * WARP_SIZE)
                slot.put(keys[replace], who[replace], when[replace], None if stamp is None else stamp[replace])
                slot.who[keys[known & ~replace & ~keep]] = 0
        latest.put(keys, me.who, me.when, self._stamps(me))


def meetings(keys: Ints, me: ActiveLanes) -> list[Ints] | None:
    """Which lanes to enter, one a word at a time, where lanes of one instruction meet in a word; None if none do.

    Of each word, these are the first thread, the first of the last block, and the last: they fill all slots that
    can be filled.
    """
    low = int(keys.min(initial=0))
    span = int(keys.max(initial=0)) - low + 1
    if span <= 8 * keys.size and np.bincount(keys - low).max(initial=0) <= 1:
        return None
    order = np.lexsort((me.thread, keys))
    change = np.diff(keys[order]) != 0
    if change.all():
        return None
    block_change = change | (np.diff(me.block[order]) != 0)
    starts, groups = np.flatnonzero(np.r_[True, change]), np.flatnonzero(np.r_[True, block_change])
    ends = np.r_[starts[1:], keys.size] - 1
    lasts = groups[np.searchsorted(groups, ends, side="right") - 1]
    return [order[starts], order[lasts[lasts != starts]], order[ends[ends != lasts]]]
