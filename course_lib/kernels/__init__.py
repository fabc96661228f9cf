"""The ladder of matrix-multiplication kernels, one rung per file, in the order of the course.

Every kernel computes C = A @ B for A of M×K, B of K×N and C of M×N, and is called `kernel[grid, block](A, B, C)`.
The host version that they start from is `course_lib.kernels.host.matmul_host`.
"""

from functools import partial
from typing import Any

from . import (
    bank_conflicts,
    best,
    large_tiles,
    naive,
    outer_product,
    padded,
    per_column,
    per_element,
    per_row,
    pipelined,
    prefetched,
    register_1d,
    register_2d,
    single_block,
    software_pipelined,
    staged,
    tensor_cores,
    tensor_cores_bf16,
    tensor_cores_tiled,
    tiled,
    tiled_uncoalesced,
    uncoalesced,
    unrolled,
    vectorized,
    warp_tiled,
    wgmma,
    wgmma_bulk,
    wgmma_staged,
    wgmma_swizzled,
    wgmma_tf32,
    whole_tiles,
)
from .async_copy import commit_copies, copy_async, wait_copies
from .rung import Rung, no_shared_memory, ready_made
from .tensor_core import TF32, mma_tf32
from .tensor_core_formats import (
    cut_to_tf32,
    from_bfloat16,
    from_float16,
    round_to_tf32,
    to_bfloat16,
    to_float16,
    to_tf32,
    with_whole_lines,
)
from .vector import element_or_zero, load4, load4_or_zeros, store4, store4_inside
from .warpgroup import commit_products, descriptor, fence_proxy, fence_registers, swizzled
from .wgmma_small import multiply_64, multiply_tiles, store_64, store_tiles, wait_64


def _plain(name: str, title: str, module: Any, **params: Any) -> Rung:
    """Return the rung of a module-level kernel without shared memory."""
    return Rung(name, title, ready_made(getattr(module, name)), module.launch, params)


def _square(tile_width: int, **more: Any) -> tuple[int, int]:
    return tile_width, tile_width


def _square_of_width(width: int) -> tuple[int, int]:
    return width, width


def _tiles(name: str, title: str, module: Any, **more: Any) -> Rung:
    """Return the rung of a kernel with square tiles, compiled for its element type, tile width and other parameters."""
    params = {"tile_width": 16, **more}
    return Rung(name, title, getattr(module, name), module.launch, params, module.shared_bytes, tile=_square)


def _registers(name: str, title: str, module: Any, tile: tuple[int, int], **restrictions: Any) -> Rung:
    """Return the rung of a kernel whose threads hold several results, for a fixed tile of C."""
    kernel = getattr(module, name)
    make = ready_made(kernel) if restrictions else kernel
    return Rung(name, title, make, module.launch, {}, module.shared_bytes, tile=lambda: tile, **restrictions)


_VECTORS: dict[str, Any] = {"dtypes": ("float32",), "orders": ("C",)}

LADDER = (
    _plain("per_row", "One thread per row", per_row, block_width=128),
    _plain("per_column", "One thread per column", per_column, block_width=128),
    _plain("per_element", "One thread per element, one block", per_element),
    _plain("uncoalesced", "One thread per element, x along the rows", uncoalesced, block_width=16),
    _plain("naive", "One thread per element", naive, block_width=16),
    Rung(
        "single_block",
        "Shared memory in one block",
        single_block.single_block_kernel,
        single_block.launch,
        {"width": 32},
        single_block.shared_bytes,
        tile=_square_of_width,
    ),
    _tiles("tiled_uncoalesced", "Tiles, B loaded down its columns", tiled_uncoalesced),
    _tiles("bank_conflicts", "Tiles, B coalesced but transposed", bank_conflicts),
    _tiles("padded", "Tiles, transposed with padding", padded),
    _tiles("tiled", "Tiles in shared memory", tiled),
    _tiles("prefetched", "Prefetching into a second buffer", prefetched),
    _tiles("pipelined", "Asynchronous copies, three buffers", pipelined, stages=3),
    _registers("outer_product", "Outer products, a column per thread", outer_product, (16, 64)),
    _registers("unrolled", "Outer products, unrolled", unrolled, (16, 64)),
    _registers("register_1d", "Register tiles, 8 results per thread", register_1d, (64, 64)),
    _registers("register_2d", "Register tiles, 8×8 results per thread", register_2d, (128, 128)),
    _registers("vectorized", "128-bit loads", vectorized, (128, 128), **_VECTORS),
    _registers("warp_tiled", "Warp tiles", warp_tiled, (128, 128), **_VECTORS),
    _registers("staged", "Two buffers, registers in between", staged, (128, 128), **_VECTORS),
    _registers("software_pipelined", "Fragments fetched a step ahead", software_pipelined, (128, 128), **_VECTORS),
    _registers("large_tiles", "Tiles of 128×256, 8×16 results per thread", large_tiles, (128, 256), **_VECTORS),
    _registers("whole_tiles", "Whole tiles without guards", whole_tiles, (128, 256), **_VECTORS),
    _registers("best", "All together, tuned", best, (128, 256), **_VECTORS),
)


