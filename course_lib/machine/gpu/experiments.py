"""The experiments on a GPU, one row each: what is measured, the columns of each result, and what they need.

A case is one thing to measure: a kernel on one size, a limit of the GPU, a set of launches for the profiler. `measure`
goes through the cases of a row; its `columns` verify a kernel and time it. `tools/lab` has more rows of this form.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from ...kernels import LADDER, TENSOR_CORES, WGMMA, Rung, rung
from . import counters, microbenchmarks, occupancy, prefetching, variants
from .device import require
from .ladder_roofline import roofline_of
from .measuring import measure_cublas, measure_host, measure_rung, problem_of, widest
from .result_types import Names, Progress, Result, Results, Size
from .timing import time_calls
from .verification import prepare, random_matrices, verify

SQUARE = (4096, 4096, 4096)
SIZES = (128, 256, 512, 1024, 2048, 4096, 8192)
RAGGED_SIZES = (
    *((n, n, n) for n in (4096, 4095, 4097)),
    *((1000, 500, 3000), (1024, 512, 3072), (1000, 3000, 500), (1024, 3072, 512)),
)
VERIFIED = ((257, 129, 65), (64, 132, 100), (31, 17, 32), (1, 1, 1), (3, 2, 0))
#: What an experiment may need beside a GPU: Nsight Compute, the disassembler; or recordings, and no GPU.
NCU, NVDISASM, RECORDINGS = "ncu", "nvdisasm", "recordings, no GPU"


@dataclass(frozen=True)
class Wanted:
    """What was asked for: names of rungs (None: all), a size (None: the experiment's), repeats, a folder."""

    names: Names = None
    size: Size | None = None
    repeats: int = 20
    folder: Path | None = None
    progress: Progress = field(default=lambda items, label: iter(items), repr=False)

    def rungs(self, among: Sequence[Rung]) -> list[Rung]:
        """Return those of `among` that were asked for."""
        return [r for r in among if not self.names or r.name in self.names]

    def sizes(self, usual: Iterable[Size]) -> list[Size]:
        """Return the size that was asked for, or else the usual ones."""
        return [self.size] if self.size else list(usual)


@dataclass(frozen=True)
class Experiment:
    """One kind of measurement.

    Args:
        name: what the command and the recording call it.
        about: one line for the command's help.
        columns: measures one case; returns its result, or several, or none if the case is not possible.
        cases: returns what to measure, for a request; without it, an experiment does not divide into cases.
        needs: NCU, NVDISASM or RECORDINGS.
        recorded: whether the results are written to a folder.
        module: the module whose command measures it.
    """

    name: str
    about: str
    columns: Callable[[Any, Wanted], Result | Results]
    cases: Callable[[Wanted], Iterable[Any]] = lambda ask: ("all",)
    needs: str = ""
    recorded: bool = True
    module: str = "course_lib.gpu"


@dataclass(frozen=True)
class KernelCase:
    """A kernel on matrices of one size: a rung with parameters, "cublas" or "host"."""

    size: Size
    of: Rung | str
    params: dict[str, Any] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.of if isinstance(self.of, str) else self.of.name} {'×'.join(map(str, self.size))}"


def measure(experiment: Experiment, ask: Wanted) -> Results:
    """Measure every case of an experiment, in order, and return the results."""
    results: Results = []
    for case in ask.progress(list(experiment.cases(ask)), str):
        columns = experiment.columns(case, ask)
        results += columns if isinstance(columns, list) else [columns]
    return results


# --- kernels: verified, then timed ---------------------------------------------------------------------------------


def timed(case: KernelCase, ask: Wanted) -> Result | Results:
    """Verify a case, then time it."""
    problem = problem_of(case.size)
    if isinstance(case.of, Rung):
        return measure_rung(case.of, problem, ask.repeats, **case.params)
    return measure_host(problem, ask.repeats) if case.of == "host" else measure_cublas(problem, ask.repeats)


def beside_cublas(sizes: Iterable[Size], rungs: Sequence[Rung], *others: str) -> list[KernelCase]:
    """Return the cases of each size: rungs, square blocks 32 threads wide, then cuBLAS and `others`."""
    return [
        case
        for size in sizes
        for case in (
            *(KernelCase(size, r, widest(r)) for r in rungs),
            *(KernelCase(size, name) for name in ("cublas", *others)),
        )
    ]


def named(ask: Wanted, *usual: str) -> list[Rung]:
    """Return the rungs that were asked for, or else the usual ones."""
    return [rung(name) for name in ask.names or usual]


