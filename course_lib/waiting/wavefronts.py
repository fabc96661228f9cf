"""The wavefronts of shared memory that one warp instruction takes, from the words that its lanes request."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..simulator.hardware import BANKS, WARP_SIZE

Ints = np.ndarray[Any, np.dtype[np.int64]]


def wavefronts_of(words: Ints) -> int:
    """Return the wavefronts of one request: the largest number of distinct 4-byte words in one of the 32 banks."""
    return int(np.bincount(np.unique(words) % BANKS).max())


def wide_wavefronts(words: Ints) -> int:
    """Return the wavefronts of one request of 16 bytes a lane, from the first words of a full warp's 32 lanes.

    Eight lanes make a group of 128 bytes, with wavefronts of its own; groups are served two by two if throughout the
    warp each lane asks for the same as lane ^ 1, or each for the same as lane ^ 2. `course_lib.observers.banks` names
    the measurements on which the rule rests.
    """
    lane = np.arange(WARP_SIZE)
    together = 2 if any((words == words[lane ^ partner]).all() for partner in (1, 2)) else 1
    groups = np.array_split(words, 4 // together)
    return sum(wavefronts_of(np.add.outer(group, np.arange(4))) for group in groups)
