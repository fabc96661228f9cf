"""The cost of one asynchronous copy of 16 bytes a lane: wavefronts and sectors.

Used by the observers for launches that ran, and by the formulas of `model`.
`course_lib.simulator.counters.copy_passes` has the measurements that support the rule.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable

from .hardware import LINE_BYTES, SECTOR_BYTES

WIDE_BYTES = 16


def wide_copy(lanes: Iterable[tuple[int, int]]) -> tuple[int, int]:
    """Return (wavefronts, sectors) of a copy of 16 bytes a lane; `lanes` holds each lane's (target, source).

    Both are addresses divided by 16 bytes; a target below 0 means that the lane copies nothing.
    """
    in_sector, in_line = SECTOR_BYTES // WIDE_BYTES, LINE_BYTES // SECTOR_BYTES
    moves: dict[tuple[int, int, int], set[int]] = {}  # sector from, sector to, what changes in a place -> its halves
    for to, of in lanes:
        if to >= 0:
            change = (to ^ of) % (2 * in_sector)
            moves.setdefault((of // in_sector, to // in_sector, change), set()).add(of % in_sector)
    together: dict[Hashable, tuple[Counter[int], Counter[int]]] = {}
    for (of, to, change), halves in moves.items():
        alike = of // in_line, to // in_line, change, frozenset(halves)
        taken, filled = together.setdefault(alike, (Counter(), Counter()))
        taken[of] += 1
        filled[to] += 1
    wavefronts = sum(max(*taken.values(), *filled.values()) for taken, filled in together.values())
    return wavefronts, len({(of // in_line, to) for of, to, _ in moves})
