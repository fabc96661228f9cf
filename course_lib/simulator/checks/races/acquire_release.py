"""Order by fences and atomics: release and acquire, between any two threads of a launch.

A ``threadfence`` makes visible what its thread did before, and what a barrier ordered before that. The thread's next
atomic on a word of global or shared memory *releases* this, and a thread that updates the same word atomically later
*acquires* it: its later accesses are ordered after all of it, and after what the releasing thread itself had
acquired before its fence. A ``threadfence_block`` does this only for the threads of its block. After a barrier, all
threads of a block share what one of them fenced or acquired. Source: the release and acquire patterns of the PTX memory
model; as in NVIDIA's samples, an atomic acquires without an additional fence.

Fences and releases are numbered, to separate what a thread does after its fence from what it did before: an access
carries the number of fences that its thread had passed (``fence_counts``).
"""

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...runtime.arrays import Ints

FenceCounts = np.ndarray[Any, np.dtype[np.int32]]
#: A word of memory: its array, and the key of the element.
Word = tuple[object, int]
#: For each word, how many of its releases were acquired (always the first ones).
Acquisitions = dict[Word, int]


@dataclass(frozen=True, slots=True)
class ReleasedAccesses:
    """The accesses of its own block that an atomic released: those of each thread before its fence, and those of the
    whole block before the barrier that preceded it; and what was acquired before those fences."""

    fences: FenceCounts  # for each thread of the block: accesses with a smaller fence count are released
    barriers: int  # accesses of any thread of the block that had passed fewer barriers are released
    acquired: Acquisitions

    def covers(self, thread: int, fence_count: int, barriers: int) -> bool:
        return barriers < self.barriers or fence_count < self.fences[thread]

    @property
    def key(self) -> tuple[int, int]:
        """A key that grows with each release of something new."""
        return int(self.fences.sum()), self.barriers


@dataclass(frozen=True, slots=True)
class Release:
    """One atomic after a fence: what it released to its own block, and to all blocks."""

    position: int  # among the releases on this word
    to_block: ReleasedAccesses
    to_all: ReleasedAccesses | None

    def to(self, same_block: bool) -> ReleasedAccesses | None:
        return self.to_block if same_block else self.to_all


class Fences:
    """The latest fence of each thread, of one scope or a wider one."""

    def __init__(self, size: int) -> None:
        self.before: FenceCounts = np.zeros(size, np.int32)  # accesses with a smaller count came before the fence
        self.barriers: Ints = np.full(size, -1, np.int64)  # passed before the fence; -1: no fence
        self.acquired: dict[int, dict[int, Acquisitions]] = {}  # by block and thread, before the fence

    def released_by(self, block: int, own: int, threads: int, now: int) -> ReleasedAccesses | None:
        """Accesses that the thread can release: before its own fence, or before a fence and a barrier of its block."""
        here = slice(block * threads, (block + 1) * threads)
        passed = self.barriers[here]
        counts = (passed >= 0) & (passed < now)
        counts[own] = passed[own] >= 0
        if not counts.any():
            return None
        acquired: Acquisitions = {}
        for thread, more in self.acquired.get(block, {}).items():
            if counts[thread]:
                add_acquisitions(acquired, more)
        fences = np.where(counts, self.before[here], 0).astype(np.int32)
        return ReleasedAccesses(fences, int(passed[counts].max()), acquired)


def add_acquisitions(acquired: Acquisitions, more: Acquisitions) -> None:
    """Add ``more`` to the acquired releases ``acquired``."""
    for word, length in more.items():
        acquired[word] = max(length, acquired.get(word, 0))


@dataclass(slots=True)
class Acquired:
    """The releases that the threads of a block have acquired."""

    by_all: Acquisitions = field(default_factory=dict)  # acquired before the latest barrier
    by_one: dict[int, Acquisitions] = field(default_factory=dict)  # since then, by thread
    barriers: int = 0


