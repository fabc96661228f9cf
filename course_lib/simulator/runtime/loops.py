"""Loops of compiled kernels: the iterations of for statements, and the budget that stops endless loops."""

import time
from collections.abc import Iterator, Sequence
from typing import Any, NoReturn

import numpy as np

from ..findings import KernelError
from .masks import Mask, split

#: The processor time of this thread, in seconds; where there are no threads, as in a browser, the time.
_seconds = getattr(time, "thread_time", time.perf_counter)
#: After this many iterations, and after one more, the state of a while loop is compared: does it change anything?
CHECKED_ITERATIONS = frozenset(2**k + more for k in range(6, 25) for more in (0, 1))
#: The most bytes that all warps of a block may copy for that.
MOST_COPIED = 1 << 28


class WaitsForOthers(KernelError):
    """A loop no longer changes anything, so only another thread could change its condition."""

    def __init__(self, line: int) -> None:
        super().__init__(
            "this loop never ends: it reads the same in each iteration, and no other thread changes that any more. If "
            "it counts, add to its counter, as in i += 1. If it waits for another thread: the threads of a warp run a "
            "loop together, so let only one thread of each warp wait, or use a barrier, or an atomic without waiting",
            line=line,
        )


class PartOfGrid(KernelError):
    """Only some blocks reach a barrier of the grid; blocks that run together cannot part there."""

    def __init__(self, text: str, line: int) -> None:
        super().__init__(text, line=line)


class IterationBudget:
    """The step budget of a launch: a limit for the iterations of all loops, and for those of one ``while`` loop.

    Unless the user sets a limit, processor time is limited too, because an iteration takes 2 to 100 µs.
    """

    LIMIT = 20_000_000
    WHILE_LIMIT = 100_000
    SECONDS = 300
    CHECK_EVERY = 1000  # iterations between two readings of the clock

    def __init__(self, limit: int | None) -> None:
        self.limit = self.left = self.LIMIT if limit is None else limit
        self.while_limit = self.WHILE_LIMIT if limit is None else limit
        self.end = None if limit is not None else _seconds() + self.SECONDS
        self.next_check = max(self.left - self.CHECK_EVERY, 0)  # the iterations left at the next reading

    @property
    def taken(self) -> int:
        """The iterations that were run."""
        return self.limit - self.left

    def spend(self, line: int, count: int = 0) -> None:
        """Take one iteration from the budget; a ``while`` loop has already run ``count`` iterations."""
        self.left -= 1
        if self.left < self.next_check:
            self.check_limits(line)
        if count >= self.while_limit:
            self.stop(line, self.while_limit, "")

    def check_limits(self, line: int) -> None:
        """Raise KernelError if the iterations or the time are used up."""
        if self.left < 0:
            self.stop(line)
        if self.end is not None and _seconds() > self.end:
            raise KernelError(
                f"this loop was still running after {self.SECONDS} seconds of this launch; check what ends it",
                line=line,
                option=", use a smaller problem, or pass simulate(..., max_steps=...) if it is meant to take so long",
            )
        self.next_check = max(self.left - self.CHECK_EVERY, 0)

    def stop(self, line: int, limit: int | None = None, where: str = " in one launch") -> NoReturn:
        raise KernelError(
            f"this loop was still running after {limit or self.limit:,} iterations{where}; check what ends it",
            line=line,
            option=", or pass simulate(..., max_steps=...) if it is meant to be so long",
        )


