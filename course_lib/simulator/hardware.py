"""Sizes and limits of the hardware, defined only here, and division that rounds up.

Source: the CUDA C++ Programming Guide's tables of compute capabilities (5.0 and later agree on all of these).
"""

#: Lanes of a warp.
WARP_SIZE = 32
#: Bytes of a sector, the smallest unit that global memory transfers.
SECTOR_BYTES = 32
#: Banks of shared memory, and the bytes that each serves in one pass.
BANKS = 32
WORD_BYTES = 4
#: Bytes of a cache line (whole sectors), and bytes that shared memory serves in one pass.
LINE_BYTES = BANKS * WORD_BYTES
MAX_THREADS_PER_BLOCK = 1024
MAX_BLOCK = (1024, 1024, 64)
MAX_GRID = (2**31 - 1, 65535, 65535)
#: Bytes of a block's static shared memory, and of a thread's local memory.
SHARED_LIMIT = 48 * 1024
#: Largest shared memory of a block on Hopper, in bytes; used if a kernel calls wgmma.
HOPPER_SHARED_LIMIT = 227 * 1024
LOCAL_LIMIT = 512 * 1024
#: Registers are allocated to a warp in units of 256.
REGISTER_PIECE = 256
#: What a multiprocessor holds at most, by compute capability: threads, blocks, and the bytes in units of which a block
#: gets shared memory, and of it the driver's own. Source: CUDA's occupancy tables, which say 24 or 32 blocks for 12.x.
MULTIPROCESSOR = (2048, 32, 128, 1024)
MULTIPROCESSORS = {"7.5": (1024, 16, 256, 0), "8.9": (1536, 24, 128, 1024)}
MULTIPROCESSORS |= dict.fromkeys(("8.6", "8.7"), (1536, 16, 128, 1024))
#: The schedulers of a multiprocessor; each has its own warps, and a quarter of the registers for them.
SCHEDULERS = 4
#: A multiprocessor of compute capability 9.0, and how many an H100 (SXM) and an H200 have.
HOPPER = {
    "threads_per_multiprocessor": MULTIPROCESSOR[0],
    "registers_per_multiprocessor": 64 * 1024,
    "shared_bytes_per_multiprocessor": 228 * 1024,
    "multiprocessors": 132,
}
#: Threads of a block where their number is left to numba (``kernel.forall(n)``).
FORALL = 128


def ceil_div(a: int, b: int) -> int:
    """a / b, rounded up."""
    return -(-a // b)