def tile_widths(ask: Wanted) -> list[KernelCase]:
    """Return the kernels with square tiles, and the two naive ones, in every width."""
    (size,) = ask.sizes([SQUARE])
    kinds = [(r, key) for r in ask.rungs(LADDER) for key in ("tile_width", "block_width") if key in r.params]
    return [KernelCase(size, r, {key: T}) for r, key in kinds if r.name not in counters.SLOW for T in (4, 8, 16, 32)]


def verified(case: KernelCase, ask: Wanted) -> Result | Results:
    """Compare a rung with float64 on one size; nothing if it cannot compute matrices of that size."""
    assert isinstance(case.of, Rung)
    try:
        verdict = verify(case.of, *case.size)
    except ValueError:
        return []
    result = {
        "rung": case.of.name,
        **dict(zip("MNK", case.size, strict=True)),
        "relative_error": verdict.relative_error,
    }
    return result if verdict.correct else {**result, "wrong": "over the tolerance"}


_matrices = lru_cache(maxsize=1)(random_matrices)


def launched(case: KernelCase, ask: Wanted) -> Results:
    """Launch a rung once, for a profiler, unless it cannot compute matrices of that size."""
    cuda = require()
    r = case.of
    assert isinstance(r, Rung)
    try:
        kernel, grid, block, _ = prepare(r, *case.size, **case.params)
    except ValueError:
        return []
    A, B, C = _matrices(*case.size)
    kernel[grid, block](*(cuda.to_device(r.operand(X)) for X in (A, B)), cuda.to_device(C))
    cuda.synchronize()
    return []


def warm_and_cold(case: KernelCase, ask: Wanted) -> Result | Results:
    """Time a rung whose matrices the second-level cache holds, and with others in between, so that it holds none."""
    assert isinstance(case.of, Rung)
    try:
        kernel, grid, block, params = prepare(case.of, *case.size, **case.params)
    except ValueError:
        return []
    sets = problem_of(case.size).sets
    launch = kernel[grid, block]
    return {
        **{"rung": case.of.name, "params": params, **dict(zip("MNK", case.size, strict=True))},
        **{"warm_milliseconds": list(time_calls(launch, sets[:1], ask.repeats))},
        **{"cold_milliseconds": list(time_calls(launch, sets, ask.repeats))},
    }


def unsynchronised(case: KernelCase, ask: Wanted) -> Result:
    """Time launches with a host clock without synchronisation, beside the true times."""
    cuda = require()
    r = case.of
    assert isinstance(r, Rung)
    kernel, grid, block, params = prepare(r, *case.size)
    arrays = tuple(cuda.to_device(X) for X in random_matrices(*case.size))
    launch = kernel[grid, block]
    launch(*arrays)
    cuda.synchronize()
    wrong, right = [], []
    for _ in range(ask.repeats):
        start = perf_counter()
        launch(*arrays)
        wrong.append((perf_counter() - start) * 1e3)
        cuda.synchronize()
        right.append((perf_counter() - start) * 1e3)
    return {
        **{"rung": r.name, "params": params, **dict(zip("MNK", case.size, strict=True))},
        **{"unsynchronised_milliseconds": wrong, "synchronised_milliseconds": right},
        "event_milliseconds": list(time_calls(launch, [arrays], ask.repeats)),
    }


# --- limits of the GPU ---------------------------------------------------------------------------------------------


def ceiling(name: str, ask: Wanted) -> Result:
    """Measure bytes copied per second, or float32 operations per second."""
    cuda = require()
    blocks = 8 * cuda.get_current_device().MULTIPROCESSOR_COUNT
    rows, rounds, threads = 2**26, 2_000, blocks * 256
    if name == "copy":
        unit = "bytes_per_second"
        amount = 2 * rows * 16
        launch = microbenchmarks.copy4[4 * blocks, 256]
        arguments = tuple(cuda.to_device(np.ones((rows, 4), np.float32)) for _ in range(2))
    else:
        amount = 2 * microbenchmarks.CHAINS * microbenchmarks.STEPS * rounds * threads
        unit = "flop_per_second"
        launch = microbenchmarks.multiply_add[blocks, 256]
        arguments = cuda.device_array(threads, np.float32), np.float32(0.5), rounds
    milliseconds = time_calls(launch, [arguments], ask.repeats)
    rate = float(amount / np.median(milliseconds) * 1e3)
    return {"ceiling": name, "milliseconds": list(milliseconds), unit: rate}


