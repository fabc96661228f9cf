"""Occupancy: the number of blocks that fit on a multiprocessor, and the resource that limits it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .hardware import MULTIPROCESSOR, MULTIPROCESSORS, REGISTER_PIECE, SCHEDULERS, WARP_SIZE, ceil_div


@dataclass(frozen=True)
class Occupancy:
    """Blocks and warps that a multiprocessor holds at once, their share of the maximum, and the limiting resource.

    ``room`` maps each resource to the blocks that it alone would allow.

    >>> held = model.occupancy(256, 128, 16384, measurements.load("ladder").provenance)
    >>> held.blocks, held.share, held.limit
    (2, 0.25, 'registers')
    """

    blocks: int
    warps: int
    share: float
    limit: str
    room: Mapping[str, int]


def occupancy(threads: int, registers: int, shared_bytes: int, gpu: Mapping[str, Any]) -> Occupancy:
    """Return the Occupancy of blocks of `threads` threads with `registers` per thread and `shared_bytes` per block.

    gpu holds compute_capability, if it is not 8.0 or 9.0, threads_per_multiprocessor, registers_per_multiprocessor and
    shared_bytes_per_multiprocessor, as a recording's provenance does; the recording `occupancy` has what a driver says.
    A warp has all its registers in the file of its scheduler, so each file holds whole warps.
    Raises ValueError for a block without threads.

    >>> model.occupancy(256, 128, 16384, measurements.load("ladder").provenance).blocks
    2
    """
    if threads < 1:
        raise ValueError(f"a block has at least one thread, not {threads}")
    warps = ceil_div(threads, WARP_SIZE)
    warp_registers = ceil_div(max(registers, 1) * WARP_SIZE, REGISTER_PIECE) * REGISTER_PIECE
    most_threads, most_blocks, piece, reserved = MULTIPROCESSORS.get(gpu.get("compute_capability", ""), MULTIPROCESSOR)
    block_shared = ceil_div(shared_bytes, piece) * piece + reserved
    most_warps = (gpu["threads_per_multiprocessor"] or most_threads) // WARP_SIZE
    room = {
        "registers": SCHEDULERS * (gpu["registers_per_multiprocessor"] // SCHEDULERS // warp_registers) // warps,
        "shared memory": gpu["shared_bytes_per_multiprocessor"] // max(block_shared, 1),
        "threads": most_warps // warps,
        "blocks": most_blocks,
    }
    limit = min(room, key=room.__getitem__)
    return Occupancy(room[limit], room[limit] * warps, room[limit] * warps / most_warps, limit, room)
