"""Predictions of the model of waiting beside the measurements. Needs recordings, no GPU.

The machine's numbers come from the recording of `latencies` alone; nothing is fitted here. All predictions together
take some seven minutes of a processor.
"""

from collections.abc import Iterator
from dataclasses import replace
from functools import cache, partial
from pathlib import Path

import numpy as np

from ...kernels import rung
from ...simulator.hardware import SECTOR_BYTES, WARP_SIZE, ceil_div
from .. import measurements
from ..compiler import MachineCode, machine_code
from ..gpu.capstone import RECORDED, recorded
from ..gpu.counters import STALLS as SAMPLED
from ..gpu.types import Progress, Result
from ..measurements import DEFAULT_GPU, Recording
from ..model.machine import pace_of_barriers
from . import schedule
from .instruction import Instruction
from .machine_code import loop_of_lines
from .product_launch import Played, ProductLaunch

#: The recordings that are read.
READS = ("latencies", "residency", "cached", "ladder", "counters")
#: For each reason of the model, Nsight Compute's names of stalls. The profiler also samples stalls that the model does
#: not have: for an instruction that is not fetched yet, for a branch, for constants.
STALLS = {
    reason: [name for name, (_, of) in SAMPLED.items() if of == reason]
    for reason in ("global memory", "shared memory", "arithmetic", "barrier", "not selected")
}
#: Kernels whose outermost loop reads all of a large matrix, and the part of C for which a block of theirs runs.
PARTS = {"per_row": (128, 16), "per_column": (16, 128)}
#: Neighbours of the ladder that are also predicted as if banks delivered all registers of an instruction at once.
ALSO_WITHOUT_BANKS = ("vectorized", "warp_tiled", "whole_tiles", "best")
#: The parameters that distinguish the results of one microkernel.
WHICH = ("warps", "stride", "requests", "rows", "copies", "barriers")
#: A GPU's recordings: its name in this course, or a folder.
Folder = str | Path
#: Iterations of a microkernel's loop that are played.
ITERATIONS = 64
#: The probe, the parameters of its result, the predicted value, and the reason for a miss, if any.
Prediction = tuple[str, dict[str, int], float, dict[str, str]]


def rows(progress: Progress, gpu: Folder = DEFAULT_GPU) -> list[Result]:
    """Return every prediction for a GPU's folder: probes, few and many resident warps, ladder, and of own kernels."""
    few = (*residency(progress, "cached", gpu), *residency(progress, gpu=gpu))
    return [*probes(gpu), *few, *ladder(progress, gpu), *written(progress)]


def probes(gpu: Folder = DEFAULT_GPU) -> list[Result]:
    """Predict the times of the kernels that measured the machine, from the numbers that they gave."""
    machine, recording = _machine(gpu), measurements.load("latencies", gpu)
    results = []
    for part in (_barriers, _lists, _cold_lines, _paths, _chains, _crowds, _alternation):
        for probe, which, predicted, why in part(machine, recording):
            alike = (r for r in recording.results if r["probe"] == probe)
            value = next(r["value"] for r in alike if all(r.get(k) == which.get(k, r.get(k)) for k in WHICH))
            about: Result = {"what": "probe", "probe": probe, **which}
            results.append({**about, **_beside(predicted, value, "cycles"), **why})
    return results


def _barriers(machine: schedule.Machine, recording: Recording) -> Iterator[Prediction]:
    """Predict barriers of 1 to 32 warps, with the program's own instructions between them."""
    kept = pace_of_barriers(next(r["code"] for r in recording.results if r["probe"] == "barrier"))
    walk = [Instruction("barrier", 0, pace=kept)] * ITERATIONS
    for warps in (1, 2, 4, 8, 16, 32):
        cycles = schedule.play_programs([walk] * warps, machine).cycles
        yield "barrier", {"warps": warps}, cycles / ITERATIONS, {}


def _lists(machine: schedule.Machine, recording: Recording) -> Iterator[Prediction]:
    """Predict warps that follow lists of addresses: each load of 8 sectors needs the one before."""
    needs: list[tuple[int, ...]] = [(), *((step,) for step in range(ITERATIONS - 1))]
    for warps in (1, 2, 4, 8, 16, 32):
        walks = []
        for warp in range(warps):
            sectors = [tuple(("list", (step * warps + warp) * 8 + i) for i in range(8)) for step in range(ITERATIONS)]
            walks.append(
                [Instruction("load", 0, n, wavefronts=2, sectors=s) for n, s in zip(needs, sectors, strict=True)]
            )
        cycles = schedule.play_programs(walks, machine).cycles
        yield "warps following lists", {"warps": warps}, cycles / ITERATIONS, {}


