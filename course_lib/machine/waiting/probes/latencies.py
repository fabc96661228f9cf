"""The numbers of a multiprocessor that the model of waiting works with, each measured by a kernel of its own.

Results are in cycles of the multiprocessor's clock unless their unit says otherwise; every one keeps its repeats.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numba import float32, uint32

from ....simulator.hardware import WARP_SIZE
from ...gpu.counters import inner_loop
from ...gpu.device import require
from ...gpu.types import Names, Progress, Result
from . import crowds, sharing
from . import kernels as probes
from .cycles import DRAM_LIST, L1_LIST, L2_LIST, ROUNDS, address_list, measured, time_cycles
from .disassembly import code_of

WARPS = (1, 2, 4, 8, 16, 32)


def latencies(names: Names, repeats: int, progress: Progress) -> list[Result]:
    """Measure latencies and rates of one multiprocessor, and the bandwidth of one and of all; or the parts named."""
    chosen = [part for part in PARTS if not names or part.__name__ in names]
    return [result for part in progress(chosen, lambda part: part.__name__) for result in part(min(repeats, 7))]


def arithmetic(repeats: int) -> Iterator[Result]:
    """Measure one dependent operation after the other; then 32 warps of four or eight chains, for the rate."""
    cases = (
        ("multiply-add", probes.multiply_add, float32, 4, 1),
        ("integer multiply-add", probes.multiply_add_integer, uint32, 4, 1),
        ("integer add, xor", probes.add_then_xor, uint32, 8, 2),
    )
    for name, operation, dtype, chains, each in cases:
        alone = time_cycles(probes.arithmetic(operation, dtype, 1), WARP_SIZE, (dtype(3), ROUNDS), repeats)
        per = ROUNDS * probes.UNROLLED * each
        yield measured(f"{name} latency", alone, per=per, operations=per)
        full = time_cycles(probes.arithmetic(operation, dtype, chains), 1024, (dtype(3), ROUNDS), repeats)
        per *= chains * 1024 // WARP_SIZE
        rate = per / np.median(full)
        yield measured(f"{name} rate", full, "warp instructions per cycle", value=rate, operations=per)


def pointers(repeats: int) -> Iterator[Result]:
    """Measure one lane that follows a list of addresses in each level of memory; DRAM's is new to the caches."""
    for level, size, spacing, laps in (("L1", L1_LIST, 256, 4), ("L2", L2_LIST, 256, 2), ("DRAM", DRAM_LIST, 8192, 1)):
        memory, nodes = address_list(size, spacing)
        steps = min(len(nodes) // (repeats if laps == 1 else 1), 32768) // probes.UNROLLED * probes.UNROLLED
        starts = nodes[:: steps if laps == 1 else len(nodes)]
        seen: list[int] = []
        for start in np.resize(starts, repeats):
            seen += time_cycles(probes.chase, 1, (start, 8, steps, laps), 1, warmups=0, out=np.int64)
        yield measured(f"{level} latency", seen, per=steps, steps=steps)
        del memory
    yield from neighbours(repeats)
    yield from lines(repeats)
    steps = ROUNDS * probes.UNROLLED
    for level, kernel in (("shared", probes.chase_shared), ("constant", probes.chase_constants)):
        seen = time_cycles(kernel, WARP_SIZE, (ROUNDS,), repeats, out=np.int64)
        yield measured(f"{level} latency", seen, per=steps, steps=steps)


def lines(repeats: int) -> Iterator[Result]:
    """Measure 32 lanes that follow lists in separate lines: the latency of one request for 32 lines of memory."""
    for level, size, laps in (("L1", 16 * L1_LIST, 4), ("L2", L2_LIST, 2)):
        for apart in (8, 32, 128):
            memory, nodes = address_list(size, max(WARP_SIZE * apart, 256))
            steps = len(nodes) // probes.UNROLLED * probes.UNROLLED
            arguments = nodes[0], apart, steps, laps
            seen = time_cycles(probes.chase, WARP_SIZE, arguments, repeats, warmups=0, out=np.int64)
            yield measured(f"{level} latency of 32 lanes", seen, per=steps, apart=apart, steps=steps)
            del memory


def neighbours(repeats: int) -> Iterator[Result]:
    """Measure a list whose nodes are adjacent in DRAM, for several sizes: some come with the node before."""
    steps = 4096
    for spacing in (32, 64, 128, 256):
        memory, nodes = address_list(DRAM_LIST, spacing, shuffled=False)
        early = nodes[: len(nodes) // 2]  # evicted from the second-level cache when the rest has been written
        seen: list[int] = []
        for start in early[:: len(early) // repeats][:repeats]:
            seen += time_cycles(probes.chase, 1, (start, 8, steps, 1), 1, warmups=0, out=np.int64)
        yield measured("DRAM neighbours", seen, per=steps, spacing=spacing, steps=steps)
        del memory


def shared_memory(repeats: int) -> Iterator[Result]:
    """Measure requests of 32 warps to shared memory: without conflicts, with them, wide ones, stores."""
    requests = ROUNDS * probes.UNROLLED * 1024 // WARP_SIZE
    cases = [("read", probes.read_shared, stride) for stride in (0, 1, 2, 4, 8, 16, 32)]
    cases += [("read 16 bytes", probes.read_shared4, stride) for stride in (0, 1)]
    cases += [("write", probes.write_shared, stride) for stride in (1, 2, 4)]
    cases += [("write 16 bytes", probes.write_shared4, 1)]
    for name, kernel, stride in cases:
        seen = time_cycles(kernel, 1024, (stride, 0, ROUNDS), repeats)
        yield measured(f"shared {name}", seen, "cycles per request", requests, stride=stride, requests=requests)


def first_level(repeats: int) -> Iterator[Result]:
    """Measure requests of 32 warps that the first-level cache serves: lanes 0, 1, 2, 4, 8, 16, 32 words apart."""
    cuda = require()
    requests = ROUNDS * probes.UNROLLED * 1024 // WARP_SIZE
    array = cuda.to_device(np.ones(WARP_SIZE * WARP_SIZE * probes.UNROLLED, np.float32))
    for stride in (0, 1, 2, 4, 8, 16, 32):
        seen = time_cycles(probes.read_global(stride), 1024, (array, 0, ROUNDS), repeats)
        yield measured("L1 read", seen, "cycles per request", requests, stride=stride, requests=requests)


def bandwidth(repeats: int) -> Iterator[Result]:
    """Measure the bytes per cycle from the second-level cache and from DRAM, of one multiprocessor and of all.

    Each reads its own data. From the cache: random words that were read a lap before, by loads that the first level
    does not answer; all of them together take less than half of the cache, whose halves may each keep a copy. From
    DRAM: what was never read.
    """
    cuda = require()
    count = cuda.get_current_device().MULTIPROCESSOR_COUNT
    for blocks, rounds, laps in ((1, 128, 4), (count, 2, 32)):
        words = rounds * 8 * 1024 * blocks
        array = cuda.to_device(np.random.default_rng(0).integers(0, 2**62, words))
        start = np.int64(array.__cuda_array_interface__["data"][0])
        seen = time_cycles(probes.read_past_l1, 1024, (start, rounds, laps), repeats, blocks, out=np.int64)
        value = laps * 8 * words / blocks / np.median(seen)
        yield measured("L2 bandwidth", seen, "bytes per cycle", value=value, blocks=blocks)
        del array
    for blocks, rows in ((1, 2**20), (count, 2**26)):
        array = cuda.to_device(np.ones((rows * repeats, 4), np.float32))
        seen = []
        for repeat in range(repeats):
            part = array[repeat * rows : (repeat + 1) * rows]
            seen += time_cycles(probes.read_rows, 1024, (part, 1), 1, grid=blocks, warmups=0)
        value = rows * 16 / blocks / np.median(seen)
        yield measured("DRAM bandwidth", seen, "bytes per cycle", value=value, blocks=blocks)
        del array


def waiting(repeats: int) -> Iterator[Result]:
    """Measure warps that each follow a list of 256-byte nodes in the second-level cache; barriers of 1 to 32 warps."""
    memory, nodes = address_list(2 * L2_LIST, 256 * max(WARPS))
    steps = len(nodes)
    for warps in WARPS:
        lanes = warps * WARP_SIZE
        seen = time_cycles(probes.chase, lanes, (nodes[0], 8, steps, 2), repeats, out=np.int64)
        yield measured("warps following lists", seen, "cycles per step", steps, warps=warps, steps=steps)
    del memory
    for warps in WARPS:
        seen = time_cycles(probes.barriers, warps * WARP_SIZE, (ROUNDS,), repeats)
        yield measured("barrier", seen, per=ROUNDS * probes.UNROLLED, warps=warps, code=code_of(probes.barriers))


def indexing(repeats: int) -> Iterator[Result]:
    """Measure numba's loops and indices: 32 warps at once (the rate), and one alone whose index is the last value.

    The rates are those of a whole iteration, with two accesses for the signed, unsigned and guarded ones;
    `instructions` are its machine instructions.
    """
    cuda = require()
    row, tile = (cuda.to_device(np.ones(shape, np.float32)) for shape in ((1, 1024), (probes.ROWS, 1024)))
    zeros = cuda.to_device(np.zeros((1, 256), np.int64))
    unit = "cycles per warp of a scheduler"
    kinds = {
        "loop": None,
        "signed": probes.signed_access,
        "unsigned": probes.unsigned_access,
        "guarded": probes.guarded_access,
    }
    for kind, access in kinds.items():
        kernel = probes.index_rate(access)
        seen = time_cycles(kernel, (WARP_SIZE, WARP_SIZE), (row, row), repeats)
        per = row.shape[1] * WARP_SIZE / 4
        yield measured(f"{kind} index rate", seen, unit, per, instructions=_instructions(kernel))
        if access:
            seen = time_cycles(probes.index_chase(access), (WARP_SIZE, 1), (zeros, 256), repeats)
            yield measured(f"{kind} index latency", seen, per=256)
    for written_out in (False, True):
        kernel = probes.shared_index_rate(written_out)
        seen = time_cycles(kernel, (WARP_SIZE, WARP_SIZE), (tile,), repeats)
        per = probes.ROWS * (WARP_SIZE if written_out else 1) * WARP_SIZE / 4
        name = f"shared index rate, {'written out' if written_out else 'in a loop'}"
        yield measured(name, seen, unit, per, instructions=_instructions(kernel))


def _instructions(kernel: Any) -> float:
    """Return the machine instructions for each multiply-add of a kernel's inner loop."""
    loop = inner_loop(next(iter(kernel.inspect_sass().values())))
    return len(loop) / sum("FFMA" in line for line in loop)


def copies(repeats: int) -> Iterator[Result]:
    """Measure an asynchronous copy from L1 and the read of its data, each pair after the one before."""
    cuda = require()
    array = cuda.to_device(np.arange(WARP_SIZE, dtype=np.int64)[None])
    seen = time_cycles(probes.chase_copies, WARP_SIZE, (array, 1024), repeats, out=np.int64)
    yield measured("asynchronous copy and read", seen, per=1024)
    row = cuda.to_device(np.ones((1, 2**16), np.float32))
    for name, kernel in (
        ("asynchronous copies", probes.copies_of),
        ("asynchronous copies of 16 bytes", probes.copies4_of),
    ):
        for warps in WARPS:
            seen = time_cycles(kernel, warps * WARP_SIZE, (row, 0, ROUNDS), repeats)
            requests = ROUNDS * probes.UNROLLED * warps
            yield measured(name, seen, "cycles per request", requests, warps=warps, requests=requests)


#: The parts of the recording, in its order.
PARTS = (
    *(arithmetic, pointers, shared_memory, first_level, bandwidth, waiting, indexing, copies),
    *(sharing.order, sharing.rates, sharing.paths, sharing.rows, sharing.banks, sharing.everywhere),
    *(crowds.distances, crowds.cold, crowds.runs, crowds.groups, crowds.barriers, crowds.uniforms, crowds.orders),
)
