"""The common steps of two launches: an operation of the chosen thread is shown beside the same one of the other.

``web/alignment.js`` does the same in the browser.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np

from ...simulator.hardware import WARP_SIZE
from ..columns import ITERATION
from ..replay import Timeline
from ..structure import loops, roles
from ..trace import Trace

#: What two launches can be matched by.
MATCHES = ("statement", "iteration", "outer iteration", "phase", "element")


class Alignment:
    """The steps of one launch, or the common steps of two: each takes its steps from one matched place to the next.

    The one that is there first waits. ``chosen`` is the block's timeline and the thread of each launch; ``match`` is
    one of `MATCHES`: by "statement", no place between start and end is matched.
    """

    def __init__(self, chosen: Sequence[tuple[Timeline, int]], match: str = "statement"):
        self.cuts: list[tuple[int, ...]] = [(0,) * len(chosen)]
        if len(chosen) == 2 and match != "statement":
            first, second = (_marks(*each, match) for each in chosen)
            start = 0
            for position, name in first:
                x, y = self.cuts[-1]
                there = (i for i in range(start, len(second)) if second[i][0] > y and second[i][1] == name)
                if position > x and (at := next(there, None)) is not None:
                    self.cuts.append((position, second[at][0]))
                    start = at + 1
        self.cuts.append(tuple(len(timeline) for timeline, _ in chosen))
        lengths = np.diff(self.cuts, axis=0).max(axis=1)
        self.starts: list[int] = [0, *np.cumsum(lengths).tolist()]

    @property
    def last(self) -> int:
        """The number of common steps."""
        return self.starts[-1]

    def positions(self, step: int) -> tuple[int, ...]:
        """The position of each launch at a common step."""
        if step >= self.last:
            return self.cuts[-1]
        at = bisect_right(self.starts, step)
        more = step - self.starts[at - 1]
        return tuple(min(p + more, end) for p, end in zip(self.cuts[at - 1], self.cuts[at], strict=True))

    def step(self, position: int) -> int:
        """The common step at which the first launch is at ``position``; at a matched place both are there."""
        at = bisect_left(self.cuts, position, key=lambda cut: cut[0])
        if self.cuts[at][0] == position and at < len(self.cuts) - 1:
            return self.starts[at]
        return self.starts[at - 1] + position - self.cuts[at - 1][0] if at else 0


def _marks(timeline: Timeline, thread: int, match: str) -> list[tuple[int, str]]:
    """The positions at which a thread, or its warp, completes something, each with its name."""
    warp = thread // WARP_SIZE
    if match == "element":
        result = result_of(timeline.trace)
        if result is None:
            return []
        touches = timeline.touches(result)
        mine = touches.store & (touches.thread == thread)
        stores = zip(touches.position[mine].tolist(), touches.element[mine].tolist(), strict=True)
        return [(position, f"element {element}") for position, element in stores]
    if match == "phase":
        return _numbered(timeline.phases[warp])
    around = {header: parent for line, (header, parent) in loops(timeline.trace).items() if line == header}
    parents = set(around.values())
    begins = np.flatnonzero((timeline.warps == warp) & ((timeline.flags & ITERATION) != 0))
    lines = [(int(i) + 1, int(timeline.lines[i])) for i in begins]
    inner = match == "iteration"
    return _numbered([(p, "iteration") for p, line in lines if (line not in parents if inner else not around[line])])


def _numbered(found: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """Number the marks of each name: load 1, barrier 1, load 2."""
    counts = Counter[str]()
    marks = []
    for position, name in found:
        counts[name] += 1
        marks.append((position, f"{name} {counts[name]}"))
    return marks


def result_of(trace: Trace) -> str | None:
    """The name of C in C = A·B."""
    return next((name for name, role in roles(trace).items() if role == "C"), None)


def partner(trace: Trace, other: Trace, block: int, thread: int, match: str) -> tuple[int, int]:
    """The numbers of the other launch's block and thread that belong to those of this one.

    They are the same numbers, as far as the other has them, or by "element" those that store the same element of C.
    """
    if match == "element":
        mine, theirs = _owners(trace), _owners(other)
        elements = np.flatnonzero(mine == block * trace.n_threads + thread)
        if len(elements) and theirs[elements[0]] >= 0:
            number, at = divmod(int(theirs[elements[0]]), other.n_threads)
            return number, at
    return min(block, len(other.columns.blocks) - 1), min(thread, other.n_threads - 1)


def _owners(trace: Trace) -> np.ndarray:
    """For each element of C the thread that stores it last: block · threads + thread, or -1."""
    name = result_of(trace)
    owners = np.full(trace.arrays[name].size if name else 0, -1)
    for number, at in enumerate(trace.columns.blocks.tolist()):
        if name:
            touches = Timeline(trace, tuple(at)).touches(name)
            owners[touches.element[touches.store]] = number * trace.n_threads + touches.thread[touches.store]
    return owners
