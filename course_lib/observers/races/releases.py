"""The order that a fence and an atomic make: release and acquire, between any two threads of a launch.

A thread that passes a ``threadfence`` has made visible what it did before, and what a barrier ordered before. Its next
atomic on a word of global or shared memory *releases* that, and whoever updates the same word atomically afterwards
*acquires* it: what it does from then on is ordered after all of it, and after what the releasing thread had itself
acquired before its fence. A ``threadfence_block`` does so for the threads of its own block alone. The threads of a
block share what one of them fenced or acquired once a barrier has passed. Source: the release and acquire patterns of
the PTX memory model; as the programs in NVIDIA's samples do, an atomic acquires without a fence of its own.

Fences and releases are numbered, so that what a thread does after its fence is not taken for what it did before: an
access carries the number of fences that its thread had passed (``stamps``).
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Stamps = np.ndarray[Any, np.dtype[np.int32]]
Ints = np.ndarray[Any, np.dtype[np.int64]]
#: A word of memory: its array, and the number of the element.
Word = tuple[object, int]
#: For each word, how many of its releases were acquired: those that came first.
Heard = dict[Word, int]


@dataclass(frozen=True, slots=True)
class Reach:
    """What an atomic released of its own block: the accesses of each thread before its fence, and of the whole
    block before the barrier that preceded that; and what was heard before those fences."""

    fences: Stamps  # by thread of the block, the fences that count; an access with a smaller stamp came before
    barriers: int  # accesses of any thread of the block with fewer barriers passed came before
    heard: Heard

    def covers(self, thread: int, stamp: int, barriers: int) -> bool:
        return barriers < self.barriers or stamp < self.fences[thread]

    @property
    def key(self) -> tuple[int, int]:
        """What grows with each release that says something new."""
        return int(self.fences.sum()), self.barriers


@dataclass(frozen=True, slots=True)
class Release:
    """One atomic after a fence: what it released to its own block, and what to all."""

    position: int  # among the releases on this word
    to_block: Reach
    to_all: Reach | None

    def to(self, same_block: bool) -> Reach | None:
        return self.to_block if same_block else self.to_all


class Fences:
    """The latest fence of each thread, of one scope or a wider one."""

    def __init__(self, size: int) -> None:
        self.before: Stamps = np.zeros(size, np.int32)  # accesses with a smaller stamp came before the fence
        self.barriers: Ints = np.full(size, -1, np.int64)  # passed before the fence; -1: no fence
        self.heard: dict[int, dict[int, Heard]] = {}  # by block and thread, before the fence

    def reach(self, block: int, own: int, threads: int, now: int) -> Reach | None:
        """What the thread may release: behind its own fence, or behind a fence and a barrier of its block."""
        here = slice(block * threads, (block + 1) * threads)
        passed = self.barriers[here]
        counts = (passed >= 0) & (passed < now)
        counts[own] = passed[own] >= 0
        if not counts.any():
            return None
        heard: Heard = {}
        for thread, known in self.heard.get(block, {}).items():
            if counts[thread]:
                join(heard, known)
        return Reach(np.where(counts, self.before[here], 0).astype(np.int32), int(passed[counts].max()), heard)


def join(heard: Heard, more: Heard) -> None:
    """Add to what was heard."""
    for word, length in more.items():
        heard[word] = max(length, heard.get(word, 0))


@dataclass(slots=True)
class Acquired:
    """What the threads of a block know of other threads."""

    by_all: Heard = field(default_factory=dict)  # acquired before the latest barrier
    by_one: dict[int, Heard] = field(default_factory=dict)  # since then, by thread
    barriers: int = 0


class Releases:
    """The fences, releases and acquisitions of a launch of ``blocks`` blocks of ``threads`` threads."""

    def __init__(self, blocks: int, threads: int) -> None:
        self.threads = threads
        self.stamps: Stamps = np.zeros(blocks * threads, np.int32)  # fences passed, by thread of the grid
        self.of_block = Fences(blocks * threads)  # all fences
        self.of_device = Fences(blocks * threads)  # those that order for all threads
        self.log: dict[Word, dict[int, list[Release]]] = {}  # by block
        self.length: Heard = {}  # of the log of each word
        self.fenced = False  # has any thread passed a fence?
        self.latest: dict[tuple[Word, int], tuple[tuple[int, int] | None, ...]] = {}  # keys of a thread's last release
        self.acquired: dict[int, Acquired] = {}  # by block

    def fence(self, threads: Ints, barriers: Ints, block_only: bool) -> None:
        """These threads, which have passed so many barriers, pass a fence, which may be one for their block only."""
        self.fenced = True
        self.stamps[threads] += 1
        for fences in (self.of_block,) if block_only else (self.of_block, self.of_device):
            fences.before[threads] = self.stamps[threads]
            fences.barriers[threads] = barriers
            for i, thread in enumerate(threads) if self.acquired else ():
                block, own = divmod(int(thread), self.threads)
                if block in self.acquired:
                    fences.heard.setdefault(block, {})[own] = self.heard(block, own, int(barriers[i]))

    def update(self, array: object, keys: Ints, threads: Ints, barriers: Ints) -> None:
        """These threads update words atomically, one after another in their order in the grid."""
        if not self.fenced:
            return
        for i in np.argsort(threads, kind="stable"):
            thread, now = int(threads[i]), int(barriers[i])
            word = array, int(keys[i])
            length = self.length.get(word, 0)
            block, own = divmod(thread, self.threads)
            if length:
                self._known_in(block, now).by_one.setdefault(own, {})[word] = length
            self._release(word, block, own, now, length)

    def _release(self, word: Word, block: int, own: int, now: int, length: int) -> None:
        to_block, to_all = (f.reach(block, own, self.threads, now) for f in (self.of_block, self.of_device))
        if to_block is None:
            return
        thread, released = block * self.threads + own, (to_block.key, None if to_all is None else to_all.key)
        if self.latest.get((word, thread)) == released:
            return  # a thread that waits in a loop releases nothing new
        self.latest[word, thread] = released
        self.log.setdefault(word, {}).setdefault(block, []).append(Release(length, to_block, to_all))
        self.length[word] = length + 1

    def _known_in(self, block: int, now: int) -> Acquired:
        """What the block has acquired; a barrier since the last look tells all its threads."""
        known = self.acquired.setdefault(block, Acquired())
        if known.barriers < now:
            for heard in known.by_one.values():
                join(known.by_all, heard)
            known.by_one.clear()
            known.barriers = now
        return known

    def heard(self, block: int, own: int, now: int) -> Heard:
        """What a thread that has passed ``now`` barriers has acquired."""
        known = self._known_in(block, now)
        return {**known.by_all, **known.by_one.get(own, {})}

    def ordered(self, thread: int, stamp: int, barriers: int, later: int, now: int) -> bool:
        """Was an access released to the thread ``later``, which has passed ``now`` barriers?

        Its thread had passed ``barriers`` barriers then, and ``stamp`` fences.
        """
        block, own = divmod(thread, self.threads)
        mine, reader = divmod(later, self.threads)
        if mine not in self.acquired:
            return False
        waiting = [(mine, *entry) for entry in self.heard(mine, reader, now).items()]
        seen: dict[tuple[int, Word], int] = {}  # by the block that heard
        while waiting:
            hearer, word, length = waiting.pop()
            before = seen.get((hearer, word), 0)
            if length <= before:
                continue
            seen[hearer, word] = length
            log = self.log[word]
            releases = log.get(block, [])
            for i in range(bisect_left(releases, length, key=lambda release: release.position)):
                reach = releases[i].to(hearer == block)
                if reach is not None and reach.covers(own, stamp, barriers):
                    return True
            for releaser, others in log.items():
                for release in others:
                    reach = release.to(hearer == releaser)
                    if reach is not None and before <= release.position < length:
                        waiting += ((releaser, *entry) for entry in reach.heard.items())
        return False
