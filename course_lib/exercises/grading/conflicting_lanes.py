"""Which lanes of a warp ask for different words of one bank."""

import numpy as np

from ...simulator.hardware import BANKS, WARP_SIZE, WORD_BYTES
from ...trace.replay import Timeline
from ...trace.trace import Trace, TraceAccess
from ...trace.viewer.words import element


def conflicting_lanes(trace: Trace, line: int) -> str | None:
    """Say which two lanes meet in a bank in a line, in the first warp in which some do; None if none is found."""
    for block in map(tuple, trace.columns.blocks.tolist()):
        timeline = Timeline(trace, block)
        for position in (np.flatnonzero(timeline.lines == line) + 1).tolist():
            for access in timeline.step(position).accesses:
                if access.conflicts and (said := _two_lanes(trace, access)):
                    return said
    return None


def _two_lanes(trace: Trace, access: TraceAccess) -> str | None:
    """Two lanes of an access whose elements are different words of one bank; None for elements of more bytes."""
    array = trace.arrays[access.array]
    if np.dtype(array.dtype).itemsize != WORD_BYTES or access.width > 1:
        return None
    first: dict[int, tuple[int, int]] = {}
    words = (access.index * np.array(array.strides)).sum(axis=1)
    for thread, index, word in zip(access.threads.tolist(), access.index.tolist(), words.tolist(), strict=True):
        lane, before = thread % WARP_SIZE, first.setdefault(word % BANKS, (word, thread))
        if before[0] != word:
            other = access.index[access.threads.tolist().index(before[1])]
            shown = [
                element(access.array, int(np.ravel_multi_index(each, array.shape)), array.shape)
                for each in (other, index)
            ]
            verb = "read" if access.op == "load" else "store"
            lanes = f"lanes {before[1] % WARP_SIZE} and {lane} of a warp"
            return f"{lanes} {verb} {shown[0]} and {shown[1]}, two words of one bank"
    return None
