"""Loops of the compiled kernels: what a for statement runs through, and the budget that ends what never would."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from time import thread_time
from typing import Any, NoReturn

import numpy as np

from ..findings import KernelError
from .masks import Mask, choose, split

#: After so many iterations a while loop is looked at, and after one more: does it change anything?
LOOKS = frozenset(2**k + more for k in range(6, 25) for more in (0, 1))


class WaitsForOthers(KernelError):
    """A loop changes nothing any more, and what it asks for another thread would have to change."""

    def __init__(self, line: int) -> None:
        super().__init__(
            "this loop waits for something that no other thread changes any more: all that have not ended wait too. "
            "The threads of a warp go through a loop together, so that none can wait for another of its warp: let one "
            "thread of each warp wait, or use a barrier or an atomic that nobody waits for",
            line=line,
        )


class Steps:
    """The step budget of a launch: loop iterations of one warp vector, over all loops, and in one ``while`` loop.

    Without a limit of the user's own, the processor time of the launch is limited too: an iteration can take 2 µs, and
    it can take 100 µs.
    """

    LIMIT = 20_000_000
    WHILE_LIMIT = 100_000
    SECONDS = 300
    LOOK_EVERY = 1000  # iterations: that often the clock is looked at

    def __init__(self, limit: int | None) -> None:
        self.limit = self.left = self.LIMIT if limit is None else limit
        self.while_limit = self.WHILE_LIMIT if limit is None else limit
        self.end = None if limit is not None else thread_time() + self.SECONDS
        self.next_look = max(self.left - self.LOOK_EVERY, 0)  # when so few are left
        self.seen: tuple[Any, ...] | None = None  # see still()

    def spend(self, line: int, count: int = 0) -> None:
        """Take one iteration from the budget; a ``while`` loop has already run ``count`` iterations."""
        self.left -= 1
        if self.left < self.next_look:
            self.look(line)
        if count >= self.while_limit:
            self.stop(line, self.while_limit, "")

    def still(self, count: int, arrays: Sequence[Any], variables: tuple[Any, ...], mask: Mask) -> bool:
        """Does a ``while`` loop change nothing from one iteration to the next?

        ``count`` iterations are over, one of LOOKS; ``arrays`` are all that the loop may store to, ``variables`` all
        that it assigns.
        """
        if count % 2 == 0:
            self.seen = (mask, *variables), [array.storage().copy() for array in arrays]
        elif self.seen:
            (values, copies), self.seen = self.seen, None
            if all(map(np.array_equal, values, (mask, *variables))) and all(
                np.array_equal(array.storage(), copy) for array, copy in zip(arrays, copies, strict=True)
            ):
                return True
        return False

    def look(self, line: int) -> None:
        """Stop where iterations or time are used up."""
        if self.left < 0:
            self.stop(line)
        if self.end is not None and thread_time() > self.end:
            raise KernelError(
                f"this loop was still running after {self.SECONDS} seconds of this launch; check what ends it",
                line=line,
                option=", use a smaller problem, or pass simulate(..., max_steps=...) if it is meant to take so long",
            )
        self.next_look = max(self.left - self.LOOK_EVERY, 0)

    def stop(self, line: int, limit: int | None = None, where: str = " in one launch") -> NoReturn:
        raise KernelError(
            f"this loop was still running after {limit or self.limit:,} iterations{where}; check what ends it",
            line=line,
            option=", or pass simulate(..., max_steps=...) if it is meant to be so long",
        )


def iterate(
    steps: Steps,
    live: list[Mask],
    start: Any,
    stop: Any,
    step: Any,
    dtype: type[Any],
    line: int,
    whole: bool,
) -> Iterator[tuple[Any, Mask]]:
    """Run a ``for ... in range``: yield (value, mask) while a lane of ``live[0]`` has values left.

    The body takes lanes out of ``live[0]`` when they break or return; ``whole``: it never does.
    """
    if not (type(start) is np.ndarray or type(stop) is np.ndarray or type(step) is np.ndarray):
        if step == 0:
            raise KernelError("the step of range() is 0, so the loop would never end; give it another", line=line)
        start, stop, step = int(start), int(stop), int(step)
        if whole and -((start - stop) // step) > steps.left:
            steps.stop(line)
        for number in range(start, stop, step):
            steps.left -= 1
            if steps.left < steps.next_look:
                steps.look(line)
            yield dtype(number), live[0]
            if live[0] is False:
                return
        return
    if np.any(np.asarray(step) == 0):
        raise KernelError("the step of range() is 0, so the loop would never end; give it another", line=line)
    value = np.asarray(start).astype(dtype)
    value = value.reshape((1,) * (4 - value.ndim) + value.shape)
    up = np.asarray(step) > 0
    while True:
        mask, _ = split(live[0], np.where(up, value < stop, value > stop))
        if mask is False:
            return
        live[0] = mask
        steps.spend(line)
        yield value, mask
        if live[0] is False:
            return
        value = (value + step).astype(dtype)


def each(steps: Steps, live: list[Mask], items: tuple[Any, ...], line: int) -> Iterator[tuple[Any, Mask]]:
    """Run ``for ... in items`` of a tuple, as :func:`iterate` does."""
    for value in items:
        if live[0] is False:
            return
        steps.spend(line)
        yield value, live[0]


def numbered(iterator: Any, start: Any) -> Iterator[tuple[Any, Mask]]:
    """``enumerate``: every lane is in the same iteration as long as it runs."""
    for count, (value, mask) in enumerate(iterator):
        yield (start + np.int64(count), value), mask


def together(iterators: list[Iterator[Any]]) -> Iterator[tuple[Any, Mask]]:
    """``zip``: a lane runs as long as all of its iterators do. They take lanes out of one and the same list."""
    for steps in zip(*iterators, strict=False):
        yield tuple(value for value, _ in steps), steps[-1][1]


def item_at(items: tuple[Any, ...], index: Any, full: Callable[[Any], Any], mask: Mask, line: int, text: str) -> Any:
    """``items[index]`` of a tuple whose items have one type, for an index that the threads work out."""
    count = len(items)
    wrong = full((index < -count) | (index >= count)) & full(mask)
    if wrong.any():
        found = np.broadcast_to(index, wrong.shape)[wrong][0]
        raise KernelError(
            f"the index of {text} is {found}, and the tuple has {count} items; keep it below {count}, with an if or %",
            line=line,
        )
    if type(index) is not np.ndarray:
        return items[int(index)]
    result = items[0]
    for i in range(1, count):
        result = choose((index == i) | (index == i - count), items[i], result, line)
    return result
