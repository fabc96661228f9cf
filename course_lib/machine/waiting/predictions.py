"""Predictions of the model of waiting beside the measurements. Needs recordings, no GPU.

The machine's numbers come from the recording of `latencies` alone; nothing is fitted here. All predictions together
take some seven minutes of a processor.
"""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ...kernels import Rung, large_tiles, rung
from ...simulator.hardware import SECTOR_BYTES, WARP_SIZE, ceil_div
from ...simulator.simulate import simulate
from .. import measurements, model
from ..gpu.types import Progress, Result
from ..measurements import DEFAULT_GPU, Recording
from ..model.machine import pace_of_barriers
from . import plays
from .instructions import Instruction, programs
from .launches import First, LaunchTime, launch_time
from .machine_code import CodedOperation, machine_programs, operations

#: The recordings that are read.
READS = ("latencies", "residency", "cached", "ladder", "counters", "machine_code")
#: For each reason of the model, Nsight Compute's names of stalls. The profiler also samples stalls that the model does
#: not have: for an instruction that is not fetched yet, and for the fixed latency of the one before.
STALLS: dict[str, tuple[str, ...]] = {
    "global memory": ("long_scoreboard", "lg_throttle"),
    "shared memory": ("short_scoreboard", "mio_throttle"),
    "arithmetic": ("math_pipe_throttle", "dispatch_stall", "wait"),
    "barrier": ("barrier",),
    "its turn": ("not_selected",),
}
#: Elements of K in a traced run: whole lines, so that rows begin at the same banks as those of large matrices.
DEPTH = 160
#: Elements in a row of the measured matrices, of which the traced ones are parts.
PITCH = 2048
DEPTHS = {
    **dict.fromkeys(("per_row", "per_column", "uncoalesced", "naive"), 64),
    **dict.fromkeys(("large_tiles", "whole_tiles", "best"), 48),
    **dict.fromkeys(("register_1d", "register_2d", "vectorized", "warp_tiled", "staged", "software_pipelined"), 32),
    **dict.fromkeys(("outer_product", "unrolled"), 64),
}
#: Blocks played in sequence in each place: the first ones begin in step, later ones do not.
ROUNDS = 2
#: Kernels whose outermost loop reads all of a large matrix: the first-level cache keeps nothing for the next iteration,
#: as it would in a small trace, so only the first iteration counts.
ONE_ITERATION = ("per_row", "per_column")
#: Kernels whose multiply-adds are in another kernel's file, whose lines a trace of theirs would not show.
BESIDE = {"whole_tiles": large_tiles}
#: The parameters that distinguish the results of one microkernel.
WHICH = ("warps", "stride", "requests", "rows", "copies", "barriers")
#: A GPU's recordings: its name in this course, or a folder.
Folder = str | Path
#: Iterations of a microkernel's loop that are played.
ITERATIONS = 64
#: The probe, the parameters of its result, the predicted value, and the reason for a miss, if any.
Prediction = tuple[str, dict[str, int], float, dict[str, str]]
#: Relative error above which a miss needs a reason: the compiler, if its own instructions have half the error or less.
MISS = 0.25
UNEXPLAINED = "unexplained"


def rows(progress: Progress, gpu: Folder = DEFAULT_GPU) -> list[Result]:
    """Return every prediction for a GPU's folder: of the probes, of few and many resident warps, of the ladder."""
    few = (*residency(progress, "cached", gpu), *residency(progress, gpu=gpu))
    return [*probes(gpu), *few, *ladder(progress, gpu)]


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


def _barriers(machine: plays.Machine, recording: Recording) -> Iterator[Prediction]:
    """Predict barriers of 1 to 32 warps, with the program's own instructions between them."""
    kept = pace_of_barriers(next(r["code"] for r in recording.results if r["probe"] == "barrier"))
    walk = [Instruction("barrier", 0, pace=kept)] * ITERATIONS
    for warps in (1, 2, 4, 8, 16, 32):
        cycles = plays.play_programs([walk] * warps, machine).cycles
        yield "barrier", {"warps": warps}, cycles / ITERATIONS, {}


