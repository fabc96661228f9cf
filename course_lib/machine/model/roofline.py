"""The roofline: the upper bound of a kernel's speed, given its operations per byte."""

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Bound:
    """The upper bound in operations per second, and the resource that sets it.

    >>> model.attainable(1 / 4, 60e12, 4e12)
    Bound(flop_per_second=1000000000000.0, limit='memory')
    """

    flop_per_second: float
    limit: str


def attainable(flop_per_byte: float | Fraction, flop_per_second: float, bytes_per_second: float) -> Bound:
    """Return the Bound for a kernel with `flop_per_byte` on a GPU with these two ceilings.

    Source: Williams, Waterman and Patterson, "Roofline: an insightful visual performance model", 2009. The bytes are
    those that the kernel requests; caches can serve some of them, so a kernel may exceed a bound by memory.

    >>> model.attainable(1 / 4, 60e12, 4e12).limit, model.attainable(100, 60e12, 4e12).limit
    ('memory', 'arithmetic')
    """
    by_memory = float(flop_per_byte) * bytes_per_second
    if by_memory < flop_per_second:
        return Bound(by_memory, "memory")
    return Bound(flop_per_second, "arithmetic")


#: The lanes of a multiprocessor that can each start a float32 multiply-add in every cycle (compute capability 9.0).
FLOAT32_LANES = 128


def peak_flop_per_second(multiprocessors: int, clock_hertz: float) -> float:
    """Return the theoretical maximum of a GPU in float32: a multiply-add, two operations, per lane and cycle.

    Source: NVIDIA, "CUDA C++ Programming Guide", the throughput of arithmetic instructions.

    >>> model.peak_flop_per_second(132, 1.98e9)
    66908160000000.0
    """
    return 2 * FLOAT32_LANES * multiprocessors * clock_hertz
