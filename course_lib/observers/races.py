"""Races on shared and global words, found from recorded accesses and not from a lucky interleaving.

Two accesses race if they touch the same word, come from different threads, at least one writes, not both are
atomic, and nothing orders them:

* threads of different blocks are never ordered within a launch (an order made by ``threadfence`` and an atomic is
  not followed, and the message says so);
* threads of different warps of a block are ordered by a barrier between the two accesses;
* lanes of a warp are ordered by a barrier between them, or by a ``syncwarp`` in which both took part; lockstep is
  the simulator's choice, not CUDA's promise, and a shuffle or a vote orders no memory access.

Shared arrays are judged once for each barrier interval, from a log: an interval with only reads, or in which each
word is written once and not read, is settled by counting. Only what is left is replayed word by word, and an
interval whose log would grow too large. Global arrays that nothing writes are never looked at.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..simulator.findings import Finding, FindingKey
from ..simulator.hardware import WARP_SIZE
from ..simulator.observer import Observer

READ, WRITE, ATOMIC = 0, 1, 2
KIND = {"load": READ, "store": WRITE, "atomic": ATOMIC}
#: Accessor slots kept for each word and kind of access; see Shadow.
SLOTS = ("latest", "other_lane", "other_warp", "other_block")
#: A log is replayed early when it holds so many accesses, or so many bytes of offsets, masks and values.
LOG_ENTRIES, LOG_BYTES = 4096, 32 * 1024 * 1024
WITHIN_WARP = "put cuda.syncwarp() or cuda.syncthreads() between the two"


@dataclass(slots=True)
class Access:
    """One logged access: everything the replay needs."""

    line: int
    kind: int
    vector: object
    pattern: object
    base: int
    order: tuple  # see WarpVector.order
    value: object = None  # what was written

    @classmethod
    def at(cls, site, pattern, base, value) -> Access:
        kind, vector = KIND[site.op], site.vector
        return cls(site.line, kind, vector, pattern, base, vector.order, value if kind == WRITE else None)


def size(*parts) -> int:
    """Bytes of those parts of an access that are arrays."""
    return sum(part.nbytes for part in parts if isinstance(part, np.ndarray))


class RacesObserver(Observer):
    """Finds races; see the module's rules."""

    def start(self, engine):
        super().start(engine)
        self.logs: dict[object, SharedLog] = {}
        self.shadows: dict[object, Shadow] = {}
        self.epochs: dict[object, np.ndarray] = {}
        self.gravity: dict[FindingKey, tuple[bool, bool]] = {}
        self.unit = engine.unit

    def watch(self, array):
        if array.space == "shared":
            self.logs[array] = log = SharedLog(self, array)
            return log
        if array.space == "global" and self.unit.may_write(array.name):
            return self._global
        return None

    # --- global memory ----------------------------------------------------------------------------------------

    def _global(self, site, pattern, base, value):
        array = pattern.array
        shadow = self.shadows.get(array)
        if shadow is None:
            shadow = self.shadows[array] = Shadow(self, array, array.words())
        shadow.apply(Access.at(site, pattern, base, value), self.epoch_of(site.vector.chunk))

    def epoch_of(self, chunk) -> np.ndarray:
        """Barriers passed by each block of the chunk, as (1, 1, block rows, block columns)."""
        if chunk not in self.epochs:
            self.epochs[chunk] = np.zeros((1, 1, *chunk.shape), np.int64)
        return self.epochs[chunk]

    def barrier(self, arrivals, complete):
        chunk = arrivals[0][0].chunk
        for log in self.logs.values():
            log.settle(complete)
        epoch = self.epoch_of(chunk)
        if complete:
            self.epochs[chunk] = epoch + 1
        else:
            met = np.any([v.full(m).any(axis=(0, 1)) for v, m in arrivals], axis=0)
            self.epochs[chunk] = epoch + met

    def end_of_chunk(self, vectors):
        for log in self.logs.values():
            log.settle(True)
        self.logs.clear()
        self.epochs.clear()

    # --- reports ------------------------------------------------------------------------------------------------

    def report(self, array, word: int, one, other, same_value: bool):
        """``one`` and ``other`` are (thread id, line, kind) of two accesses that race, in any order."""
        (thread_a, line_a, kind_a), (thread_b, line_b, kind_b) = sorted(
            [one, other], key=lambda access: (access[1], access[0])
        )
        index = array.index_of_key(word) if array.space == "shared" else array.index_of(int(word))
        place = array.element_name(index)
        threads = self.launch.name_thread(thread_a), self.launch.name_thread(thread_b)
        verbs = ("reads", "writes", "updates")
        size = self.launch.threads_per_block
        if threads[0][0] != threads[1][0] and self.unit.fences:
            cure = (
                "if threadfence() and an atomic order them, the simulator does not see it: run the part after the "
                "fence as a kernel of its own"
            )
        elif threads[0][0] != threads[1][0]:
            cure = "blocks cannot wait for each other: give each block its own elements, or use cuda.atomic"
        elif line_a == line_b and READ not in (kind_a, kind_b):
            cure = "let one thread write it, or use cuda.atomic"
        elif line_a == line_b:
            cure = "read into a variable, put a barrier, and write then"
        elif thread_a % size // WARP_SIZE == thread_b % size // WARP_SIZE:
            cure = WITHIN_WARP
        else:
            cure = "put cuda.syncthreads() between the two"
        note = " (the same value, this time)" if same_value else ""
        finding = Finding(
            "race",
            line_b,
            f"{self.name(threads[0])} {verbs[kind_a]} {place} in line {line_a} and {self.name(threads[1])} "
            f"{verbs[kind_b]} it in line {line_b}{note}, and nothing orders the two; {cure}",
            other_line=line_a,
            array=array.name,
            index=index,
            threads=threads,
        )
        # of several races of two lines the one is shown that a syncwarp does not cure, and no equal values excuse
        gravity = cure is not WITHIN_WARP, not same_value
        first = self._findings.get(finding.key)
        if first is not None and gravity > self.gravity[finding.key]:
            self._findings[finding.key] = replace(finding, count=first.count)
        self.gravity[finding.key] = max(gravity, self.gravity.get(finding.key, gravity))
        self.add(finding)


