"""The numbers of a multiprocessor that the timing model works with, each measured by a kernel of its own.

Results are in cycles of the multiprocessor's clock unless their unit says otherwise; every one keeps its repeats. What
one kernel and its launch measure is a row of `rows`; the functions below it measure what takes several launches.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numba import float32, uint32

from course_lib.machine.gpu.device import require
from course_lib.machine.gpu.result_types import Result
from course_lib.machine.gpu.timing import time_calls
from course_lib.machine.machine_code.compiling import disassembled
from course_lib.machine.machine_code.instructions import from_listing
from course_lib.simulator.hardware import WARP_SIZE

from . import kernels
from .cycles import DRAM_LIST, L1_LIST, L2_LIST, ROUNDS, address_list, clock, clocks_of, measured, time_cycles
from .kernels import UNROLLED

WARPS = (1, 2, 4, 8, 16, 32)
STRIDES = (0, 1, 2, 4, 8, 16, 32)
#: Operations of a loop, and requests of 32 warps in all rounds.
STEPS = ROUNDS * UNROLLED
REQUESTS = STEPS * 1024 // WARP_SIZE
#: Numbers of requests that one warp sends in close succession, without waiting for results.
IN_A_ROW = (0, 1, 2, 3, 4, 5, 6, 8, 10, 12, 16, 20, 24, 32)
#: Sizes of outer products in registers.
OUTER = ((8, 8), (4, 8), (4, 4), (2, 2))
#: Columns of a float32 matrix whose rows begin 8 KiB apart, as in the launches that are judged.
PITCH = 2048
#: Warps on a multiprocessor: as many as fit.
FULL = 64
QUANTILES = 16


@dataclass(frozen=True)
class Probe:
    """One kernel, launched as often as there are repeats: its result is the median of the cycles, divided by `per`.

    Args:
        name, unit, about: entries of the result.
        kernel: takes `arguments`, an array to store to, and one for the warps' clocks.
        threads: of its only block.
        arguments: the first ones of the kernel; a function if they are on the GPU.
        of: returns further entries, given the kernel after its launches.
        rate: whether the value is `per` divided by the cycles.
    """

    name: str
    kernel: Any
    threads: Any
    arguments: Any
    per: float = 1
    unit: str = "cycles"
    about: dict[str, Any] = field(default_factory=dict)
    out: Any = np.float32
    of: Callable[[Any], dict[str, Any]] = lambda kernel: {}
    rate: bool = False
    repeats: int | None = None

    def measure(self, repeats: int) -> Result:
        """Launch the kernel and return the result."""
        arguments = self.arguments() if callable(self.arguments) else self.arguments
        seen = time_cycles(self.kernel, self.threads, arguments, self.repeats or repeats, out=self.out)
        value = self.per / np.median(seen) if self.rate else None
        return measured(self.name, seen, self.unit, self.per, value, **self.about, **self.of(self.kernel))


def ones(*shape: int) -> Callable[[], Any]:
    """Return a function that puts a matrix of ones on the GPU."""
    return lambda: require().to_device(np.ones(shape, np.float32))


def with_code(kernel: Any) -> dict[str, Any]:
    """Return the machine code of a kernel's loops: labels, and lines of "pace result operands waits  text"."""
    found = from_listing(disassembled(next(iter(kernel.overloads.values()))._codelibrary.get_cubin().code), {})
    labels = {each.target: re.findall(r"\.L\w+", each.text)[0] for each in found if each.target >= 0}
    back = [(each.target, place) for place, each in enumerate(found) if 0 <= each.target < place]
    code: list[str] = []
    for place in range(min(back)[0], max(last for _, last in back) + 1) if back else ():
        each = found[place]
        counters = ("-" if c < 0 else str(c) for c in (each.result, each.operands))
        code += [f"{labels[place]}:"] if place in labels else []
        code.append(" ".join([str(each.pace), *counters, "".join(map(str, each.waits)) or "-"]) + f"  {each.text}")
    return {"code": code}


