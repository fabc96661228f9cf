"""The objects that compiled kernels yield: at a barrier, and in a loop that may wait for other threads."""

from dataclasses import dataclass
from typing import NamedTuple

from ..findings import Thread


class Pause(NamedTuple):
    """Yielded after each iteration of a loop that may wait; ``unchanged``: the warp's own variables did not change.

    ``phase``: it waits for a phase of a barrier in shared memory, and ``unchanged`` says that no thread arrived
    meanwhile.
    """

    line: int
    unchanged: bool
    phase: bool = False


@dataclass(frozen=True)
class AtGrid:
    """Yielded by blocks that have arrived at a barrier of the grid; ``first`` is one of their threads."""

    line: int
    first: Thread


class Barrier(NamedTuple):
    """Yielded by a warp that arrives at a barrier, where it waits for the other warps of its blocks.

    ``program_point`` is where it is in program order: of each loop around it, outermost first, its ordinal in the
    function and the number of the iteration; last, the barrier's own ordinal. Loops, calls and barriers count together.
    ``enclosing_line`` is that of the innermost if or loop around it, or None; ``mask`` holds the lanes that arrived;
    ``reduction`` is None, or the name and the predicate of ``syncthreads_count``, ``_and`` or ``_or``. ``grid``: the
    blocks then wait for all others.
    """

    program_point: tuple[int, ...]
    line: int
    enclosing_line: int | None
    mask: object
    reduction: tuple[str, object] | None
    grid: bool
