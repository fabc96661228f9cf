"""Accesses as the check for races sees them: recorded ones, their active lanes, and past ones that race."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ...runtime.access import Site
from ...runtime.arrays import Ints, Pattern
from ...runtime.masks import widened
from ...runtime.warp import WarpVector

#: A mask as a boolean array of a whole vector.
Lanemask = np.ndarray[Any, np.dtype[np.bool_]]

READ, WRITE, ATOMIC = 0, 1, 2
KIND = {"load": READ, "store": WRITE, "bulk": WRITE, "atomic": ATOMIC}

#: Two numbers are packed into one: thread + 1 of the grid and line of the source into ``thread_and_line`` (0: no
#: access), and the barriers that the block and the syncwarps that the lane had passed into ``epoch``.
LINE_BITS, CLOCK_BITS = 20, 32
LINE_MASK, CLOCK_MASK = (1 << LINE_BITS) - 1, (1 << CLOCK_BITS) - 1

WarpPath = tuple[int, int]  # the lines of two accesses as a warp ran them since the last barrier


class PastAccess(NamedTuple):
    """An access of one thread, by its linear id in the grid."""

    thread: int
    line: int
    kind: int


@dataclass(slots=True)
class Access:
    """One recorded access of a vector, with all data for a replay."""

    line: int
    kind: int
    vector: WarpVector
    pattern: Pattern
    base: int
    syncwarp_clock: tuple[Any, Any]  # see WarpVector.syncwarp_clock
    value: Any = None  # the written value

    @classmethod
    def at(cls, site: Site, pattern: Pattern, base: int, value: Any) -> Access:
        kind, vector = KIND[site.op], site.vector
        return cls(site.line, kind, vector, pattern, base, vector.syncwarp_clock, value if kind == WRITE else None)


class ActiveLanes:
    """The active lanes of one access, as columns: thread, block, ``thread_and_line`` and ``epoch``.

    After a syncwarp of a part of a warp there is one more: ``block_number``, that of the lane's block in the chunk.
    """

    def __init__(self, access: Access, mask: Lanemask, barriers: Ints) -> None:
        vector = access.vector
        clock: Any = access.syncwarp_clock[0]
        self.seen_clocks: Ints | None = access.syncwarp_clock[1]
        self.access, self.mask = access, mask
        self.thread, self.block = vector.active(access.pattern.mask)
        self.thread_and_line = (self.thread + 1 << LINE_BITS) + access.line
        self.epoch = widened((barriers << CLOCK_BITS) + clock, vector.shape)[mask]
        self.block_number: Ints | None = None
        if self.seen_clocks is not None:
            self.block_number = widened(vector.chunk.block_numbers, vector.shape)[mask]

    @property
    def barriers(self) -> Ints:
        """The number of barriers that each lane's block had passed."""
        return np.asarray(self.epoch >> CLOCK_BITS)

    @property
    def values(self) -> np.ndarray:
        """The values written, one for each active lane."""
        return widened(self.access.value, self.mask.shape)[self.mask]

    def take(self, chosen: Ints) -> ActiveLanes:
        some = object.__new__(ActiveLanes)
        some.access, some.mask, some.seen_clocks = self.access, self.mask, self.seen_clocks
        for name in ("thread", "block", "thread_and_line", "epoch", "block_number"):
            column = getattr(self, name)
            setattr(some, name, None if column is None else column[chosen])
        return some

    def ordered_after(self, threads: Ints, epochs: Ints, first: int) -> np.ndarray:
        """Whether a syncwarp ordered each lane's access after an earlier one of its own warp.

        ``threads`` and ``epochs`` are those of the earlier accesses; ``first`` is the thread of lane 0, relative to the
        block.
        """
        clock = epochs & CLOCK_MASK
        if self.seen_clocks is None:
            return np.asarray(clock < (self.epoch & CLOCK_MASK))
        threads_per_block = self.access.vector.launch.threads_per_block
        origin = self.block * threads_per_block + first
        lanes = np.clip(threads - origin, 0, self.seen_clocks.shape[1] - 1)  # results for other warps are not used
        return np.asarray(self.seen_clocks[self.thread - origin, lanes, self.block_number] >= clock)
