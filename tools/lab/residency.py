"""Kernels that fetch ahead and kernels that do not, with few or many warps resident on a multiprocessor.

They show where hiding latency pays: tiled, prefetched and pipelined in tiles of three widths; warp_tiled and staged,
whose threads hold 64 results each.

Unused dynamic shared memory fills a multiprocessor, so that only the wanted number of blocks fits on it at once.
"""

from math import prod
from typing import Any

from course_lib.kernels import Rung, rung
from course_lib.machine.gpu.counters import METRICS, NoProfilerError, parse_ncu, under_ncu
from course_lib.machine.gpu.device import require
from course_lib.machine.gpu.measuring import RAGGED, Problem, resources
from course_lib.machine.gpu.resident_blocks import limited
from course_lib.machine.gpu.result_types import Progress, Result, Size
from course_lib.machine.gpu.verification import random_matrices, verify

SIZE = 2048, 2048, 2048
#: Sizes of matrices that the second-level cache keeps from one launch to the next; those of SIZE every launch reads
#: from DRAM. Their blocks make whole rounds on 132 multiprocessors.
CACHED = 1056, 1024, 2048
WIDTHS = (8, 16, 32)
#: Resident warps of a multiprocessor to measure; blocks of T×T threads allow some of these numbers.
WARPS = (2, 4, 8, 16, 32, 64)
STAGES = (2, 3, 4)
#: Kernels with blocks of 256 threads with 64 results each; registers allow two blocks.
REGISTER_TILED = ("warp_tiled", "staged")
REGISTER_TILED_BLOCKS = (1, 2)


def cases(size: Size = SIZE) -> list[tuple[Rung, dict[str, Any], int]]:
    """Return (rung, its parameters, blocks on a multiprocessor) of every launch; of CACHED only those in T×T tiles."""
    kinds: list[tuple[Rung, dict[str, Any]]] = [(rung("tiled"), {}), (rung("prefetched"), {})]
    kinds += [(rung("pipelined"), {"stages": stages}) for stages in STAGES]
    tiles = [
        (r, {"tile_width": width, **params}, 32 * warps // width**2)
        for width in WIDTHS
        for warps in WARPS
        if 32 * warps >= width**2
        for r, params in kinds
    ]
    if size == CACHED:
        return tiles
    return tiles + [(rung(name), {}, blocks) for blocks in REGISTER_TILED_BLOCKS for name in REGISTER_TILED]


def timed(repeats: int, progress: Progress, size: Size = SIZE) -> list[Result]:
    """Time every case on one size; a case whose blocks do not fit at once says so."""
    problem = Problem(*size)
    results: list[Result] = []
    checked: dict[tuple[Any, ...], Any] = {}
    for r, params, blocks in progress(cases(size), lambda case: f"{case[0].name} {case[1]}"):
        entry: Result = {"rung": r.name, "params": params, **dict(zip("MNK", size, strict=True)), "blocks": blocks}
        entry["warps"] = blocks * prod(r.launch(*size, **params)[1]) // 32
        key = r.name, *params.values()
        if key not in checked:
            checked[key] = verify(r, *RAGGED, **params)
        if not checked[key].correct:
            results.append({**entry, "wrong": f"relative error {checked[key].relative_error:.1e} at {RAGGED}"})
            continue
        launch = limited(r, params, blocks, problem.sets[0], size)
        if launch is None:
            results.append({**entry, "skipped": "so many blocks do not fit"})
            continue
        kernel, grid, block, room = launch
        if size == CACHED:
            del problem.sets[1:]  # the same matrices in every launch
        measured = problem.measure(kernel[grid, block, 0, room], repeats)
        results.append({**entry, **measured, "filler_bytes": room, "registers": resources(kernel, block)["registers"]})
    return results


def residency(repeats: int, progress: Progress, size: Size = SIZE) -> list[Result]:
    """Time every case on one size, and add the share of cycles that issue and the stalls where `ncu` is there."""
    results = timed(repeats, progress, size)
    launch = f"from tools.lab.residency import launch_cases; launch_cases({size})"
    wanted = {name: metric for name, metric in METRICS.items() if name.startswith(("stalled", "issue", "occupancy"))}
    try:
        text = under_ncu(["-W", "ignore", "-c", launch], wanted, keep_caches=size == CACHED)
    except NoProfilerError:
        return results
    measured = [result for result in results if "gflops" in result]
    for result, counted in zip(measured, parse_ncu(text, size), strict=True):
        result.update({name: counted[name] for name in wanted if name in counted})
    return results


def launch_cases(size: Size) -> None:
    """Launch every case that fits once, for a profiler."""
    cuda = require()
    arguments = tuple(cuda.to_device(X) for X in random_matrices(*size))
    for r, params, blocks in cases(size):
        launch = limited(r, params, blocks, arguments, size)
        if launch is not None:
            kernel, grid, block, room = launch
            kernel[grid, block, 0, room](*arguments)
    cuda.synchronize()