def _cold_lines(machine: schedule.Machine, recording: Recording) -> Iterator[Prediction]:
    """Predict a warp that waits repeatedly for parts of several rows of a matrix that no cache holds."""
    for r in recording.results:
        if r["probe"] == "DRAM latency of rows":
            parts = range(ceil_div(WARP_SIZE // r["rows"] * 4, SECTOR_BYTES))
            walk = [
                Instruction(
                    "load",
                    0,
                    (step - 1,) if step else (),
                    wavefronts=r["rows"],
                    sectors=tuple((f"row {row}", 2 * step + part) for row in range(r["rows"]) for part in parts),
                )
                for step in range(ITERATIONS)
            ]
            cycles = schedule.play_programs([walk], machine, served="DRAM").cycles
            yield r["probe"], {"rows": r["rows"]}, cycles / ITERATIONS, {}


def _paths(machine: schedule.Machine, recording: Recording) -> Iterator[Prediction]:
    """Predict requests to shared memory: of 32 warps, with bank conflicts; of one warp, in close succession."""
    for stride in (1, 2, 4, 8, 16, 32):
        walk = [Instruction("shared load", 0, wavefronts=stride)] * ITERATIONS
        cycles = schedule.play_programs([walk] * 32, machine).cycles
        yield "shared read", {"stride": stride}, cycles / ITERATIONS / 32, {}
    why = {"why": "the machine: some 40 cycles pass once, before a request leaves every fourth"}
    for warps in (1, 4):
        cycles = schedule.play_programs([[Instruction("shared store", 0, wavefronts=1)] * 32] * warps, machine).cycles
        yield "asked for, store", {"warps": warps, "requests": 32}, cycles, why


def _chains(machine: schedule.Machine, recording: Recording) -> Iterator[Prediction]:
    """Predict chains of dependent multiply-adds, and outer products in registers, from their code."""
    chain = [Instruction("multiply-add", 0, (i - 1,) if i else ()) for i in range(ITERATIONS)]
    yield "multiply-add latency", {}, schedule.play_programs([chain], machine).cycles / ITERATIONS, {}
    for r in recording.results:
        if r["probe"].startswith("outer product"):
            walk = loop_of_lines(r["code"]) * 4
            products = sum(i.kind == "multiply-add" for i in walk) * r["warps"] // machine.schedulers
            cycles = schedule.play_programs([walk] * r["warps"], machine).cycles
            yield r["probe"], {"warps": r["warps"]}, cycles / products, {}


def _crowds(machine: schedule.Machine, recording: Recording) -> Iterator[Prediction]:
    """Predict copies of 32 warps, in groups, and barriers between reads of shared memory by as many warps as fit."""
    full = recording.provenance["threads_per_multiprocessor"] // WARP_SIZE
    for r in recording.results:
        which = {key: r[key] for key in WHICH if key in r}
        if r["probe"] == "copies in groups":
            group = [*[Instruction("copy", 0, wavefronts=r["rows"])] * r["copies"], Instruction("commit", 0)]
            cycles = schedule.play_programs([group * (ITERATIONS // r["copies"])] * 32, machine).cycles
            yield r["probe"], which, cycles / ITERATIONS / 32, {}
        elif r["probe"] == "shared reads and barriers":
            walk = [Instruction("barrier", 0)] * r["barriers"]
            walk[1:1] = [Instruction("shared load", 0, wavefronts=1)] * 8
            cycles = schedule.play_programs([walk * ITERATIONS] * r["warps"], machine, full // r["warps"]).cycles
            yield r["probe"], which, cycles / ITERATIONS / full, {}


def _alternation(machine: schedule.Machine, recording: Recording) -> Iterator[Prediction]:
    """Predict when each of 32 warps ends: warps that ask for shared memory, and warps that ask only for issue slots."""
    yield "warps that ask", {}, share_of_the_last([reads_and_adds(ITERATIONS)] * 32, machine), {}
    why = {"why": "the machine: at the end of its loop a warp gives way, while the next instructions are fetched"}
    yield "warps without turns", {}, share_of_the_last([[Instruction("multiply-add", 0)] * 1024] * 32, machine), why


def reads_and_adds(rounds: int) -> list[Instruction]:
    """Return the program of a warp that asks shared memory for 8 words a round and adds them up."""
    walk = []
    for begin in range(0, 16 * rounds, 16):
        walk += [Instruction("shared load", 0, wavefronts=1)] * 8
        walk += [Instruction("multiply-add", 0, (begin + i,)) for i in range(8)]
    return walk


def share_of_the_last(programs: list[list[Instruction]], machine: schedule.Machine) -> float:
    """Play the warps; return their mean end divided by the last one's: 1 where they alternate."""
    ends = [spans[-1][2] for spans in schedule.play_programs(programs, machine).spans]
    return float(np.mean(ends)) / max(ends)


def residency(progress: Progress, what: str = "residency", gpu: Folder = DEFAULT_GPU) -> list[Result]:
    """Predict tiled, prefetched and pipelined for every measured number of resident warps.

    The second-level cache serves what the first does not hold. For "cached" launches it already holds the matrices; in
    "residency" every launch brings each line from DRAM once, and the blocks that request it first wait longer.
    """
    machine, recording = _machine(gpu), measurements.load(what, gpu)
    results: list[Result] = []
    chip = recording.provenance
    for r in progress([r for r in recording.results if "gflops" in r], lambda r: f"{r['rung']} {r['warps']} warps"):
        launch = _launch(r, machine, chip, r["blocks"], what == "cached")
        played = launch.play()
        about = {"what": what, **_of(r), "warps": r["warps"], "blocks": r["blocks"]}
        about["repeats"] = [
            r["gflops"] * float(np.median(r["milliseconds"])) / most(r["milliseconds"]) for most in (max, min)
        ]
        about["waits_per_instruction"] = _per_instruction(played, r)
        results.append({**about, **_beside(launch.gflops(), r["gflops"], "GFLOP/s"), **_row(played, r)})
    return results


def ladder(progress: Progress, gpu: Folder = DEFAULT_GPU) -> list[Result]:
    """Predict every rung of the recorded ladder, as it was launched."""
    machine, recording, counters = _machine(gpu), measurements.load("ladder", gpu), measurements.load("counters", gpu)
    chip = recording.provenance
    results: list[Result] = []
    chosen = [r for r in recording.results if "gflops" in r and r["rung"] != "cublas"]
    for r in progress(chosen, lambda r: str(r["rung"])):
        launch = _launch(r, machine, chip)
        played = launch.play()
        counted = [c for c in counters.results if c["rung"] == r["rung"] and "skipped" not in c]
        counted.sort(key=lambda c: c["M"] != r["M"])
        about = {"what": "ladder", **_of(r), "cycles": played.cycles}
        if r["rung"] in ALSO_WITHOUT_BANKS:
            about["without_banks"] = replace(launch, banks=False).gflops()
        results.append({**about, **_beside(launch.gflops(), r["gflops"], "GFLOP/s"), **_row(played, counted[0])})
    return results


def written(progress: Progress) -> list[Result]:
    """Predict kernels written as students do, on the GPU that measured them."""
    machine, recording = _machine(RECORDED), measurements.load("capstone", RECORDED)
    kernels, matrix, results = recorded(), np.zeros((8, 8), np.float32), list[Result]()
    for r in progress([r for r in recording.results if r["rung"] in kernels], lambda r: str(r["rung"])):
        own = kernels[r["rung"]]
        code, size = machine_code(own.make(), (matrix, matrix, matrix)), (r["M"], r["N"], r["K"])
        launch = ProductLaunch(code, own.launch, size, machine, recording.provenance)
        results.append({"what": "capstone", **_of(r), **_beside(launch.gflops(), r["gflops"], "GFLOP/s")})
    return results


def _machine(gpu: Folder = DEFAULT_GPU) -> schedule.Machine:
    return schedule.Machine.measured(measurements.load("latencies", gpu))


def _of(result: Result) -> Result:
    return {key: result[key] for key in ("rung", "params", *"MNK")}


@cache
def _code(name: str, params: tuple[tuple[str, int], ...]) -> MachineCode:
    matrix = np.zeros((8, 8), np.float32)
    return machine_code(rung(name).make(dtype=np.float32, **dict(params)), (matrix, matrix, matrix))


def _launch(
    r: Result, machine: schedule.Machine, chip: Result, blocks: int | None = None, cached: bool = False
) -> ProductLaunch:
    name, params = r["rung"], r["params"]
    code = _code(name, tuple(params.items()))
    launch, size = partial(rung(name).launch, **params), (r["M"], r["N"], r["K"])
    part = PARTS.get(name)
    return ProductLaunch(code, launch, size, machine, chip, blocks, part, cached, once=part is not None)


def _beside(predicted: float, measured: float, unit: str) -> Result:
    return {"predicted": predicted, "measured": measured, "unit": unit, "error": predicted / measured - 1}


def _per_instruction(play: Played, counted: Result) -> dict[str, tuple[float, float]]:
    """Return for each reason the cycles that a warp waits per issued instruction: (modelled, measured)."""
    issuing = play.waits["issuing"]
    return {reason: (play.waits[reason] / issuing, amount / 100) for reason, amount in _stalls(counted).items()}


def _stalls(counted: Result) -> dict[str, float]:
    """Return the percentages that the profiler counted for each reason."""
    return {reason: sum(counted[f"stalled_{name}_percent"] for name in names) for reason, names in STALLS.items()}


def _row(play: Played, counted: Result) -> Result:
    """Return the issue rate and the reasons for waiting, the model's beside the profiler's."""
    stalls = _stalls(counted)
    waits = {reason: play.waits[reason] for reason in STALLS}
    return {
        "predicted_issue_percent": 100 * play.issued_per_cycle,
        "measured_issue_percent": counted["issue_active_percent"],
        "predicted_waits": {reason: share / sum(waits.values()) for reason, share in waits.items()},
        "measured_waits": {reason: amount / sum(stalls.values()) for reason, amount in stalls.items()},
    }
