"""What the tile gains, and what the compiler gains: kernels that differ in one factor, timed in one run.

The factors: indices signed or unsigned; the inner loop left to the compiler or unrolled; the tile; loads through the
first-level cache or past it; numba or CUDA C. See `kernels.variants` and `cuda_c`.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ...kernels import LADDER, Rung, rung
from ...kernels import variants as numba_variants
from .counters import METRICS, SLOW, STALLS, NoProfilerError, parse_ncu, under_ncu
from .cuda_c import NAMES, UNCACHED, build_host_programs, in_c
from .device import require
from .measuring import KERNEL_SECONDS, RAGGED, Problem, measure_cublas, resources, widest
from .result_types import Names, Progress, Result, Results, Size
from .timing import Timing, time_shuffled
from .triton_rungs import in_triton
from .verification import prepare, random_matrices, verify

INDICES = ("signed", "uint64")
STEPS = (None, 16, 32)
UNROLLS = (None, 1, 16, 32)
WIDTHS = (4, 8, 16)
#: The rungs that are compared, in numba and in CUDA C.
COMPARED = tuple(r.name for r in LADDER[: [r.name for r in LADDER].index("register_2d") + 1] if r.name not in SLOW)
#: Sizes for verification: no tile divides them; the second is for the kernels of a single block.
VERIFIED = (RAGGED, (31, 17, 32))
#: What ncu counts of each variant.
COUNTED = {
    "l1_wavefronts": "l1tex__data_pipe_lsu_wavefronts.sum",
    "l1_wavefronts_percent": "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed",
    # The units of a scheduler: integers and logic; multiply-adds, integers' too; those for integers among them; the one
    # for values that a warp has in common; loads and stores.
    **{
        f"{unit}_percent": f"smsp__inst_executed_pipe_{unit}.avg.pct_of_peak_sustained_active"
        for unit in ("alu", "fma", "fmaheavy", "uniform", "lsu")
    },
    **{
        name: METRICS[name]
        for name in (
            *("global_load_requests", "global_load_sectors", "shared_load_wavefronts", "shared_store_wavefronts"),
            *("l2_bytes", "dram_read_bytes", "dram_write_bytes", "instructions", "issue_active_percent"),
            *(f"stalled_{reason}_percent" for reason in STALLS),
        )
    },
}


@dataclass(frozen=True)
class Variant:
    """A variant: the rung it comes from, its language, the factors in which it differs, and its launch's parameters."""

    rung: Rung
    of: str
    language: str
    factors: dict[str, Any]
    params: dict[str, Any]


def cases(names: Names = None) -> list[Variant]:
    """Return every variant, or those whose names begin with one of `names`."""
    starts = tuple(names or ("",))
    return [case for case in (*_table(), *_rungs(), *_widths()) if case.rung.name.startswith(starts)]


def _case(r: Rung, of: str, language: str = "numba", **factors: Any) -> Variant:
    return Variant(r, of, language, factors, widest(r))


def _table() -> Iterable[Variant]:
    """Yield index × steps × tile × cache, in numba and in CUDA C."""
    for cached in (True, False):
        for of, make in (("naive", numba_variants.naive_variant), ("tiled", numba_variants.tiled_variant)):
            for index in INDICES:
                for steps in STEPS:
                    r = make(index, steps)
                    yield _case(r if cached else past_cache(r), of, index=index, steps=steps, cached=cached)
                for unroll in UNROLLS:
                    r = in_c(of, unroll, index != "signed", cached)
                    kind = "signed" if index == "signed" else "unsigned"
                    yield _case(r, of, "CUDA C", index=kind, steps=unroll, cached=cached)


def _rungs() -> Iterable[Variant]:
    """Yield the rungs, their variants with unsigned indices and in CUDA C, and the steps between two of them."""
    for name in COMPARED:
        yield _case(rung(name), name)
        if name in numba_variants.UNSIGNED_RUNGS:
            yield _case(numba_variants.unsigned_variant(name), name, index="uint64")
    for name in NAMES:
        if name not in ("naive", "tiled"):  # those of the table
            yield _case(in_c(name), name, "CUDA C", index="signed", steps=None, cached=True)
    yield _case(numba_variants.naive_variant("uint32", 16), "naive", index="uint32", steps=16)
    yield _case(numba_variants.unsigned_loop(), "naive", index="uint64", steps=None)
    for r in numba_variants.single_steps():
        yield _case(r, r.name)
    for r in in_triton():
        for width in (32, 64):
            yield Variant(r, "tiled", "Triton", {}, {"tile_width": width})


def _widths() -> Iterable[Variant]:
    """Yield naive and tiled in smaller blocks: the fair neighbour of a tile has blocks of its width."""
    for width in WIDTHS:
        fair = {"naive_uint64": (width, 32), "tiled_uint64": (width,)}
        for r in (rung("naive"), *(numba_variants.naive_variant("uint64", steps) for steps in fair["naive_uint64"])):
            yield Variant(r, "naive", "numba", {}, {"block_width": width})
        for r in (rung("tiled"), numba_variants.unsigned_variant("tiled")):
            yield Variant(r, "tiled", "numba", {}, {"tile_width": width})


