"""Rounds of atomics: the most lanes of a warp that update one word, one after another.

Recorded on an H200 (``machine/measurements/nvidia-h200/atomics.json``, by ``python -m tools.lab atomics``), for one
atomic of a warp: in global memory the sectors are those of its lanes times its rounds (but for a maximum of floats,
which is a loop there). In shared memory an addition of floats is a loop that retries: each round has one request and
two wavefronts, and 32 rounds take 26 times as long as one. Other updates are one request, of one wavefront for each
round (``cas``: two), and 32 rounds take three times as long (``cas``: 5.6 times); to add the constant 1 to an integer
always takes one wavefront.
A maximum of floats retries only while the word grows: for it, ``retries`` is the most that it takes.
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
