"""The shadow of an array: for each word, the accesses with which a later one can still race."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...findings import FindingKey
from ...geometry import Chunk
from ...hardware import WARP_SIZE
from ...observer import Observer
from ...runtime.access import Site
from ...runtime.arrays import Ints, Pattern
from ...runtime.masks import widened
from ...runtime.memory import GlobalArray, SharedArray
from ...runtime.warp import WarpVector
from .acquire_release import Releases, Stamps

#: A mask as a boolean array of a whole vector.
Lanemask = np.ndarray[Any, np.dtype[np.bool_]]

READ, WRITE, ATOMIC = 0, 1, 2
KIND = {"load": READ, "store": WRITE, "bulk": WRITE, "atomic": ATOMIC}
#: Accessor slots kept for each word and kind of access; see Shadow.
SLOTS = ("latest", "other_lane", "other_warp", "other_block")

PastAccess = tuple[int, int, int]  # an access: thread id, line and kind
WarpPath = tuple[int, int]  # the lines of two accesses as a warp ran them since the last barrier


class Reporter(Observer):
    """Receives races of two accesses, in any order; ``paths``: how the warps ran their lines, as far as they have.

    ``reported`` lists the reports since it was last emptied: the key of the finding, and whether another report of it
    can change more than its count.
    """

    every_thread: bool  # see Shadow
    releases: Releases | None  # of a kernel with fences
    reported: list[tuple[FindingKey, bool]]
    epochs: dict[Chunk, Ints]

    def epoch_of(self, chunk: Chunk) -> Ints:
        """Barriers passed by each block of the chunk, as (1, 1, block rows, block columns)."""
        if chunk not in self.epochs:
            self.epochs[chunk] = np.zeros((1, 1, *chunk.shape), np.int64)
        return self.epochs[chunk]

    def repeat(self, key: FindingKey) -> None:
        self._counts[key] += 1

    def report(
        self, array: Any, word: int, one: PastAccess, other: PastAccess, same_value: bool, paths: list[WarpPath]
    ) -> None: ...


@dataclass(slots=True)
class Access:
    """One logged access, with all data for a replay."""

    line: int
    kind: int
    vector: WarpVector
    pattern: Pattern
    base: int
    order: tuple[Any, Any]  # see WarpVector.order
    value: Any = None  # the written value

    @classmethod
    def at(cls, site: Site, pattern: Pattern, base: int, value: Any) -> Access:
        kind, vector = KIND[site.op], site.vector
        return cls(site.line, kind, vector, pattern, base, vector.order, value if kind == WRITE else None)


class ActiveLanes:
    """The active lanes of one access, as columns: thread, block, ``accessor`` and ``when`` (see Slot).

    After a syncwarp of a part of a warp there is one more: ``block_number``, that of the lane's block in the chunk.
    """

    def __init__(self, access: Access, mask: Lanemask, epoch: Ints) -> None:
        vector = access.vector
        clock: Any = access.order[0]
        self.known: Ints | None = access.order[1]
        self.access, self.mask = access, mask
        self.thread, self.block = vector.active(access.pattern.mask)
        self.accessor = (self.thread + 1 << LINE_BITS) + access.line
        self.when = widened((epoch << CLOCK_BITS) + clock, vector.shape)[mask]
        self.block_number: Ints | None = None  # of each lane's block in the chunk
        if self.known is not None:
            self.block_number = widened(vector.chunk.block_numbers, vector.shape)[mask]

    @property
    def barriers(self) -> Ints:
        """The number of barriers that each lane's block had passed."""
        return np.asarray(self.when >> CLOCK_BITS)

    def take(self, chosen: Ints) -> ActiveLanes:
        some = object.__new__(ActiveLanes)
        some.access, some.mask, some.known = self.access, self.mask, self.known
        for name in ("thread", "block", "accessor", "when", "block_number"):
            column = getattr(self, name)
            setattr(some, name, None if column is None else column[chosen])
        return some

    def ordered_after(self, threads: Ints, whens: Ints, first: int) -> np.ndarray:
        """Whether a syncwarp ordered each lane's access after the earlier one (``threads``, ``whens``) of its own warp.

        ``first`` is the thread of lane 0, relative to the block.
        """
        clock = whens & CLOCK_MASK
        if self.known is None:
            return np.asarray(clock < (self.when & CLOCK_MASK))
        threads_per_block = self.access.vector.launch.threads_per_block
        origin = self.block * threads_per_block + first
        lanes = np.clip(threads - origin, 0, self.known.shape[1] - 1)  # results for other warps are not used
        return np.asarray(self.known[self.thread - origin, lanes, self.block_number] >= clock)


