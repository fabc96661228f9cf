"""The sizes of the hardware that the course speaks of, once, and the rounding that goes with them.

Source: the CUDA C++ Programming Guide's tables of compute capabilities (5.0 and later agree on all of these).
"""

from __future__ import annotations

#: Lanes of a warp.
WARP_SIZE = 32
#: Bytes of a sector, the least that global memory gives.
SECTOR_BYTES = 32
#: Banks of shared memory, and the bytes that each gives in one pass.
BANKS = 32
WORD_BYTES = 4
#: Bytes of a line of a cache, which holds whole sectors, and of shared memory in one pass.
LINE_BYTES = BANKS * WORD_BYTES
MAX_THREADS_PER_BLOCK = 1024
MAX_BLOCK = (1024, 1024, 64)
MAX_GRID = (2**31 - 1, 65535, 65535)
#: Bytes of a block's static shared memory, and of a thread's local memory.
SHARED_LIMIT = 48 * 1024
#: Bytes of shared memory that a block may ask for on Hopper, where a kernel calls wgmma.
HOPPER_SHARED_LIMIT = 227 * 1024
LOCAL_LIMIT = 512 * 1024


def ceil_div(a: int, b: int) -> int:
    """a / b, rounded up."""
    return -(-a // b)