class SharedLog:
    """The accesses to one shared array of a chunk since its last barrier."""

    def __init__(self, observer, array):
        self.observer, self.array = observer, array
        self.entries: list[Access] = []
        self.patterns: set[int] = set()  # ids of those that the entries keep alive
        self.writes = self.bytes = 0
        self.room = LOG_ENTRIES
        self.shadow: Shadow | None = None
        self.dirty = False

    def __call__(self, site, pattern, base, value):
        entry = Access.at(site, pattern, base, value)
        self.entries.append(entry)
        if entry.kind != READ:
            self.writes += 1
            self.bytes += size(entry.value)
        if id(pattern) not in self.patterns:
            self.patterns.add(id(pattern))
            self.bytes += size(pattern.offsets, pattern.mask)
        if len(self.entries) > self.room or self.bytes > LOG_BYTES:
            self._shrink()

    def _shrink(self):
        """Forget repeated reads of the same words by the same warp; replay the log if that is not enough."""
        if not self.writes:
            self.entries = list({(id(e.pattern), e.base, id(e.order)): e for e in self.entries}.values())
        if self.writes or self.bytes > LOG_BYTES // 2 or len(self.entries) > 16 * LOG_ENTRIES:
            self._replay()
            self.dirty = True
        self.room = 2 * len(self.entries) + LOG_ENTRIES

    def settle(self, complete: bool):
        """A barrier (of all blocks of the chunk, if ``complete``), or the end: judge the interval."""
        if self.dirty or not complete or not self._harmless():
            self._replay()
            self.dirty = not complete
            if complete:
                self.shadow = None
        self._clear()

    def _clear(self):
        self.entries.clear()
        self.patterns.clear()
        self.writes = self.bytes = 0
        self.room = LOG_ENTRIES

    def _harmless(self) -> bool:
        if not self.writes:
            return True
        writers = [e for e in self.entries if e.kind != READ]
        readers = [e for e in self.entries if e.kind == READ]
        if any(e.kind == ATOMIC for e in writers):
            return not readers and all(e.kind == ATOMIC for e in writers)
        if readers:
            touched = np.zeros(self.array.size, bool)
            for e in writers:
                touched[elements(e)] = True
            if any(touched[elements(e)].any() for e in readers):
                return False
        return self._each_once(writers)

    def _each_once(self, writers) -> bool:
        """Is no word of any block written twice?"""
        if all(e.pattern.mask is True and e.pattern.same_in_blocks for e in writers):
            words = np.concatenate(
                [np.broadcast_to(elements(e), (*e.vector.lanes.shape, 1, 1)).reshape(-1) for e in writers]
            )
            return int(np.bincount(words, minlength=1).max()) <= 1
        count = np.zeros(self.array.words(), np.int64)
        for e in writers:
            keys = np.broadcast_to(self.array.keys(e.vector, e.pattern, e.base), e.vector.shape)
            count += np.bincount(keys[e.vector.full(e.pattern.mask)], minlength=count.size)
        return int(count.max()) <= 1

    def _replay(self):
        if not self.entries:
            return
        if self.shadow is None:
            self.shadow = Shadow(self.observer, self.array, self.array.words())
        epoch = self.observer.epoch_of(self.entries[0].vector.chunk)
        for entry in self.entries:
            self.shadow.apply(entry, epoch)
        self._clear()


def elements(access: Access) -> np.ndarray:
    """Offsets of all elements that the access may touch in any block."""
    return np.asarray(access.pattern.elements(access.base))


