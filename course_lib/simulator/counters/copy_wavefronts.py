"""The cost of an asynchronous copy from global to shared memory: its wavefronts and its sectors.

README.md in this folder states the rules.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from ..hardware import LINE_BYTES, SECTOR_BYTES, WARP_SIZE, WORD_BYTES
from ..runtime.access import Site
from ..runtime.arrays import Pattern

#: (target, source) of each lane, as addresses in units of the copy's size.
Places = Sequence[tuple[int, int]]
WIDE_BYTES = 16


def copy_costs(to: np.ndarray, of: np.ndarray, active: np.ndarray, size: int) -> tuple[int, int]:
    """Return (wavefronts, sectors), summed over blocks; `to` and `of` are (lanes, blocks), in units of the size.

    Sectors are 0 unless copies have 16 bytes: the others are counted like loads.
    """
    in_line = LINE_BYTES // size
    columns = []
    beyond = np.int64(np.iinfo(np.int64).max)
    for places in (to, of):
        first = np.where(active, places, beyond).min(axis=0)
        first = first // in_line * in_line
        columns.append(np.where(active, places - first, -1))
    both = np.concatenate(columns).T
    if (both == both[0]).all():
        different, times = both[:1], np.array([len(both)])
    else:
        different, times = np.unique(both, axis=0, return_counts=True)
    total = np.zeros(2, np.int64)
    for row, count in zip(different, times, strict=True):
        total += np.multiply(_one_copy(tuple(row.tolist()), size), count)
    return int(total[0]), int(total[1])


@lru_cache(maxsize=1024)
def _one_copy(row: tuple[int, ...], size: int) -> tuple[int, int]:
    """Return (wavefronts, sectors) of a copy, from the targets and the sources relative to the 128-byte lines."""
    half = len(row) // 2
    lanes = list(zip(row[:half], row[half:], strict=True))
    return wide_copy(lanes) if size == WIDE_BYTES else (narrow(lanes, size), 0)


def copied_places(site: Site, pattern: Pattern, base: int, array: Any, index: Any) -> tuple[np.ndarray, ...]:
    """Return the targets and sources of a copy's lanes, and which lanes take part: arrays (lanes, blocks)."""
    vector, size = site.vector, pattern.access_bytes

    def flat(elements: Any, itemsize: int) -> np.ndarray:
        places = np.asarray(elements, np.int64) * itemsize // size
        return np.broadcast_to(places, vector.shape).reshape(vector.lanes.count, -1)

    of = sum(np.asarray(i, np.int64) * stride for i, stride in zip(index, array.strides, strict=True))
    active = vector.full(pattern.mask).reshape(vector.lanes.count, -1)
    return flat(pattern.elements(base), pattern.array.itemsize), flat(of, array.itemsize), active


def narrow(lanes: Places, size: int) -> int:
    """Return the wavefronts of a copy of 4 or 8 bytes a lane; a lane with a target below 0 copies nothing."""
    in_line = LINE_BYTES // size
    group = WARP_SIZE * WORD_BYTES // size
    total = 0
    for start in range(0, len(lanes), group):
        banks = [(to % in_line, of % in_line) for to, of in lanes[start : start + group] if to >= 0]
        filled = Counter(to for to, _ in banks)
        taken = Counter(of for _, of in banks)
        both = Counter(banks)
        total += max((filled[to] + taken[of] - both[to, of] for to, of in both), default=0)
    return total


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
