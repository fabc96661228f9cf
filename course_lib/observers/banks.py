"""Wavefronts and bank conflicts of shared memory.

Shared memory has 32 banks of 4 bytes; word w lies in bank w mod 32. A wavefront takes one word from each bank,
for as many lanes as ask for that word, so a request needs as many wavefronts as the busiest bank has distinct
words. The ideal is the number of distinct words over 32, rounded up; what is above it are bank conflicts.
"""

from __future__ import annotations

import numpy as np

from ..simulator.observer import Observer
from .traffic import key_of

BANKS = 32
WORD_BYTES = 4


class BanksObserver(Observer):
    """Counts wavefronts and conflicts, once for each pattern."""

    def __init__(self):
        super().__init__()
        self.wavefronts: dict = {}
        self.conflicts: dict = {}

    def tallied(self, site, pattern):
        if pattern.array.space != "shared":
            return
        needed = extra = 0
        for phase, times in pattern.tally.items():
            # whole words move all banks round together, so only the place within a word can matter
            within = phase % WORD_BYTES
            if within not in pattern.memo:
                pattern.memo[within] = wavefronts(pattern, within)
            one, beyond = pattern.memo[within]
            needed += times * one
            extra += times * beyond
        key = key_of(site, pattern)
        self.wavefronts[key] = self.wavefronts.get(key, 0) + needed
        self.conflicts[key] = self.conflicts.get(key, 0) + extra


def wavefronts(pattern, phase: int) -> tuple[int, int]:
    """(wavefronts, wavefronts beyond the ideal) of one access, summed over the warps of the vector."""
    vector, mask, size = pattern.vector, pattern.mask, pattern.array.itemsize
    if mask is False:
        return 0, 0
    words_each = max(1, pattern.access_bytes // WORD_BYTES)
    if pattern.offsets is None:
        return vector.warps_active(mask), 0
    word = (pattern.offsets * size + phase) // WORD_BYTES
    shape = word.shape if mask is True else np.broadcast_shapes(word.shape, mask.shape)
    columns = shape[2] * shape[3]
    none = np.iinfo(np.int64).max
    active = np.where(mask, word, none) if mask is not True else word
    lanes = np.broadcast_to(active, shape).reshape(-1, columns)
    words = np.concatenate([np.where(lanes == none, none, lanes + i) for i in range(words_each)])
    words = np.sort(words, axis=0)
    first = np.ones(words.shape, bool)
    first[1:] = words[1:] != words[:-1]
    first &= words != none
    block = np.broadcast_to(np.arange(columns), words.shape)
    load = np.bincount((block * BANKS + words % BANKS)[first], minlength=columns * BANKS).reshape(columns, BANKS)
    needed = load.max(axis=1)
    ideal = -(-load.sum(axis=1) // BANKS)
    repeats = vector.chunk.count // columns
    return repeats * int(needed.sum()), repeats * int((needed - ideal).sum())