class LoopWatch:
    """What the while loops of a chunk's blocks change from one iteration to the next."""

    def __init__(self) -> None:
        self.round = 0  # how often warps went on together, up to their next barriers
        self.latest: dict[int, int] = {}  # by warp: the latest round in which it went on
        self.seen: dict[Any, tuple[int, list[Any]]] = {}  # see changes_nothing()
        self.unchanged: dict[int, tuple[int, bool]] = {}

    def next_round(self, group: Sequence[int]) -> None:
        """Begin the next round, of these warps."""
        self.round += 1
        self.latest |= dict.fromkeys(group, self.round)

    def changes_nothing(
        self, warp: int, loop: Any, count: int, *, all_stores_known: bool, state: tuple[Any, ...], arrays: Sequence[Any]
    ) -> bool:
        """Whether a ``while`` loop, of which ``loop`` is a key, changes nothing from one iteration to the next.

        ``count``, one of CHECKED_ITERATIONS, is the number of finished iterations; ``state`` has the loop's mask and
        the values that it assigns, ``arrays`` are those that it may store to; ``all_stores_known``: these are all that
        it stores to. If warps of the block went on between the two iterations, their loops may not have changed
        anything either.
        """
        if count % 2 == 0:
            if sum(array.storage().nbytes for array in arrays) * len(self.latest) <= MOST_COPIED:
                copies = (array.storage().copy() for array in arrays)
                self.seen[warp, loop] = self.round, [*state, *copies]
            return False
        began, before = self.seen.pop((warp, loop), (0, []))
        now = *state, *(array.storage() for array in arrays)
        if len(before) != len(now) or not all(map(np.array_equal, before, now)):
            self.unchanged.clear()
            return False
        self.unchanged[warp] = self.round, all_stores_known
        between = [self.unchanged.get(other, (0, False)) for other, latest in self.latest.items() if latest > began]
        if not between:
            return all_stores_known
        unchanged_since = all(at > began for at, _ in between)
        return unchanged_since and any(sure for _, sure in between)


def _as_signed(number: int, bits: int) -> int:
    """A number as a signed integer of so many bits: numba counts with these, also for uint64, which wrap."""
    lowest = -1 << bits - 1
    return (number - lowest) % (1 << bits) + lowest


def iterate(
    budget: IterationBudget,
    live: list[Mask],
    start: Any,
    stop: Any,
    step: Any,
    dtype: type[Any],
    *,
    line: int,
    none_leaves: bool,
) -> Iterator[tuple[Any, Mask]]:
    """Run a ``for ... in range``: yield (value, mask) while a lane of ``live[0]`` has values left.

    The body removes lanes from ``live[0]`` when they break or return; ``none_leaves``: it never does.
    """
    if not (step.all() if type(step) is np.ndarray else step):
        raise KernelError("the step of range() is 0, so the loop would never end; give it another", line=line)
    if not (type(start) is np.ndarray or type(stop) is np.ndarray or type(step) is np.ndarray):
        bits = 8 * np.dtype(dtype).itemsize
        way = _as_signed(int(stop) - int(start), bits)
        by = _as_signed(int(step), bits)
        count = max(-(-way // by), 0)
        if none_leaves and count > budget.left:
            budget.stop(line)
        value, step = dtype(start), dtype(step)
        for _ in range(count):
            budget.left -= 1
            if budget.left < budget.next_check:
                budget.check_limits(line)
            yield value, live[0]
            if live[0] is False:
                return
            value = value + step
        return
    start, stop, step = (np.asarray(x, dtype) for x in (start, stop, step))
    signed = np.dtype(dtype).str.replace("u", "i")
    counts = -(-(stop - start).view(signed) // step.view(signed))
    value, number = start.reshape((1,) * (4 - start.ndim) + start.shape), 0
    while True:
        mask, _ = split(live[0], number < counts)
        if mask is False:
            return
        live[0] = mask
        budget.spend(line)
        yield value, mask
        if live[0] is False:
            return
        value, number = value + step, number + 1


def each(budget: IterationBudget, live: list[Mask], items: tuple[Any, ...], line: int) -> Iterator[tuple[Any, Mask]]:
    """Run ``for ... in items`` of a tuple, as :func:`iterate` does."""
    for value in items:
        if live[0] is False:
            return
        budget.spend(line)
        yield value, live[0]


def enumerated(iterator: Any, start: Any) -> Iterator[tuple[Any, Mask]]:
    """Run ``enumerate``: all lanes that still run are in the same iteration."""
    for count, (value, mask) in enumerate(iterator):
        yield (start + np.int64(count), value), mask


def zipped(iterators: list[Iterator[Any]]) -> Iterator[tuple[Any, Mask]]:
    """Run ``zip``: a lane runs as long as all of its iterators do, since they share one list of live lanes."""
    for steps in zip(*iterators, strict=False):
        yield tuple(value for value, _ in steps), steps[-1][1]
