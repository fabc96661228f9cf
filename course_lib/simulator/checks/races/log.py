"""Logs of accesses: to shared memory, checked for races at each barrier, and to global memory, checked at the end.

Most intervals, and most launches, have no race for a plain reason, which is cheaper to find than races are: only the
others are replayed.
"""

from typing import Any

import numpy as np

from ...runtime.access import Site
from ...runtime.arrays import Ints, Pattern
from ...runtime.masks import widened
from ...runtime.memory import GlobalArray, SharedArray
from .accesses import ATOMIC, READ, Access
from .detector import RaceDetector, RaceSink

#: A log of more accesses, or of more bytes of offsets, masks and values, is replayed early.
LOG_ENTRIES, LOG_BYTES = 4096, 32 * 1024 * 1024
#: Bytes for the word and the thread of a lane.
WORD_AND_THREAD = 16


def size(*parts: Any) -> int:
    """Bytes of the arrays among ``parts``."""
    return sum(part.nbytes for part in parts if isinstance(part, np.ndarray))


class SharedLog:
    """The accesses to one shared array of a chunk since its last barrier."""

    def __init__(self, sink: RaceSink, array: SharedArray) -> None:
        self.sink, self.array = sink, array
        self.entries: list[Access] = []
        self.patterns: set[int] = set()  # ids of the patterns that the entries keep alive
        self.writes = self.bytes = 0
        self.capacity = LOG_ENTRIES
        self.detector: RaceDetector | None = None
        self.replayed_in_part = False

    def __call__(self, site: Site, pattern: Pattern, base: int, value: Any) -> None:
        entry = Access.at(site, pattern, base, value)
        self.entries.append(entry)
        if entry.kind != READ:
            self.writes += 1
            self.bytes += size(entry.value)
        if id(pattern) not in self.patterns:
            self.patterns.add(id(pattern))
            self.bytes += size(pattern.offsets, pattern.mask)
        if len(self.entries) > self.capacity or self.bytes > LOG_BYTES:
            self._shrink()

    def _shrink(self) -> None:
        """Drop repeated reads of the same words by the same warp; replay the log if that is not enough."""
        if not self.writes:
            latest = {(id(entry.pattern), entry.base, id(entry.syncwarp_clock)): entry for entry in self.entries}
            self.entries = [*latest.values()]
        if self.writes or self.bytes > LOG_BYTES // 2 or len(self.entries) > 16 * LOG_ENTRIES:
            self._replay()
            self.replayed_in_part = True
        self.capacity = 2 * len(self.entries) + LOG_ENTRIES

    def check(self, complete: bool) -> None:
        """Check the interval for races, at a barrier (of all blocks of the chunk if ``complete``) or at the end."""
        if self.replayed_in_part or not complete or not self._is_plainly_race_free():
            self._replay()
            self.replayed_in_part = not complete
            if complete:
                self.detector = None
        self._clear()

    def _clear(self) -> None:
        self.entries.clear()
        self.patterns.clear()
        self.writes = self.bytes = 0
        self.capacity = LOG_ENTRIES

    def _is_plainly_race_free(self) -> bool:
        if not self.writes:
            return True
        writers = [each for each in self.entries if each.kind != READ]
        readers = [each for each in self.entries if each.kind == READ]
        if any(each.kind == ATOMIC for each in writers):
            return not readers and all(each.kind == ATOMIC for each in writers)
        if readers:
            touched = np.zeros(self.array.extent, bool)
            for e in writers:
                touched[elements(e)] = True
            if any(touched[elements(e)].any() for e in readers):
                return False
        return self._each_once(writers)

    def _each_once(self, writers: list[Access]) -> bool:
        """Whether each word is written at most once in each block."""
        if all(each.pattern.mask is True and each.pattern.same_in_blocks for each in writers):
            parts = [widened(elements(each), (*each.vector.lanes.shape, 1, 1)).reshape(-1) for each in writers]
            words = np.concatenate(parts).astype(np.intp, copy=False)
            return int(np.bincount(words, minlength=1).max()) <= 1
        count = np.zeros(self.array.word_count(), np.int64)
        for e in writers:
            words = e.pattern.keys_and_lanes(e.base)[0].astype(np.intp, copy=False)
            count += np.bincount(words, minlength=count.size)
        return int(count.max()) <= 1

    def replay_to(self, sink: RaceSink) -> None:
        """Let another sink receive the races of this interval so far. The log is left as it is."""
        if entries := tuple(self.entries):
            detector, barriers = RaceDetector(sink, self.array), sink.barriers_of(entries[0].vector.chunk)
            for entry in entries:
                detector.record(entry, barriers)

    def _replay(self) -> None:
        if not self.entries:
            return
        if self.detector is None:
            self.detector = RaceDetector(self.sink, self.array)
        barriers = self.sink.barriers_of(self.entries[0].vector.chunk)
        for entry in self.entries:
            self.detector.record(entry, barriers)
        self._clear()


class GlobalLog:
    """The accesses to one array of global memory, of the whole launch.

    It is used in kernels without fences in which each syncwarp has all lanes.
    """

    def __init__(self, sink: RaceSink, array: GlobalArray) -> None:
        self.sink, self.array = sink, array
        self.entries: list[tuple[Access, Ints]] = []  # with the barriers of each
        self.bytes = 0
        self.detector: RaceDetector | None = None

    def __call__(self, site: Site, pattern: Pattern, base: int, value: Any) -> None:
        entry = Access.at(site, pattern, base, value), self.sink.barriers_of(site.vector.chunk)
        if self.detector is not None:
            self.detector.record(*entry)
            return
        self.entries.append(entry)
        self.bytes += WORD_AND_THREAD * site.vector.size + size(entry[0].value)
        if len(self.entries) > LOG_ENTRIES or self.bytes > LOG_BYTES:
            self._replay()

    def check(self) -> None:
        """Check the accesses so far: no later one races with them, after a barrier of the grid or at the end."""
        if self.detector is None and not self._is_plainly_race_free():
            self._replay()
        self.entries.clear()
        self.bytes, self.detector = 0, None

    def _is_plainly_race_free(self) -> bool:
        """Whether all accesses are reads, or all are atomic, or one thread alone accesses each word that is written."""
        kinds = {access.kind for access, _ in self.entries}
        if kinds <= {READ} or kinds == {ATOMIC}:
            return True
        writer = np.zeros(self.array.word_count(), np.int64)  # of each word: 1 + the id of its thread, or 0 for none
        accesses = []
        for access, _ in self.entries:
            keys, _ = access.pattern.keys_and_lanes(access.base)
            thread, _ = access.vector.active(access.pattern.mask)
            accesses.append((keys, thread + 1))
            if access.kind != READ:
                writer[keys] = thread + 1
        keys, thread = (np.concatenate(parts) for parts in zip(*accesses, strict=True))
        others = writer[keys]
        return bool(((others == thread) | (others == 0)).all())

    def replay_to(self, sink: RaceSink) -> None:
        """Let another sink receive the races so far. The log is left as it is."""
        detector = RaceDetector(sink, self.array)
        for entry in tuple(self.entries):
            detector.record(*entry)

    def _replay(self) -> None:
        self.detector = RaceDetector(self.sink, self.array)
        for entry in self.entries:
            self.detector.record(*entry)
        self.entries.clear()


def elements(access: Access) -> Ints:
    """Offsets of all elements that the access may touch in any block."""
    return np.asarray(access.pattern.elements(access.base))
