"""The blocks of a launch that a multiprocessor holds at once, and what limits their number."""

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from typing import Any

from ...simulator.formatting import plural
from ...simulator.occupancy import Occupancy, occupancy
from ...simulator.run import Run

#: The most registers of a thread.
MOST_REGISTERS = 255


@dataclass(frozen=True)
class Residency:
    """The blocks that a multiprocessor holds. ``registers`` of a thread: None where nobody has compiled the kernel.

    ``max_registers_at_this_occupancy``: the most registers of a thread with which the occupancy stays what it is.

    >>> launch = profile(rung("tiled").make(tile_width=16), (1, 1), (16, 16), *matrices(16, 16, 16))
    >>> launch.residency.blocks, launch.residency.shared_bytes
    (1, 2048)
    """

    gpu: str
    registers: int | None
    shared_bytes: int
    occupancy: Occupancy
    max_registers_at_this_occupancy: int
    blocks: int
    multiprocessors: int

    def __str__(self) -> str:
        held = self.occupancy
        registers = (
            f"This holds for up to {self.max_registers_at_this_occupancy} registers per thread; how many the kernel "
            "takes is known once it is compiled for a GPU."
            if self.registers is None
            else f"A thread takes {self.registers} registers."
        )
        return (
            f"{self.gpu}: a multiprocessor holds {plural(held.blocks, 'block')} of this launch, {held.warps} "
            f"warps, {held.share:.0%} of its maximum; the limit is {held.limit}. {registers} Shared memory: "
            f"{self.shared_bytes:,} bytes per block. The launch has {plural(self.blocks, 'block')} "
            f"for {self.multiprocessors} multiprocessors."
        )


def check_registers(registers: int | None) -> None:
    """Raise ValueError for a number of registers that no thread has."""
    if registers is not None and not 1 <= registers <= MOST_REGISTERS:
        raise ValueError(f"a thread has 1 to {MOST_REGISTERS} registers, not {registers}")


def residency_of(run: Run, registers: int | None, gpu: Mapping[str, Any]) -> Residency:
    """Return the residency of a launch whose threads have so many registers; None: as if they had one.

    ``gpu`` is the provenance of a recording, which describes a multiprocessor.
    """
    threads = prod(run.block)
    known = occupancy(threads, registers or 1, run.shared_bytes, gpu)
    alike = [
        count
        for count in range(1, MOST_REGISTERS + 1)
        if occupancy(threads, count, run.shared_bytes, gpu).blocks == known.blocks
    ]
    return Residency(gpu["gpu"], registers, run.shared_bytes, known, max(alike), prod(run.grid), gpu["multiprocessors"])
