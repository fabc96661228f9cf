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
#: The schedulers of a multiprocessor; each has its own warps, and a quarter of the registers for them.
SCHEDULERS = 4
#: A multiprocessor of compute capability 9.0, and how many an H100 (SXM) and an H200 have.
HOPPER = {
    "threads_per_multiprocessor": 2048,
    "registers_per_multiprocessor": 64 * 1024,
    "shared_bytes_per_multiprocessor": 228 * 1024,
    "multiprocessors": 132,
}
#: Threads of a block where their number is left to numba (``kernel.forall(n)``).
FORALL = 128


def ceil_div(a: int, b: int) -> int:
    """a / b, rounded up."""
    return -(-a // b)
