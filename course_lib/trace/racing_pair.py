"""In which iteration of a loop the two accesses of a race are, from a trace of the launch."""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from ..simulator.checks.races.messages import VERBS
from ..simulator.findings import Finding
from ..simulator.hardware import WARP_SIZE
from ..simulator.launch_shape import LaunchShape, coordinates, linear
from ..simulator.run import Run
from .finding_locations import locate
from .kernel_structure import loops
from .replay import Timeline
from .trace import Trace


@dataclass(frozen=True)
class RacingPair:
    """Two accesses that race.

    Attributes:
        accesses: of each the line, and in words who does what to which element, in the order of their iterations.
        within: whether they are of one block.
        where: "within one iteration of the loop in line 9", or "between two iterations …"; "" where that is not known.
        loop: the line of this loop, or 0.
    """

    accesses: tuple[tuple[int, str], ...]
    within: bool
    where: str = ""
    loop: int = 0


def pair_of(run: Run, race: Finding, trace: Trace | None) -> RacingPair:
    """Return a race of ``run`` as a pair of accesses, with their iterations if the trace of the launch has the race.

    In a loop it may be another pair than that of the finding: one of an iteration, or of two neighbouring ones.
    """
    launch = LaunchShape.of(run.grid, run.block)
    first = _first_line(race)
    within = len({block for block, _ in race.threads}) == 1
    finding, iterations, loop = _nearest(race, trace) if within else (race, (0, 0), 0)
    assert finding.index is not None
    element = f"{finding.array}[{', '.join(map(str, finding.index))}]"
    accesses = []
    parts = zip((first, finding.line), finding.threads, finding.verbs, iterations, strict=True)
    for line, thread, verb, iteration in sorted(parts, key=lambda part: part[3]):
        who = launch.format_thread(thread).partition(" of ")[0] if within else launch.format_thread(thread)
        warp = f" (warp {linear(thread[1], run.block) // WARP_SIZE})" if within else ""
        when = f" in iteration {iteration}" if iteration else ""
        accesses.append((line, f"{who}{warp} {verb} {element}{when}"))
    where = ""
    if iterations[0] and loop:
        same = iterations[0] == iterations[1]
        where = f"{'within one iteration' if same else 'between two iterations'} of the loop in line {loop}"
    return RacingPair(tuple(accesses), within, where, loop)


def _first_line(race: Finding) -> int:
    return race.line if race.other_line is None else race.other_line


def _nearest(finding: Finding, trace: Trace | None) -> tuple[Finding, tuple[int, int], int]:
    """Return a race of one block, the iteration of the innermost loop around both lines of each access, and its line.

    If more than one iteration separates the pair that was found, it is one of the same iteration, or of neighbouring
    ones, if there is one of two warps. The numbers are 0 where they are not known: without a trace, or outside loops.
    """
    found = trace.findings if trace is not None else ()
    wanted = finding.key, finding.threads, finding.index
    same = [each for each in found if (each.key, each.threads, each.index) == wanted]
    places = locate(trace, same[0]) if trace is not None and same else ()
    if trace is None or len(places) != 2:
        return finding, (0, 0), 0
    inside = loops(trace)
    first = _first_line(finding)
    others = [*_heads(inside, finding.line)]
    around = next((head for head in _heads(inside, first) if head in others), 0)
    if not around:
        return finding, (0, 0), 0
    timeline, outer = Timeline.of(trace, places[0].block), inside[around][1]
    of_threads = {place.thread: (place.position, place.thread) for place in places}
    pair = [of_threads[linear(thread, trace.block)] for _, thread in finding.threads]
    one, two = (_count(timeline, position, thread, around, outer) for position, thread in pair)
    ordered = any("threadfence" in text for _, text in trace.source)  # fences order accesses without a barrier
    if not ordered and abs(one - two) > 1 and len({thread // WARP_SIZE for _, thread in pair}) == 2:
        finding, pair = _neighbours(finding, timeline, first, around, pair)
        one, two = (_count(timeline, position, thread, around, outer) for position, thread in pair)
    return finding, (one, two), around


def _neighbours(
    finding: Finding, timeline: Timeline, first: int, head: int, pair: list[tuple[int, int]]
) -> tuple[Finding, list[tuple[int, int]]]:
    """Return the race as a pair of two warps of one iteration or two neighbouring ones, as (position, thread)."""
    name = str(finding.array)
    accesses = timeline.accesses(name)
    lines, warps = timeline.lines[accesses.position - 1], accesses.thread // WARP_SIZE
    barriers = np.searchsorted(timeline.releases, accesses.position)
    begun = np.zeros(len(lines), np.int64)  # iterations that the thread has begun
    begins = timeline.lines == timeline.statement_of(head)
    for thread in np.unique(accesses.thread).tolist():
        at, mine = np.flatnonzero(begins & timeline.of_thread(thread)), accesses.thread == thread
        begun[mine] = np.searchsorted(at, accesses.position[mine])
    is_verb = accesses.store.astype(int) + accesses.atomic == np.array([[VERBS.index(verb)] for verb in finding.verbs])
    ones, others = (
        np.flatnonzero((lines == timeline.statement_of(line)) & does).tolist()
        for line, does in zip((first, finding.line), is_verb, strict=True)
    )
    for apart in (0, 1, -1):
        held: dict[tuple[int, int, int], list[int]] = {}
        for one in ones:
            held.setdefault((accesses.element[one], barriers[one], begun[one] + apart), []).append(one)
        for other in sorted(others, key=begun.__getitem__):
            for one in held.get((accesses.element[other], barriers[other], begun[other]), ()):
                if warps[one] != warps[other]:
                    threads = [int(accesses.thread[one]), int(accesses.thread[other])]
                    array, size = timeline.trace.arrays[name], timeline.trace.block
                    named = tuple((timeline.block, coordinates(thread, size)) for thread in threads)
                    index = tuple(map(int, np.unravel_index(int(accesses.element[one]), array.shape)))
                    positions = [int(accesses.position[one]), int(accesses.position[other])]
                    return replace(finding, threads=named, index=index), [*zip(positions, threads, strict=True)]
    return finding, pair


def _heads(inside: dict[int, tuple[int, int]], line: int) -> Iterator[int]:
    """Yield the lines of the loops around a line, innermost first."""
    head = inside.get(line, (0, 0))[0]
    while head:
        yield head
        head = inside[head][1]


def _count(timeline: Timeline, position: int, thread: int, head: int, outer: int) -> int:
    """Return how often a thread has begun the loop's body up to a position, since the loop around it began its own."""
    mine = timeline.of_thread(thread)[:position]
    lines = timeline.lines[:position]
    heads = [(lines == timeline.statement_of(line)) & mine for line in (head, outer)]
    since = heads[1].nonzero()[0][-1] if outer and heads[1].any() else 0
    return int(heads[0][since:].sum())
