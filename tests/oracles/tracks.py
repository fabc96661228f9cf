"""When a block loads its pairs of tiles and multiplies them, counted line by line in the order of its statements."""

import numpy as np


def runs_of(timeline, lines):
    """For each warp, the steps (from 0) that execute one of these lines, by the line."""
    warps = np.unique(timeline.warps).tolist()
    return [
        [np.flatnonzero((timeline.warps == w) & (timeline.lines == line)).tolist() for line in lines] for w in warps
    ]


def lines_with(trace, text):
    """The numbers of the lines that hold a text."""
    return [number for number, line in trace.source if text in line]


def pairs_of(timeline, lines, pairs):
    """For each pair of tiles, the steps of these lines: a warp executes a line as often for each pair."""
    found = [[] for _ in range(pairs)]
    for steps in (each for warp in runs_of(timeline, lines) for each in warp):
        each = max(1, len(steps) // pairs)
        for i, step in enumerate(steps):
            if i // each < pairs:
                found[i // each].append(step)
    return found


def bars_of(timeline, pairs):
    """For each pair of tiles, from and to: its loads, up to the barrier after its last store, and its multiply-adds."""
    trace = timeline.trace
    text = {number: line.strip() for number, line in trace.source}
    stores = [line for line in lines_with(trace, "] = ") if text[line].startswith(("A_tile", "B_tile"))]
    adds = [line for line in lines_with(trace, "+=") if text[line].startswith("acc")]
    loaded = pairs_of(timeline, [*lines_with(trace, "= A["), *lines_with(trace, "= B[")], pairs)
    stored, multiplied = pairs_of(timeline, stores, pairs), pairs_of(timeline, adds, pairs)
    loads = [
        (min(first), min(release for release in timeline.releases if release > max(last)))
        for first, last in zip(loaded, stored, strict=True)
    ]
    return loads, [(min(steps), max(steps) + 1) for steps in multiplied]
