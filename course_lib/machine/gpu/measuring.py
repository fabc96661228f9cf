"""One kernel on one pair of matrices: verified, then timed. A wrong kernel is reported, never timed."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from math import prod
from time import perf_counter
from typing import Any

import numpy as np

from ...kernels.host import matmul_host
from ...kernels.rung import Rung
from .device import require, threads_per_multiprocessor
from .result_types import Result, Results, Size
from .timing import Timing, input_sets, time_calls
from .verification import Comparison, judge, prepare, random_matrices, verify

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
            repeats = max(1, min(repeats, int(KERNEL_SECONDS / once)))
            warmups = min(warmups, 1)
        milliseconds = time_calls(call, self.sets, repeats, warmups)
        timing = Timing(*self.size, milliseconds)
        return {**result, "warmups": warmups, "milliseconds": list(milliseconds), "gflops": timing.gflops}


@lru_cache(maxsize=1)
def problem_of(size: Size) -> Problem:
    """Return the Problem of a size; the last one is kept, so that cases of one size have the same matrices."""
    return Problem(*size)


def widest(r: Rung) -> dict[str, int]:
    """Return parameters with blocks 32 threads wide, a whole warp, for the kernels with square blocks."""
    return {key: 32 for key, width in r.params.items() if key in ("tile_width", "block_width") and width == 16}


def resources(kernel: Any, block: Sequence[int], dynamic: int = 0) -> Result:
    """Return the resources of a compiled kernel: registers and local bytes per thread, shared bytes, occupancy.

    The driver says how many such blocks a multiprocessor holds at once; occupancy_percent is their share of the threads
    that a multiprocessor can hold.
    """
    gpu = require().get_current_device()
    compiled = next(iter(kernel.overloads.values()))
    blocks = compiled.max_cooperative_grid_blocks(block, dynamic) // gpu.MULTIPROCESSOR_COUNT
    threads = blocks * prod(block)
    most = threads_per_multiprocessor(gpu)
    return {
        "registers": int(compiled.regs_per_thread),
        "local_bytes": int(compiled.local_mem_per_thread),
        "shared_bytes": int(compiled.shared_mem_per_block) + dynamic,
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


@lru_cache
def cublas_matmul() -> tuple[str, Callable[..., None]] | tuple[None, None]:
    """Return (name, matmul) of cuBLAS in plain float32, without TF32; (None, None) if no Python library offers it.

    matmul(A, B, C) multiplies numba device arrays.
    """
    try:
        import torch
    except ImportError:
        pass
    else:
        torch.backends.cuda.matmul.allow_tf32 = False

        def with_torch(A: Any, B: Any, C: Any) -> None:
            A, B, C = (torch.as_tensor(X, device="cuda") for X in (A, B, C))
            torch.mm(A, B, out=C)

        return f"cuBLAS through PyTorch {torch.__version__}", with_torch
    try:
        import cupy
    except ImportError:
        return None, None

    def with_cupy(A: Any, B: Any, C: Any) -> None:
        cupy.matmul(cupy.asarray(A), cupy.asarray(B), out=cupy.asarray(C))

    return f"cuBLAS through CuPy {cupy.__version__}", with_cupy


def measure_cublas(problem: Problem, repeats: int) -> Results:
    """Return the result of cuBLAS on one problem; none if no library offers it."""
    name, matmul = cublas_matmul()
    return [{"rung": "cublas", "title": name, **problem.measure(matmul, repeats)}] if matmul else []


def measure_host(problem: Problem, repeats: int) -> Result:
    """Time the host's triple loop, compiled by numba for one core; skipped where it would take minutes.

    Up to n = 1024 it warms up once and is repeated, above it runs once: `warmups` and `milliseconds` say so.
    """
    from numba import njit

    M, N, K = problem.size
    entry = {"rung": "host", "title": "Three loops on one core", "M": M, "N": N, "K": K}
    compiled = njit(matmul_host)
    compiled(*random_matrices(2, 2, 2))
    A, B = problem.A.copy_to_host(), problem.B.copy_to_host()

    def milliseconds_of(rows: int) -> tuple[float, np.ndarray]:
        C = np.full((rows, N), np.nan, np.float32)
        start = perf_counter()
        compiled(A[:rows], B, C)
        return (perf_counter() - start) * 1e3, C

    if milliseconds_of(1)[0] * M / 1e3 > HOST_SECONDS:  # the first row tells
        return {**entry, "skipped": f"it would take more than {HOST_SECONDS} seconds"}
    small = max(M, N, K) <= HOST_REPEATED
    warmups = int(small)
    runs = [milliseconds_of(M) for _ in range(warmups + (min(repeats, HOST_REPEATS) if small else 1))]
    verdict = judge(runs[-1][1], problem.reference)
    timing = Timing(M, N, K, tuple(ms for ms, _ in runs[warmups:]))
    entry["relative_error"] = verdict.relative_error
    if not verdict.correct:
        return {**entry, "wrong": f"relative error {verdict.relative_error:.1e}"}
    return {**entry, "warmups": warmups, "milliseconds": list(timing.milliseconds), "gflops": timing.gflops}