def arithmetic() -> Iterator[Probe]:
    """Yield one dependent operation after the other; and 32 warps of four chains, for the rate of integers."""
    for name, operation, dtype, per in (
        ("multiply-add latency", kernels.multiply_add, float32, STEPS),
        ("integer add, xor latency", kernels.add_then_xor, uint32, 2 * STEPS),
    ):
        kernel = kernels.arithmetic(operation, dtype, 1)
        arguments = (dtype(3), ROUNDS)
        yield Probe(name, kernel, WARP_SIZE, arguments, per, about={"operations": per})
    kernel = kernels.arithmetic(kernels.multiply_add_integer, uint32, 4)
    unit = "warp instructions per cycle"
    per, about = 4 * REQUESTS, {"operations": 4 * REQUESTS}
    yield Probe("integer multiply-add rate", kernel, 1024, (uint32(3), ROUNDS), per, unit, about, rate=True)


def requests() -> Iterator[Probe]:
    """Yield requests to shared memory, the first-level cache and constants, and copies; each alone or of many warps."""
    steps = {"steps": STEPS}
    for level, chase in (("shared", kernels.chase_shared), ("constant", kernels.chase_constants)):
        yield Probe(f"{level} latency", chase, WARP_SIZE, (ROUNDS,), STEPS, about=steps, out=np.int64)
    per = "cycles per request"
    for stride in STRIDES:
        about = {"stride": stride, "requests": REQUESTS}
        yield Probe("shared read", kernels.read_shared, 1024, (stride, 0, ROUNDS), REQUESTS, per, about)
    cached = ones(WARP_SIZE * WARP_SIZE * UNROLLED)
    for stride in STRIDES:
        about = {"stride": stride, "requests": REQUESTS}
        kernel = kernels.read_global(stride)
        yield Probe("L1 read", kernel, 1024, lambda: (cached(), 0, ROUNDS), REQUESTS, per, about)
    yield Probe("constant read", kernels.read_constants, 1024, (ROUNDS,), REQUESTS, per, {"warps": 32})
    for warps in (1, 4):
        for count in IN_A_ROW:
            about = {"step": 4, "warps": warps, "requests": count}
            kernel = kernels.stores_in_a_row(count)
            yield Probe("asked for, store", kernel, warps * WARP_SIZE, (4, 3), about=about, repeats=3)


def barriers() -> Iterator[Probe]:
    """Yield barriers of 1 to 32 warps, with their code: the compiler's own delays are part of them."""
    for warps in WARPS:
        about = {"warps": warps}
        yield Probe("barrier", kernels.barriers, warps * WARP_SIZE, (ROUNDS,), STEPS, about=about, of=with_code)


def copies() -> Iterator[Probe]:
    """Yield a copy from L1 and the read of its data, each pair after the one before; and copies of 32 warps in groups.

    Those are of 1, 2 and 4 rows, in groups of 1, 2, 4 and 8.
    """
    places = np.arange(WARP_SIZE, dtype=np.int64)[None]
    name, arguments = "asynchronous copy and read", lambda: (require().to_device(places), 1024)
    yield Probe(name, kernels.chase_copies, WARP_SIZE, arguments, 1024, out=np.int64)
    name, arguments = "unsigned index latency", lambda: (require().to_device(np.zeros((1, 256), np.int64)), 256)
    yield Probe(name, kernels.chase_indices, WARP_SIZE, arguments, 256, out=np.int64)  # the copy's index takes as long
    array = ones(WARP_SIZE * 4, PITCH)
    rounds = PITCH // 256 - 1
    unit = "cycles per copy"
    for rows in (1, 2, 4):
        for each in (1, 2, 4, 8):
            kernel = kernels.copies_in_groups(rows, each)
            about = {"rows": rows, "copies": each}
            per = 8 * rounds * WARP_SIZE
            yield Probe("copies in groups", kernel, 1024, lambda: (array(), 256, rounds), per, unit, about)


def register_banks() -> Iterator[Probe]:
    """Yield multiply-adds of outer products in registers, with their code: the waits caused by register banks."""
    values = ones(16, 1024)
    for m, n in OUTER:
        kernel = kernels.outer(m, n)
        unit = "cycles per multiply-add of a scheduler"
        for warps in (4, 16):
            per, about = ROUNDS * 8 * m * n * warps / 4, {"warps": warps}
            arguments = lambda: (values(), ROUNDS)  # noqa: E731
            name = f"outer product {m}×{n}"
            yield Probe(name, kernel, warps * WARP_SIZE, arguments, per, unit, about, of=with_code)


