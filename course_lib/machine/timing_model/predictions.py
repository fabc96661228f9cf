"""Predictions of the timing model beside the measurements. Needs recordings, no GPU.

The multiprocessor's numbers come from the recording of `latencies` alone; nothing is fitted here. All predictions
together take some seven minutes of a processor.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...kernels import Rung, rung
from ...simulator.hardware import SECTOR_BYTES, WARP_SIZE, ceil_div
from .. import measurements
from ..gpu.capstone import RECORDED, recorded
from ..gpu.counters import STALLS as SAMPLED
from ..gpu.result_types import Progress, Result
from ..machine_code import machine_code
from ..measurements import DEFAULT_GPU, Recording
from ..model.multiprocessor import Multiprocessor, pace_of_barriers
from .from_machine_code import kind_of
from .instruction_streams import Instruction
from .product_launch import LaunchTiming, ProductLaunch
from .register_banks import register_reads
from .timing import simulate_warps

#: The parameters that distinguish the results of one microkernel.
WHICH = ("warps", "stride", "requests", "rows", "copies", "barriers")
#: The recordings that are read.
READS = ("latencies", "residency", "cached", "ladder", "counters")
#: For each reason of the model, Nsight Compute's names of stalls: "shared memory" is a value on its way as well as a
#: full queue of instructions. The profiler also samples stalls that the model does not have: for an instruction that is
#: not fetched yet, for a branch, for constants.
STALLS = {
    reason: [name for name, (_, of) in SAMPLED.items() if of == reason]
    for reason in ("global memory", "shared memory", "arithmetic", "barrier", "not selected")
}
#: Kernels whose outermost loop reads all of a large matrix, and the part of C for which a block of theirs runs.
PARTS = {"per_row": (128, 16), "per_column": (16, 128)}
#: Neighbours of the ladder that are also predicted as if banks delivered all registers of an instruction at once.
ALSO_WITHOUT_BANKS = ("vectorized", "warp_tiled", "whole_tiles", "best")
#: A GPU's recordings: its name in this course, or a folder.
Folder = str | Path
#: Iterations of a microkernel's loop that are simulated.
ITERATIONS = 64
ADD = Instruction("multiply-add", 0)
READ = Instruction("shared load", 0, wavefronts=1)


def rows(progress: Progress, gpu: Folder = DEFAULT_GPU) -> list[Result]:
    """Return every prediction for a GPU's folder: probes, few and many resident warps, ladder, and capstone kernels."""
    measured = [(what, gpu) for what in ("cached", "residency", "ladder")] + [("capstone", RECORDED)]
    return [*probes(gpu), *(row for what, folder in measured for row in launches(progress, what, folder))]


#: The streams of a probe's warps; what the cycles of their simulation are divided by to give its value (0: that is the
#: mean end of the warps as a part of the last one's, which is 1 where they alternate); options of `simulate_warps`.
Microkernel = tuple[Sequence[Sequence[Instruction]], float, dict[str, Any]]


def probes(gpu: Folder = DEFAULT_GPU) -> list[Result]:
    """Predict the times of the kernels that measured the multiprocessor, from the numbers that they gave."""
    multiprocessor = _multiprocessor(gpu)
    recording = measurements.load("latencies", gpu)
    full = recording.provenance["threads_per_multiprocessor"] // WARP_SIZE
    results = []
    for result in recording.results:
        kernel = _microkernel(result, multiprocessor, full)
        if kernel is None:
            continue
        streams, divisor, options = kernel
        timing = simulate_warps(streams, multiprocessor, **options)
        ends = [spans[-1][2] for spans in timing.spans]
        predicted = timing.cycles / divisor if divisor else float(np.mean(ends)) / max(ends)
        about: Result = {"what": "probe", "probe": result["probe"]}
        about |= {key: result[key] for key in WHICH if key in result}
        if "stride" in about:
            del about["requests"]  # as many with each stride
        results.append({**about, **_compared(predicted, result["value"], "cycles")})
    return results


