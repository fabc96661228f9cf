"""Helpers of the probes: cycles of a kernel that records its warps' clocks, and results with their provenance.

Results are in cycles of the multiprocessor's clock unless their unit says otherwise; every one keeps its repeats.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numba import float32

from course_lib.machine.gpu.device import require
from course_lib.machine.gpu.result_types import Result
from course_lib.simulator.hardware import WARP_SIZE, ceil_div

from . import kernels

#: Bytes of a list of addresses that the first-level cache holds, of one that only the second holds, of one beyond both.
L1_LIST = 8 * 1024
L2_LIST = 8 * 2**20
DRAM_LIST = 256 * 2**20
#: Rounds of a kernel's loop, so many that the loop's own instructions do not count.
ROUNDS = 64


def measured(
    probe: str, cycles: Sequence[float], unit: str = "cycles", per: float = 1, value: Any = None, **about: Any
) -> Result:
    """Return a result of a recording: the probe's name and value, its parameters, the cycles of every repeat.

    The value is, unless another one is given, the median of the cycles divided by `per`.
    """
    value = np.median(cycles) / per if value is None else value
    return {"probe": probe, "value": float(value), "unit": unit, **about, "cycles": [int(c) for c in cycles]}


def time_cycles(
    kernel: Any,
    block: Any,
    arguments: tuple[Any, ...],
    repeats: int,
    *,
    grid: int = 1,
    warmups: int = 1,
    out: type[np.generic] = np.float32,
) -> list[int]:
    """Return the cycles of each launch of `kernel(*arguments, out, clocks)`, the median over the blocks.

    A block's cycles are those from its first warp's beginning to its last one's end.
    """
    launches = [clocks_of(kernel, grid, block, arguments, out) for _ in range(warmups + repeats)]
    return [int(np.median(last.max(axis=1) - first.min(axis=1))) for first, last in launches[warmups:]]


def clocks_of(
    kernel: Any, grid: int, block: Any, arguments: tuple[Any, ...], out: type[np.generic] = np.float32
) -> Any:
    """Launch a kernel; return when the warps of each block began, and when they ended."""
    threads = int(np.prod(block))
    results = require().device_array(max(threads * grid, 1024), out)
    clocks = require().device_array((2, grid, ceil_div(threads, WARP_SIZE)), np.int64)
    kernel[grid, block](*arguments, results, clocks)
    return clocks.copy_to_host()


def address_list(size: int, spacing: int, shuffled: bool = True) -> tuple[Any, Any]:
    """Return device memory with cyclic lists of addresses, one for each lane, and the nodes' addresses in random order.

    Lane i has its part of a node 8·i bytes further on; it holds the address of its part of the next node.
    """
    cuda = require()
    nodes = size // spacing
    memory = cuda.device_array(size // 8, np.int64)
    base = memory.__cuda_array_interface__["data"][0]
    order = np.random.default_rng(0).permutation(nodes) if shuffled else np.arange(nodes)
    following = np.empty(nodes, np.int64)
    following[order] = np.roll(order, -1)
    host = np.empty((nodes, spacing // 8), np.int64)
    host[:] = base + following[:, None] * spacing + 8 * np.arange(spacing // 8)
    memory.copy_to_device(host.ravel())
    return memory, base + spacing * order


def clock(repeats: int) -> list[float]:
    """Return the multiprocessors' cycles per second while all of them are busy, for every launch."""
    cuda = require()
    count = cuda.get_current_device().MULTIPROCESSOR_COUNT
    begin, end = cuda.event(timing=True), cuda.event(timing=True)
    out = cuda.device_array(1024, np.float32)
    clocks = cuda.device_array((2, count, WARP_SIZE), np.int64)
    hertz = []
    for _ in range(repeats):
        begin.record()
        kernels.compete[count, 1024](float32(0.5), 2**14, out, clocks)
        end.record()
        end.synchronize()
        first, last = clocks.copy_to_host()
        cycles = int((last.max(axis=1) - first.min(axis=1)).max())
        hertz.append(cycles / begin.elapsed_time(end) * 1e3)
    return hertz