class Releases:
    """The fences, releases and acquisitions of a launch of ``blocks`` blocks of ``threads`` threads."""

    def __init__(self, blocks: int, threads: int) -> None:
        self.threads = threads
        self.fence_counts: FenceCounts = np.zeros(blocks * threads, np.int32)  # fences passed, by thread of the grid
        self.of_block = Fences(blocks * threads)  # all fences
        self.of_device = Fences(blocks * threads)  # those that order for all threads
        self.log: dict[Word, dict[int, list[Release]]] = {}  # by block
        self.length: Acquisitions = {}  # of the log of each word
        self.fenced = False  # has any thread passed a fence?
        self.latest: dict[tuple[Word, int], tuple[tuple[int, int] | None, ...]] = {}  # keys of a thread's last release
        self.acquired: dict[int, Acquired] = {}  # by block

    def fence(self, threads: Ints, barriers: Ints, block_only: bool) -> None:
        """Let threads that have passed ``barriers`` pass a fence, ``block_only`` or for all threads."""
        self.fenced = True
        self.fence_counts[threads] += 1
        for fences in (self.of_block,) if block_only else (self.of_block, self.of_device):
            fences.before[threads] = self.fence_counts[threads]
            fences.barriers[threads] = barriers
            if not self.acquired:
                continue
            for i, thread in enumerate(threads):
                block, own = divmod(int(thread), self.threads)
                if block in self.acquired:
                    fences.acquired.setdefault(block, {})[own] = self.acquisitions_of(block, own, int(barriers[i]))

    def update(self, array: object, keys: Ints, threads: Ints, barriers: Ints) -> None:
        """Let threads update words atomically, one after another in their order in the grid."""
        if not self.fenced:
            return
        for i in np.argsort(threads, kind="stable"):
            thread, now = int(threads[i]), int(barriers[i])
            word = array, int(keys[i])
            length = self.length.get(word, 0)
            block, own = divmod(thread, self.threads)
            if length:
                self._acquired_in(block, now).by_one.setdefault(own, {})[word] = length
            self._release(word, block, own, now, length)

    def _release(self, word: Word, block: int, own: int, now: int, length: int) -> None:
        to_block, to_all = (each.released_by(block, own, self.threads, now) for each in (self.of_block, self.of_device))
        if to_block is None:
            return
        thread, released = block * self.threads + own, (to_block.key, None if to_all is None else to_all.key)
        if self.latest.get((word, thread)) == released:
            return  # nothing new, as in each iteration of a waiting loop
        self.latest[word, thread] = released
        self.log.setdefault(word, {}).setdefault(block, []).append(Release(length, to_block, to_all))
        self.length[word] = length + 1

    def _acquired_in(self, block: int, now: int) -> Acquired:
        """The releases that the block has acquired; after a barrier, all its threads share them."""
        of_block = self.acquired.setdefault(block, Acquired())
        if of_block.barriers < now:
            for acquired in of_block.by_one.values():
                add_acquisitions(of_block.by_all, acquired)
            of_block.by_one.clear()
            of_block.barriers = now
        return of_block

    def acquisitions_of(self, block: int, own: int, now: int) -> Acquisitions:
        """The releases that a thread has acquired which has passed ``now`` barriers."""
        of_block = self._acquired_in(block, now)
        return {**of_block.by_all, **of_block.by_one.get(own, {})}

    def ordered(self, thread: int, fence_count: int, barriers: int, later: int, now: int) -> bool:
        """Whether an access of ``thread`` was released to the thread ``later``, which has passed ``now`` barriers.

        At the access, ``thread`` had passed ``barriers`` barriers and ``fence_count`` fences.
        """
        block, own = divmod(thread, self.threads)
        mine, reader = divmod(later, self.threads)
        if mine not in self.acquired:
            return False
        waiting = [(mine, *entry) for entry in self.acquisitions_of(mine, reader, now).items()]
        seen: dict[tuple[int, Word], int] = {}  # by the block that acquired
        while waiting:
            hearer, word, length = waiting.pop()
            before = seen.get((hearer, word), 0)
            if length <= before:
                continue
            seen[hearer, word] = length
            log = self.log[word]
            releases = log.get(block, [])
            for i in range(bisect_left(releases, length, key=lambda release: release.position)):
                released = releases[i].to(hearer == block)
                if released is not None and released.covers(own, fence_count, barriers):
                    return True
            for releaser, others in log.items():
                for release in others:
                    released = release.to(hearer == releaser)
                    if released is not None and before <= release.position < length:
                        waiting += ((releaser, *entry) for entry in released.acquired.items())
        return False
