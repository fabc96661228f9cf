"""The measurements on a GPU. Every function returns JSON-ready results; a wrong kernel is reported, never timed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from time import perf_counter
from typing import Any

import numpy as np

from ...kernels import LADDER, TENSOR_CORES, rung
from ...kernels.host import matmul_host
from ...kernels.rung import Rung
from .cublas import cublas_matmul
from .device import require, threads_per_multiprocessor
from .timing import Timing, input_sets, time_calls
from .types import Names, Progress, Result, Results, Size
from .verification import Comparison, judge, random_matrices, verify

RAGGED = (257, 129, 65)
#: The host's loops are skipped where they would take longer; up to HOST_REPEATED they warm up and are repeated.
HOST_SECONDS = 120
HOST_REPEATED = 1024
HOST_REPEATS = 3
#: Seconds for the repeats of one kernel; slow kernels get fewer repeats, and the recording states how many.
KERNEL_SECONDS = 3


class Problem:
    """Random matrices of one size, on host and GPU, with their float64 product as the reference."""

    def __init__(self, M: int, N: int, K: int) -> None:
        self.size = M, N, K
        A, B, _ = random_matrices(M, N, K)
        self.reference = A.astype(np.float64) @ B.astype(np.float64)
        cuda = require()
        self.A, self.B = cuda.to_device(A), cuda.to_device(B)
        self.sets = input_sets(M, N, K)

    def judge(self, call: Callable[..., object]) -> Comparison:
        """Return the Comparison for call(A, B, C), with a C filled with NaN."""
        cuda = require()
        C = cuda.to_device(np.full(self.reference.shape, np.nan, np.float32))
        call(self.A, self.B, C)
        cuda.synchronize()
        return judge(C.copy_to_host(), self.reference)

    def measure(self, call: Callable[..., object], repeats: int, warmups: int = 3) -> Result:
        """Verify call(A, B, C), then time it; return the entries of a result that all kernels have in common."""
        start = perf_counter()
        verdict = self.judge(call)
        elapsed = perf_counter() - start
        result = dict(zip("MNK", self.size, strict=True), relative_error=verdict.relative_error)
        if not verdict.correct:
            return {**result, "wrong": f"relative error {verdict.relative_error:.1e} is over {verdict.tolerance:.0e}"}
        slow = elapsed > KERNEL_SECONDS / repeats
        if slow:  # compilation may have taken the time: measure again before reducing repeats
            once = time_calls(call, self.sets, 1, 0)[0] / 1e3
            repeats, warmups = max(1, min(repeats, int(KERNEL_SECONDS / once))), min(warmups, 1)
        milliseconds = time_calls(call, self.sets, repeats, warmups)
        timing = Timing(*self.size, milliseconds)
        return {**result, "warmups": warmups, "milliseconds": list(milliseconds), "gflops": timing.gflops}


def prepare(
    r: Rung, M: int, N: int, K: int, **params: Any
) -> tuple[Any, tuple[int, ...], tuple[int, ...], dict[str, Any]]:
    """Return (kernel, grid, block, params) of a float32 launch of the rung; ValueError if the size does not fit."""
    params = {**r.params, **params}
    grid, block = r.launch(M, N, K, **params)
    return r.make(dtype=np.float32, **params), grid, block, params


def widest(r: Rung) -> dict[str, int]:
    """Return parameters with blocks 32 threads wide, a whole warp, for the kernels with square blocks."""
    return {key: 32 for key, width in r.params.items() if key in ("tile_width", "block_width") and width == 16}


def resources(kernel: Any, block: Sequence[int], dynamic: int = 0) -> Result:
    """Return the resources of a compiled kernel: registers and local bytes per thread, shared bytes, occupancy.

    The driver says how many such blocks a multiprocessor holds at once; occupancy_percent is their share of the threads
    that a multiprocessor can hold.
    """

    def only(values: Any) -> int:
        return int(next(iter(values.values()))) if isinstance(values, dict) else int(values)

    gpu = require().get_current_device()
    compiled = next(iter(kernel.overloads.values()))
    blocks = compiled.max_cooperative_grid_blocks(block, dynamic) // gpu.MULTIPROCESSOR_COUNT
    threads, most = blocks * prod(block), threads_per_multiprocessor(gpu)
    return {
        "registers": only(kernel.get_regs_per_thread()),
        "local_bytes": only(kernel.get_local_mem_per_thread()),
        "shared_bytes": only(kernel.get_shared_mem_per_block()) + dynamic,
        "blocks_per_multiprocessor": blocks,
        "occupancy_percent": most and 100 * threads / most,
    }


def measure_rung(r: Rung, problem: Problem, repeats: int, **params: Any) -> Result:
    """Return the result of one rung on one problem: skipped, wrong, or measured."""
    entry: Result = {"rung": r.name, "title": r.title}
    try:
        kernel, grid, block, params = prepare(r, *problem.size, **params)
    except ValueError as reason:
        return {**entry, "skipped": str(reason)}
    entry |= {"params": params, "grid": grid, "block": block}
    ragged = verify(r, *RAGGED, **params)
    if not ragged.correct:
        return {**entry, "wrong": f"relative error {ragged.relative_error:.1e} at {RAGGED}"}
    return {**entry, **problem.measure(kernel[grid, block], repeats), **resources(kernel, block)}


def measure_cublas(problem: Problem, repeats: int) -> Results:
    """Return the result of cuBLAS on one problem; none if no library offers it."""
    name, matmul = cublas_matmul()
    return [{"rung": "cublas", "title": name, **problem.measure(matmul, repeats)}] if matmul else []


def ladder(names: Names, size: Size, repeats: int, progress: Progress) -> Results:
    """Measure every rung, and cuBLAS, on one size; square blocks are 32 threads wide."""
    problem = Problem(*size)
    rungs = [r for r in LADDER if not names or r.name in names]
    measured = [measure_rung(r, problem, repeats, **widest(r)) for r in progress(rungs, lambda r: r.name)]
    return measured + measure_cublas(problem, repeats)


def series(names: Names, sizes: Sequence[int], repeats: int, progress: Progress) -> Results:
    """Measure host, naive, tiled, best and cuBLAS on squares of several sizes."""
    results = []
    host_rate = None
    for n in progress(sizes, str):
        problem = Problem(n, n, n)
        for name in names or ("naive", "tiled", "best"):
            results.append(measure_rung(rung(name), problem, repeats, **widest(rung(name))))
        results += measure_cublas(problem, repeats)
        results.append(measure_host(problem, host_rate))
        host_rate = results[-1].get("gflops", host_rate and host_rate / 4)
    return results


def measure_host(problem: Problem, last_gflops: float | None) -> Result:
    """Time the host's triple loop, compiled by numba for one core; skipped where it would take minutes.

    Up to n = 1024 it warms up once and is repeated, above it runs once: `warmups` and `milliseconds` say so.
    """
    M, N, K = problem.size
    entry = {"rung": "host", "title": "Three loops on one core", "M": M, "N": N, "K": K}
    from numba import njit

    if last_gflops and 2 * M * N * K / last_gflops / 1e9 > HOST_SECONDS:
        return {**entry, "skipped": f"it would take more than {HOST_SECONDS} seconds"}
    compiled = njit(matmul_host)
    compiled(*random_matrices(2, 2, 2))
    A, B = problem.A.copy_to_host(), problem.B.copy_to_host()
    small = max(M, N, K) <= HOST_REPEATED
    warmups, milliseconds = int(small), []
    for _ in range(warmups + (HOST_REPEATS if small else 1)):
        C = np.full((M, N), np.nan, np.float32)
        start = perf_counter()
        compiled(A, B, C)
        milliseconds.append((perf_counter() - start) * 1e3)
    verdict, timing = judge(C, problem.reference), Timing(M, N, K, tuple(milliseconds[warmups:]))
    if not verdict.correct:
        return {**entry, "wrong": f"relative error {verdict.relative_error:.1e}"}
    return {
        **entry,
        "relative_error": verdict.relative_error,
        "warmups": warmups,
        "milliseconds": list(timing.milliseconds),
        "gflops": timing.gflops,
    }


def tiles(names: Names, size: Size, repeats: int, progress: Progress) -> Results:
    """Measure the kernels with square tiles, and the two naive ones, for every width."""
    problem = Problem(*size)
    cases = [
        (r, {key: width})
        for r in LADDER
        for key in ("tile_width", "block_width")
        if key in r.params and r.name not in ("per_row", "per_column") and (not names or r.name in names)
        for width in (4, 8, 16, 32)
    ]
    return [measure_rung(r, problem, repeats, **p) for r, p in progress(cases, lambda case: case[0].name)]


def ragged(names: Names, sizes: Sequence[Size], repeats: int, progress: Progress) -> Results:
    """Measure the best kernel and cuBLAS on sizes that no tile divides, beside an even size."""
    results = []
    for size in progress(sizes, str):
        problem = Problem(*size)
        results += [measure_rung(rung(name), problem, repeats) for name in names or ("best",)]
        results += measure_cublas(problem, repeats)
    return results


def mistake(names: Names, size: Size, repeats: int, progress: Progress) -> Results:
    """Time launches with a host clock without synchronisation, beside the true times."""
    cuda = require()
    results = []
    for name in progress(names or ("naive", "tiled"), str):
        kernel, grid, block, params = prepare(rung(name), *size)
        A, B, C = (cuda.to_device(X) for X in random_matrices(*size))
        launch = kernel[grid, block]
        launch(A, B, C)
        cuda.synchronize()
        wrong, right = [], []
        for _ in range(repeats):
            start = perf_counter()
            launch(A, B, C)
            wrong.append((perf_counter() - start) * 1e3)
            cuda.synchronize()
            right.append((perf_counter() - start) * 1e3)
        results.append(
            {
                "rung": name,
                "params": params,
                **dict(zip("MNK", size, strict=True)),
                "unsynchronised_milliseconds": wrong,
                "synchronised_milliseconds": right,
                "event_milliseconds": list(time_calls(launch, [(A, B, C)], repeats)),
            }
        )
    return results


def ceilings(repeats: int, progress: Progress) -> Results:
    """Measure the GPU's limits: bytes copied per second and float32 operations per second."""
    from .microkernels import CHAINS, STEPS, copy4, multiply_add

    cuda = require()
    blocks = 8 * cuda.get_current_device().MULTIPROCESSOR_COUNT
    rows, rounds, threads = 2**26, 2_000, blocks * 256
    matrices = tuple(cuda.to_device(np.ones((rows, 4), np.float32)) for _ in range(2))
    chains = (cuda.device_array(threads, np.float32), np.float32(0.5), rounds)
    cases = (
        ("copy", "bytes_per_second", 2 * rows * 16, copy4[4 * blocks, 256], matrices),
        ("float32", "flop_per_second", 2 * CHAINS * STEPS * rounds * threads, multiply_add[blocks, 256], chains),
    )
    results = []
    for name, unit, amount, launch, arguments in progress(cases, lambda case: case[0]):
        milliseconds = time_calls(launch, [arguments], repeats)
        rate = float(amount / np.median(milliseconds) * 1e3)
        results.append({"ceiling": name, "milliseconds": list(milliseconds), unit: rate})
    return results


def conflicts(repeats: int, progress: Progress) -> Results:
    """Time the same reads of shared memory with strides that use 32, 16, … 1 banks: the effect of conflicts alone."""
    from .microkernels import strided_reads

    cuda = require()
    blocks = 8 * cuda.get_current_device().MULTIPROCESSOR_COUNT
    out = cuda.device_array(blocks * 256, np.float32)
    results = []
    for stride in progress((1, 2, 4, 8, 16, 32), str):
        milliseconds = time_calls(strided_reads[blocks, 256], [(out, stride, 2000)], repeats)
        results.append({"stride": stride, "ways": stride, "milliseconds": list(milliseconds)})
    return results


def launch_once(names: Names, size: Size) -> None:
    """Launch every rung once, for a profiler."""
    cuda = require()
    A, B, C = random_matrices(*size)
    C = cuda.to_device(C)
    for r in (*LADDER, *TENSOR_CORES):
        if names and r.name not in names:
            continue
        try:
            kernel, grid, block, _ = prepare(r, *size, **widest(r))
        except ValueError:
            continue
        kernel[grid, block](*(cuda.to_device(r.operand(X)) for X in (A, B)), C)
    cuda.synchronize()