def _lists(machine: plays.Machine, recording: Recording) -> Iterator[Prediction]:
    """Predict warps that follow lists of addresses: each load of 8 sectors needs the one before."""
    needs: list[tuple[int, ...]] = [(), *((step,) for step in range(ITERATIONS - 1))]
    for warps in (1, 2, 4, 8, 16, 32):
        walks = []
        for warp in range(warps):
            sectors = [tuple(("list", (step * warps + warp) * 8 + i) for i in range(8)) for step in range(ITERATIONS)]
            walks.append(
                [Instruction("load", 0, n, wavefronts=2, sectors=s) for n, s in zip(needs, sectors, strict=True)]
            )
        cycles = plays.play_programs(walks, machine).cycles
        yield "warps following lists", {"warps": warps}, cycles / ITERATIONS, {}


def _cold_lines(machine: plays.Machine, recording: Recording) -> Iterator[Prediction]:
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
            cycles = plays.play_programs([walk], machine, served="DRAM").cycles
            yield r["probe"], {"rows": r["rows"]}, cycles / ITERATIONS, {}


def _paths(machine: plays.Machine, recording: Recording) -> Iterator[Prediction]:
    """Predict requests to shared memory: of 32 warps, with bank conflicts; of one warp, in close succession."""
    for stride in (1, 2, 4, 8, 16, 32):
        walk = [Instruction("shared load", 0, wavefronts=stride)] * ITERATIONS
        cycles = plays.play_programs([walk] * 32, machine).cycles
        yield "shared read", {"stride": stride}, cycles / ITERATIONS / 32, {}
    why = {"why": "the machine: some 40 cycles pass once, before a request leaves every fourth"}
    for warps in (1, 4):
        cycles = plays.play_programs([[Instruction("shared store", 0, wavefronts=1)] * 32] * warps, machine).cycles
        yield "asked for, store", {"warps": warps, "requests": 32}, cycles, why


def _chains(machine: plays.Machine, recording: Recording) -> Iterator[Prediction]:
    """Predict chains of dependent multiply-adds, and outer products in registers, from their code."""
    chain = [Instruction("multiply-add", 0, (i - 1,) if i else ()) for i in range(ITERATIONS)]
    yield "multiply-add latency", {}, plays.play_programs([chain], machine).cycles / ITERATIONS, {}
    for r in recording.results:
        if r["probe"].startswith("outer product"):
            loop = _inner(operations(r["code"]))
            walk = [Instruction(op.kind, 0, pace=op.pace, reads=op.reads) for op in loop] * 4
            products = sum(i.kind == "multiply-add" for i in walk) * r["warps"] // machine.schedulers
            cycles = plays.play_programs([walk] * r["warps"], machine).cycles
            yield r["probe"], {"warps": r["warps"]}, cycles / products, {}


