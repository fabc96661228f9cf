"""The detector of races of one array: compares each access with past ones of the same words, and stores it.

Two accesses of different threads race if at least one writes, not both are atomic, and nothing orders them (README.md
in the folder above has the rules):

* an access of another block always races, unless a fence released it (:mod:`acquire_release`);
* one of the same block races if no barrier of the block was between the two; lanes of one warp are also ordered by a
  syncwarp. Both are counted: an ``epoch`` holds the barriers of the block and the syncwarps of the lane.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...findings import FindingKey
from ...hardware import WARP_SIZE
from ...launch_shape import Chunk
from ...observer import Observer
from ...runtime.arrays import Ints, Pattern
from ...runtime.masks import widened
from ...runtime.memory import GlobalArray, SharedArray
from .accesses import (
    ATOMIC,
    CLOCK_BITS,
    LINE_BITS,
    LINE_MASK,
    READ,
    WRITE,
    Access,
    ActiveLanes,
    PastAccess,
    WarpPath,
)
from .acquire_release import FenceCounts, Releases
from .shadow_memory import SLOTS, LatestByThread, Slot

#: For each kind of access, the kinds with which it may race.
OPPONENTS = {READ: (WRITE, ATOMIC), WRITE: (READ, WRITE, ATOMIC), ATOMIC: (READ, WRITE)}
#: An access that has been made so many times since the last barrier or syncwarp counts as that of a loop. Its effect,
#: which takes 40 to 400 µs to compute, is then looked up by the state of its words, in 20 µs.
COMPUTED_TIMES = 3
#: That is done only if the loop makes no more different accesses than this, and each touches no more words than that.
MOST_ACCESSES, MOST_WORDS = 16, 1024


@dataclass(frozen=True)
class RaceReport:
    """A reported race; ``final``: the same report again changes nothing of the finding but its count."""

    key: FindingKey
    final: bool


class RaceSink(Observer):
    """Receives races of two accesses, in any order; ``paths``: how the warps ran their lines, as far as they have.

    ``reported`` lists the reports since it was last emptied.
    """

    every_thread: bool  # see RaceDetector
    releases: Releases | None  # of a kernel with fences
    reported: list[RaceReport]
    barriers_passed: dict[Chunk, Ints]

    def barriers_of(self, chunk: Chunk) -> Ints:
        """Barriers passed by each block of the chunk, as (1, 1, block rows, block columns)."""
        if chunk not in self.barriers_passed:
            self.barriers_passed[chunk] = np.zeros((1, 1, *chunk.shape), np.int64)
        return self.barriers_passed[chunk]

    def repeat(self, key: FindingKey) -> None:
        self._counts[key] += 1

    def report(
        self, array: Any, word: int, one: PastAccess, other: PastAccess, same_value: bool, paths: list[WarpPath]
    ) -> None: ...


class RaceDetector:
    """The shadow memory of an array, and the comparison of each access with it.

    Of the threads that read a word (or updated it), four are stored: those of `SLOTS`. If a later thread races with any
    earlier one, it races with one of these, as long as only barriers and whole warps order threads. With
    ``every_thread`` all readers are stored: a release, or a syncwarp of a part of a warp, may order some of them. A
    write is ordered after all accesses with which it does not race, so only the latest writer is stored.
    """

    def __init__(self, sink: RaceSink, array: GlobalArray | SharedArray) -> None:
        self.sink, self.array, self.releases = sink, array, sink.releases
        self.threads = sink.launch.threads_per_block
        self.latest_by_thread: dict[int, LatestByThread] = {}
        if sink.every_thread:
            threads = sink.launch.blocks * self.threads
            self.latest_by_thread = {READ: LatestByThread(threads), ATOMIC: LatestByThread(threads)}
        self.word_count = array.word_count()
        self.slots: dict[tuple[int, str], Slot] = {}  # (kind, which of SLOTS); created when needed
        self.values: np.ndarray | None = None  # the last written values, to report when two writers agreed
        self.barriers: Ints | None = None  # those that the blocks had passed at:
        self.first_run: dict[tuple[int, int], int] = {}  # when a warp first ran a line after them
        # what a loop repeats: the clock and the barriers of the accesses in the following two
        self.repeated_since: tuple[Any, Any] = (None, None)
        self.times: dict[Any, int] = {}  # how often each of the loop's accesses was made
        self.effects: dict[Any, tuple[list[tuple[Slot, Ints, Ints]], list[FindingKey]]] = {}  # by access and state

    # --- repeated accesses -----------------------------------------------------------------------------------

    def record(self, access: Access, barriers: Ints) -> None:
        """Compare an access with past ones and store it; `barriers` are those that each block has passed.

        If a loop repeats the access, and its words are in the same state as before, its known effect is taken.
        """
        self.sink.reported.clear()
        if barriers is not self.barriers:
            self.barriers, self.first_run = barriers, {}
        self.first_run.setdefault((access.vector.warp_number, access.line), len(self.first_run))
        pattern, base = access.pattern, access.base
        key = access.line, access.kind, pattern, base
        words = None if self.latest_by_thread else self._repeated(key, (access.syncwarp_clock, barriers))
        if words is None:
            self.apply(access, barriers)
            return
        contents = []
        for _, thread_and_line, epoch in self._state(words):
            contents += [thread_and_line.tobytes(), epoch.tobytes()]
        before = key, *self.slots, b"".join(contents)
        effect = self.effects.get(before)
        if effect is None:
            self.apply(access, barriers)
            if all(report.final for report in self.sink.reported):
                self.effects[before] = self._state(words), [report.key for report in self.sink.reported]
            return
        state, races = effect
        for slot, thread_and_line, epoch in state:
            slot.put(words, thread_and_line, epoch, None)
        for race in races:
            self.sink.repeat(race)
        if self.values is not None and access.kind == WRITE:
            keys, mask = pattern.keys_and_lanes(base)
            self.values[keys] = widened(access.value, mask.shape)[mask]

    def _repeated(self, key: tuple[int, int, Pattern, int], since: tuple[Any, Ints]) -> Ints | None:
        """The words, if they are few, of an access that was made several times since the last barrier or syncwarp."""
        same = since[0] is self.repeated_since[0] and since[1] is self.repeated_since[1]
        if not same or len(self.times) > MOST_ACCESSES:
            self.repeated_since = since
            self.times.clear()
            self.effects.clear()
        self.times[key] = self.times.get(key, 0) + 1
        if self.times[key] <= COMPUTED_TIMES:
            return None
        _, _, pattern, base = key
        words = pattern.once(("words", base), lambda: np.unique(pattern.array.keys(pattern, base)))
        return words if words.size <= MOST_WORDS else None

    def _state(self, words: Ints) -> list[tuple[Slot, Ints, Ints]]:
        return [(slot, slot.thread_and_line[words], slot.epoch[words]) for slot in self.slots.values()]

    # --- comparison ------------------------------------------------------------------------------------------

    def apply(self, access: Access, barriers: Ints) -> None:
        """Compare an access with the stored ones of its words with which it may race, and store it."""
        if access.pattern.mask is False:
            return
        keys, mask = access.pattern.keys_and_lanes(access.base)
        current = ActiveLanes(access, mask, barriers)
        for kind in OPPONENTS[access.kind]:
            for name in SLOTS:
                slot = self.slots.get((kind, name))
                if slot is not None:
                    self._compare(keys, current, slot.at(keys), kind)
            if kind in self.latest_by_thread:
                self._compare_with_all(keys, current, kind)
        if access.kind in self.latest_by_thread:
            self.latest_by_thread[access.kind].put(keys, current, self._fence_counts(current))
        else:
            self._put(keys, current)
        if self.releases is not None and access.kind == ATOMIC:
            self.releases.update(self.array, keys, current.thread, current.barriers)

    def _compare_with_all(self, keys: Ints, current: ActiveLanes, kind: int) -> None:
        """Compare with the latest access of every thread."""
        past = self.latest_by_thread[kind]
        rows, which = past.find(keys)
        if not rows.size:
            return
        stored = [column[rows] for column in past.table[1:]]
        self._compare(keys[which], current.take(which), stored, kind)
        if current.access.kind == WRITE:  # as in _put_write
            past.forget(rows)

    def _compare(self, keys: Ints, current: ActiveLanes, past: Iterable[Any], kind: int) -> None:
        """Report one lane that races with a past access of this kind, of another warp if there is one.

        ``past``: for each lane, the thread_and_line, epoch and fence_counts of the stored access.
        """
        thread_and_line, epoch, fence_counts = past
        thread = (thread_and_line >> LINE_BITS) - 1
        racing = (thread_and_line > 0) & (thread != current.thread)
        if not racing.any():
            return
        block, warp = self._block_and_warp(thread)
        own_warp = current.access.vector.warp_number
        of_other_block = block != current.block
        of_other_warp = of_other_block | (warp != own_warp)
        no_barrier_between = epoch >> CLOCK_BITS == current.epoch >> CLOCK_BITS
        unordered = of_other_warp | ~current.ordered_after(thread, epoch, own_warp * WARP_SIZE)
        racing &= of_other_block | (no_barrier_between & unordered)
        lanes = np.flatnonzero(racing)
        if self.releases is not None and self.releases.fenced:
            lanes = self._not_released(lanes, current, thread, epoch, fence_counts)
        if not lanes.size:
            return
        example, access = lanes[np.argmax(of_other_warp[lanes])], current.access
        line = int(thread_and_line[example] & LINE_MASK)
        same_value = (
            kind == access.kind == WRITE
            and self.values is not None
            and (self.values[keys] == current.values)[lanes].all()
        )
        warps = [int(warp[example]), own_warp] if of_other_warp[example] else []
        self.sink.report(
            access.pattern.array,
            int(keys[example]),
            PastAccess(int(thread[example]), line, kind),
            PastAccess(int(current.thread[example]), access.line, access.kind),
            bool(same_value),
            self._paths(line, access.line, warps),
        )

    def _not_released(
        self, lanes: Ints, current: ActiveLanes, thread: Ints, epoch: Ints, fence_counts: FenceCounts
    ) -> Ints:
        """The rest of ``lanes``, from the first one on that no release orders after the past access."""
        assert self.releases is not None
        now = current.barriers
        for count, i in enumerate(lanes):
            past = int(thread[i]), int(fence_counts[i]), int(epoch[i]) >> CLOCK_BITS
            if not self.releases.ordered(*past, int(current.thread[i]), int(now[i])):
                return lanes[count:]
        return lanes[:0]

    def _paths(self, one: int, other: int, warps: list[int]) -> list[WarpPath]:
        """The order of two lines in those of the warps that ran both; of no warps, the order given."""
        if not warps:
            return [(one, other)]
        paths = []
        for warp in warps:
            ran_one, ran_other = self.first_run.get((warp, one)), self.first_run.get((warp, other))
            if ran_one is not None and ran_other is not None:
                paths.append((one, other) if ran_one <= ran_other else (other, one))
        return paths

    def _block_and_warp(self, thread: Ints) -> tuple[Ints, Ints]:
        """(block, warp in the block) of threads."""
        block = thread // self.threads
        return block, (thread - block * self.threads) // WARP_SIZE

    def _fence_counts(self, current: ActiveLanes) -> FenceCounts | None:
        return None if self.releases is None else self.releases.fence_counts[current.thread]

    # --- storing ---------------------------------------------------------------------------------------------

    def _slot(self, kind: int, name: str) -> Slot:
        if (kind, name) not in self.slots:
            self.slots[kind, name] = Slot(self.word_count, self.releases is not None)
        return self.slots[kind, name]

    def _put(self, keys: Ints, current: ActiveLanes) -> None:
        access = current.access
        # it does not depend on the base
        groups = access.pattern.once("first_and_last_of_each_word", lambda: first_and_last_of_each_word(keys, current))
        if access.kind == WRITE:
            self._put_write(keys, current, groups is not None)
        elif groups is None:
            self._put_latest(keys, current, access.kind)
        else:
            for chosen in groups:
                self._put_latest(keys[chosen], current.take(chosen), access.kind)

    def _put_write(self, keys: Ints, current: ActiveLanes, to_one_word: bool) -> None:
        """Store the writer of each word and drop its older accesses, which are ordered before it or were reported.

        ``to_one_word``: several lanes write to one word.
        """
        values = current.values
        if to_one_word:
            self._report_one_instruction(keys, current, values)
        if self.values is None:
            self.values = np.zeros(self.word_count, self.array.dtype)
        self.values[keys] = values
        latest = self._slot(WRITE, "latest")
        latest.put(keys, current.thread_and_line, current.epoch, self._fence_counts(current))
        for (kind, _), slot in self.slots.items():
            if kind != WRITE:
                slot.clear(keys)

    def _report_one_instruction(self, keys: Ints, current: ActiveLanes, values: np.ndarray) -> None:
        """Report lanes that write one word in the same instruction."""
        by_word = np.lexsort((current.thread, keys))
        repeated = np.flatnonzero(np.diff(keys[by_word]) == 0)
        a, b = by_word[repeated], by_word[repeated + 1]
        line = current.access.line
        self.sink.report(
            current.access.pattern.array,
            int(keys[a[0]]),
            PastAccess(int(current.thread[a[0]]), line, WRITE),
            PastAccess(int(current.thread[b[0]]), line, WRITE),
            bool((values[a] == values[b]).all()),
            [],
        )

    def _put_latest(self, keys: Ints, current: ActiveLanes, kind: int) -> None:
        """Store a read or an atomic as the latest one of its words.

        The one before moves to the slot of another block, warp or lane, if it is of another one and still races.
        """
        latest = self._slot(kind, "latest")
        thread_and_line, epoch, _ = latest.at(keys)
        stored = thread_and_line > 0
        if stored.any():
            thread = (thread_and_line >> LINE_BITS) - 1
            block, warp = self._block_and_warp(thread)
            own_warp = current.access.vector.warp_number
            first = own_warp * WARP_SIZE
            same_block = stored & (block == current.block)
            same_interval = same_block & (epoch >> CLOCK_BITS == current.epoch >> CLOCK_BITS)
            same_warp = same_interval & (warp == own_warp)
            unordered = same_warp & ~current.ordered_after(thread, epoch, first)
            for name, moved, kept in (
                ("other_block", stored & ~same_block, same_block),
                ("other_warp", same_interval & ~same_warp, same_warp),
                ("other_lane", unordered & (thread != current.thread), unordered),
            ):
                if (kind, name) not in self.slots and not moved.any():
                    continue
                slot = self._slot(kind, name)
                if name == "other_lane" and current.seen_clocks is not None:
                    other = (slot.thread_and_line[keys] >> LINE_BITS) - 1
                    kept = same_warp & ~current.ordered_after(other, slot.epoch[keys], first)
                slot.put(keys[moved], thread_and_line[moved], epoch[moved], None)
                slot.clear(keys[stored & ~moved & ~kept])
        latest.put(keys, current.thread_and_line, current.epoch, None)


def first_and_last_of_each_word(keys: Ints, current: ActiveLanes) -> list[Ints] | None:
    """Groups of lanes to store one after another, if several access one word in one instruction; else None.

    For each word, these are the first thread, the first of the last block, and the last: they fill all slots that
    can be filled.
    """
    low = int(keys.min(initial=0))
    span = int(keys.max(initial=0)) - low + 1
    if span <= 8 * keys.size:
        accesses_of_word = np.bincount((keys - low).astype(np.intp, copy=False))
        if accesses_of_word.max(initial=0) <= 1:
            return None
    by_word = np.lexsort((current.thread, keys))
    change = np.diff(keys[by_word]) != 0
    if change.all():
        return None
    block_change = change | (np.diff(current.block[by_word]) != 0)
    firsts = np.flatnonzero(np.r_[True, change])
    firsts_of_blocks = np.flatnonzero(np.r_[True, block_change])
    lasts = np.r_[firsts[1:], keys.size] - 1
    firsts_of_last_block = firsts_of_blocks[np.searchsorted(firsts_of_blocks, lasts, side="right") - 1]
    return [
        by_word[firsts],
        by_word[firsts_of_last_block[firsts_of_last_block != firsts]],
        by_word[lasts[lasts != firsts_of_last_block]],
    ]
