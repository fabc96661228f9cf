"""The history of each warp of a block, and of each buffer of its shared memory, as spans of the block's statements."""

import functools
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


@functools.lru_cache(maxsize=8)
def strips(timeline) -> tuple[Strip, ...]:
    """Return a strip for each warp of the block, then one for each buffer.

    A buffer is an array of shared memory, or each first index of one that has more than two dimensions.
    """
    return (*_warps(timeline), *_buffers(timeline))


def _warps(timeline) -> Iterable[Strip]:
    """Read step by step what each warp does, and how long it waits for the others."""
    columns, arrays = timeline.columns, timeline.trace.arrays
    rows = columns.rows("access", timeline.first, timeline.last)
    does = [(0, OTHER)] * len(timeline)
    for step, op, array in zip(*(columns.access[name][rows].tolist() for name in ("step", "op", "array")), strict=True):
        name, loads, at = columns.arrays[array], op == LOAD, step - timeline.first
        rank = _RANKS.get((arrays[name].space, loads), 4)
        if rank > does[at][0]:
            does[at] = rank, f"{'load' if loads else 'store'} {name}"
    releases = [*timeline.releases, len(timeline)]
    warps: list[list[Span]] = [[] for _ in range(ceil_div(timeline.n_threads, WARP_SIZE))]
    for i, (warp, flags) in enumerate(zip(timeline.warps.tolist(), timeline.flags.tolist(), strict=True)):
        spans, what = warps[warp], ARRIVES if flags & BARRIER else does[i][1]
        if spans and spans[-1][1:] == (i, what):
            spans[-1] = spans[-1][0], i + 1, what
        else:
            spans.append((i, i + 1, what))
        release = next(release for release in releases if release > i)
        if what == ARRIVES and release > i + 1:
            spans.append((i + 1, release, WAITS))
    return ((f"warp {number}", tuple(spans)) for number, spans in enumerate(warps))


def _buffers(timeline) -> Iterable[Strip]:
    for array in timeline.trace.arrays.values():
        if array.space != "shared" or not array.size:
            continue
        accesses = timeline.accesses(array.name)
        each = array.size if len(array.shape) <= 2 else int(np.prod(array.shape[-2:]))
        for part in range(array.size // each):
            here = accesses.element // each == part
            # An access is a load or a store, and a statement may do both.
            events = np.unique(2 * accesses.position[here] + accesses.store[here])
            name = array.name if array.size == each else f"{array.name}[{part}]"
            yield name, _buffer_spans(events // 2, (events % 2).astype(bool), array.name)


def _buffer_spans(position: np.ndarray, store: np.ndarray, name: str) -> tuple[Span, ...]:
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
    released = max((release for release in timeline.releases if release <= position), default=0)
    arrives = (timeline.flags[released:position] & BARRIER) != 0
    return tuple(int(warp) for warp in np.unique(timeline.warps[released:position][arrives]))
