"""Probes of what the warps of a multiprocessor share: issue slots, paths, lines of a cache, register banks.

A part of the recording `latencies`. Results are in cycles of the multiprocessor's clock, or in the unit that they name.
"""

from collections.abc import Iterator

import numpy as np
from numba import float32, uint32

from ....simulator.hardware import WARP_SIZE
from ...gpu.device import require
from ...gpu.types import Result
from . import kernels as probes
from . import shared_kernels as shared_probes
from .cycles import L2_LIST, ROUNDS, address_list, clock, ends_of_warps, in_turns, measured, time_cycles
from .disassembly import code_of
from .kernels import UNROLLED

#: Numbers of requests that one warp sends in close succession, without waiting for results.
IN_A_ROW = (0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32)
#: Words of a row that one request reads in 1, 2, 4, … rows; words from one row to the next, without and with conflicts.
EACH = (32, 16, 8, 4)
PITCHES = (8192, 8192 + 4)
#: Sizes of outer products in registers.
OUTER = ((8, 8), (4, 8), (4, 4), (2, 2))


def order(repeats: int) -> Iterator[Result]:
    """Measure when each of 32 warps ends that ask only for issue slots: `ends`, by warp, from the first's beginning.

    The value is their mean divided by the last: 1 where all alternate, 9/16 where eight run one after the other.
    """
    yield in_turns("warps without turns", ends_of_warps(shared_probes.compete, (float32(0.5), ROUNDS), repeats))


def rates(repeats: int) -> Iterator[Result]:
    """Measure the rate of the integer unit; constants, also beside requests to shared memory; one warp's empty loop."""
    seen = time_cycles(probes.arithmetic(shared_probes.shift, uint32, 4), 1024, (uint32(3), ROUNDS), repeats)
    per = ROUNDS * UNROLLED * 4 * WARP_SIZE
    rate = per / np.median(seen)
    yield measured("integer shift rate", seen, "warp instructions per cycle", value=rate, operations=per)
    readers = {"constant read": shared_probes.read_constants, "constant and shared read": shared_probes.read_both}
    for name, reader in readers.items():
        for warps in (1, 4, 32):
            seen = time_cycles(reader, warps * WARP_SIZE, (ROUNDS,), repeats)
            yield measured(name, seen, "cycles per request", ROUNDS * UNROLLED * warps, warps=warps)
    kernel = probes.index_rate(None)
    row = require().to_device(np.ones((1, 4096), np.float32))
    seen = time_cycles(kernel, WARP_SIZE, (row, row), repeats)
    yield measured("loop of one warp", seen, per=row.shape[1], code=code_of(kernel))


def paths(repeats: int) -> Iterator[Result]:
    """Measure how soon a warp continues after several requests to shared memory: alone, and one on each scheduler."""
    wide = [("16 bytes", shared_probes.shared_words, step) for step in (16, 0)]
    cases = [("word", shared_probes.shared_word, 4), *wide, ("store", shared_probes.store_word, 4)]
    for name, access, step in cases:
        for warps in (1, 4):
            for count in IN_A_ROW:
                seen = time_cycles(shared_probes.in_a_row(access, count), warps * WARP_SIZE, (step, 3), 3)
                yield measured(f"asked for, {name}", seen, step=step, warps=warps, requests=count)


def rows(repeats: int) -> Iterator[Result]:
    """Measure requests of 32 warps for a few words of each of a few rows, in the first- and the second-level cache."""
    device = require()
    most = WARP_SIZE * WARP_SIZE // min(EACH)
    array = device.to_device(np.ones(most * max(PITCHES), np.float32))
    everywhere = device.get_current_device().MULTIPROCESSOR_COUNT
    for each in EACH:
        for pitch in PITCHES:
            for warps in (1, 4, 32):
                kernel, requests = shared_probes.read_lines(each, True), ROUNDS * UNROLLED * warps
                seen = time_cycles(kernel, warps * WARP_SIZE, (array, pitch, 0, ROUNDS), repeats)
                about = {"rows": WARP_SIZE // each, "pitch": pitch, "warps": warps}
                yield measured("L1 read of rows", seen, "cycles per request", requests, **about)
        for blocks in (1, everywhere):
            rounds = PITCHES[0] // each // UNROLLED
            arguments = array, PITCHES[0], UNROLLED * each, rounds
            seen = time_cycles(shared_probes.read_lines(each, False), 1024, arguments, 3, grid=blocks, warmups=0)
            requests = rounds * UNROLLED * WARP_SIZE
            about = {"rows": WARP_SIZE // each, "blocks": blocks}
            yield measured("L2 read of rows", seen, "cycles per request", requests, **about)


def banks(repeats: int) -> Iterator[Result]:
    """Measure multiply-adds of outer products in registers, with their code: the waits caused by register banks."""
    values = require().to_device(np.ones((16, 1024), np.float32))
    for m, n in OUTER:
        kernel = shared_probes.outer(m, n)
        for warps in (4, 16):
            seen = time_cycles(kernel, warps * WARP_SIZE, (values, ROUNDS), repeats)
            per, unit = ROUNDS * 8 * m * n * warps / 4, "cycles per multiply-add of a scheduler"
            yield measured(f"outer product {m}×{n}", seen, unit, per, warps=warps, code=code_of(kernel))


def everywhere(repeats: int) -> Iterator[Result]:
    """Measure all multiprocessors at once: a list in the second-level cache; several blocks' barriers; the clock."""
    device = require()
    count = device.get_current_device().MULTIPROCESSOR_COUNT
    memory, nodes = address_list(L2_LIST, 256)
    seen = time_cycles(probes.chase, 1, (nodes[0], 8, len(nodes), 2), 3, grid=count, out=np.int64)
    yield measured("L2 latency, all at once", seen, per=len(nodes), blocks=count)
    del memory
    for warps, blocks in ((2, 1), (2, 4), (2, 16), (8, 1), (8, 4), (8, 8)):
        seen = time_cycles(probes.barriers, warps * WARP_SIZE, (ROUNDS,), repeats, grid=blocks * count)
        yield measured("barriers of blocks", seen, per=ROUNDS * UNROLLED, warps=warps, blocks=blocks)
    yield measured("clock", clock(repeats), "hertz")