def _tf32(X: Any, rounded: bool = False, **params: Any) -> Any:
    """Return the float32 numbers that a float32 matrix becomes in TF32."""
    return round_to_tf32(X) if rounded else cut_to_tf32(X)


def _bfloat16(X: Any, **params: Any) -> Any:
    """Return the float32 numbers that a float32 matrix becomes in bfloat16."""
    return from_bfloat16(to_bfloat16(X))


#: The rungs that trade accuracy for speed: their operands have fewer fraction bits than float32. They are not part of
#: the ladder, where each rung computes what the one before computed, to the last digits of float32; a table of their
#: own gives the error beside each speed, and they are no milestones on the map nor kernels to explore.
TENSOR_CORES = (
    _registers(
        "tensor_cores",
        "Tensor cores, TF32",
        tensor_cores,
        (32, 32),
        dtypes=("float32",),
        multiplied=partial(_tf32, rounded=True),
    ),
    Rung(
        "tensor_cores_tiled",
        "Tensor cores, tiles and copies",
        tensor_cores_tiled.tensor_cores_tiled,
        tensor_cores_tiled.launch,
        {"rounded": False},
        tensor_cores_tiled.shared_bytes,
        tile=lambda **params: (128, 128),
        multiplied=_tf32,
        **_VECTORS,
    ),
    _registers(
        "tensor_cores_bf16",
        "Tensor cores, bfloat16",
        tensor_cores_bf16,
        (128, 128),
        operand=to_bfloat16,
        multiplied=_bfloat16,
        **_VECTORS,
    ),
)


def _lines_of_bfloat16(X: Any) -> Any:
    return with_whole_lines(to_bfloat16(X))


def _lines_of_float16(X: Any) -> Any:
    return with_whole_lines(to_float16(X))


def _float16(X: Any, **params: Any) -> Any:
    """Return the float32 numbers that a float32 matrix becomes in float16."""
    return from_float16(to_float16(X))


def _of_16_bits(name: str, title: str, module: Any, tile: tuple[int, int], /, **more: Any) -> Rung:
    """Return the rung of a kernel with wgmma in bfloat16, or what `more` says."""
    fields = {
        "make": ready_made(getattr(module, name, None)),
        "shared_bytes": getattr(module, "shared_bytes", no_shared_memory),
        "operand": _lines_of_bfloat16,
        "multiplied": _bfloat16,
        "tile": lambda **params: tile,
        **more,
    }
    return Rung(name, title, launch=module.launch, **fields, **_VECTORS)


#: What the rungs of `wgmma_bulk` share: the width of their tiles is a parameter.
_BULK: dict[str, Any] = {
    "params": {"columns": 256},
    "tile": lambda columns=256: (128, columns),
    "dynamic_bytes": wgmma_bulk.dynamic_bytes,
}
#: The rungs of Hopper's own instructions: they compile for compute capability 9.0 alone. Their operands have zeros
#: after the rows of A and B, so that each row begins on a 128-byte boundary.
WGMMA = (
    _of_16_bits("wgmma", "A warpgroup, bfloat16", wgmma, (64, 128)),
    _of_16_bits("wgmma_swizzled", "Swizzled tiles", wgmma_swizzled, (128, 256)),
    _of_16_bits(
        "wgmma_staged",
        "Copies two tiles ahead",
        wgmma_staged,
        (128, 256),
        make=wgmma_staged.wgmma_staged,
        dynamic_bytes=wgmma_staged.dynamic_bytes,
    ),
    _of_16_bits(
        "wgmma_bulk",
        "Tiles from the copy engine",
        wgmma_bulk,
        (128, 256),
        make=wgmma_bulk.wgmma_bulk,
        **_BULK,
    ),
    _of_16_bits(
        "wgmma_float16",
        "The same in float16",
        wgmma_bulk,
        (128, 256),
        make=partial(wgmma_bulk.wgmma_bulk, form="float16"),
        **_BULK,
        operand=_lines_of_float16,
        multiplied=_float16,
    ),
    _of_16_bits(
        "wgmma_tf32",
        "A warpgroup, TF32",
        wgmma_tf32,
        (256, 128),
        make=wgmma_tf32.wgmma_tf32,
        params={"rows": 256},
        tile=lambda rows=256: (rows, 128),
        dynamic_bytes=wgmma_tf32.dynamic_bytes,
        operand=with_whole_lines,
        multiplied=_tf32,
    ),
)


def rung(name: str) -> Rung:
    """Return the rung called `name`; raise KeyError with the known names."""
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
