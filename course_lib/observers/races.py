"""Races on shared and global words, found from recorded accesses and not from a lucky interleaving.

Two accesses race if they touch the same word, come from different threads, at least one writes, not both are
atomic, and nothing orders them:

* threads of different blocks are never ordered within a launch;
* threads of different warps of a block are ordered by a barrier between the two accesses;
* lanes of a warp are ordered by a barrier or a ``syncwarp`` between them, or because one instruction is
  evaluated before the other *for the same lane* only: lockstep is the simulator's choice, not CUDA's promise.

Shared arrays are judged once for each barrier interval, from a log: an interval with only reads, or in which each
word is written once and not read, is settled by counting. Only what is left is replayed word by word. Global
arrays that nothing writes are never looked at.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..simulator.findings import Finding
from ..simulator.observer import Observer

READ, WRITE, ATOMIC = 0, 1, 2
KIND = {"load": READ, "store": WRITE, "atomic": ATOMIC}
#: Accessor slots kept for each word and kind of access; see Shadow.
SLOTS = ("latest", "other_lane", "other_warp", "other_block")


@dataclass
class Access:
    """One logged access: everything the replay needs."""

    site: object
    line: int
    kind: int
    vector: object
    pattern: object
    base: int
    warp_epoch: object
    value: object = None


class RacesObserver(Observer):
    """Finds races; see the module's rules."""

    def start(self, engine):
        super().start(engine)
        self.logs: dict[object, SharedLog] = {}
        self.shadows: dict[object, Shadow] = {}
        self.epochs: dict[object, np.ndarray] = {}
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
        vector = site.vector
        shadow.apply(Access(site, site.line, KIND[site.op], vector, pattern, base, vector.warp_epoch, value),
                     self.epoch_of(vector.chunk))

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
            [one, other], key=lambda access: (access[1], access[0]))
        index = array.index_of_key(word) if array.space == "shared" else array.index_of(int(word))
        place = f"{array.name}[{', '.join(map(str, index))}]"
        threads = self.launch.name_thread(thread_a), self.launch.name_thread(thread_b)
        verbs = ("reads", "writes", "updates")
        size = self.launch.threads_per_block
        if threads[0][0] != threads[1][0]:
            cure = "blocks cannot wait for each other: give each block its own elements, or use cuda.atomic"
        elif line_a == line_b:
            cure = "let one thread write it, or use cuda.atomic"
        elif thread_a % size // 32 == thread_b % size // 32:
            cure = "put cuda.syncwarp() or cuda.syncthreads() between the two"
        else:
            cure = "put cuda.syncthreads() between the two"
        note = " (the same value, this time)" if same_value else ""
        self.add(Finding(
            "race", "error", line_b, line_a, array.name, index, threads,
            f"{self.name(threads[0])} {verbs[kind_a]} {place} in line {line_a} and {self.name(threads[1])} "
            f"{verbs[kind_b]} it in line {line_b}{note}, and nothing orders the two; {cure}"))


class SharedLog:
    """The accesses to one shared array of a chunk since its last barrier."""

    def __init__(self, observer, array):
        self.observer, self.array = observer, array
        self.entries: list[Access] = []
        self.writes = 0
        self.shadow: Shadow | None = None
        self.dirty = False

    def __call__(self, site, pattern, base, value):
        kind = KIND[site.op]
        if kind != READ:
            self.writes += 1
        vector = site.vector
        self.entries.append(Access(site, site.line, kind, vector, pattern, base, vector.warp_epoch, value))
        if len(self.entries) > 4096 and not self.writes:
            self._thin()

    def _thin(self):
        """Forget repeated reads of the same words by the same warp, so that a long loop does not fill memory."""
        kept = {}
        for entry in self.entries:
            kept[id(entry.pattern), entry.base, id(entry.warp_epoch)] = entry
        self.entries = list(kept.values())

    def settle(self, complete: bool):
        """A barrier (of all blocks of the chunk, if ``complete``), or the end: judge the interval."""
        if self.dirty or not complete or not self._harmless():
            self._replay()
            self.dirty = not complete
            if complete:
                self.shadow = None
        self.entries.clear()
        self.writes = 0

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
            words = np.concatenate([np.broadcast_to(elements(e), (*e.vector.lanes.shape, 1, 1)).reshape(-1)
                                    for e in writers])
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


def elements(access: Access) -> np.ndarray:
    """Offsets of all elements that the access may touch in any block."""
    offsets = access.pattern.offsets
    return np.asarray(access.base) if offsets is None else offsets + access.base


