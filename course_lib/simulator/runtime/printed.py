"""The output of ``print`` in the threads of a launch."""

from typing import Any

import numpy as np

from .lane_vector import LaneVector
from .masks import Mask

#: Limit for the lines of a launch: a whole grid that prints by mistake has millions.
MOST_LINES = 1000


class Printed:
    """The lines that threads print, ordered by thread, then by time."""

    def __init__(self) -> None:
        self._lines: list[tuple[int, str]] = []
        self._dropped = False

    def add(self, vector: LaneVector, parts: tuple[Any, ...], mask: Mask) -> None:
        """Add a line of texts and numbers for each active lane."""
        if len(self._lines) >= MOST_LINES:
            self._dropped = True
            return
        here = vector.full(mask)
        ids = vector.ids[here]
        columns = [each if isinstance(each, str) else np.broadcast_to(each, vector.shape)[here] for each in parts]
        for place in np.argsort(ids, kind="stable"):
            if len(self._lines) >= MOST_LINES:
                self._dropped = True
                return
            line = " ".join(each if isinstance(each, str) else formatted(each[place]) for each in columns)
            self._lines.append((int(ids[place]), line))

    def text(self) -> str:
        """All lines, each with a line feed; if there are too many, the last one says so."""
        lines = [line for _, line in sorted(self._lines, key=lambda entry: entry[0])]
        if self._dropped:
            lines.append(f"... more than {MOST_LINES:,} lines; the rest is left out")
        return "".join(f"{line}\n" for line in lines)


def formatted(value: np.generic) -> str:
    """Format a number as CUDA's printf does for numba: floats with six digits."""
    return f"{value:f}" if value.dtype.kind == "f" else str(int(value))