#: A slot packs thread and line into one number, and barriers of the block and syncwarps of the lane into another.
LINE_BITS, CLOCK_BITS = 20, 32
LINE_MASK, CLOCK_MASK = (1 << LINE_BITS) - 1, (1 << CLOCK_BITS) - 1


class Slot:
    """One access of each word: ``accessor`` (thread + 1 and line; 0 for none) and ``when`` (barriers and syncwarps).

    ``stamp`` holds the fences that the thread had passed, in kernels with fences. The arrays are made by np.zeros, so
    words without an access need no memory.
    """

    def __init__(self, words: int, stamped: bool) -> None:
        self.accessor, self.when = np.zeros(words, np.int64), np.zeros(words, np.int64)
        self.stamp: Stamps | None = np.zeros(words, np.int32) if stamped else None

    def at(self, keys: Ints) -> tuple[Ints, Ints, Stamps | None]:
        return self.accessor[keys], self.when[keys], None if self.stamp is None else self.stamp[keys]

    def put(self, keys: Ints, accessor: Ints, when: Ints, stamp: Stamps | None) -> None:
        self.accessor[keys] = accessor
        self.when[keys] = when
        if self.stamp is not None and stamp is not None:
            self.stamp[keys] = stamp


NO_ROWS: Ints = np.zeros(0, np.int64)
#: An access is taken for that of a loop after so many times, if there are not more accesses, each of not more words.
#: Its effect, which takes 40 to 400 µs to compute, is then looked up by the state of its words, in 20 µs.
TIMES, MOST_KEYS, MOST_WORDS = 3, 16, 1024


class LatestByThread:
    """The latest access of each thread to each word: a table in order of (word, thread), of columns as in Slot."""

    def __init__(self, threads: int) -> None:
        self.threads = threads  # of the grid
        self.table: list[Ints] = [NO_ROWS] * 4  # word and thread in one; who, when, stamp
        self.new: list[tuple[Ints, ...]] = []  # rows that are not in the table yet
        self.capacity = 0

    def put(self, keys: Ints, me: ActiveLanes, stamp: Stamps | None) -> None:
        fences: Any = np.zeros_like(keys) if stamp is None else stamp
        self.new.append((keys * self.threads + me.thread, me.accessor, me.when, fences))
        self.capacity -= keys.size
        if self.capacity < 0:
            self._sort()
            self.capacity = self.table[0].size + 4096

    def _sort(self) -> None:
        """Move the new rows into the table, in place of older ones of the same word and thread."""
        if self.new:
            columns = [np.concatenate(parts) for parts in zip(self.table, *self.new, strict=True)]
            order = np.argsort(columns[0], kind="stable")
            last = order[np.diff(columns[0][order], append=-1) != 0]
            self.table = [column[last] for column in columns]
            self.new.clear()

    def find(self, keys: Ints) -> tuple[Ints, Ints]:
        """The rows of these words, and to which of ``keys`` each belongs."""
        self._sort()
        if not self.table[0].size:
            return NO_ROWS, NO_ROWS
        start = keys * self.threads
        first, end = np.searchsorted(self.table[0], start), np.searchsorted(self.table[0], start + self.threads)
        counts = end - first
        which = np.repeat(np.arange(keys.size), counts)
        return np.arange(which.size) + (end - np.cumsum(counts))[which], which

    def forget(self, rows: Ints) -> None:
        keep = np.ones(self.table[0].size, bool)
        keep[rows] = False
        self.table = [column[keep] for column in self.table]


