"""The shadow memory of an array: for each of its words, past accesses with which a later one can still race.

:mod:`detector` decides what is stored here, and compares new accesses with it.
"""

import numpy as np

from ...runtime.arrays import Ints
from .accesses import ActiveLanes
from .acquire_release import FenceCounts

#: The slots of each word and kind of access: the latest access, and one that differs from it in its lane (same warp,
#: nothing between them), in its warp (same block, no barrier between them) and in its block.
SLOTS = ("latest", "other_lane", "other_warp", "other_block")

NO_ROWS: Ints = np.zeros(0, np.int64)


class Slot:
    """One access of each word: ``thread_and_line`` (0: none) and ``epoch``, packed as in :mod:`accesses`.

    ``fence_counts`` are the fences that the thread had passed, in kernels with fences. The arrays are made by np.zeros,
    so words without an access need no memory.
    """

    def __init__(self, word_count: int, with_fences: bool) -> None:
        self.thread_and_line, self.epoch = np.zeros(word_count, np.int64), np.zeros(word_count, np.int64)
        self.fence_counts: FenceCounts | None = np.zeros(word_count, np.int32) if with_fences else None

    def at(self, keys: Ints) -> tuple[Ints, Ints, FenceCounts | None]:
        fence_counts = None if self.fence_counts is None else self.fence_counts[keys]
        return self.thread_and_line[keys], self.epoch[keys], fence_counts

    def put(self, keys: Ints, thread_and_line: Ints, epoch: Ints, fence_counts: FenceCounts | None) -> None:
        self.thread_and_line[keys] = thread_and_line
        self.epoch[keys] = epoch
        if self.fence_counts is not None and fence_counts is not None:
            self.fence_counts[keys] = fence_counts

    def clear(self, keys: Ints) -> None:
        self.thread_and_line[keys] = 0


class LatestByThread:
    """The latest access of each thread to each word: a table in order of (word, thread), of columns as in `Slot`."""

    def __init__(self, threads: int) -> None:
        self.threads = threads  # of the grid
        #: word and thread in one number; thread_and_line, epoch, fence_counts
        self.table: list[Ints] = [NO_ROWS] * 4
        self.new: list[tuple[Ints, ...]] = []  # rows that are not in the table yet
        self.rows_until_sort = 0

    def put(self, keys: Ints, lanes: ActiveLanes, fence_counts: FenceCounts | None) -> None:
        fences: Ints = np.zeros_like(keys) if fence_counts is None else fence_counts.astype(np.int64, copy=False)
        self.new.append((keys * self.threads + lanes.thread, lanes.thread_and_line, lanes.epoch, fences))
        self.rows_until_sort -= keys.size
        if self.rows_until_sort < 0:
            self._sort()
            self.rows_until_sort = self.table[0].size + 4096

    def _sort(self) -> None:
        """Move the new rows into the table, in place of older ones of the same word and thread."""
        if self.new:
            columns = [np.concatenate(parts) for parts in zip(self.table, *self.new, strict=True)]
            by_word = np.argsort(columns[0], kind="stable")
            last = by_word[np.diff(columns[0][by_word], append=-1) != 0]
            self.table = [column[last] for column in columns]
            self.new.clear()

    def find(self, keys: Ints) -> tuple[Ints, Ints]:
        """The rows of these words, and to which of ``keys`` each belongs."""
        self._sort()
        if not self.table[0].size:
            return NO_ROWS, NO_ROWS
        start = keys * self.threads
        first = np.searchsorted(self.table[0], start)
        end = np.searchsorted(self.table[0], start + self.threads)
        counts = end - first
        which = np.repeat(np.arange(keys.size), counts)
        return np.arange(which.size) + (end - np.cumsum(counts))[which], which

    def forget(self, rows: Ints) -> None:
        keep = np.ones(self.table[0].size, bool)
        keep[rows] = False
        self.table = [column[keep] for column in self.table]
