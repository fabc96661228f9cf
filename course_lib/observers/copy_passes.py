"""What an asynchronous copy from global to shared memory costs: its wavefronts and its sectors.

A copy takes its elements out of the first-level cache, which lies in the same 32 banks, and so waits for two places at
once. The rules were found by, and agree with, the access patterns that were measured on an H200
(``course_lib/measurements/nvidia-h200/patterns.json``, the names that begin with "copied"):

- Copies of 4 and 8 bytes, the latter half a warp at a time: the lanes are stored in rounds, in the k-th round each
  bank's k-th lane; a round needs a wavefront for each of its lanes that take from one bank, even for the same word.
- Copies of 16 bytes pass by the cache and move sectors of 32 bytes. One wavefront moves what comes from one line of
  128 bytes and goes to one line, all of it turned by the same number of sectors, and everywhere the same halves of
  sectors; the first and the last 16 of 64 bytes move together, too (see `_pairs`). Their sectors are counted where
  they go to, once for each line that they come from.

244 of those 256 patterns are counted exactly so. In 12, whose 4 or 8 bytes are scattered at random on both sides, the
GPU needs one wavefront less than this rule says (in one of them two more).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..simulator.hardware import BANKS, SECTOR_BYTES, WARP_SIZE, WORD_BYTES

if TYPE_CHECKING:
    from ..simulator.machine.access import Pattern, Site

LINE_BYTES = BANKS * WORD_BYTES
WIDE_BYTES = 16
#: Where a lane goes to and comes from, counted in copies.
Places = Sequence[tuple[int, int]]
#: The sector that it comes from, the one that it goes to, and whether it goes to the other half of it.
Move = tuple[int, int, int]


class CopyPasses:
    """Remembers what patterns of places cost, whatever lines of 128 bytes they begin in."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, bytes], tuple[int, int]] = {}

    def of(self, to: np.ndarray, of: np.ndarray, active: np.ndarray, size: int) -> tuple[int, int]:
        """Return (wavefronts, sectors), summed over the columns: arrays (lanes, blocks) of places counted in copies.

        Sectors are those of copies of 16 bytes, and 0 for others, which are counted like any load.
        """
        in_line = LINE_BYTES // size
        columns = []
        for places in (to, of):
            first = np.where(active, places, np.iinfo(np.int64).max).min(axis=0) // in_line * in_line
            columns.append(np.where(active, places - first, -1))
        both = np.concatenate(columns).T
        if (both == both[0]).all():
            different, times = both[:1], np.array([len(both)])
        else:
            different, times = np.unique(both, axis=0, return_counts=True)
        total = np.zeros(2, np.int64)
        for row, count in zip(np.ascontiguousarray(different), times, strict=True):
            key = size, row.tobytes()
            if key not in self.known:
                lanes = list(zip(*np.split(row, 2), strict=True))
                self.known[key] = wide(lanes) if size == WIDE_BYTES else (narrow(lanes, size), 0)
            total += np.multiply(self.known[key], count)
        return int(total[0]), int(total[1])


def copied_places(site: Site, pattern: Pattern, base: int, array: Any, index: Any) -> tuple[np.ndarray, ...]:
    """Return where the lanes of a copy go to and come from, and who takes part: arrays (lanes, blocks)."""
    vector, size = site.vector, pattern.access_bytes

    def flat(elements: Any, itemsize: int) -> np.ndarray:
        places = np.asarray(elements, np.int64) * itemsize // size
        return np.broadcast_to(places, vector.shape).reshape(vector.lanes.count, -1)

    of = sum(np.asarray(i, np.int64) * stride for i, stride in zip(index, array.strides, strict=True))
    active = vector.full(pattern.mask).reshape(vector.lanes.count, -1)
    return flat(pattern.elements(base), pattern.array.itemsize), flat(of, array.itemsize), active


def narrow(lanes: Places, size: int) -> int:
    """Return the wavefronts of a copy of 4 or 8 bytes a lane; places below 0 are lanes that take no part."""
    in_line = LINE_BYTES // size
    group = WARP_SIZE * WORD_BYTES // size
    total = 0
    for start in range(0, len(lanes), group):
        seen: Counter[int] = Counter()
        rounds: dict[int, Counter[int]] = {}
        for to, of in lanes[start : start + group]:
            if to >= 0:
                rounds.setdefault(seen[to % in_line], Counter())[of % in_line] += 1
                seen[to % in_line] += 1
        total += sum(max(banks.values()) for banks in rounds.values())
    return total


def wide(lanes: Places) -> tuple[int, int]:
    """Return (wavefronts, sectors) of a copy of 16 bytes a lane; places below 0 are lanes that take no part."""
    in_sector, in_line = SECTOR_BYTES // WIDE_BYTES, LINE_BYTES // WIDE_BYTES
    by_lines: dict[tuple[int, int], dict[Move, set[int]]] = {}
    sectors = set()
    for to, of in lanes:
        if to >= 0:
            moves = by_lines.setdefault((of // in_line, to // in_line), {})
            moves.setdefault((of // in_sector, to // in_sector, (to ^ of) % in_sector), set()).add(of % in_sector)
            sectors.add((of // in_line, to // in_sector))
    return sum(map(_passes, by_lines.values())), len(sectors)


def _passes(moves: dict[Move, set[int]]) -> int:
    """Return the wavefronts from one line to another: (sector from, sector to, whether halves change) -> halves."""
    joined = {pair for side in (0, 1) for pair in _pairs(moves, side)}
    apart = {move for pair in joined for move in pair}
    alike = {(_turn(move), move[2], frozenset(halves)) for move, halves in moves.items() if move not in apart}
    return len(alike) + len(joined)


def _pairs(moves: dict[Move, set[int]], side: int) -> list[tuple[Move, ...]]:
    """Return the pairs of half sectors that move together: the first and the last 16 of 64 bytes on one side.

    Nothing else of those 64 bytes may move between the lines, and the two must be turned alike, or be one sector on
    the other side. side: 0 where they come from, 1 where they go to.
    """
    by_chunk: dict[int, list[Move]] = {}
    for move in moves:
        by_chunk.setdefault(move[side] // 2, []).append(move)
    found = []
    for chunk in by_chunk.values():
        ends = sorted((move[side] % 2, half) for move in chunk for half in moves[move])
        straight = not any(crossed for _, _, crossed in chunk)
        if straight and ends == [(0, 0), (1, 1)]:
            first, last = chunk
            if _turn(first) == _turn(last) or first[1 - side] == last[1 - side]:
                found.append(tuple(sorted(chunk)))
    return found


def _turn(move: Move) -> int:
    """By how many sectors a line is turned."""
    return (move[1] - move[0]) % (LINE_BYTES // SECTOR_BYTES)
