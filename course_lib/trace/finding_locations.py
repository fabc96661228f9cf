"""Locations of a finding in a trace: the block, the position and the thread of each access that takes part."""

import os
from typing import Any, NamedTuple

import numpy as np

from ..simulator.findings import Finding
from ..simulator.hardware import WARP_SIZE
from ..simulator.launch_shape import coordinates, linear
from .columns import BARRIER, NEGATIVE
from .kernel_structure import loops
from .replay import Timeline
from .trace import Dim3, Trace


class Place(NamedTuple):
    """``position`` counts the steps of ``block``, the step in question included; ``thread`` is linear in the block."""

    block: tuple[int, int, int]
    position: int
    thread: int

    def choices(self, trace: Trace) -> dict[str, Any]:
        """Return what a `Stepper` of the trace takes to show the place."""
        return {"step": self.position, "block": self.block, "thread": coordinates(self.thread, trace.block)}


def locate(trace: Trace, finding: Finding) -> tuple[Place, ...]:
    """Return the places of a finding's first occurrence: of a race the later access, then the earlier; else one or two.

    For barrier divergence: the thread that arrived first, then the one that did not arrive, where it left; of a lane
    that a warp operation lacks, where its warp executes it. Empty for a finding that no step caused.
    """
    timelines = {block: Timeline.of(trace, block) for block, _ in finding.threads}
    threads = [(block, linear(thread, trace.block)) for block, thread in finding.threads]
    if finding.kind == "race":
        return _race(timelines, finding, threads)
    diverged = finding.kind == "barrier-divergence" and len(threads) == 2
    common = _common_barriers(timelines, threads) if diverged else (0, 0)
    ends_there = finding.kind in ("failed-assertion", "raised-exception")
    places = []
    for (block, thread), line, after in zip(threads, (finding.line, finding.other_line), common, strict=False):
        if line is None:
            continue
        at = _positions(timelines[block], finding, thread, line)
        flag = 0
        if finding.kind == "negative-index":
            flag = NEGATIVE
        elif diverged and line == finding.line:
            flag = BARRIER
        marked = at[timelines[block].flags[at - 1] & flag == flag]
        if len(marked) or diverged:  # the bound of a loop is evaluated before its first step
            at = marked
        if not len(at):
            continue
        later = at[at > after]
        if not len(later):  # no step tells that a thread leaves a loop: the last one in it then
            later = at[-1:]
        places.append(Place(block, int(later[-1] if ends_there else later[0]), thread))
    return tuple(places)


def _common_barriers(timelines: dict[Dim3, Timeline], threads: list[tuple[Dim3, int]]) -> tuple[int, ...]:
    """Return for each of two threads its position at the last barrier before they went to different ones.

    Equal barriers are in one line, and in one iteration of the loop around it.
    """
    places, passed = [], []
    for block, thread in threads:
        time, around = timelines[block], loops(timelines[block].trace)
        mine = time.of_thread(thread)
        at = np.flatnonzero(mine & ((time.flags & BARRIER) != 0)) + 1
        heads = [around.get(line, (0, 0))[0] for line in time.lines[at - 1].tolist()]
        iterations = [
            np.count_nonzero(time.lines[:position][mine[:position]] == head)
            for position, head in zip(at, heads, strict=True)
        ]
        places.append([0, *at.tolist()])
        passed.append([*zip(time.lines[at - 1].tolist(), iterations, strict=True)])
    common = len(os.path.commonprefix(passed))
    return tuple(at[common] for at in places)


def _positions(timeline: Timeline, finding: Finding, thread: int, line: int) -> np.ndarray:
    """Return the positions at which a thread ran a line, and touched the finding's element if it names one."""
    here = timeline.lines == timeline.statement_of(line)
    ran = np.flatnonzero(here & timeline.of_thread(thread)) + 1
    if not len(ran) and finding.kind == "barrier-divergence":  # a warp operation waits for the thread
        ran = np.flatnonzero(here & (timeline.warps == thread // WARP_SIZE)) + 1
    array = timeline.trace.arrays.get(finding.array or "")
    if array is None or finding.index is None:
        return ran
    index = tuple(i + n if i < 0 else i for i, n in zip(finding.index, array.shape, strict=True))
    inside = all(0 <= i < n for i, n in zip(index, array.shape, strict=True))
    if inside and finding.kind != "out-of-bounds":  # which, of a part of an array, may be inside the array
        element = int(np.ravel_multi_index(index, array.shape)) if array.shape else 0
        accesses = timeline.accesses(array.name)
        touched = accesses.position[(accesses.thread == thread) & (accesses.element == element)]
    else:
        missed = array.name, thread, finding.index
        touched = np.array([at for at in ran.tolist() if missed in timeline.outside(at)], np.int64)
    both = np.intersect1d(ran, touched)
    return both if len(both) else ran


def _race(timelines: dict[Dim3, Timeline], finding: Finding, threads: list[tuple[Dim3, int]]) -> tuple[Place, ...]:
    """Return the first two accesses of a race that no barrier separates; for different blocks, the first of each."""
    (block_a, a), (block_b, b) = threads
    line_a = finding.line if finding.other_line is None else finding.other_line
    at_a = _positions(timelines[block_a], finding, a, line_a)
    at_b = _positions(timelines[block_b], finding, b, finding.line)
    if not len(at_a) or not len(at_b):
        return ()
    if block_a != block_b:
        return Place(block_b, int(at_b[0]), b), Place(block_a, int(at_a[0]), a)
    pairs = []
    for (mine, one), (others, two) in (((at_b, b), (at_a, a)), ((at_a, a), (at_b, b))):
        for later in mine.tolist():
            earlier = int(np.searchsorted(others, later, side="right")) - 1
            between = (others[earlier] <= release < later for release in timelines[block_a].releases)
            if earlier >= 0 and not any(between):
                pairs.append((Place(block_a, later, one), Place(block_a, int(others[earlier]), two)))
                break
    return min(pairs, key=lambda pair: pair[0].position, default=())
