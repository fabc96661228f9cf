"""Occupancy: the number of blocks that fit on a multiprocessor, and the resource that limits it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .hardware import SCHEDULERS, WARP_SIZE, ceil_div

#: Registers are allocated to a warp in units of 256, shared memory to a block in units of 128 bytes, of which the
#: driver keeps 1 KiB per block for itself (compute capability 8.0 and later). Source: CUDA's occupancy tables.
#: A warp has all its registers in the file of its scheduler, so each file holds whole warps. The recording `occupancy`
#: has what the driver answers.
REGISTER_PIECE = 256
SHARED_PIECE = 128
RESERVED_SHARED = 1024
MOST_BLOCKS = 32


@dataclass(frozen=True)
class Occupancy:
    """Blocks and warps that a multiprocessor holds at once, their share of the maximum, and the limiting resource.

    ``room`` maps each resource to the blocks that it alone would allow.
    """

    blocks: int
    warps: int
    share: float
    limit: str
    room: Mapping[str, int]


def occupancy(threads: int, registers: int, shared_bytes: int, gpu: Mapping[str, Any]) -> Occupancy:
    """Return the Occupancy of blocks of `threads` threads with `registers` per thread and `shared_bytes` per block.

    gpu holds threads_per_multiprocessor, registers_per_multiprocessor and shared_bytes_per_multiprocessor, as a
    recording's provenance does. Raises ValueError for a block without threads.
    """
    if threads < 1:
        raise ValueError(f"a block has at least one thread, not {threads}")
    warps = ceil_div(threads, WARP_SIZE)
    warp_registers = ceil_div(max(registers, 1) * WARP_SIZE, REGISTER_PIECE) * REGISTER_PIECE
    block_shared = ceil_div(shared_bytes, SHARED_PIECE) * SHARED_PIECE + RESERVED_SHARED
    most_warps = gpu["threads_per_multiprocessor"] // WARP_SIZE
    room = {
        "registers": SCHEDULERS * (gpu["registers_per_multiprocessor"] // SCHEDULERS // warp_registers) // warps,
        "shared memory": gpu["shared_bytes_per_multiprocessor"] // block_shared,
        "threads": most_warps // warps,
        "blocks": MOST_BLOCKS,
    }
    limit = min(room, key=room.__getitem__)
    return Occupancy(room[limit], room[limit] * warps, room[limit] * warps / most_warps, limit, room)
