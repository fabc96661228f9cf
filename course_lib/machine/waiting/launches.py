"""The time of a launch whose blocks wait for lines of memory that earlier blocks have requested.

Blocks begin in order, each when a slot becomes free. Those for the same rows of C read the same rows of A, and those
for the same columns the same columns of B. While the second-level cache holds neither, the first of them waits for DRAM
throughout; a later one finds the lines in the cache until it has caught up, so it does not end before the first.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from heapq import heapify, heapreplace

#: Whether a block is the first that reads its rows of A, and the first that reads its columns of B.
First = tuple[bool, bool]


@dataclass(frozen=True)
class LaunchTime:
    """The cycles of a launch, and how its blocks spend them.

    cycles: until the last block has ended; spent: the sum over all blocks, by whether they are the first; held: the sum
    of the cycles in which blocks wait for lines that another one brings.
    """

    cycles: float
    spent: Mapping[First, float]
    held: float


def launch_time(
    places: Iterable[tuple[int, int]], slots: int, cycles: Mapping[First, float], kept: tuple[bool, bool] = (True, True)
) -> LaunchTime:
    """Simulate the blocks of a launch, from the first begin to the last end; return its time.

    places: the row and the column of blocks of C that each block computes, in launch order. slots: how many blocks the
    multiprocessors hold. cycles: those of one block among similar ones, by whether it is the first. kept: whether the
    second-level cache keeps what was read of A, and of B, when the block that brought it has ended; if not, a block
    that begins later is the first again.
    """
    begins = [0.0] * slots
    heapify(begins)
    rows: dict[int, float] = {}
    columns: dict[int, float] = {}
    last = held = 0.0
    blocks = dict.fromkeys(cycles, 0)
    for row, column in places:
        begin = begins[0]
        first = (
            row not in rows or (not kept[0] and rows[row] <= begin),
            column not in columns or (not kept[1] and columns[column] <= begin),
        )
        blocks[first] += 1
        alone = begin + cycles[first]
        end = max(alone, rows.get(row, 0.0), columns.get(column, 0.0))
        held += end - alone
        if first[0]:
            rows[row] = end
        if first[1]:
            columns[column] = end
        heapreplace(begins, end)
        last = max(last, end)
    return LaunchTime(last, {first: count * cycles[first] for first, count in blocks.items()}, held)
