"""Rounds of atomics: the most lanes of a warp that update one word, and how many of them a GPU serves one by one.

Recorded on an H200 (``machine/measurements/nvidia-h200/atomics.json``, by ``python -m tools.lab atomics``), for one
atomic of a warp on words that differ between its lanes:

- In global memory the sectors are those of its lanes times its rounds (but for a maximum of floats, which is a loop
  there).
- In shared memory an addition of floats is a loop that retries: each round has one request and two wavefronts, and 32
  rounds take 26 times as long as one. A maximum of floats retries only while the word grows.
- Other updates of 32-bit integers in shared memory are one request, of one wavefront for each round (``cas``: two). A
  warp alone takes longer from 16 wavefronts on, and with 32 rounds 2.9 times as long (``cas``: 5.6 times).
- To add the constant 1 in shared memory takes one wavefront: an instruction counts the lanes of each word.

If the index is the same for the whole warp, the compiler combines the lanes, and one of them updates the word. Its
machine code for sm_90 shows that (``tests/machine/machine_code/test_atomics.py``) of integers of 32 bits that are
added, subtracted, compared or combined by bits, and of sums of one operand for the warp. It also shows that 64-bit
integers in shared memory retry, as floats do. What is constant, or the same for the warp, the simulator sees of the
values: it takes an argument that is 1 for a constant, and ``threadIdx.y`` in a block 32 wide for one index, of which
the compiler does not know that.
"""

from functools import partial

import numpy as np

from ..hardware import WARP_SIZE
from ..runtime.access import Site, Update
from ..runtime.arrays import Pattern
from ..runtime.masks import widened
from .bank_conflicts import NOBODY
from .traffic import Counter, active, key_of

SUMS = ("add", "sub")
#: Updates for which a warp has an instruction that combines the integers of its lanes.
REDUCED = (*SUMS, "max", "min", "and_", "or_", "xor")
#: Updates that no loop makes, whatever the type.
SINGLE = ("exch", "cas", "compare_and_swap")


class AtomicRoundsObserver(Counter):
    """Counts rounds, those that are served one by one, and their wavefronts in shared memory."""

    names = ("rounds", "serialized", "atomic_wavefronts")

    def counted(self, site: Site, pattern: Pattern) -> None:
        if site.op != "atomic" or pattern.mask is False or site.update is None:
            return
        times = sum(pattern.tally.values())
        _, warps = active(pattern)
        rounds = pattern.once("rounds", partial(most_on_one_word, pattern))
        serialized = warps if combined(site.update, pattern) else rounds
        wavefronts = serialized * wavefronts_each(site.update, pattern.array.dtype)
        if pattern.array.space != "shared":
            wavefronts = 0
        elif counts(site.update, pattern.array.dtype):
            serialized = wavefronts = warps
        self.add_counts(key_of(site, pattern), times * rounds, times * serialized, times * wavefronts)


def combined(update: Update, pattern: Pattern) -> bool:
    """Whether the compiler's code lets one lane of each warp update the word."""
    one_word = pattern.offsets is None or pattern.offsets.shape[:2] == (1, 1)
    if pattern.array.dtype.kind not in "iu" or not one_word:
        return False
    one_operand = np.ndim(update.operand) == 0 or update.operand.shape[:2] == (1, 1)
    if update.operation in SUMS and one_operand:
        return True
    if pattern.array.itemsize > 4 or update.operation not in REDUCED:
        return False
    lanes, warps = active(pattern)
    if not update.used:
        return True
    # each lane's sum of those before it is computed for whole warps alone
    return update.operation in SUMS and lanes == WARP_SIZE * warps


def counts(update: Update, dtype: np.dtype) -> bool:
    """Whether it adds the constant 1 in shared memory, by an instruction that counts the lanes of each word."""
    adds_one = update.operation == "add" and np.ndim(update.operand) == 0 and update.operand == 1
    is_int32 = dtype.kind in "iu" and dtype.itemsize == 4
    return bool(adds_one and is_int32 and not update.used)


def wavefronts_each(update: Update, dtype: np.dtype) -> int:
    """The wavefronts of a round in shared memory."""
    retries = (dtype.kind == "f" or dtype.itemsize > 4) and update.operation not in SINGLE
    return 2 if retries or update.operation in ("cas", "compare_and_swap") else 1


def most_on_one_word(pattern: Pattern) -> int:
    """The most active lanes on one word, summed over the blocks of the vector."""
    shape = pattern.vector.shape
    offsets = 0 if pattern.offsets is None else pattern.offsets
    words = np.where(pattern.vector.full(pattern.mask), offsets, NOBODY)
    words = np.sort(widened(words, shape).reshape(-1, shape[2] * shape[3]), axis=0)
    place = np.arange(len(words))[:, None]
    begins = np.ones(words.shape, bool)
    begins[1:] = words[1:] != words[:-1]
    length = 1 + place - np.maximum.accumulate(np.where(begins, place, 0), axis=0)
    return int(np.where(words == NOBODY, 0, length).max(axis=0).sum())
