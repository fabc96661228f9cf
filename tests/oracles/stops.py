"""Where a walk through a block's steps stops, and how often its threads ran a line: read from the trace's steps."""

import numpy as np

from course_lib.simulator.hardware import WARP_SIZE
from course_lib.trace.columns import ITERATION, RESUMED, lanes_of
from course_lib.trace.kernel_structure import loops


def next_stop(timeline, by, position, warp):
    """Return the next position of a kind: loop "iteration" or "barrier".

    Without a further one, return the end.
    """
    if by == "iteration":
        return _next_iteration(timeline, position, warp)
    return next((stop for stop in timeline.releases if stop > position), len(timeline))


def _next_iteration(timeline, position, warp):
    around = loops(timeline.trace)
    mine = timeline.warps == warp
    before = np.flatnonzero(mine[:position])
    line = int(timeline.lines[before[-1]]) if len(before) else 0
    iterations = np.flatnonzero(mine & ((timeline.flags & ITERATION) != 0)) + 1
    header = around.get(line, (0, 0))[0]
    while header:
        following = iterations[(iterations > position) & (timeline.lines[iterations - 1] == header)]
        if len(following):
            return int(following[0])
        header = around[header][1]
    later = iterations[iterations > position]
    return int(later[0]) if len(later) else len(timeline)


def line_runs(timeline, position, line):
    """Return how often each thread ran a line in the first ``position`` steps."""
    lines, flags, warps, lanes = (getattr(timeline, name)[:position] for name in ("lines", "flags", "warps", "lanes"))
    chosen = (lines == line) & ((flags & RESUMED) == 0)
    row, lane, _ = lanes_of(lanes[chosen])
    return np.bincount(warps[chosen][row] * WARP_SIZE + lane, minlength=timeline.n_threads)
