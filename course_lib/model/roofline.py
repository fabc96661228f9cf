"""The roofline: what a kernel can reach at most, given its operations per byte."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Bound:
    """The most operations per second that can be reached, and the resource that sets the limit."""

    flop_per_second: float
    limit: str


def attainable(flop_per_byte: float | Fraction, flop_per_second: float, bytes_per_second: float) -> Bound:
    """Return the Bound for a kernel of so many operations per byte on a GPU with these two ceilings.

    Source: Williams, Waterman and Patterson, "Roofline: an insightful visual performance model", 2009. The bytes
    are those that the kernel asks for; caches can serve some of them, so a kernel may exceed a bound by memory.
    """
    by_memory = float(flop_per_byte) * bytes_per_second
    if by_memory < flop_per_second:
        return Bound(by_memory, "memory")
    return Bound(flop_per_second, "arithmetic")
