"""Probes of what many warps, blocks and lines of memory do to each other; a part of the recording `latencies`.

Results are in cycles of the multiprocessor's clock unless their unit says otherwise.
"""

from collections.abc import Iterator

import numpy as np

from ....simulator.hardware import LINE_BYTES, WARP_SIZE
from ...gpu.device import require
from ...gpu.types import Result
from . import shared_kernels as shared_probes
from .cycles import DRAM_LIST, L2_LIST, ROUNDS, address_list, clock, ends_of_warps, in_turns, measured, time_cycles

#: Rows of which a copy takes a part, and copies of a group.
ROWS = (1, 2, 4)
GROUPS = (1, 2, 4, 8)
#: Columns of a float32 matrix whose rows begin 8 KiB apart, as in the launches that are judged.
PITCH = 2048
#: Warps on a multiprocessor: as many as fit.
FULL = 64
QUANTILES = 16


def distances(repeats: int) -> Iterator[Result]:
    """Measure how long a lane waits for lines of the second-level cache, one by one: their distances differ.

    `spread`: the cycles by which sixteen equal parts of them differ from the mean, each part's median.
    """
    steps, laps = 4096, 1
    memory, nodes = address_list(2 * L2_LIST, 2 * LINE_BYTES)
    times = require().device_array((laps, steps), np.int64)
    seen = []
    for start in nodes[:: len(nodes) // repeats][:repeats]:
        for _ in range(2):  # the first time brings them into the cache
            shared_probes.chase_by_step[1, 1](start, steps, laps, times)
        seen.append(times.copy_to_host()[0])
    waits = np.concatenate(seen)
    parts = np.percentile(waits, (np.arange(QUANTILES) + 0.5) * 100 / QUANTILES)
    spread = [round(float(part - waits.mean()), 1) for part in parts]
    del memory
    totals = [int(each.sum()) for each in seen]
    yield measured("L2 latency by line", totals, value=waits.mean(), steps=steps, spread=spread)


def cold(repeats: int) -> Iterator[Result]:
    """Measure how long a warp waits for the last of 1 to 32 lines of DRAM requested at once.

    Each is 64 bytes of a different row of a matrix, read from left to right; no cache holds them.
    """
    pitch = 4 * PITCH
    memory = require().to_device(np.zeros(2 * DRAM_LIST // 4, np.uint32))
    base = memory.__cuda_array_interface__["data"][0]
    steps, band = pitch // 64, 0
    for rows in (1, 2, 4, 8, 16, 32):
        kernel = shared_probes.wait_for_rows(rows)
        seen = []
        for _ in range(repeats + 1):
            seen += time_cycles(kernel, WARP_SIZE, (base + band * pitch, pitch, steps), 1, warmups=0, out=np.uint32)
            band += rows  # what was written first has left the second-level cache
        yield measured("DRAM latency of rows", seen[1:], per=steps, rows=rows, steps=steps)


def runs(repeats: int) -> Iterator[Result]:
    """Measure how long a warp waits for 512 bytes of DRAM in 1 to 8 rows, the same number of bytes in each."""
    pitch, asked = 4 * PITCH, 16 * WARP_SIZE
    memory = require().to_device(np.zeros(2 * DRAM_LIST // 4, np.uint32))
    base = memory.__cuda_array_interface__["data"][0]
    band = 0
    for rows in (1, 2, 4, 8):
        run = asked // rows
        kernel = shared_probes.wait_for_rows(rows, shared_probes.load_words, 16, run)
        seen, steps = [], pitch // run
        for _ in range(4 * repeats + 1):
            arguments = base + band * pitch, pitch, steps
            seen += time_cycles(kernel, WARP_SIZE, arguments, 1, warmups=0, out=np.uint32)
            band += rows
        yield measured("DRAM latency of runs", seen[1:], per=steps, rows=rows, bytes=run, steps=steps)


def groups(repeats: int) -> Iterator[Result]:
    """Measure asynchronous copies of 32 warps, of 1, 2 and 4 rows, in groups of 1, 2, 4 and 8: cycles per copy."""
    array = require().to_device(np.zeros((WARP_SIZE * max(ROWS), PITCH), np.float32))
    rounds = PITCH // 256 - 1
    for rows in ROWS:
        for each in GROUPS:
            kernel = shared_probes.copies_in_groups(rows, each)
            seen = time_cycles(kernel, 1024, (array, 256, rounds), repeats)
            yield measured("copies in groups", seen, "cycles per copy", 8 * rounds * WARP_SIZE, rows=rows, copies=each)


def barriers(repeats: int) -> Iterator[Result]:
    """Measure a multiprocessor full of warps, in blocks of several sizes: 8 words of shared memory, then barriers."""
    device = require()
    count, rounds = device.get_current_device().MULTIPROCESSOR_COUNT, 4096
    hertz = np.median(clock(3))
    out = device.device_array(1024, np.float32)
    for warps in (2, 4, 8, 32):
        blocks = FULL // warps * count
        for passed in (0, 1, 2):
            kernel = shared_probes.reads_and_barriers(passed)
            seen = []
            for _ in range(repeats + 1):
                begin, end = device.event(timing=True), device.event(timing=True)
                begin.record()
                kernel[blocks, warps * WARP_SIZE](rounds, out)
                end.record()
                end.synchronize()
                seen.append(begin.elapsed_time(end) / 1e3 * hertz)
            name, unit = "shared reads and barriers", "cycles per warp's round"
            yield measured(name, seen[1:], unit, rounds * FULL, warps=warps, barriers=passed)


def uniforms(repeats: int) -> Iterator[Result]:
    """Measure uniform values that a warp changes, 4 instructions a change, and chains that read them."""
    for values, readers in ((1, 0), (2, 0), (1, 1), (2, 2)):
        kernel = shared_probes.uniform_values(values, readers)
        seen = time_cycles(kernel, 1024, (3, 5, ROUNDS), repeats)
        per, unit = ROUNDS * 8 * WARP_SIZE / 4, "cycles per step of a scheduler"
        yield measured("values of a warp", seen, unit, per, values=values, readers=readers)


def orders(repeats: int) -> Iterator[Result]:
    """Measure priorities: of warps of one block that ask for shared memory, and of blocks that began before others.

    For warps: their mean end divided by the last one's, 1 where they alternate. For blocks: the time of a block's first
    lap divided by that of its last one, 1 where the order of beginning does not matter.
    """
    device = require()
    yield in_turns("warps that ask", ends_of_warps(shared_probes.ask_and_compete, (16 * ROUNDS,), repeats))
    laps, threads = 4, 256
    fit = FULL * WARP_SIZE // threads * device.get_current_device().MULTIPROCESSOR_COUNT
    blocks = 6 * fit
    out, times = device.device_array(threads, np.float32), device.device_array((laps, blocks), np.int64)
    seen = []
    for _ in range(repeats + 1):
        shared_probes.laps_of_blocks[blocks, threads](np.float32(0.5), 4 * ROUNDS, laps, out, times)
        means = times.copy_to_host()[:, fit:-fit].mean(axis=1)  # without those that begin or end together
        seen.append(means)
    value = np.median([means[0] / means[-1] for means in seen[1:]])
    cycles = np.median(seen[1:], axis=0)
    yield measured("laps of blocks", cycles, "first lap as a part of the last", value=value)
