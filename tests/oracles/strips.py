"""The history of each warp of a block, and of each buffer of its shared memory, as spans of the block's statements."""

from collections.abc import Iterable

import numpy as np

from course_lib.simulator.hardware import WARP_SIZE, ceil_div
from course_lib.trace.columns import BARRIER, OPS

#: (first position, last position, what): statements number first + 1 to last. ``what`` is "load A" or "store A" (an
#: atomic stores), "other", "barrier" (arrives), "wait" (for the other warps) or "held" (a buffer that is loaded later).
Span = tuple[int, int, str]
#: (name, spans) of a warp, "warp 0", or of a buffer, "A_tiles[1]".
Strip = tuple[str, tuple[Span, ...]]

OTHER, ARRIVES, WAITS, HELD = "other", "barrier", "wait", "held"
LOAD = OPS.index("load")
# A statement that does several things counts as the last of these that it does.
_RANKS = {("local", True): 0, ("local", False): 0, ("shared", True): 1, ("shared", False): 2, ("global", True): 3}


def strips(timeline) -> tuple[Strip, ...]:
    """Return a strip for each warp of the block, then one for each buffer.

    A buffer is an array of shared memory, or each first index of one that has more than two dimensions.
    """
    return (*_warps(timeline), *_buffers(timeline))


def _warps(timeline) -> Iterable[Strip]:
    columns, arrays = timeline.columns, timeline.trace.arrays
    names = columns.arrays
    rows = columns.rows("access", timeline.first, timeline.last)
    step, op, array = (columns.access[name][rows] for name in ("step", "op", "array"))
    space = np.array(
        [[_RANKS.get((arrays[name].space, load), 4) for load in (False, True)] for name in names] or [[0, 0]]
    )
    rank = space[array, (op == LOAD).astype(int)]
    # For each step the first access of the highest rank: sorted last, so that it is assigned last.
    order = np.lexsort((-np.arange(len(step)), rank, step))
    kinds = [OTHER, ARRIVES, *(f"{verb} {name}" for name in names for verb in ("store", "load"))]
    kind = np.zeros(len(timeline), np.int64)
    chosen = order[rank[order] > 0]
    kind[step[chosen] - timeline.first] = 2 + 2 * array[chosen] + (op[chosen] == LOAD)
    kind[(timeline.flags & BARRIER) != 0] = kinds.index(ARRIVES)
    releases = np.array([*timeline.releases(), len(timeline)])
    for warp in range(ceil_div(timeline.n_threads, WARP_SIZE)):
        mine = np.flatnonzero(timeline.warps == warp)
        new = np.ones(len(mine), bool)
        new[1:] = (np.diff(mine) > 1) | (np.diff(kind[mine]) != 0)
        starts = np.flatnonzero(new)
        ends = mine[np.append(starts[1:], len(mine))[: len(starts)] - 1] + 1
        spans: list[Span] = []
        for first, last, what in zip(mine[starts].tolist(), ends.tolist(), kind[mine[starts]].tolist(), strict=True):
            spans.append((first, last, kinds[what]))
            release = int(releases[min(np.searchsorted(releases, last), len(releases) - 1)])
            if kinds[what] == ARRIVES and release > last:
                spans.append((last, release, WAITS))
        yield f"warp {warp}", tuple(spans)


def _buffers(timeline) -> Iterable[Strip]:
    for array in timeline.trace.arrays.values():
        if array.space != "shared" or not array.size:
            continue
        touches = timeline.touches(array.name)
        each = array.size if len(array.shape) <= 2 else int(np.prod(array.shape[-2:]))
        for part in range(array.size // each):
            here = touches.element // each == part
            # An access is a load or a store, and a statement may do both.
            events = np.unique(2 * touches.position[here] + touches.store[here])
            name = array.name if array.size == each else f"{array.name}[{part}]"
            yield name, _life(events // 2, (events % 2).astype(bool), array.name)


def _life(position: np.ndarray, store: np.ndarray, name: str) -> tuple[Span, ...]:
    """Return the spans of a buffer that is loaded or stored at these positions."""
    spans: list[Span] = []
    end = 0
    for at, stored in zip(position.tolist(), store.tolist(), strict=True):
        what = f"{'store' if stored else 'load'} {name}"
        if not stored and spans and end < at - 1:
            spans.append((end, at - 1, HELD))
        if spans and spans[-1][1:] == (at - 1, what):
            spans[-1] = spans[-1][0], at, what
        elif not (spans and spans[-1][1] == at):  # of a statement that loads and stores, the load
            spans.append((at - 1, at, what))
        end = at
    return tuple(spans)


def waiting(timeline, position: int) -> tuple[int, ...]:
    """Return the warps that have arrived at a barrier that is still closed after the first ``position`` steps."""
    released = max((release for release in timeline.releases() if release <= position), default=0)
    arrives = (timeline.flags[released:position] & BARRIER) != 0
    return tuple(int(warp) for warp in np.unique(timeline.warps[released:position][arrives]))
