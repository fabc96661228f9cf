"""An instruction of a warp, as the player takes it."""

from typing import NamedTuple


class Instruction(NamedTuple):
    """An instruction of a warp: its `kind`, and the positions in the program of those whose results it needs.

    kind: "multiply-add" (any +, - or * of floats), "load", "store", "shared load", "shared store", "copy", "commit",
    "wait", "barrier", "integer", "multiply", "wide multiply" (with a result of 64 bits), "uniform", "constant" (a value
    from the kernel's arguments), "branch" or "other". line: the kernel's own line that it comes from, 0 for none;
    wavefronts: passes through shared memory or the first-level cache; sectors: the 32-byte sectors of global memory;
    iteration: that of the main loop, from 1; 0 outside of it; bytes: what a lane moves; pace: cycles until the warp's
    next instruction; reads: operands that it takes from the even and the odd registers; uniform_read: whether it reads
    a uniform register, other than for an address of memory.
    """

    kind: str
    line: int
    needs: tuple[int, ...] = ()
    wavefronts: int = 0
    sectors: tuple[tuple[str, int], ...] = ()
    iteration: int = 0
    bytes: int = 4
    pace: int = 1
    reads: tuple[int, int] = (0, 0)
    uniform_read: bool = False