def past_cache(r: Rung) -> Rung:
    """Return a rung of numba whose loads from global memory bypass the first-level cache.

    numba cannot say so: its kernel is linked again, with the option that CUDA C has for it. No other
    instruction changes. The rung's kernel must be its own, compiled for nobody else.
    """

    @lru_cache
    def make(dtype: Any = np.float32, **params: Any) -> Any:
        from cuda.core import Linker, LinkerOptions, ObjectCode
        from numba import float32

        kernel = r.make(dtype=dtype, **params)
        kernel.compile((float32[:, ::1],) * 3)
        library = next(iter(kernel.overloads.values()))._codelibrary
        (capability,) = library._cubin_cache
        arch = "sm_" + "".join(map(str, capability))
        options = LinkerOptions(arch=arch, link_time_optimization=True, ptxas_options=UNCACHED)
        code = ObjectCode.from_ltoir(library.get_ltoir(capability))
        library._cubin_cache[capability] = Linker(code, options=options).link("cubin")
        library._cufunc_cache.clear()
        return kernel

    return replace(r, name=f"{r.name}_uncached", title=f"{r.title}, L1 bypassed", make=make)


def variants(names: Names, size: Size, repeats: int, progress: Progress) -> Results:
    """Verify every variant, time all in one run in shuffled rounds, and count where `ncu` is there; then cuBLAS."""
    problem = Problem(*size)
    results: Results = []
    launches: list[Any] = []
    timed: dict[int, Result] = {}
    for number, case in enumerate(progress(cases(names), lambda case: case.rung.name)):
        result, launch = _verified(case, problem)
        results.append(result)
        if launch is not None:
            timed[number] = result
            launches.append(launch)
    times = time_shuffled(launches, problem.sets, repeats, KERNEL_SECONDS)
    for result, milliseconds in zip(timed.values(), times, strict=True):
        result.update(milliseconds=list(milliseconds), gflops=Timing(*size, milliseconds).gflops)
    try:
        counted = counts(names, [*timed], size)
    except NoProfilerError:
        counted = []
    for result, counters in zip(timed.values() if counted else (), counted, strict=True):
        result.update(counters)
    return results + (measure_cublas(problem, repeats) + build_host_programs() if not names else [])


def _verified(case: Variant, problem: Problem) -> tuple[Result, Any]:
    """Return a case's result so far, and its launch; None if it is wrong, too slow, or does not fit."""
    r = case.rung
    entry: Result = {"rung": r.name, "title": r.title, "of": case.of, "language": case.language, **case.factors}
    entry["params"] = {**r.params, **case.params}
    for shape in VERIFIED:
        try:
            verdict = verify(r, *shape, **case.params)
        except ValueError:  # the launch holds no matrices of this size
            continue
        if not verdict.correct:
            return {**entry, "wrong": f"relative error {verdict.relative_error:.1e} at {shape}"}, None
        break
    if case.of in SLOW:
        return {**entry, "skipped": "one launch takes seconds"}, None
    try:
        kernel, grid, block, _ = prepare(r, *problem.size, **case.params)
    except ValueError as reason:
        return {**entry, "skipped": str(reason)}, None
    verdict = problem.judge(kernel[grid, block])
    entry |= dict(zip("MNK", problem.size, strict=True), relative_error=verdict.relative_error)
    if not verdict.correct:
        return {**entry, "wrong": f"relative error {verdict.relative_error:.1e} is over {verdict.tolerance:.0e}"}, None
    used = resources(kernel, block) if case.language == "numba" else kernel.resources(block)
    return {**entry, "grid": grid, "block": block, **used}, kernel[grid, block]


def counts(names: Names, numbers: list[int], size: Size) -> Results:
    """Return ncu's counters of those of `cases(names)` with these numbers, in this order."""
    launch = (
        f"from course_lib.machine.gpu.variants import launch_variants; launch_variants({names!r}, {numbers}, {size})"
    )
    counted = parse_ncu(under_ncu(["-W", "ignore", "-c", launch], COUNTED), size, COUNTED)
    return [{name: value for name, value in result.items() if name in COUNTED} for result in counted]


def launch_variants(names: Names, numbers: list[int], size: Size) -> None:
    """Launch those of `cases(names)` with these numbers once, for a profiler."""
    cuda = require()
    arguments = tuple(cuda.to_device(X) for X in random_matrices(*size))
    chosen = cases(names)
    for number in numbers:
        kernel, grid, block, _ = prepare(chosen[number].rung, *size, **chosen[number].params)
        kernel[grid, block](*arguments)
    cuda.synchronize()