def _crowds(machine: plays.Machine, recording: Recording) -> Iterator[Prediction]:
    """Predict copies of 32 warps, in groups, and barriers between reads of shared memory by as many warps as fit."""
    full = recording.provenance["threads_per_multiprocessor"] // WARP_SIZE
    for r in recording.results:
        which = {key: r[key] for key in WHICH if key in r}
        if r["probe"] == "copies in groups":
            group = [*[Instruction("copy", 0, wavefronts=r["rows"])] * r["copies"], Instruction("commit", 0)]
            cycles = plays.play_programs([group * (ITERATIONS // r["copies"])] * 32, machine).cycles
            yield r["probe"], which, cycles / ITERATIONS / 32, {}
        elif r["probe"] == "shared reads and barriers":
            walk = [Instruction("barrier", 0)] * r["barriers"]
            walk[1:1] = [Instruction("shared load", 0, wavefronts=1)] * 8
            cycles = plays.play_programs([walk * ITERATIONS] * r["warps"], machine, full // r["warps"]).cycles
            yield r["probe"], which, cycles / ITERATIONS / full, {}


def _alternation(machine: plays.Machine, recording: Recording) -> Iterator[Prediction]:
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


def share_of_the_last(programs: list[list[Instruction]], machine: plays.Machine) -> float:
    """Play the warps; return their mean end divided by the last one's: 1 where they alternate."""
    ends = [spans[-1][2] for spans in plays.play_programs(programs, machine).spans]
    return float(np.mean(ends)) / max(ends)


def _inner(ops: list[CodedOperation]) -> list[CodedOperation]:
    """Return the loop with the largest share of multiply-adds."""
    loops = [ops[op.target : place + 1] for place, op in enumerate(ops) if 0 <= op.target <= place]
    return max(loops, key=lambda loop: sum(op.kind == "multiply-add" for op in loop) / len(loop))


def residency(progress: Progress, what: str = "residency", gpu: Folder = DEFAULT_GPU) -> list[Result]:
    """Predict tiled, prefetched and pipelined for every measured number of resident warps.

    The second-level cache serves what the first does not hold. For "cached" launches it already holds the matrices; in
    "residency" every launch brings each line from DRAM once, and the blocks that request it first wait longer.
    """
    machine, recording = _machine(gpu), measurements.load(what, gpu)
    results: list[Result] = []
    traced: dict[Any, list[list[Instruction]]] = {}
    chip = recording.provenance
    for r in progress([r for r in recording.results if "gflops" in r], lambda r: f"{r['rung']} {r['warps']} warps"):
        key = r["rung"], tuple(r["params"].items())
        if key not in traced:
            traced[key] = _programs(rung(r["rung"]), r["params"])
        launch = RecordedLaunch(r, machine, r["blocks"], chip, what == "cached")
        played = launch.play(traced[key])
        flops = 2 * prod(r[k] for k in "MNK") * machine.hertz / 1e9
        about = {"what": what, **_of(r), "warps": r["warps"], "blocks": r["blocks"]}
        about["repeats"] = [
            r["gflops"] * float(np.median(r["milliseconds"])) / most(r["milliseconds"]) for most in (max, min)
        ]
        coded = _by_code(launch, traced[key], gpu)
        if coded:
            about["predicted_by_code"] = flops / coded.cycles
            about["error_by_code"] = about["predicted_by_code"] / r["gflops"] - 1
            about["waits_per_instruction"] = _per_instruction(coded, r)
        speeds = _beside(flops / played.cycles, r["gflops"], "GFLOP/s")
        results.append({**about, **speeds, **_row(coded or played, r)})
        _explain(results[-1])
    return results


def ladder(progress: Progress, gpu: Folder = DEFAULT_GPU) -> list[Result]:
    """Predict every rung of the recorded ladder, as it was launched."""
    machine, recording, counters = _machine(gpu), measurements.load("ladder", gpu), measurements.load("counters", gpu)
    chip = recording.provenance
    results: list[Result] = []
    chosen = [r for r in recording.results if "gflops" in r and r["rung"] != "cublas"]
    for r in progress(chosen, lambda r: str(r["rung"])):
        warps = _programs(rung(r["rung"]), r["params"])
        fit = model.occupancy(prod(r["block"]), r["registers"], r["shared_bytes"], chip).blocks
        blocks = min(fit, ceil_div(prod(r["grid"]), chip["multiprocessors"]))
        launch = RecordedLaunch(r, machine, blocks, chip)
        played = launch.play(warps)
        counted = [c for c in counters.results if c["rung"] == r["rung"] and "skipped" not in c]
        counted.sort(key=lambda c: c["M"] != r["M"])
        about = {"what": "ladder", **_of(r), "cycles": played.cycles, "gflops": r["gflops"]}
        coded = _by_code(launch, warps, gpu)
        if coded:
            about["cycles_by_code"] = coded.cycles
        results.append({**about, **_row(coded or played, counted[0])})
    naive = next(r for r in results if r["rung"] == "naive")
    for r in results:
        taken = 2 * r["M"] * r["N"] * r["K"] / r["gflops"] / 1e9 * machine.hertz
        r["speed_errors"] = [taken / r[key] - 1 for key in ("cycles", "cycles_by_code") if key in r]
        r["modelled_gflops"] = r["gflops"] * (1 + r["speed_errors"][-1])  # by machine code, where it was recorded
        r |= _beside(naive["cycles"] / r["cycles"], r["gflops"] / naive["gflops"], "times naive")
        if "cycles_by_code" in r:
            r["predicted_by_code"] = naive["cycles_by_code"] / r["cycles_by_code"]
            r["error_by_code"] = r["predicted_by_code"] / r["measured"] - 1
        _explain(r)
    return results


def _explain(r: Result) -> None:
    """Note whether the compiler's own instructions explain a miss.

    The error of the speed itself decides; the speed relative to naive would add the error of naive.
    """
    error, *coded = r.get("speed_errors", [r["error"], r.get("error_by_code", np.inf)])
    if abs(r["error"]) > MISS and coded and abs(coded[0]) <= abs(error) / 2:
        r["why"] = f"the compiler: of its own instructions the speed is off by {100 * coded[0]:+.0f} %"
    elif abs(r["error"]) > MISS:
        r["why"] = UNEXPLAINED


def _machine(gpu: Folder = DEFAULT_GPU) -> plays.Machine:
    return plays.Machine.measured(measurements.load("latencies", gpu))


def _shared(result: Result) -> int:
    return int(rung(result["rung"]).shared_bytes(**result["params"]))


def _of(result: Result) -> Result:
    return {key: result[key] for key in ("rung", "params", *"MNK")}


def _programs(r: Rung, params: Result) -> list[list[Instruction]]:
    """Trace one block of a launch, a few tiles deep, and return the programs of its warps."""
    tile = r.tile(**params)
    ahead = params.get("stages", 1) - 1  # iterations at the end that fetch nothing
    depth = DEPTHS.get(r.name, max(DEPTH, (6 + 2 * ahead) * params.get("tile_width", 0)))
    width = int(params.get("block_width", 0))
    M, N = tile or {"per_row": (width, 16), "per_column": (16, width)}.get(r.name, (width, width))
    rng = np.random.default_rng(0)
    A, B = rng.random((M, depth), np.float32), rng.random((depth, N), np.float32)
    kernel = r.make(dtype=np.float32, **params)
    if r.name in BESIDE:
        kernel = _in_one_file(kernel, BESIDE[r.name])
    grid, block = r.launch(M, N, depth, **params)
    run = simulate(kernel, trace=True)[grid, block](A, B, np.zeros((M, N), np.float32))
    return programs(kernel, run.trace, pitch=PITCH)


def _in_one_file(kernel: Any, module: ModuleType) -> Any:
    """Return the kernel compiled from one file: the module from which it takes functions, then its own."""
    plain = kernel.py_func
    text = inspect.getsource(module) + inspect.getsource(inspect.getmodule(plain) or module)
    name = f"<{plain.__name__} with the functions of {module.__name__}>"
    linecache.cache[name] = len(text), None, text.splitlines(keepends=True), name
    tree, last = ast.parse(text), module.__name__.rpartition(".")[2]
    tree.body = [node for node in tree.body if not (isinstance(node, ast.ImportFrom) and node.module == last)]
    namespace = {"__name__": module.__name__, "__package__": module.__package__}
    exec(compile(tree, name, "exec"), namespace)
    return namespace[plain.__name__]


@dataclass(frozen=True)
class Played:
    """A simulated launch: cycles, each reason's share of the warps' time, instructions per cycle of a scheduler."""

    cycles: float
    waits: Mapping[str, float]
    issued_per_cycle: float


@dataclass(frozen=True)
class RecordedLaunch:
    """A recorded launch: its result, the resident blocks of a multiprocessor, the GPU.

    cached: whether the second-level cache held A and B when it began.
    """

    result: Result
    machine: plays.Machine
    blocks: int
    gpu: Result
    cached: bool = False

    def play(self, warps: list[list[Instruction]]) -> Played:
        """Play blocks of these programs; scale to the iterations that a block needs by its multiply-adds.

        Only iterations of the outermost loop are played, without the last ones, which fetch nothing.
        """
        params, once = self.result["params"], self._rung.name in ONE_ITERATION
        chosen = slice(1) if once else slice(-max(params.get("stages", 2) - 1, 1))
        loop = [chosen_iterations(warp, chosen) for warp in warps]
        iterations = self._iterations_of_block(loop)
        played = {
            (a, b): self._play(loop, {"A": "DRAM" if a else "L2", "B": "DRAM" if b else "L2"})
            for a, b in product((False, True), repeat=2)
            if not (self.cached and (a or b))
        }
        cycles = {first: iterations * _cycles_of_iteration(play, once) for first, play in played.items()}
        if self.cached:
            each, blocks = cycles[False, False], prod(self._grid)
            whole = plays.time_of(each, blocks, self.blocks, self.gpu["multiprocessors"])
            return _mixed(played, cycles, LaunchTime(whole, {(False, False): blocks * each}, 0.0))
        places = zip(*(place.tolist() for place in self._places()), strict=True)
        return _mixed(played, cycles, launch_time(places, self._together, cycles, self._kept()))

    def _play(self, loop: list[list[Instruction]], served: Mapping[str, str] | str) -> plays.Play:
        shared, rounds = _shared(self.result), 1 if self._rung.name in ONE_ITERATION else ROUNDS
        return plays.play_programs(loop, self.machine, self.blocks, served, shared, rounds, self._loaded_by())

    @property
    def _rung(self) -> Rung:
        return rung(self.result["rung"])

    @property
    def _grid(self) -> tuple[int, ...]:
        return self._rung.launch(*self._size, **self.result["params"])[0]

    @property
    def _size(self) -> tuple[int, int, int]:
        M, N, K = (self.result[k] for k in "MNK")
        return M, N, K

    def _iterations_of_block(self, loop: list[list[Instruction]]) -> float:
        """Return the iterations of its outermost loop that a block takes, from the multiply-adds of one of them."""
        counts = np.bincount([i.iteration for i in loop[0] if i.kind == "multiply-add"])
        grid, block = self._rung.launch(*self._size, **self.result["params"])
        of_warp = prod(self._size) / prod(grid) / WARP_SIZE / ceil_div(prod(block), WARP_SIZE)
        return float(of_warp / counts[counts > 0].mean())

    def _kept(self) -> tuple[bool, bool]:
        """Return whether the second-level cache keeps A, and B, until the next row (or column) of blocks reads it.

        Blocks launched in sequence read one band of one matrix again and again, and all of the other matrix.
        """
        M, N, K = self._size
        a, b = (4 * K * each <= self.gpu["l2_bytes"] for each in (M, N))
        return (a, True) if self._down_first else (True, b)

    @property
    def _down_first(self) -> bool:
        """Whether neighbouring blocks of the grid compute different rows of C."""
        M, N, K = self._size
        return bool(self._rung.launch(M, N // 2, K, **self.result["params"])[0][0] == self._grid[0])

    @property
    def _together(self) -> int:
        return int(self.blocks * self.gpu["multiprocessors"])

    def _places(self) -> tuple[np.ndarray, np.ndarray]:
        """Return, for every block in launch order, the row and the column of its block of C.

        Those of a row read the same rows of A, those of a column the same columns of B.
        """
        down, across = np.divmod(np.arange(prod(self._grid)), self._grid[0])
        return (across, down) if self._down_first else (down, across)

    def _loaded_by(self) -> dict[str, float]:
        """Return how many of the first blocks, as many as run together, load the same of A, and the same of B."""
        places = [place[: self._together] for place in self._places()]
        return {name: len(place) / len(np.unique(place)) for name, place in zip("AB", places, strict=True)}


def _mixed(played: Mapping[First, plays.Play], cycles: Mapping[First, float], time: LaunchTime) -> Played:
    """Combine the plays of a launch, by the time that blocks spend in each and in waiting for lines."""
    whole = sum(time.spent.values()) + time.held
    waits = {
        reason: sum(time.spent[first] * play.waits[reason] for first, play in played.items()) / whole
        for reason in plays.REASONS
    }
    waits["global memory"] += time.held / whole
    blocks = sum(spent / cycles[first] for first, spent in time.spent.items())
    issued = played[False, False].issued_per_cycle * cycles[False, False]  # by a block and its neighbours in its cycles
    return Played(time.cycles, waits, issued * blocks / whole)


def _cycles_of_iteration(play: plays.Play, once: bool) -> float:
    """Return the cycles of an iteration of the outermost loop; if `once`, of the only one."""
    return float(np.mean([spans[-1][2] for spans in play.spans])) if once else play.cycles_per_iteration()


def chosen_iterations(warp: list[Instruction], chosen: slice) -> list[Instruction]:
    """Return the `chosen` ones of the outermost loop's iterations that multiply, without the code around the loop."""
    numbers = sorted({i.iteration for i in warp if i.kind == "multiply-add"} - {0})
    inside = set(numbers[chosen])
    places = {place: n for n, place in enumerate(p for p, i in enumerate(warp) if i.iteration in inside)}
    return [warp[p]._replace(needs=tuple(places[q] for q in warp[p].needs if q in places)) for p in places]


def _by_code(launch: RecordedLaunch, warps: list[list[Instruction]], gpu: Folder) -> Played | None:
    """Return the play of a launch by the rung's machine code; None if none was recorded."""
    r = launch.result
    for found in measurements.load("machine_code", gpu).results:
        if (found["rung"], found["params"]) == (r["rung"], r["params"]):
            return launch.play(machine_programs(found["code"], warps, launch.machine))
    return None


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