def conflict(stride: int, ask: Wanted) -> Result:
    """Time reads of shared memory in which `stride` lanes use one bank: the effect of conflicts alone."""
    cuda = require()
    blocks = 8 * cuda.get_current_device().MULTIPROCESSOR_COUNT
    out = cuda.device_array(blocks * 256, np.float32)
    milliseconds = time_calls(microbenchmarks.strided_reads[blocks, 256], [(out, stride, 2000)], ask.repeats)
    return {"stride": stride, "ways": stride, "milliseconds": list(milliseconds)}


#: In this order a folder is recorded: what others are compared with comes first, what takes minutes last.
EXPERIMENTS = (
    Experiment(
        "verify",
        "compare every rung with float64 on random rectangles; no timing",
        verified,
        lambda ask: [KernelCase(size, r) for r in ask.rungs((*LADDER, *TENSOR_CORES, *WGMMA)) for size in VERIFIED],
    ),
    Experiment(
        "ceilings",
        "copy bandwidth and float32 rate of the GPU",
        ceiling,
        lambda ask: ("copy", "float32"),
    ),
    Experiment(
        "conflicts",
        "shared memory read with 1-way to 32-way bank conflicts",
        conflict,
        lambda ask: (1, 2, 4, 8, 16, 32),
    ),
    Experiment(
        "mistake",
        "launches timed without synchronising, beside the true times",
        unsynchronised,
        lambda ask: [KernelCase(size, r) for size in ask.sizes([SQUARE]) for r in named(ask, "naive", "tiled")],
    ),
    Experiment(
        "occupancy",
        "the blocks that a multiprocessor holds, as the driver says, by threads, registers and shared memory",
        lambda case, ask: occupancy.occupancy(ask.progress),
    ),
    Experiment(
        "ladder",
        "every rung and cuBLAS on one size: GFLOP/s, registers, shared memory, spills, occupancy",
        timed,
        lambda ask: beside_cublas(ask.sizes([SQUARE]), ask.rungs(LADDER)),
    ),
    Experiment(
        "variants",
        "kernels that differ in one factor (index, unrolling, tile, cache), in numba and CUDA C; counts need ncu",
        lambda case, ask: variants.variants(ask.names, ask.size or SQUARE, ask.repeats, ask.progress),
    ),
    Experiment(
        "prefetching",
        "kernels that differ in where their loads stand, in buffers, barriers or resident warps; counts need ncu",
        lambda case, ask: prefetching.prefetching(ask.names, ask.size, ask.repeats, ask.progress),
        needs=NVDISASM,
    ),
    Experiment(
        "prefetching_pairs",
        "kernels that differ in the place of their loads alone, or of their first pair; counts need ncu",
        lambda case, ask: prefetching.prefetching(ask.names, ask.size, ask.repeats, ask.progress, prefetching.pairs),
        needs=NVDISASM,
    ),
    Experiment(
        "counters",
        "requests, sectors, wavefronts, bytes and stalls of every rung, from Nsight Compute",
        lambda size, ask: counters.counters(ask.names, size),
        lambda ask: ask.sizes(counters.COUNTER_SIZES),
        NCU,
    ),
    Experiment(
        "tiles",
        "tile width against speed",
        timed,
        tile_widths,
    ),
    Experiment(
        "ragged",
        "the best kernel on sizes that no tile divides",
        timed,
        lambda ask: beside_cublas(ask.sizes(RAGGED_SIZES), named(ask, "best")),
    ),
    Experiment(
        "series",
        "host, naive, tiled, best and cuBLAS on squares from 128 to 8192",
        timed,
        lambda ask: beside_cublas(ask.sizes((n, n, n) for n in SIZES), named(ask, "naive", "tiled", "best"), "host"),
    ),
    Experiment(
        "cold",
        "every rung with its matrices in the second-level cache, and with none of them there",
        warm_and_cold,
        lambda ask: [
            KernelCase(size, r, widest(r))
            for size in ask.sizes([(2048, 2048, 1024)])
            for r in ask.rungs(LADDER)
            if r.name not in counters.SLOW
        ],
    ),
    Experiment(
        "roofline",
        "attainable beside measured and what warps wait for, of the recorded ladder",
        lambda case, ask: roofline_of(ask.folder),
        needs=RECORDINGS,
        recorded=False,
    ),
    Experiment(
        "launch",
        "launch every rung once, for a profiler",
        launched,
        lambda ask: [
            KernelCase(ask.size or (1024, 1024, 1024), r, widest(r)) for r in ask.rungs((*LADDER, *TENSOR_CORES))
        ],
        recorded=False,
    ),
)
