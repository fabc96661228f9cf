"""The ladder of matrix-multiplication kernels, one rung per file, in the order of the course.

Every kernel computes C = A @ B for A of M×K, B of K×N and C of M×N, and is called `kernel[grid, block](A, B, C)`.
The host version that they start from is `course_lib.kernels.host.matmul_host`.
"""

from . import naive, prefetched, single_block, tiled
from .rung import Rung, ready_made

LADDER = (
    Rung("naive", "One thread per element", ready_made(naive.naive), naive.launch, {"block_width": 16}),
    Rung(
        "single_block",
        "Shared memory in one block",
        single_block.single_block_kernel,
        single_block.launch,
        {"width": 32},
        single_block.shared_bytes,
    ),
    Rung(
        "tiled", "Tiles in shared memory", tiled.tiled, tiled.launch, {"tile_width": 16}, tiled.shared_bytes
    ),
    Rung(
        "prefetched",
        "Prefetching into a second buffer",
        prefetched.prefetched,
        prefetched.launch,
        {"tile_width": 16},
        prefetched.shared_bytes,
    ),
)


def rung(name):
    """Return the rung called `name`; raise KeyError with the known names."""
    for candidate in LADDER:
        if candidate.name == name:
            return candidate
    raise KeyError(f"no rung {name!r}; the ladder has {', '.join(r.name for r in LADDER)}")


__all__ = ["LADDER", "Rung", "rung"]
