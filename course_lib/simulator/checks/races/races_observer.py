"""The observer of races: which accesses are checked when, and which of the races are shown.

README.md in the folder above states the rules, :mod:`detector` applies them, and :mod:`messages` has the sentences.
"""

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...findings import Finding, FindingKey
from ...hardware import WARP_SIZE
from ...launch.prepare import Prepared
from ...runtime.access import Site
from ...runtime.arrays import Array, Ints, Pattern, Watcher
from ...runtime.async_copies import SourceUse
from ...runtime.masks import Mask
from ...runtime.memory import GlobalArray, SharedArray
from ...runtime.warp import WarpVector
from .accesses import Access, PastAccess, WarpPath
from .acquire_release import Releases
from .detector import RaceDetector, RaceReport, RaceSink
from .log import GlobalLog, SharedLog
from .messages import Messages, Race


class RacesObserver(RaceSink):
    def start(self, prepared: Prepared) -> None:
        super().start(prepared)
        self.logs: dict[SharedArray, SharedLog] = {}
        self.of_launch: dict[GlobalArray, GlobalLog] = {}
        self.detectors: dict[GlobalArray | SharedArray, RaceDetector] = {}  # of accesses that no log holds
        self.barriers_passed = {}
        self.shown: dict[FindingKey, Race] = {}  # the race of each finding
        self.preference: dict[FindingKey, tuple[bool, bool]] = {}  # is it between two warps, and do the values differ?
        self.reported = []
        self.compiled = prepared.compiled
        self.messages = Messages(prepared.launch, prepared.compiled)
        launch = prepared.launch
        self.releases = Releases(launch.blocks, launch.threads_per_block) if prepared.compiled.fences else None
        self.every_thread = prepared.compiled.fences or prepared.compiled.partial_syncwarps

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The races. If one of them needs a barrier of the block, no other one says that a syncwarp is enough."""
        for log in self.of_launch.values():
            log.check()
        return self._found()

    def findings_so_far(self) -> tuple[Finding, ...]:
        """Return the races so far: also those of accesses that are logged and not replayed yet."""
        seen = copy.copy(self)
        seen._findings, seen._counts = self._findings.copy(), self._counts.copy()
        seen.shown, seen.preference = self.shown.copy(), self.preference.copy()
        seen.barriers_passed, seen.reported = self.barriers_passed.copy(), []
        logs: list[GlobalLog | SharedLog] = [*self.of_launch.copy().values(), *self.logs.copy().values()]
        for log in logs:
            log.replay_to(seen)
        return seen._found()

    def _found(self) -> tuple[Finding, ...]:
        found = super().findings
        races = [self.shown[finding.key] for finding in found]
        if not any(race.needs_block_barrier for race in races):
            return found
        sentences = (self.messages.sentence(race, block_barrier=True) for race in races)
        return tuple(replace(each, message=text) for each, text in zip(found, sentences, strict=True))

    def watch(self, array: Array) -> Watcher | None:
        if isinstance(array, SharedArray) and self.releases is None:
            self.logs[array] = log = SharedLog(self, array)
            return log
        if isinstance(array, GlobalArray) and not self.compiled.may_write(*array.names):
            return None
        if isinstance(array, GlobalArray) and not self.every_thread:
            return self.of_launch.setdefault(array.memory, GlobalLog(self, array.memory))
        if isinstance(array, SharedArray | GlobalArray):
            return self._at_once  # fences and syncwarps of a part of a warp order accesses by their position
        return None

    def copy_started(self, site: Site, pattern: Pattern, base: int, values: tuple[Any, ...]) -> None:
        """Treat the start of an asynchronous copy as a store, since it may arrive at once; so is its arrival."""
        array = pattern.array
        assert isinstance(array, SharedArray)
        watcher = self.logs.get(array, self._at_once)
        for element, value in enumerate(values):
            watcher(site, pattern, base + element, value)

    def source_read(self, use: SourceUse, done: Ints) -> None:
        """Treat the arrival of an asynchronous copy as a read of its source, like its start."""
        vector = use.site.vector
        watcher = self.of_launch.get(use.array.memory, self._at_once)
        for words, lanes in zip(use.words, use.lanes & done, strict=True):
            mask = lanes.reshape(vector.shape)
            if mask.any():
                watcher(use.site, Pattern(use.array, vector, words.reshape(vector.shape), mask), 0, None)

    def _at_once(self, site: Site, pattern: Pattern, base: int, value: Any) -> None:
        array = pattern.array
        assert isinstance(array, (GlobalArray, SharedArray))
        memory = array.memory if isinstance(array, GlobalArray) else array
        detector = self.detectors.get(memory)
        if detector is None:
            detector = self.detectors[memory] = RaceDetector(self, memory)
        detector.record(Access.at(site, pattern, base, value), self.barriers_of(site.vector.chunk))

    def fence(self, vector: WarpVector, mask: Mask, block_only: bool) -> None:
        if self.releases is not None:
            lanes = vector.full(mask)
            barriers = np.broadcast_to(self.barriers_of(vector.chunk), vector.shape)
            self.releases.fence(vector.ids[lanes], barriers[lanes], block_only)

    def released(self, vector: WarpVector, pattern: Pattern) -> None:
        if self.releases is not None:
            keys, lanes = pattern.keys_and_lanes(0)
            barriers = np.broadcast_to(self.barriers_of(vector.chunk), vector.shape)
            self.releases.update(pattern.array, keys, vector.ids[lanes], barriers[lanes])

    def barrier(self, arrivals: Sequence[tuple[WarpVector, Mask]], complete: bool) -> None:
        chunk = arrivals[0][0].chunk
        for array, log in self.logs.items():
            if array.chunk is chunk:
                log.check(complete)
        arrived: Any = 1  # in each block
        if not complete:
            arrived = np.any([vector.full(mask).any(axis=(0, 1)) for vector, mask in arrivals], axis=0)
        self.barriers_passed[chunk] = self.barriers_of(chunk) + arrived

    def grid_barrier(self) -> None:
        for log in self.of_launch.values():
            log.check()
        for array in [array for array in self.detectors if isinstance(array, GlobalArray)]:
            del self.detectors[array]

    def end_of_chunk(self, vectors: Sequence[WarpVector]) -> None:
        chunk = vectors[0].chunk
        for array in [array for array in self.logs if array.chunk is chunk]:
            self.logs.pop(array).check(True)
        ended = [array for array in self.detectors if isinstance(array, SharedArray) and array.chunk is chunk]
        for array in ended:
            del self.detectors[array]
        self.barriers_passed.pop(chunk, None)

    def report(
        self,
        array: SharedArray | GlobalArray,
        word: int,
        one: PastAccess,
        other: PastAccess,
        same_value: bool,
        paths: list[WarpPath],
    ) -> None:
        """Report two accesses that race, as :class:`RaceSink` says."""
        first, second = sorted([one, other], key=lambda access: (access.line, access.thread))
        threads = self.launch.thread_coordinates(first.thread), self.launch.thread_coordinates(second.thread)
        between_warps = self._block_and_warp(first.thread) != self._block_and_warp(second.thread)
        index = array.index_of_key(word)
        race = Race(array, index, first, second, threads, between_warps, same_value, paths)
        finding = Finding(
            "race",
            second.line,
            self.messages.sentence(race),
            other_line=first.line,
            array=array.name,
            index=index,
            threads=threads,
            verbs=race.verbs,
        )
        # of several races of two lines, show one of two warps, which nobody disputes, and in which the values differ
        key, preference = finding.key, (between_warps, not same_value)
        if key not in self.shown or preference > self.preference[key]:
            self.shown[key], self.preference[key] = race, preference
            self._findings[key] = finding
        self.add(finding)
        self.reported.append(RaceReport(key, final=self.preference[key] >= (between_warps, True)))

    def _block_and_warp(self, thread: int) -> tuple[int, int]:
        block, in_block = divmod(thread, self.launch.threads_per_block)
        return block, in_block // WARP_SIZE
