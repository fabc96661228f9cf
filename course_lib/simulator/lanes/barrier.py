"""What the compiled kernels yield: at a barrier, and where a thread may wait for others."""

from __future__ import annotations

from typing import NamedTuple


class Pause(NamedTuple):
    """What a warp yields after each iteration of a loop in which it may wait; ``calm``: nothing of its own changed.

    ``phase``: it waits for a phase of a barrier in shared memory, and ``calm`` says that nobody arrived meanwhile.
    """

    line: int
    calm: bool
    phase: bool = False


class Barrier(NamedTuple):
    """What a warp yields when it arrives at a barrier, where it waits for the other warps of its blocks.

    ``place`` says where in program order it stands: positions in the source and iteration counts, outermost first.
    ``branch`` is the line of the innermost if or loop around it, or None; ``mask`` holds the lanes that arrived;
    ``reduction`` is None, or the name and the predicate of ``syncthreads_count``, ``_and`` or ``_or``.
    """

    place: tuple[int, ...]
    line: int
    branch: int | None
    mask: object
    reduction: tuple[str, object] | None
