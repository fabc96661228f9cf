"""The order that a fence and an atomic make: release and acquire, between any two threads of a launch.

A thread that passes a ``threadfence`` has made visible what it did before, and what a barrier ordered before. Its next
atomic on a word of global memory *releases* that, and whoever updates the same word atomically afterwards *acquires*
it: what it does from then on is ordered after all of it, and after what the releasing thread had itself acquired.
The threads of a block share what one of them fenced or acquired once a barrier has passed. Source: the release and
acquire patterns of the PTX memory model; as the programs in NVIDIA's samples do, an atomic acquires without a fence
of its own.

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
#: A word of global memory: its array, and the number of the element.
Word = tuple[object, int]
#: For each word, how many of its releases were acquired: those that came first.
Heard = dict[Word, int]


@dataclass(frozen=True, slots=True)
class Release:
    """What one atomic released of its own block: the accesses of each thread before its fence, and of the whole
    block before the barrier that preceded that; and, of other blocks, what the thread had heard."""

    position: int  # among the releases on this word
    fences: Stamps  # by thread of the block, the fences that count; an access with a smaller stamp came before
    barriers: int  # accesses of any thread of the block with fewer barriers passed came before
    heard: Heard

    def covers(self, thread: int, stamp: int, barriers: int) -> bool:
        return barriers < self.barriers or stamp < self.fences[thread]


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
        self.barriers: Ints = np.full(blocks * threads, -1, np.int64)  # passed before the latest fence; -1: no fence
        self.log: dict[Word, dict[int, list[Release]]] = {}  # by block
        self.length: Heard = {}  # of the log of each word
        self.fenced = False  # has any thread passed a fence?
        self.latest: dict[tuple[Word, int], tuple[int, int]] = {}  # (fences, barriers) of a thread's last release
        self.acquired: dict[int, Acquired] = {}  # by block

    def fence(self, threads: Ints, barriers: Ints) -> None:
        """These threads, which have passed so many barriers, pass a fence."""
        self.fenced = True
        self.stamps[threads] += 1
        self.barriers[threads] = barriers

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
        first = block * self.threads
        passed = self.barriers[first : first + self.threads]
        counts = (passed >= 0) & (passed < now)
        counts[own] = passed[own] >= 0
        if not counts.any():
            return
        fences = np.where(counts, self.stamps[first : first + self.threads], 0).astype(np.int32)
        released = int(fences.sum()), int(passed[counts].max())
        if self.latest.get((word, first + own)) == released:
            return  # a thread that waits in a loop releases nothing new
        self.latest[word, first + own] = released
        heard = self.heard(block, own, now)
        self.log.setdefault(word, {}).setdefault(block, []).append(Release(length, fences, released[1], heard))
        self.length[word] = length + 1

    def _known_in(self, block: int, now: int) -> Acquired:
        """What the block has acquired; a barrier since the last look tells all its threads."""
        known = self.acquired.setdefault(block, Acquired())
        if known.barriers < now:
            for heard in known.by_one.values():
                for word, length in heard.items():
                    known.by_all[word] = max(length, known.by_all.get(word, 0))
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
        waiting = list(self.heard(mine, reader, now).items())
        seen: Heard = {}
        while waiting:
            word, length = waiting.pop()
            before = seen.get(word, 0)
            if length <= before:
                continue
            seen[word] = length
            log = self.log[word]
            releases = log.get(block, [])
            if any(
                releases[i].covers(own, stamp, barriers)
                for i in range(bisect_left(releases, length, key=lambda release: release.position))
            ):
                return True
            for others in log.values():
                waiting += (
                    entry
                    for release in others
                    if before <= release.position < length
                    for entry in release.heard.items()
                )
        return False
