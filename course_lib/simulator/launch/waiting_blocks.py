"""Blocks that wait for other blocks: none of them runs until a word changes that its loop reads.

Without this, every waiting block would read its words in every round, and the time of a launch would grow with the
square of its blocks.
"""

from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..runtime.arrays import Pattern, Watcher
from ..runtime.barrier import AtGrid, Pause
from ..runtime.memory import GlobalArray

#: A word of global memory: its array and its key.
Word = tuple[GlobalArray, int]
#: A block that accesses more words between two pauses runs in every round.
MOST_WORDS = 2**16


@dataclass(eq=False)
class StartedBlock:
    """A block that has begun: where it pauses, and the words that it accessed before that, if it changed nothing."""

    run: Generator[Pause | AtGrid, None, None]
    pause: Pause | AtGrid | None = None
    words: set[Word] | None = None
    seen: dict[Word, bytes] = field(default_factory=dict)


class StartedBlocks:
    """The blocks that have begun, each in one of three states; ``ended`` counts the others.

    Those ``running`` take part in the next round; those ``waiting`` do so once another block changes one of their
    words; and those ``at_grid`` have arrived at a barrier of the grid.
    """

    def __init__(self) -> None:
        self.running: dict[StartedBlock, None] = {}
        self.waiting: dict[StartedBlock, None] = {}
        self.at_grid: dict[StartedBlock, None] = {}
        self.ended = 0
        self._readers: dict[Word, dict[StartedBlock, None]] = {}  # the waiting blocks that read a word
        self._touched: set[Word] | None = None  # by the block that runs, if its latest iteration changed no variable
        self._stored_to: dict[StartedBlock, None] = {}  # waiting blocks to whose words the block that runs stored

    def watch(self, array: GlobalArray) -> Watcher:
        """Return what sees each access of ``array``."""

        def see(site: Any, pattern: Pattern, base: int, value: Any) -> None:
            stored = site.op != "load" and self._readers
            if self._touched is None and not stored:
                return
            words = _words(array, pattern, base)
            if self._touched is not None:
                self._touched.update(words)
                if len(self._touched) > MOST_WORDS:
                    self._touched = None
            if stored:
                for word in words:
                    self._stored_to.update(self._readers.get(word, ()))

        return see

    def start(self, run: Generator[Pause | AtGrid, None, None]) -> None:
        self.running[StartedBlock(run)] = None

    def close(self) -> None:
        """End all blocks where they are, so that the observers hear of what they did."""
        for block in (*self.running, *self.waiting, *self.at_grid):
            block.run.close()

    def pass_grid_barrier(self) -> None:
        """Resume the blocks at a barrier of the grid."""
        self.running, self.at_grid = self.at_grid, {}

    def step(self, block: StartedBlock) -> bool:
        """Run a running block to its next pause; return whether it changed a variable, or ended.

        It waits if an iteration accessed the same words as the one before and left them, and all variables, as they
        were: it would do the same again.
        """
        was_unchanged = isinstance(block.pause, Pause) and block.pause.unchanged
        before = block.words
        values = _values(before) if was_unchanged and before is not None else None
        self._touched = set() if was_unchanged else None
        block.pause = next(block.run, None)
        block.words, self._touched = self._touched, None
        unchanged = isinstance(block.pause, Pause) and block.pause.unchanged
        if block.pause is None:
            del self.running[block]
            self.ended += 1
        elif isinstance(block.pause, AtGrid):
            del self.running[block]
            self.at_grid[block] = None
        elif unchanged and values is not None and _is_as_before(block.words, before, values):
            del self.running[block]
            self.waiting[block], block.seen = None, values
            for word in values:
                self._readers.setdefault(word, {})[block] = None
        self.resume(other for other in self._stored_to if other in self.waiting and _values(other.words) != other.seen)
        self._stored_to.clear()
        return not unchanged

    def resume(self, blocks: Any) -> None:
        for block in [*blocks]:
            del self.waiting[block]
            self.running[block] = None
            for word in block.seen:
                del self._readers[word][block]
                if not self._readers[word]:
                    del self._readers[word]


def _is_as_before(words: set[Word] | None, before: set[Word] | None, values: dict[Word, bytes]) -> bool:
    """Whether an iteration accessed the words of the one before, and left them as they were."""
    return words == before and _values(words) == values


def _words(array: GlobalArray, pattern: Pattern, base: int) -> list[Word]:
    keys = array.keys(pattern, base)
    if keys.size > 1:
        keys = np.broadcast_to(keys, pattern.vector.shape)[pattern.vector.full(pattern.mask)]
    words = []
    for key in keys.reshape(-1).tolist():
        words += [(array.memory, key + element) for element in range(pattern.width)]
    return words


def _values(words: set[Word] | None) -> dict[Word, bytes]:
    """The bits stored at each word, so that a NaN equals itself."""
    return {(array, key): array.flat[key].tobytes() for array, key in words or ()}