#: The parts whose probes are one launch each.
TABLE = (arithmetic, requests, barriers, copies, register_banks)


# --- what takes several launches -----------------------------------------------------------------------------------


def pointers(repeats: int) -> Iterator[Result]:
    """Measure one lane that follows a list of addresses in each level of memory; DRAM's is new to the caches."""
    for level, size, spacing, laps in (("L1", L1_LIST, 256, 4), ("L2", L2_LIST, 256, 2), ("DRAM", DRAM_LIST, 8192, 1)):
        memory, nodes = address_list(size, spacing)
        steps = min(len(nodes) // (repeats if laps == 1 else 1), 32768) // UNROLLED * UNROLLED
        starts = nodes[:: steps if laps == 1 else len(nodes)]
        yield _followed(f"{level} latency", np.resize(starts, repeats), steps, laps)
        del memory
    steps = 4096
    for spacing in (32, 64, 128, 256):  # nodes adjacent in DRAM: some come with the node before
        memory, nodes = address_list(DRAM_LIST, spacing, shuffled=False)
        early = nodes[: len(nodes) // 2]  # evicted from the second-level cache when the rest has been written
        starts = early[:: len(early) // repeats][:repeats]
        yield _followed("DRAM neighbours", starts, steps, 1, spacing=spacing)
        del memory
    memory, nodes = address_list(2 * L2_LIST, 256 * max(WARPS))
    for warps in WARPS:  # each follows a list of 256-byte nodes in the second-level cache
        arguments = nodes[0], 8, len(nodes), 2
        seen = time_cycles(kernels.chase, warps * WARP_SIZE, arguments, repeats, out=np.int64)
        about = {"warps": warps, "steps": len(nodes)}
        yield measured("warps following lists", seen, "cycles per step", len(nodes), **about)


def _followed(name: str, starts: Any, steps: int, laps: int, **about: Any) -> Result:
    seen: list[int] = []
    for start in starts:
        seen += time_cycles(kernels.chase, 1, (start, 8, steps, laps), 1, warmups=0, out=np.int64)
    return measured(name, seen, per=steps, **about, steps=steps)


def lines(repeats: int) -> Iterator[Result]:
    """Measure how long a lane waits for lines of the second-level cache, one by one: their distances differ.

    `spread`: the cycles by which sixteen equal parts of them differ from the mean, each part's median.
    """
    steps = 4096
    memory, nodes = address_list(2 * L2_LIST, 2 * 128)
    times = require().device_array(steps, np.int64)
    seen = []
    for start in nodes[:: len(nodes) // repeats][:repeats]:
        for _ in range(2):  # the first time brings them into the cache
            kernels.chase_by_step[1, 1](start, steps, times)
        seen.append(times.copy_to_host())
    waits = np.concatenate(seen)
    parts = np.percentile(waits, (np.arange(QUANTILES) + 0.5) * 100 / QUANTILES)
    spread = [round(float(part - waits.mean()), 1) for part in parts]
    del memory
    totals = [int(each.sum()) for each in seen]
    yield measured("L2 latency by line", totals, value=waits.mean(), steps=steps, spread=spread)


def cold(repeats: int) -> Iterator[Result]:
    """Measure how long a warp waits for the last of several lines of DRAM requested at once; no cache holds them.

    First 64 bytes of each of 1 to 32 rows of a matrix, from left to right; then 512 bytes in 1 to 8 rows.
    """
    pitch, asked = 4 * PITCH, 16 * WARP_SIZE
    memory = require().to_device(np.zeros(2 * DRAM_LIST // 4, np.uint32))
    base = memory.__cuda_array_interface__["data"][0]
    cases: list[tuple[str, int, int, Any, dict[str, Any], int]]
    cases = [("DRAM latency of rows", rows, 64, kernels.wait_for_rows(rows), {}, 1) for rows in WARPS]
    for rows in (1, 2, 4, 8):
        run = asked // rows
        kernel = kernels.wait_for_rows(rows, kernels.load_words, 16, run)
        cases.append(("DRAM latency of runs", rows, run, kernel, {"bytes": run}, 4))
    band = 0  # no row is read twice: the second-level cache would answer
    for name, rows, run, kernel, about, more in cases:
        seen: list[int] = []
        for _ in range(more * repeats + 1):
            arguments = base + band * pitch, pitch, pitch // run
            seen += time_cycles(kernel, WARP_SIZE, arguments, 1, warmups=0, out=np.uint32)
            band += rows  # what was written first has left the second-level cache
        yield measured(name, seen[1:], per=pitch // run, rows=rows, **about, steps=pitch // run)


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
        seen = time_cycles(kernels.read_past_l1, 1024, (start, rounds, laps), repeats, grid=blocks, out=np.int64)
        value = laps * 8 * words / blocks / np.median(seen)
        yield measured("L2 bandwidth", seen, "bytes per cycle", value=value, blocks=blocks)
        del array
    for blocks, rows in ((1, 2**20), (count, 2**26)):
        array = cuda.to_device(np.ones((rows * repeats, 4), np.float32))
        seen = []
        for repeat in range(repeats):
            part = array[repeat * rows : (repeat + 1) * rows]
            seen += time_cycles(kernels.read_rows, 1024, (part, 1), 1, grid=blocks, warmups=0)
        value = rows * 16 / blocks / np.median(seen)
        yield measured("DRAM bandwidth", seen, "bytes per cycle", value=value, blocks=blocks)
        del array


def crowds(repeats: int) -> Iterator[Result]:
    """Measure a multiprocessor full of warps, in blocks of several sizes: 8 words of shared memory, then barriers."""
    device = require()
    count = device.get_current_device().MULTIPROCESSOR_COUNT
    rounds = 4096
    hertz = np.median(clock(3))
    out = device.device_array(1024, np.float32)
    for warps in (2, 4, 8, 32):
        blocks = FULL // warps * count
        for passed in (0, 1, 2):
            launch = kernels.reads_and_barriers(passed)[blocks, warps * WARP_SIZE]
            arrays = out, device.device_array((2, blocks, warps), np.int64)
            seen = [each / 1e3 * hertz for each in time_calls(launch, [(rounds, *arrays)], repeats, 1)]
            name, unit = "shared reads and barriers", "cycles per warp's round"
            yield measured(name, seen, unit, rounds * FULL, warps=warps, barriers=passed)


def orders(repeats: int) -> Iterator[Result]:
    """Measure when each of 32 warps ends (`ends`, from the first one's beginning), and all multiprocessors' clock.

    The value is the mean end divided by the last: 1 where all alternate, 9/16 where eight run one after the other.
    Some warps ask only for issue slots, others for shared memory.
    """
    for probe, kernel, arguments in (
        ("warps without turns", kernels.compete, (float32(0.5), ROUNDS)),
        ("warps that ask", kernels.reads_and_barriers(0), (16 * ROUNDS,)),
    ):
        launches = [clocks_of(kernel, 1, 1024, arguments) for _ in range(1 + repeats)]
        ends = [(last - first.min()).ravel().tolist() for first, last in launches[1:]]
        value = np.median([np.mean(each) / max(each) for each in ends])
        last = [max(each) for each in ends]
        unit = "mean end as a part of the last"
        yield measured(probe, last, unit, value=value, ends=ends[-1])
    yield measured("clock", clock(repeats), "hertz")


#: The parts that measure themselves, given the number of repeats.
SEVERAL = (pointers, lines, cold, bandwidth, crowds, orders)
PARTS: dict[str, Callable[..., Any]] = {part.__name__: part for part in (*TABLE, *SEVERAL)}


def latencies(part: str, repeats: int) -> list[Result]:
    """Measure a part of the recording `latencies`, by its name; raise ValueError for any other name."""
    if part not in PARTS:
        raise ValueError(f"{part!r} is no part of the latencies; there are {', '.join(PARTS)}")
    measure = PARTS[part]
    return [probe.measure(repeats) for probe in measure()] if measure in TABLE else list(measure(repeats))