def _microkernel(result: Result, multiprocessor: Multiprocessor, full: int) -> Microkernel | None:
    """Return the microkernel of a result, on multiprocessors of `full` warps; None if it has none."""
    match result:
        case {"probe": "warps following lists", "warps": warps}:  # lists of addresses: 8 sectors a step
            lists = [
                [tuple(("list", (step * warps + warp) * 8 + i) for i in range(8)) for step in range(ITERATIONS)]
                for warp in range(warps)
            ]
            return [chain("load", 2, each.__getitem__) for each in lists], ITERATIONS, {}
        case {"probe": "DRAM latency of rows", "rows": rows}:
            return [chain("load", rows, partial(_parts_of_rows, rows))], ITERATIONS, {"served": "DRAM"}
        case {"probe": "shared read", "stride": stride} if stride:
            return [[READ._replace(wavefronts=stride)] * ITERATIONS] * 32, ITERATIONS * 32, {}
        case {"probe": "asked for, store", "warps": warps, "requests": 32}:
            return [[Instruction("shared store", 0, wavefronts=1)] * 32] * warps, 1, {}
        case {"probe": "copies in groups", "rows": rows, "copies": copies}:
            group = [*[Instruction("copy", 0, wavefronts=rows)] * copies, Instruction("commit", 0)]
            return [group * (ITERATIONS // copies)] * 32, ITERATIONS * 32, {}
        case {"probe": "barrier", "warps": warps, "code": code}:
            return [[Instruction("barrier", 0, pace=pace_of_barriers(code))] * ITERATIONS] * warps, ITERATIONS, {}
        case {"probe": "multiply-add latency"}:
            return [chain("multiply-add")], ITERATIONS, {}
        case {"probe": str(name), "warps": warps, "code": code} if name.startswith("outer product"):
            stream = loop_of_lines(code) * 4
            products = sum(i.kind == "multiply-add" for i in stream) * warps // multiprocessor.schedulers
            return [stream] * warps, products, {}
        case {"probe": "shared reads and barriers", "warps": warps, "barriers": barriers}:
            stream = [Instruction("barrier", 0)] * barriers
            stream[1:1] = [READ] * 8
            return [stream * ITERATIONS] * warps, ITERATIONS * full, {"blocks": full // warps}
        case {"probe": "warps that ask"}:
            reads_and_adds = [
                each
                for begin in range(0, 16 * ITERATIONS, 16)
                for each in (*[READ] * 8, *(ADD._replace(needs=(begin + i,)) for i in range(8)))
            ]
            return [reads_and_adds] * 32, 0, {}
        case {"probe": "warps without turns"}:
            return [[ADD] * 1024] * 32, 0, {}
    return None


def chain(
    kind: str, wavefronts: int = 0, sectors: Callable[[int], tuple[tuple[str, int], ...]] = lambda step: ()
) -> list[Instruction]:
    """Return a stream in which each instruction needs the result of the one before; sectors: those of each."""
    steps = range(ITERATIONS)
    return [Instruction(kind, 0, (n - 1,) if n else (), wavefronts, sectors(n)) for n in steps]


def _parts_of_rows(count: int, step: int) -> tuple[tuple[str, int], ...]:
    """Return the sectors of a warp's load from so many rows of a matrix that no cache holds."""
    parts = range(ceil_div(WARP_SIZE // count * 4, SECTOR_BYTES))
    return tuple((f"row {row}", 2 * step + part) for row in range(count) for part in parts)


def loop_of_lines(code: Sequence[str]) -> list[Instruction]:
    """Return the loop with the largest share of multiply-adds in a microkernel's recorded lines, once.

    Lines are labels, or "pace result operands waits  text".
    """
    places: dict[str, int] = {}
    instructions = list[Instruction]()
    targets = list[int]()
    reused = dict[int, str]()
    for line in code:
        if line.endswith(":"):
            places[line[:-1]] = len(instructions)
            continue
        pace, _, _, _, text = line.split(maxsplit=4)
        (even, odd), reused = register_reads(text, reused)
        operation = text.split()[1 if text.startswith("@") else 0]
        instructions.append(Instruction(kind_of(operation), 0, pace=int(pace), reads=(len(even), len(odd))))
        found = re.search(r"\.L\w+", text)
        targets.append(places.get(found[0], -1) if found else -1)  # those further on are no loops
    loops = [instructions[target : place + 1] for place, target in enumerate(targets) if target >= 0]
    return max(loops, key=lambda loop: sum(i.kind == "multiply-add" for i in loop) / len(loop))


def launches(progress: Progress, what: str, gpu: Folder = DEFAULT_GPU) -> list[Result]:
    """Predict every launch of a recording, as it was launched.

    "ladder": the rungs. "residency" and "cached": tiled, prefetched and pipelined for every measured number of resident
    warps. The second-level cache serves what the first does not hold; in "cached" launches it already holds the
    matrices, in "residency" every launch brings each line from DRAM once, and the blocks that request it first wait
    longer. "capstone": kernels written as students do.
    """
    multiprocessor = _multiprocessor(gpu)
    recording = measurements.load(what, gpu)
    own = recorded() if what == "capstone" else {}
    timed = [result for result in recording.results if "gflops" in result]
    chosen = [result for result in timed if (result["rung"] in own if own else result["rung"] != "cublas")]
    results: list[Result] = []
    for result in progress(chosen, lambda result: f"{result['rung']} {result.get('warps', '')}"):
        kernel = own.get(result["rung"])
        launch = launch_of(result, multiprocessor, recording, kernel, result.get("blocks"), what == "cached")
        about: Result = {"what": what}
        about |= {key: result[key] for key in ("rung", "params", *"MNK", "warps", "blocks") if key in result}
        about |= _compared(launch.gflops(), result["gflops"], "GFLOP/s")
        if what == "ladder":
            about["cycles"] = launch.timing().cycles
            about |= _reasons(launch.timing(), counted_of(result, measurements.load("counters", gpu)))
        elif not own:
            times = result["milliseconds"]
            about["repeats"] = [result["gflops"] * float(np.median(times)) / most(times) for most in (max, min)]
            about |= _reasons(launch.timing(), result)
        if what == "ladder" and result["rung"] in ALSO_WITHOUT_BANKS:
            about["without_banks"] = replace(launch, banks=False).gflops()
        results.append(about)
    return results


def _multiprocessor(gpu: Folder) -> Multiprocessor:
    return Multiprocessor.measured(measurements.load("latencies", gpu))


def launch_of(
    result: Result,
    multiprocessor: Multiprocessor,
    recording: Recording,
    own: Rung | None = None,
    blocks: int | None = None,
    cached: bool = False,
) -> ProductLaunch:
    """Return the launch that a result of a recording describes, of a rung or of an `own` kernel.

    blocks, cached: as in `ProductLaunch`.
    """
    kernel = own or rung(result["rung"])
    params = {} if own else result["params"]
    matrix = np.zeros((8, 8), np.float32)
    code = machine_code(kernel.make(dtype=np.float32, **params), (matrix,) * 3)
    launch = partial(kernel.launch, **params)
    size = result["M"], result["N"], result["K"]
    part = PARTS.get(result["rung"])
    return ProductLaunch(code, launch, size, multiprocessor, recording.provenance, blocks, part, cached)


def _compared(predicted: float, measured: float, unit: str) -> Result:
    return {"predicted": predicted, "measured": measured, "unit": unit, "error": predicted / measured - 1}


def counted_of(result: Result, counters: Recording) -> Result | None:
    """Return the profiler's counters of a rung, on the same size if it was counted there; None if it was not."""
    found = [counted for counted in counters.results if counted["rung"] == result["rung"] and "skipped" not in counted]
    return min(found, key=lambda counted: bool(counted["M"] != result["M"]), default=None)


def _reasons(timing: LaunchTiming, counted: Result | None) -> Result:
    """Return the reasons for waiting as parts of all waits: the model's, and the profiler's of what it has counted."""
    waits = {reason: timing.waits[reason] for reason in STALLS}
    predicted = {"predicted_waits": {reason: share / sum(waits.values()) for reason, share in waits.items()}}
    if counted is None:
        return predicted
    stalls = {reason: sum(counted[f"stalled_{name}_percent"] for name in names) for reason, names in STALLS.items()}
    return predicted | {"measured_waits": {reason: amount / sum(stalls.values()) for reason, amount in stalls.items()}}
