"""The wavefronts of one request to shared memory, counted apart from the simulator's observers."""

import numpy as np

from course_lib.simulator.hardware import BANKS, WARP_SIZE


def wavefronts_of(words):
    """Return the wavefronts of one request: the largest number of distinct 4-byte words in one of the 32 banks."""
    return int(np.bincount(np.unique(words) % BANKS).max())


def wide_wavefronts(words):
    """Return the wavefronts of one request of 16 bytes a lane, from the first words of a full warp's 32 lanes.

    Eight lanes make a group of 128 bytes, with wavefronts of its own; groups are merged in pairs if throughout the warp
    each lane asks for the same as lane ^ 1, or each for the same as lane ^ 2.
    """
    lane = np.arange(WARP_SIZE)
    together = 2 if any((words == words[lane ^ partner]).all() for partner in (1, 2)) else 1
    groups = np.array_split(words, 4 // together)
    return sum(wavefronts_of(np.add.outer(group, np.arange(4))) for group in groups)