class Lanes:
    """The active lanes of one access, as columns: thread, block, ``who`` and ``when`` (see Slot)."""

    def __init__(self, access: Access, mask, epoch):
        vector = access.vector
        clock, self.known = access.order
        self.access, self.mask = access, mask
        self.thread = vector.ids[mask]
        self.block = np.broadcast_to(vector.chunk.linear, vector.shape)[mask]
        self.who = (self.thread + 1 << LINE_BITS) + access.line
        self.when = (np.broadcast_to(epoch, vector.shape)[mask] << CLOCK_BITS) + np.broadcast_to(
            np.asarray(clock), vector.shape
        )[mask]
        self.place = None  # of each lane's block in the chunk
        if self.known is not None:
            self.place = np.broadcast_to(vector.chunk.places, vector.shape)[mask]

    def take(self, chosen) -> Lanes:
        """These lanes only."""
        some = object.__new__(Lanes)
        some.access, some.mask, some.known = self.access, None, self.known
        for name in ("thread", "block", "who", "when", "place"):
            column = getattr(self, name)
            setattr(some, name, None if column is None else column[chosen])
        return some

    def knows(self, threads, whens, first: int) -> np.ndarray:
        """Has each lane met, in a syncwarp, the access that a lane of its own warp made earlier?

        ``first`` is the thread of lane 0, relative to the block.
        """
        clock = whens & CLOCK_MASK
        if self.known is None:
            return clock < (self.when & CLOCK_MASK)
        threads_per_block = self.access.vector.launch.threads_per_block
        origin = self.block * threads_per_block + first
        lanes = np.clip(threads - origin, 0, self.known.shape[1] - 1)  # of other warps: not looked at
        return self.known[self.thread - origin, lanes, self.place] >= clock


#: A slot packs a thread and a line into one number, and a block's barriers and a lane's syncwarps into another.
LINE_BITS, CLOCK_BITS = 20, 32
LINE_MASK, CLOCK_MASK = (1 << LINE_BITS) - 1, (1 << CLOCK_BITS) - 1


class Slot:
    """One access of each word: ``who`` (thread + 1 and line; 0 for nobody) and ``when`` (barriers and syncwarps).

    Zeros, so that the words that nobody touches take no memory.
    """

    def __init__(self, words: int):
        self.who, self.when = np.zeros(words, np.int64), np.zeros(words, np.int64)

    def put(self, keys, who, when):
        self.who[keys] = who
        self.when[keys] = when


class Shadow:
    """For each word, who read it, wrote it and updated it atomically, as far as that can still race.

    Of the threads that read a word (or updated it), four are kept: the latest, and one that differs from it in its
    lane (same warp, nothing between them), in its warp (same block, no barrier between them) and in its block.
    Whatever thread comes next, if it races with any earlier one, it races with one of these; only where more than
    two lanes of a warp read one word and a syncwarp then orders some of them can one be forgotten. A write is
    ordered after all that it does not race with, so only the latest writer is kept.
    """

    def __init__(self, observer, array, words: int):
        self.observer, self.array = observer, array
        self.threads = observer.launch.threads_per_block
        self.words = words
        self.slots: dict[tuple[int, str], Slot] = {}  # (kind, which of SLOTS); one that is never needed is missing
        self.values: np.ndarray | None = None  # what was last written, to say when two writers agreed

    def apply(self, access: Access, epoch: np.ndarray):
        vector, pattern = access.vector, access.pattern
        if pattern.mask is False:
            return
        mask = vector.full(pattern.mask)
        keys = np.broadcast_to(self.array.keys(vector, pattern, access.base), vector.shape)[mask]
        me = Lanes(access, mask, epoch)
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

    def _compare(self, keys, me: Lanes, slot: Slot, kind: int):
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
        if places.size:
            i, access = places[0], me.access
            same = kind == access.kind == WRITE and (self.values[keys] == self._values(me))[places].all()
            self.observer.report(
                self.array,
                int(keys[i]),
                (int(thread[i]), int(who[i] & LINE_MASK), kind),
                (int(me.thread[i]), access.line, access.kind),
                bool(same),
            )

    def _place(self, thread):
        """(block, warp in the block) of threads."""
        block = thread // self.threads
        return block, (thread - block * self.threads) // WARP_SIZE

    def _slot(self, kind: int, name: str) -> Slot:
        if (kind, name) not in self.slots:
            self.slots[kind, name] = Slot(self.words)
        return self.slots[kind, name]

    @staticmethod
    def _values(me: Lanes) -> np.ndarray:
        """The values written, one for each active lane."""
        return np.broadcast_to(np.asarray(me.access.value), me.mask.shape)[me.mask]

    def _write(self, keys, me, meet):
        """The latest writer of each word; what came before is ordered before it, or was reported."""
        values = self._values(me)
        if meet is not None:
            self._collide(keys, me, values)
        if self.values is None:
            self.values = np.zeros(self.words, self.array.dtype)
        self.values[keys] = values
        self._slot(WRITE, "latest").put(keys, me.who, me.when)
        for (kind, _), slot in self.slots.items():
            if kind != WRITE:
                slot.who[keys] = 0

    def _collide(self, keys, me, values):
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

    def _enter(self, keys, me: Lanes, kind: int):
        """One accessor a word: move the slots on."""
        latest = self._slot(kind, "latest")
        who, when = latest.who[keys], latest.when[keys]
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
                slot.put(keys[replace], who[replace], when[replace])
                slot.who[keys[known & ~replace & ~keep]] = 0
        latest.put(keys, me.who, me.when)


def meetings(keys, me: Lanes) -> list[np.ndarray] | None:
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
