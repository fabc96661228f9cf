"""The ladder of matrix-multiplication kernels, one rung per file, in the order of the course.

Every kernel computes C = A @ B for A of M×K, B of K×N and C of M×N, and is called `kernel[grid, block](A, B, C)`.
The host version that they start from is `course_lib.kernels.host.matmul_host`.
"""

from . import (  # isort: skip  (in the order of the course)
    per_row, per_column, per_element, uncoalesced, naive, single_block, tiled_uncoalesced, bank_conflicts, padded,
    tiled, prefetched, pipelined, outer_product, unrolled, register_1d, register_2d, vectorized, warp_tiled, staged,
    software_pipelined, large_tiles, whole_tiles, best, tensor_cores, tensor_cores_tiled, tensor_cores_bf16, wgmma,
    wgmma_swizzled, wgmma_staged, wgmma_bulk, wgmma_tf32,
)  # fmt: skip
from .async_copy import commit_copies, copy_async, wait_copies
from .rung import Rung
from .tensor_core import TF32, mma_tf32
from .tensor_core_formats import cut_to_tf32, round_to_tf32, to_bfloat16, to_tf32
from .vector import element_or_zero, load4, load4_or_zeros, store4, store4_inside
from .warpgroup import commit_products, descriptor, fence_proxy, fence_registers, swizzled
from .wgmma_small import multiply_64, multiply_tiles, store_64, store_tiles, wait_64

#: The kernels in float32, in the order of the course. Each file ends in its rung.
LADDER: tuple[Rung, ...] = tuple(module.RUNG for module in (
    per_row, per_column, per_element, uncoalesced, naive, single_block, tiled_uncoalesced, bank_conflicts, padded,
    tiled, prefetched, pipelined, outer_product, unrolled, register_1d, register_2d, vectorized, warp_tiled, staged,
    software_pipelined, large_tiles, whole_tiles, best,
))  # fmt: skip
#: The rungs that trade accuracy for speed: their operands have fewer fraction bits than float32. They are not part of
#: the ladder, where each rung computes what the one before computed, to the last digits of float32; a table of their
#: own gives the error beside each speed, and they are no milestones on the map nor kernels to explore.
TENSOR_CORES = (tensor_cores.RUNG, tensor_cores_tiled.RUNG, tensor_cores_bf16.RUNG)
#: The rungs of Hopper's own instructions: they compile for compute capability 9.0 alone. Their operands have zeros
#: after the rows of A and B, so that each row begins on a 128-byte boundary.
WGMMA = (wgmma.RUNG, wgmma_swizzled.RUNG, wgmma_staged.RUNG, wgmma_bulk.RUNG, wgmma_bulk.FLOAT16, wgmma_tf32.RUNG)


def rung(name: str) -> Rung:
    """Return the rung called `name`; raise KeyError with the known names.

    >>> A, B, C = matrices(16, 16, 16)
    >>> run = simulate(rung("tiled").make(tile_width=8))[(2, 2), (8, 8)](A, B, C)
    >>> bool((C == A @ B).all())
    True
    """
    rungs = (*LADDER, *TENSOR_CORES, *WGMMA)
    for candidate in rungs:
        if candidate.name == name:
            return candidate
    raise KeyError(f"no rung {name!r}; the ladder has {', '.join(r.name for r in rungs)}")


__all__ = [
    "LADDER",
    "TENSOR_CORES",
    "TF32",
    "WGMMA",
    "Rung",
    "commit_copies",
    "commit_products",
    "copy_async",
    "cut_to_tf32",
    "descriptor",
    "element_or_zero",
    "fence_proxy",
    "fence_registers",
    "load4",
    "load4_or_zeros",
    "mma_tf32",
    "multiply_64",
    "multiply_tiles",
    "round_to_tf32",
    "to_tf32",
    "rung",
    "store4",
    "store4_inside",
    "store_64",
    "store_tiles",
    "swizzled",
    "to_bfloat16",
    "wait_64",
    "wait_copies",
]
