"""What the arrays of a launch hold after it, beside what they should, and how often it loads their elements."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..testing import differs
from ..trace.replay import Timeline
from ..trace.trace import Dim3, Trace
from .words import number

#: Of each array, element number (as text) -> (what it holds in the end, what was wanted).
WrongElements = dict[str, dict[str, tuple[str, str]]]


def wrong_elements(trace: Trace, wanted: Mapping[str, np.ndarray]) -> WrongElements:
    """For each array that should hold something else after the launch: element -> (what it holds, what was wanted).

    Numbers that differ by rounding alone are not wrong. Raises ValueError for an array that the launch does not have,
    or that has another shape.
    """
    found: WrongElements = {}
    for name, right in wanted.items():
        array, right = trace.arrays.get(name), np.asarray(right)
        if array is None or array.space != "global" or array.shape != right.shape:
            raise ValueError(f"The launch has no global array {name!r} of shape {right.shape}.")
        held = final(trace, name)
        right = right.reshape(-1)
        wrong = np.flatnonzero(differs(held, right)).tolist()
        elements = {str(i): (number(held[i]), number(right[i])) for i in wrong}
        if elements:
            found[name] = elements
    return found


def final(trace: Trace, name: str) -> np.ndarray:
    """A global array after the launch, flat."""
    array = trace.arrays[name]
    if array.final is not None:
        return array.final.reshape(-1)
    held = np.array(array.initial).reshape(-1)
    for at in trace.columns.blocks.tolist():
        touches = Timeline(trace, tuple(at)).touches(name)
        held[touches.element[touches.store]] = touches.value[touches.store]
    return held


def heat(timeline: Timeline, name: str) -> np.ndarray:
    """How often the whole launch loads every element of an array: an array of its shape."""
    trace = timeline.trace
    counts = np.zeros(trace.arrays[name].size, np.int64)
    for at in trace.columns.blocks.tolist():
        block: Dim3 = tuple(at)
        touches = (timeline if block == timeline.block else Timeline(trace, block)).touches(name)
        np.add.at(counts, touches.element[~touches.store], 1)
    return counts.reshape(trace.arrays[name].shape)