class Shadow:
    """For each word, the threads that read it, wrote it and updated it atomically, if they can still race.

    Of the threads that read a word (or updated it), four are stored: the latest, and one that differs from it in its
    lane (same warp, nothing between them), in its warp (same block, no barrier between them) and in its block.
    If a later thread races with any earlier one, it races with one of these, as long as only barriers and whole warps
    order threads. With ``every_thread`` all readers are stored: a release, or a syncwarp of a part of a warp, may order
    some of them. A write is ordered after all accesses with which it does not race, so only the latest writer is
    stored.
    """

    def __init__(self, observer: Reporter, array: GlobalArray | SharedArray) -> None:
        self.observer, self.array, self.releases = observer, array, observer.releases
        self.threads = observer.launch.threads_per_block
        self.latest_by_thread = (
            {kind: LatestByThread(observer.launch.blocks * self.threads) for kind in (READ, ATOMIC)}
            if observer.every_thread
            else {}
        )
        self.words = array.words()
        self.slots: dict[tuple[int, str], Slot] = {}  # (kind, which of SLOTS); created when needed
        self.values: np.ndarray | None = None  # the last written values, to report when two writers agreed
        self.interval: Ints | None = None  # the epoch of:
        self.first_run: dict[tuple[int, int], int] = {}  # when a warp first ran a line in it
        self.time: tuple[Any, Any] = (None, None)  # the order and the epoch of the accesses in the following two
        self.seen: dict[Any, int] = {}  # how often the loop's accesses were seen
        self.effects: dict[Any, tuple[list[tuple[Slot, Ints, Ints]], list[FindingKey]]] = {}  # by access and state

    def see(self, access: Access, epoch: Ints) -> None:
        """:meth:`apply` an access, or its known effect if a loop repeats it and its words are in the same state."""
        self.observer.reported.clear()
        if epoch is not self.interval:
            self.interval, self.first_run = epoch, {}
        self.first_run.setdefault((access.vector.warp, access.line), len(self.first_run))
        pattern, base = access.pattern, access.base
        key = access.line, access.kind, pattern, base
        words = None if self.latest_by_thread else self._repeated(key, (access.order, epoch))
        if words is None:
            self.apply(access, epoch)
            return
        before = key, *self.slots, b"".join(part.tobytes() for _, *parts in self._state(words) for part in parts)
        known = self.effects.get(before)
        if known is None:
            self.apply(access, epoch)
            if all(final for _, final in self.observer.reported):
                self.effects[before] = self._state(words), [found for found, _ in self.observer.reported]
            return
        state, races = known
        for slot, accessor, when in state:
            slot.put(words, accessor, when, None)
        for race in races:
            self.observer.repeat(race)
        if self.values is not None and access.kind == WRITE:
            keys, mask = pattern.words(base)
            self.values[keys] = widened(access.value, mask.shape)[mask]

    def _repeated(self, key: tuple[int, int, Pattern, int], time: tuple[Any, Ints]) -> Ints | None:
        """The words, if they are few, of an access that was seen several times since the last barrier or syncwarp."""
        if time[0] is not self.time[0] or time[1] is not self.time[1] or len(self.seen) > MOST_KEYS:
            self.time = time
            self.seen.clear()
            self.effects.clear()
        self.seen[key] = self.seen.get(key, 0) + 1
        if self.seen[key] <= TIMES:
            return None
        _, _, pattern, base = key
        words = pattern.once(("words", base), lambda: np.unique(pattern.array.keys(pattern, base)))
        return words if words.size <= MOST_WORDS else None

    def _state(self, words: Ints) -> list[tuple[Slot, Ints, Ints]]:
        return [(slot, slot.accessor[words], slot.when[words]) for slot in self.slots.values()]

    def apply(self, access: Access, epoch: Ints) -> None:
        """Compare an access with the stored ones of its words with which it may race, and store it."""
        pattern = access.pattern
        if pattern.mask is False:
            return
        keys, mask = pattern.words(access.base)
        me = ActiveLanes(access, mask, epoch)
        opponents = {READ: (WRITE, ATOMIC), WRITE: (READ, WRITE, ATOMIC), ATOMIC: (READ, WRITE)}[access.kind]
        for kind in opponents:
            for name in SLOTS:
                slot = self.slots.get((kind, name))
                if slot is not None:
                    self._compare(keys, me, slot.at(keys), kind)
            by_thread = self.latest_by_thread.get(kind)
            if by_thread is None:
                continue
            rows, which = by_thread.find(keys)
            if rows.size:
                stored = [column[rows] for column in by_thread.table[1:]]
                self._compare(keys[which], me.take(which), stored, kind)
                if access.kind == WRITE:  # as in _write
                    by_thread.forget(rows)
        if access.kind in self.latest_by_thread:
            self.latest_by_thread[access.kind].put(keys, me, self._stamps(me))
        else:
            self._put(keys, me, pattern)
        if self.releases is not None and access.kind == ATOMIC:
            self.releases.update(self.array, keys, me.thread, me.barriers)

    def _put(self, keys: Ints, me: ActiveLanes, pattern: Pattern) -> None:
        meet = pattern.once("meetings", lambda: meetings(keys, me))  # it does not depend on the base
        if me.access.kind == WRITE:
            self._write(keys, me, meet)
        elif meet is None:
            self._enter(keys, me, me.access.kind)
        else:
            for chosen in meet:
                self._enter(keys[chosen], me.take(chosen), me.access.kind)

    def _compare(self, keys: Ints, me: ActiveLanes, earlier: Iterable[Any], kind: int) -> None:
        """Report a lane that races with an earlier access (its who, when and stamp), rather of another warp."""
        accessor, when, stamps = earlier
        thread = (accessor >> LINE_BITS) - 1
        racing = (accessor > 0) & (thread != me.thread)
        if not racing.any():
            return
        block, warp = self._place(thread)
        mine = me.access.vector.warp
        across = (block != me.block) | (warp != mine)
        racing &= (block != me.block) | (
            (when >> CLOCK_BITS == me.when >> CLOCK_BITS) & (across | ~me.ordered_after(thread, when, mine * WARP_SIZE))
        )
        places = np.flatnonzero(racing)
        if self.releases is not None and self.releases.fenced:
            places = self._unordered(places, me, thread, when, stamps)
        if places.size:
            i, access = places[np.argmax(across[places])], me.access
            same = (
                kind == access.kind == WRITE
                and self.values is not None
                and (self.values[keys] == self._values(me))[places].all()
            )
            self.observer.report(
                access.pattern.array,
                int(keys[i]),
                (int(thread[i]), int(accessor[i] & LINE_MASK), kind),
                (int(me.thread[i]), access.line, access.kind),
                bool(same),
                self._paths(int(accessor[i] & LINE_MASK), access.line, [int(warp[i]), mine] if across[i] else []),
            )

    def _paths(self, one: int, other: int, warps: list[int]) -> list[WarpPath]:
        """The order of two lines in those of the warps that ran both; of no warps, the order given."""
        if not warps:
            return [(one, other)]
        runs = [(self.first_run.get((w, one)), self.first_run.get((w, other))) for w in warps]
        return [(one, other) if a <= b else (other, one) for a, b in runs if a is not None and b is not None]

    def _unordered(self, places: Ints, me: ActiveLanes, thread: Ints, when: Ints, stamps: Stamps) -> Ints:
        """The rest of ``places``, from the first lane on that no release orders after the earlier access."""
        assert self.releases is not None
        now = me.barriers
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
        return widened(me.access.value, me.mask.shape)[me.mask]

    def _write(self, keys: Ints, me: ActiveLanes, meet: list[Ints] | None) -> None:
        """Store the writer of each word and drop its older accesses, which are ordered before it or were reported."""
        values = self._values(me)
        if meet is not None:
            self._collide(keys, me, values)
        if self.values is None:
            self.values = np.zeros(self.words, self.array.dtype)
        self.values[keys] = values
        self._slot(WRITE, "latest").put(keys, me.accessor, me.when, self._stamps(me))
        for (kind, _), slot in self.slots.items():
            if kind != WRITE:
                slot.accessor[keys] = 0

    def _collide(self, keys: Ints, me: ActiveLanes, values: np.ndarray) -> None:
        """Report lanes that write one word in the same instruction."""
        order = np.lexsort((me.thread, keys))
        twice = np.flatnonzero(np.diff(keys[order]) == 0)
        a, b = order[twice], order[twice + 1]
        self.observer.report(
            me.access.pattern.array,
            int(keys[a[0]]),
            (int(me.thread[a[0]]), me.access.line, WRITE),
            (int(me.thread[b[0]]), me.access.line, WRITE),
            bool((values[a] == values[b]).all()),
            [],
        )

    def _enter(self, keys: Ints, me: ActiveLanes, kind: int) -> None:
        """Store a read or an atomic as the latest one of its words.

        The one before moves to the slot of another block, warp or lane, if it is of another one and still races.
        """
        latest = self._slot(kind, "latest")
        accessor, when, _ = latest.at(keys)
        known = accessor > 0
        if known.any():
            thread = (accessor >> LINE_BITS) - 1
            block, warp = self._place(thread)
            mine = me.access.vector.warp
            same_block = known & (block == me.block)
            same_epoch = same_block & (when >> CLOCK_BITS == me.when >> CLOCK_BITS)
            same_warp = same_epoch & (warp == mine)
            same_step = same_warp & ~me.ordered_after(thread, when, mine * WARP_SIZE)
            for name, replace, keep in (
                ("other_block", known & ~same_block, same_block),
                ("other_warp", same_epoch & ~same_warp, same_warp),
                ("other_lane", same_step & (thread != me.thread), same_step),
            ):
                if (kind, name) not in self.slots and not replace.any():
                    continue
                slot = self._slot(kind, name)
                if name == "other_lane" and me.known is not None:
                    other = (slot.accessor[keys] >> LINE_BITS) - 1
                    keep = same_warp & ~me.ordered_after(other, slot.when[keys], mine * WARP_SIZE)
                slot.put(keys[replace], accessor[replace], when[replace], None)
                slot.accessor[keys[known & ~replace & ~keep]] = 0
        latest.put(keys, me.accessor, me.when, None)


def meetings(keys: Ints, me: ActiveLanes) -> list[Ints] | None:
    """Groups of lanes to enter into the slots in sequence, if several access one word in one instruction; else None.

    For each word, these are the first thread, the first of the last block, and the last: they fill all slots that
    can be filled.
    """
    low = int(keys.min(initial=0))
    span = int(keys.max(initial=0)) - low + 1
    if span <= 8 * keys.size and np.bincount((keys - low).astype(np.intp, copy=False)).max(initial=0) <= 1:
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
