"""Rounds of atomics: the most lanes of a warp that update one word, one after another.

Measured on an H200, for 1, 2, 8 and 32 lanes on a word: float32 in shared memory, where the update is a loop that
retries, takes 2, 4, 16 and 64 wavefronts; int32 there always 1; in global memory both take 4, 4, 8 and 32 sectors.
"""

from functools import partial

import numpy as np

from ..lanes.access import Site
from ..lanes.arrays import Pattern
from ..lanes.masks import widened
from .banks import NOBODY
from .traffic import Counter, key_of


class RoundsObserver(Counter):
    """Counts rounds, and those of updates that retry, once for each pattern."""

    names = ("rounds", "retries")

    def counted(self, site: Site, pattern: Pattern) -> None:
        if site.op != "atomic" or pattern.mask is False:
            return
        rounds = sum(pattern.tally.values()) * pattern.once("rounds", partial(most_on_one_word, pattern))
        retries = pattern.array.space == "shared" and pattern.array.dtype.kind == "f"
        self.add_counts(key_of(site, pattern), rounds, rounds * retries)


def most_on_one_word(pattern: Pattern) -> int:
    """The most active lanes on one word, summed over the blocks of the vector."""
    shape = pattern.vector.shape
    words = np.where(pattern.vector.full(pattern.mask), 0 if pattern.offsets is None else pattern.offsets, NOBODY)
    words = np.sort(widened(words, shape).reshape(-1, shape[2] * shape[3]), axis=0)
    place = np.arange(len(words))[:, None]
    begins = np.ones(words.shape, bool)
    begins[1:] = words[1:] != words[:-1]
    length = 1 + place - np.maximum.accumulate(np.where(begins, place, 0), axis=0)
    return int(np.where(words == NOBODY, 0, length).max(axis=0).sum())
