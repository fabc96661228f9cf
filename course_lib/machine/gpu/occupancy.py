"""The blocks that a multiprocessor holds, as the driver says: what `model.occupancy` is compared with."""

from typing import Any

from .device import require
from .result_types import Progress, Result, Results

#: Blocks of whole warps and others; numbers of warps that 4, the number of schedulers, divides and others.
THREADS = (32, 64, 80, 96, 128, 160, 256, 288, 512, 1024)
#: Limits for the compiler, in 32-bit registers of a thread. A kernel may need one or two fewer than allowed.
LIMITS = (*range(24, 256, 8), 35, 43, 91, 99, 131, 201, 255)
#: Dynamic shared memory of a block, in bytes.
SHARED = (0, 8192, 20000)
#: A kernel that fills all registers it may have: so many values are needed at the same time.
SOURCE = """
extern "C" __global__ void needs_registers(float *x, int rounds) {
    float values[256];
    #pragma unroll
    for (int i = 0; i < 256; ++i) values[i] = x[i];
    #pragma unroll 1
    for (int round = 0; round < rounds; ++round)
        #pragma unroll
        for (int i = 0; i < 256; ++i) values[i] = values[i] * values[(i + 37) % 256] + x[round];
    #pragma unroll
    for (int i = 0; i < 256; ++i) x[i] = values[i];
}
"""


def kernel(limit: int, arch: str) -> Any:
    """Return the compiled kernel, an ObjectCode of `cuda.core`, with at most `limit` registers a thread."""
    from cuda.core import Program, ProgramOptions

    return Program(SOURCE, "c++", ProgramOptions(arch=arch, max_register_count=limit)).compile("cubin")


def occupancy(progress: Progress) -> Results:
    """Return the driver's blocks on a multiprocessor for every number of registers, threads and bytes.

    Each result has the registers of a thread, and `blocks`: bytes of shared memory → threads of a block → blocks.
    The driver is asked by cuOccupancyMaxActiveBlocksPerMultiprocessor.
    """
    from cuda.core import Device

    major, minor = require().get_current_device().compute_capability
    Device().set_current()
    results: dict[int, Result] = {}
    for limit in progress(sorted(LIMITS), str):
        function = kernel(limit, f"sm_{major}{minor}").get_kernel("needs_registers")
        fit = function.occupancy.max_active_blocks_per_multiprocessor
        blocks = {shared: {threads: fit(threads, shared) for threads in THREADS} for shared in SHARED}
        registers = function.attributes.num_regs
        results[registers] = {"registers": registers, "blocks": blocks}
    return [results[registers] for registers in sorted(results)]
