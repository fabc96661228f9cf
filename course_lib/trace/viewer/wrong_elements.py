"""The arrays after a launch, compared with the wanted values, and how often each element is loaded."""

from collections.abc import Mapping

import numpy as np

from ...simulator.testing import differs
from ..trace import Trace
from .digits import number

#: For each array, element number (as text) -> (its final value, the wanted value).
WrongElements = dict[str, dict[str, tuple[str, str]]]


def wrong_elements(trace: Trace, wanted: Mapping[str, np.ndarray]) -> WrongElements:
    """The wrong elements of each array after the launch: element -> (its value, the wanted value).

    Numbers that differ only by rounding are not wrong. Raises ValueError for an array that the launch does not have,
    or that has another shape.
    """
    found: WrongElements = {}
    for name, right in wanted.items():
        array, right = trace.arrays.get(name), np.asarray(right)
        if array is None or array.final is None or array.shape != right.shape:
            raise ValueError(f"The launch has no global array {name!r} of shape {right.shape}.")
        held, right = array.final.reshape(-1), right.reshape(-1)
        wrong = np.flatnonzero(differs(held, right)).tolist()
        if wrong:
            found[name] = {str(i): (number(held[i]), number(right[i])) for i in wrong}
    return found
