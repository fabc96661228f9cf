"""Wavefronts and bank conflicts of shared memory.

README.md in this folder states the rule.
"""

from functools import partial
from typing import Any

import numpy as np

from ..hardware import BANKS, WARP_SIZE, WORD_BYTES
from ..runtime.access import Site
from ..runtime.arrays import Pattern
from ..runtime.masks import widened
from .copy_wavefronts import copied_places, copy_costs
from .traffic import Counter, key_of

#: The word of a lane that is not active.
NOBODY = np.int64(np.iinfo(np.int64).max)


class BanksObserver(Counter):
    """Counts wavefronts and conflicts, once for each pattern."""

    names = ("wavefronts", "bank_conflicts")

    def counted(self, site: Site, pattern: Pattern) -> None:
        if pattern.array.space != "shared":
            return
        needed = extra = 0
        for phase, times in pattern.tally.items():
            # a shift by whole words rotates all banks alike, so only the position within a word has an effect
            within = phase % WORD_BYTES
            one, beyond = pattern.once(
                ("wavefronts", within, site.in_pairs), partial(wavefronts, pattern, within, site.in_pairs)
            )
            needed += times * one
            extra += times * beyond
        self.add_counts(key_of(site, pattern), needed, extra)

    def copied(self, site: Site, pattern: Pattern, base: int, array: Any, index: Any) -> None:
        """Count the wavefronts that a copy needs in addition to a store to the same words, because it also reads."""
        to, of, active = copied_places(site, pattern, base, array, index)
        needed, _ = copy_costs(to, of, active, pattern.access_bytes)
        beyond = needed - wavefronts(pattern, 0)[0]
        self.add_counts(key_of(site, pattern), beyond, beyond)


def wavefronts(pattern: Pattern, phase: int, in_pairs: bool = True) -> tuple[int, int]:
    """(wavefronts, bank conflicts) of one access, summed over the warps of the vector."""
    needed, beyond = wavefronts_by_block(pattern, phase, in_pairs)
    return pattern.vector.sum_over_blocks(needed), pattern.vector.sum_over_blocks(beyond)


def wavefronts_by_block(pattern: Pattern, phase: int, in_pairs: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """(wavefronts, bank conflicts) of one access, for each block: arrays that broadcast to (block rows, columns)."""
    vector, mask, size = pattern.vector, pattern.mask, pattern.array.itemsize
    if mask is False:
        return np.zeros((1, 1), np.int64), np.zeros((1, 1), np.int64)
    words_each = max(1, pattern.access_bytes // WORD_BYTES)
    offsets = np.zeros((1, 1, 1, 1), np.int64) if pattern.offsets is None else pattern.offsets
    word = (offsets * size + phase) // WORD_BYTES
    shape = np.broadcast(word, mask).shape
    blocks = shape[2:]
    if words_each > 1:
        shape = (*vector.lanes.shape, *blocks)
    columns = blocks[0] * blocks[1]
    word = widened(word if mask is True else np.where(mask, word, NOBODY), shape).reshape(-1, columns)
    if words_each == 1:
        busy = busiest(word, 1)
        needed, ideal = busy, np.minimum(busy, 1)
    else:
        idle = np.full((WARP_SIZE - len(word), columns), NOBODY)
        needed, ideal = in_groups(np.concatenate([word, idle]), words_each, in_pairs)
    return needed.reshape(blocks), (needed - ideal).reshape(blocks)


def in_groups(word: np.ndarray, words_each: int, in_pairs: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """(wavefronts, the fewest possible) of wide accesses, for each column: lanes access words from ``word`` on."""
    columns, group = word.shape[1], WARP_SIZE // words_each
    needed, ideal = np.zeros(columns, np.int64), np.zeros(columns, np.int64)
    merged = agree(word, 1) | agree(word, 2) if in_pairs else np.zeros(columns, bool)
    for start in range(0, WARP_SIZE, 2 * group):
        pair = word[start : start + 2 * group]
        both = busiest(pair, words_each)
        first, second = busiest(pair[:group], words_each), busiest(pair[group:], words_each)
        needed += np.where(merged, both, first + second)
        ideal += np.where(merged, np.minimum(both, 1), np.minimum(first, 1) + np.minimum(second, 1))
    return needed, ideal


def agree(word: np.ndarray, partner: int) -> np.ndarray:
    """Whether, in each column, every lane accesses the same word as lane ^ partner; idle lanes match any."""
    other = word[np.arange(len(word)) ^ partner]
    return ((word == other) | (word == NOBODY) | (other == NOBODY)).all(axis=0)


def busiest(word: np.ndarray, words_each: int) -> np.ndarray:
    """Distinct words in the busiest bank, for each column; a lane accesses ``words_each`` words from ``word`` on."""
    columns = word.shape[1]
    if not len(word):
        return np.zeros(columns, np.int64)
    if words_each > 1:
        word = np.concatenate([np.where(word == NOBODY, NOBODY, word + i) for i in range(words_each)])
    words = np.sort(word, axis=0)
    first = np.ones(words.shape, bool)
    first[1:] = words[1:] != words[:-1]
    first &= words != NOBODY
    place = (np.arange(columns) * BANKS + words % BANKS)[first]
    load = np.bincount(place.astype(np.intp, copy=False), minlength=columns * BANKS)
    return load.reshape(columns, BANKS).max(axis=1)
