"""The order in which the warps of a block run between two barriers."""

import random
from collections.abc import Callable, Sequence

import numpy as np

from ..findings import LaunchError


def order(schedule: str | int) -> Callable[[Sequence[int]], list[int]]:
    """Return a function that puts the warps that can run into their order.

    ``schedule`` is "in-order", "reversed", "shuffled", or a whole number (the seed of a shuffle).
    """
    if schedule == "in-order":
        return sorted
    if schedule == "reversed":
        return lambda warps: sorted(warps, reverse=True)
    if schedule == "shuffled":
        schedule = 0
    if isinstance(schedule, bool) or not isinstance(schedule, (int, np.integer)):
        raise LaunchError(f"schedule is {schedule!r}; use 'in-order', 'reversed', 'shuffled' or a whole number")
    generator = random.Random(int(schedule))

    def shuffled(warps: Sequence[int]) -> list[int]:
        warps = sorted(warps)
        generator.shuffle(warps)
        return warps

    return shuffled
