"""Launches with a chosen number of resident blocks: dynamic shared memory that nobody uses takes the room of others."""

from functools import partial
from typing import Any

from ...kernels import Rung
from .cuda_c import CKernel
from .device import require
from .measuring import resources
from .result_types import Size
from .verification import allow, prepare

#: Bytes of shared memory that the driver keeps for each block.
RESERVED = 1024


def filler(static: int, blocks: int, total: int) -> int | None:
    """Return the bytes of dynamic shared memory with which exactly `blocks` blocks fit into `total`, or None.

    A block of `static` bytes takes RESERVED more. None means that fewer blocks fit even without a filler.
    """
    each = total // blocks // 128 * 128
    return each - static - RESERVED if each >= static + RESERVED else None


def limited(
    r: Rung, params: dict[str, Any], blocks: int, arguments: tuple[Any, ...], size: Size
) -> tuple[Any, ...] | None:
    """Return (kernel, grid, block, bytes of filler) of a launch with `blocks` resident blocks, or None without room.

    The kernel is compiled for `arguments` and allowed the shared memory; size: M, N and K. Kernels with the same number
    of blocks have the same number of bytes of shared memory, so that the first-level cache is of the same size, too.
    """
    cuda = require()
    kernel, grid, block, _ = prepare(r, *size, **params)
    gpu = cuda.get_current_device()
    total = gpu.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR
    most = gpu.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
    if isinstance(kernel, CKernel):
        used = partial(kernel.resources, block)
        permit = kernel.allow
    else:
        kernel.compile(tuple(kernel.typeof_pyval(a) for a in arguments))
        used = partial(resources, kernel, block)
        permit = partial(allow, next(iter(kernel.overloads.values())))
    static = used()["shared_bytes"]
    room = filler(static, blocks, total)
    if room is None:
        return None
    room = min(room, most - static)
    permit(most - static)  # for launches with more of it that come later
    return (kernel, grid, block, room) if used(room)["blocks_per_multiprocessor"] == blocks else None
