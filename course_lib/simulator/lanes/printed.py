"""What the threads of a launch print."""

from __future__ import annotations

from typing import Any

import numpy as np

from .masks import Mask
from .vector import LaneVector

#: Lines that a launch keeps: a grid that prints by mistake has millions.
MOST_LINES = 1000


class Printed:
    """The lines that threads print: in the order of the threads, and of each thread in its own."""

    def __init__(self) -> None:
        self._lines: list[tuple[int, str]] = []
        self._dropped = False

    def add(self, vector: LaneVector, parts: tuple[Any, ...], mask: Mask) -> None:
        """The active lanes print a line of texts and numbers."""
        if len(self._lines) >= MOST_LINES:
            self._dropped = True
            return
        here = vector.full(mask)
        ids = vector.ids[here]
        columns = [p if isinstance(p, str) else np.broadcast_to(p, vector.shape)[here] for p in parts]
        for place in np.argsort(ids, kind="stable"):
            if len(self._lines) >= MOST_LINES:
                self._dropped = True
                return
            line = " ".join(c if isinstance(c, str) else written(c[place]) for c in columns)
            self._lines.append((int(ids[place]), line))

    def text(self) -> str:
        """All lines, each with its line feed; the last one says how many were left out."""
        lines = [line for _, line in sorted(self._lines, key=lambda entry: entry[0])]
        if self._dropped:
            lines.append(f"... more than {MOST_LINES:,} lines; the rest is left out")
        return "".join(f"{line}\n" for line in lines)


def written(value: np.generic) -> str:
    """A number as CUDA's printf writes it for numba: floats with six digits."""
    return f"{value:f}" if value.dtype.kind == "f" else str(int(value))