class Shadow:
    """For each word, who read it, wrote it and updated it atomically, as far as that can still race.

    Of the threads that read a word (or updated it), four are kept: the latest, and one that differs from it in its
    lane (same warp, nothing between them), in its warp (same block, no barrier between them) and in its block.
    Whatever thread comes next, if it races with any earlier one, it races with one of these. A write is ordered
    after all that it does not race with, so only the latest writer is kept.
    """

    def __init__(self, observer, array, words: int):
        self.observer, self.array = observer, array
        self.threads = observer.launch.threads_per_block
        self.words = words
        #: (kind, slot) -> thread id, line, epoch and warp epoch of each word; thread -1 for nobody
        self.slots: dict[tuple, np.ndarray] = {}
        self.seen = {READ: False, WRITE: False, ATOMIC: False}
        self.values: np.ndarray | None = None  # what was last written, to say when two writers agreed

    def apply(self, access: Access, epoch: np.ndarray):
        vector, pattern = access.vector, access.pattern
        if pattern.mask is False:
            return
        shape, mask = vector.shape, vector.full(pattern.mask)
        keys = np.broadcast_to(self.array.keys(vector, pattern, access.base), shape)[mask]
        me = np.empty((4, keys.size), np.int64)
        me[0] = vector.ids[mask]
        me[1] = access.line
        me[2] = np.broadcast_to(epoch, shape)[mask]
        me[3] = np.broadcast_to(np.asarray(access.warp_epoch), shape)[mask]
        opponents = {READ: (WRITE, ATOMIC), WRITE: (READ, WRITE, ATOMIC), ATOMIC: (READ, WRITE)}[access.kind]
        for kind in opponents:
            if self.seen[kind]:
                for slot in SLOTS if kind != WRITE else ("latest",):
                    self._compare(keys, me, self.slots[kind, slot], kind, access)
        self._record(keys, me, access)

    def _unordered(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Where two sets of accesses (columns: thread, line, epoch, warp epoch) have nothing that orders them."""
        threads = self.threads
        block_a, block_b = a[0] // threads, b[0] // threads
        warp_a, warp_b = a[0] % threads // 32, b[0] % threads // 32
        return (a[0] >= 0) & (a[0] != b[0]) & ((block_a != block_b) | ((a[2] == b[2]) & (
            (warp_a != warp_b) | (a[3] == b[3]))))

    def _compare(self, keys, me, slot, kind, access):
        then = slot[:, keys]
        racing = self._unordered(then, me)
        if racing.any():
            i = int(np.flatnonzero(racing)[0])
            same = kind == access.kind == WRITE and self.values[keys[i]] == self._values(access)[i]
            self.observer.report(self.array, int(keys[i]), (then[0, i], int(then[1, i]), kind),
                                 (me[0, i], access.line, access.kind), bool(same))

    def _record(self, keys, me, access):
        if not self.seen[access.kind]:
            self.seen[access.kind] = True
            for slot in SLOTS if access.kind != WRITE else ("latest",):
                self.slots[access.kind, slot] = np.full((4, self.words), -1, np.int64)
        if access.kind == WRITE:
            self._collide(keys, me, access)
            if self.values is None:
                self.values = np.zeros(self.words, self.array.dtype)
            self.values[keys] = self._values(access)
            self.slots[WRITE, "latest"][:, keys] = me
            for kind in (READ, ATOMIC):
                if self.seen[kind]:
                    for slot in SLOTS:
                        self.slots[kind, slot][0, keys] = -1
            return
        remaining = np.arange(keys.size)
        while remaining.size:  # lanes that meet in a word enter it one after another
            _, first = np.unique(keys[remaining], return_index=True)
            self._enter(keys[remaining[first]], me[:, remaining[first]], access.kind)
            if access.kind == READ and len(first) < len(remaining):
                # of many lanes of a warp that read one word, the first and the last say it all
                left = np.delete(remaining, first)
                _, last = np.unique(keys[left][::-1], return_index=True)
                last = left[::-1][last]
                self._enter(keys[last], me[:, last], access.kind)
                others = keys[remaining]
                blocks = me[0, remaining] // self.threads
                if not self._one_block(others, blocks):
                    remaining = np.setdiff1d(left, last)
                    continue
                return
            remaining = np.delete(remaining, first)

    @staticmethod
    def _values(access) -> np.ndarray:
        """The values written, one for each active lane."""
        return np.broadcast_to(np.asarray(access.value), access.vector.shape)[access.vector.full(access.pattern.mask)]

    @staticmethod
    def _one_block(keys, blocks) -> bool:
        """Is each word touched by lanes of only one block?"""
        order = np.lexsort((blocks, keys))
        same_key = np.diff(keys[order]) == 0
        return not (same_key & (np.diff(blocks[order]) != 0)).any()

    def _enter(self, keys, me, kind):
        """One accessor a word: move the slots on."""
        latest = self.slots[kind, "latest"]
        then = latest[:, keys]
        threads = self.threads
        known = then[0] >= 0
        same_block = known & (then[0] // threads == me[0] // threads)
        same_epoch = same_block & (then[2] == me[2])
        same_warp = same_epoch & (then[0] % threads // 32 == me[0] % threads // 32)
        same_step = same_warp & (then[3] == me[3])
        moves = {"other_block": (known & ~same_block, known & same_block),
                 "other_warp": (same_epoch & ~same_warp, same_warp),
                 "other_lane": (same_step & (then[0] != me[0]), same_step)}
        for slot, (replace, keep) in moves.items():
            data = self.slots[kind, slot]
            data[:, keys[replace]] = then[:, replace]
            drop = ~replace & ~keep
            data[0, keys[drop]] = -1
        latest[:, keys] = me

    def _collide(self, keys, me, access):
        """Two lanes that write one word in the same instruction."""
        order = np.argsort(keys, kind="stable")
        twice = np.flatnonzero(np.diff(keys[order]) == 0)
        if not twice.size:
            return
        a, b = order[twice[0]], order[twice[0] + 1]
        value = self._values(access)
        same = bool(value[a] == value[b])
        self.observer.report(self.array, int(keys[a]), (me[0, a], access.line, WRITE), (me[0, b], access.line, WRITE),
                             same)
