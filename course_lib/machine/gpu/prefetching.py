"""When prefetching pays: kernels that differ in where their loads stand, in buffers or barriers, timed in one run.

Four experiments, whose kernels are launched together, in numba (unsigned indices) and in CUDA C:

- switches: `kernels.prefetch_variants` with every setting, in tiles of three widths; with as many blocks as fit, and
  with an equal number of them and equal bytes of shared memory.
- slots: three of these settings with few or many resident warps.
- large: `large_tiles` and `best`, in three sizes, with their loads in five places.
- limit: tiled, prefetched and pipelined of the ladder, as written, with unsigned indices and in CUDA C.

And `pairs`, which differ in one thing that those leave open: where the first pair of tiles is loaded, the type of the
indices, the place of the loads among the products, `__restrict__`.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby
from math import prod
from typing import Any

from ...kernels import Rung, prefetch_places, prefetch_variants, rung
from ...kernels import variants as numba_variants
from ..machine_code.compiling import disassembled
from ..machine_code.instructions import MachineCode, MachineInstruction, from_listing
from ..machine_code.show import KINDS, inner_body, kinds
from .counters import METRICS, STALLS, NoProfilerError, parse_ncu, under_ncu
from .cuda_c import CKernel, in_c
from .device import require
from .measuring import KERNEL_SECONDS, RAGGED, Problem, measure_cublas, problem_of, resources
from .resident_blocks import limited
from .result_types import Names, Progress, Result, Results, Size
from .timing import Timing, time_shuffled
from .verification import prepare, random_matrices, verify

SQUARE = (4096, 4096, 4096)
WIDTHS = (8, 16, 32)
#: Resident warps of a multiprocessor in which every setting is timed; blocks of T×T threads allow some of them.
EQUAL = (24, 32, 64)
#: More of them, and the settings that are timed there.
MORE = (8, 16, 48)
SWEPT = ((1, "behind", 2), (1, "early", 2), (2, "early", 1))
LANGUAGES = ("numba", "CUDA C")
#: Kernels whose tiles leave room for one block of eight warps, and the sizes in which they are timed.
LARGE = ("large_tiles", "best")
LARGE_SIZES = tuple((n, n, n) for n in (1024, 2048, 4096))
LADDER_SIZES = tuple((n, n, n) for n in (2048, 4096))
#: Pairs of tiles that `pipelined` has.
STAGES = (2, 3, 4)
#: The width of the tiles for which the instructions of a loop are recorded one by one.
LISTED = 32
#: Of `pairs`: resident warps, one block of tiles of LISTED; and the multiply-adds before the load of A and that of B.
FEW_WARPS = 32
HELD_PLACES = (*((k, k) for k in range(0, LISTED + 1, 4)), (0, 4), (0, 8), (16, 28), (16, 32))
#: What ncu counts of each launch.
COUNTED = {
    "l1_wavefronts": "l1tex__data_pipe_lsu_wavefronts.sum",
    "l1_wavefronts_percent": "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_elapsed",
    "warps_active": "sm__warps_active.avg.per_cycle_active",
    **{
        name: METRICS[name]
        for name in (
            *("instructions", "issue_active_percent", "global_load_sectors", "l2_bytes", "dram_read_bytes"),
            *(f"stalled_{reason}_percent" for reason in STALLS),
        )
    },
}


@dataclass(frozen=True)
class PrefetchCase:
    """One launch to measure.

    of: the kernel that it varies. warps: the resident warps of a multiprocessor, None for as many as fit. loads: where
    its loads stand, if no parameter says so.
    """

    rung: Rung
    of: str
    language: str
    params: dict[str, Any]
    size: Size
    warps: int | None = None
    loads: str = ""

    def __str__(self) -> str:
        return f"{self.rung.name} {self.params} {self.warps or ''}"

    @property
    def kernel(self) -> tuple[Any, ...]:
        """What tells its kernel from those of other cases."""
        return self.rung.name, *self.params.values()

    @property
    def blocks(self) -> int | None:
        """The resident blocks of a multiprocessor, None for as many as fit."""
        threads = prod(self.rung.launch(*self.size, **self.params)[1])
        return self.warps and 32 * self.warps // threads


def cases(names: Names = None, size: Size | None = None) -> list[PrefetchCase]:
    """Return every launch, those of the largest size first, or those of rungs whose names begin with one of `names`.

    size: the only size, in place of the experiments' own.
    """
    starts = tuple(names or ("",))
    chosen = [c for c in (*_settings(size), *_ladder(size), *_large(size)) if c.rung.name.startswith(starts)]
    return sorted(chosen, key=lambda case: case.size, reverse=True)


def _settings(size: Size | None) -> Iterator[PrefetchCase]:
    """Yield every setting of the switches with the numbers of resident warps that blocks of its tiles allow."""
    for language, r in zip(LANGUAGES, (prefetch_variants.RUNG, in_c(prefetch_variants.RUNG)), strict=True):
        for width in WIDTHS:
            for buffers, loads, barriers in prefetch_variants.SETTINGS:
                more = MORE if (buffers, loads, barriers) in SWEPT else ()
                params = {"tile_width": width, "buffers": buffers, "loads": loads, "barriers": barriers}
                for warps in (None, *sorted(w for w in (*EQUAL, *more) if 32 * w % width**2 == 0)):
                    yield PrefetchCase(r, prefetch_variants.RUNG.name, language, params, size or SQUARE, warps)


def _ladder(size: Size | None) -> Iterator[PrefetchCase]:
    """Yield tiled, prefetched and pipelined; tiles of 32 in two sizes, the others in the larger one."""
    kernels = [
        *((rung(name), name, "signed") for name in ("tiled", "prefetched", "pipelined")),
        *((numba_variants.unsigned_variant(name), name, "numba") for name in ("tiled", "prefetched")),
        *((in_c(name), name, "CUDA C") for name in ("tiled", "prefetched", "pipelined")),
    ]
    for r, of, language in kernels:
        for each in (size,) if size else LADDER_SIZES:
            for width in WIDTHS if each in (size, SQUARE) else WIDTHS[-1:]:
                for stages in STAGES if of == "pipelined" else (0,):
                    yield PrefetchCase(
                        r, of, language, {"tile_width": width, **({"stages": stages} if stages else {})}, each
                    )


def _large(size: Size | None) -> Iterator[PrefetchCase]:
    """Yield the kernels with large tiles, with their loads in every place of MOVED."""
    for of in LARGE:
        for loads in numba_variants.MOVED:
            r = numba_variants.loads_moved(of, loads)
            for each in (size,) if size else LARGE_SIZES:
                yield PrefetchCase(r, of, "numba", {}, each, loads=loads)


def pairs(names: Names = None, size: Size | None = None) -> list[PrefetchCase]:
    """Return the launches that vary one thing that `cases` leave open, chosen as `cases` chooses.

    Each is beside the kernels of `cases` that raised the question, so that all are timed in one run.
    """
    starts = tuple(names or ("",))
    each = (*_first_pairs(size or SQUARE), *_held(size or SQUARE), *_promised(size or SQUARE))
    return [case for case in each if case.rung.name.startswith(starts)]


def _first_pairs(size: Size) -> Iterator[PrefetchCase]:
    """Yield prefetched and tiled by their first pair and their indices, and the settings that have another of both."""
    for of, held, setting in (("prefetched", (False, True), (2, "early", 1)), ("tiled", (False,), (1, "behind", 2))):
        for first in ("inside", "before"):
            for index in ("uint64", "uint32"):
                for hold in held:
                    r = numba_variants.first_pair(of, first, index, hold)
                    yield PrefetchCase(r, of, "numba", {"tile_width": LISTED}, size)
        for hold in held:
            r = numba_variants.loads_held() if hold else prefetch_variants.RUNG
            yield _switched(r, "numba", setting, size, None)


def _held(size: Size) -> Iterator[PrefetchCase]:
    """Yield loads held at each of HELD_PLACES, beside loads behind the barrier and early, with few warps and with many.

    And loads behind the barrier with `__restrict__`.
    """
    for warps in (FEW_WARPS, 64):
        for language in LANGUAGES:
            switches, held = (
                in_c(r) if language == "CUDA C" else r for r in (prefetch_variants.RUNG, prefetch_places.RUNG)
            )
            for loads in ("behind", "early"):
                yield _switched(switches, language, (1, loads, 2), size, warps)
            for a_after, b_after in HELD_PLACES:
                params = {"tile_width": LISTED, "a_after": a_after, "b_after": b_after}
                yield PrefetchCase(held, prefetch_places.RUNG.name, language, params, size, warps)
        yield _switched(in_c(prefetch_variants.RUNG, restrict=True), "CUDA C", (1, "behind", 2), size, warps)


def _switched(r: Rung, language: str, setting: tuple[int, str, int], size: Size, warps: int | None) -> PrefetchCase:
    """Return a setting of the switches, in tiles of LISTED."""
    params = dict(zip(("buffers", "loads", "barriers"), setting, strict=True))
    return PrefetchCase(r, prefetch_variants.RUNG.name, language, {"tile_width": LISTED, **params}, size, warps)


def _promised(size: Size) -> Iterator[PrefetchCase]:
    """Yield tiled in CUDA C without and with `__restrict__`."""
    for width in WIDTHS:
        for restrict in (False, True):
            yield PrefetchCase(in_c("tiled", restrict=restrict), "tiled", "CUDA C", {"tile_width": width}, size)


def prefetching(
    names: Names,
    size: Size | None,
    repeats: int,
    progress: Progress,
    listed: Callable[[Names, Size | None], list[PrefetchCase]] = cases,
) -> Results:
    """Verify every kernel, time all launches of a size in shuffled rounds, and count where `ncu` is there.

    listed: `cases` or `pairs`. The results of a size end with cuBLAS.
    """
    results: Results = []
    timed: dict[int, Result] = {}
    known: dict[tuple[Any, ...], Result] = {}
    chosen = list(enumerate(listed(names, size)))
    for each, group in groupby(chosen, key=lambda pair: pair[1].size):
        problem = problem_of(each)
        launches = dict[int, Any]()
        for number, case in progress(list(group), lambda pair: str(pair[1])):
            result, launch = _verified(case, problem, known)
            results.append(result)
            if launch is not None:
                timed[number], launches[number] = result, launch
        times = time_shuffled([*launches.values()], problem.sets, repeats, KERNEL_SECONDS)
        for number, milliseconds in zip(launches, times, strict=True):
            timed[number].update(milliseconds=list(milliseconds), gflops=Timing(*problem.size, milliseconds).gflops)
        results += measure_cublas(problem, repeats)
    which = f"prefetching.{listed.__name__}({names!r}, {size})"
    launch = f"from course_lib.machine.gpu import prefetching; prefetching.launch_cases({which}, {[*timed]})"
    try:
        counted = parse_ncu(under_ncu(["-W", "ignore", "-c", launch], COUNTED), (), COUNTED)
    except NoProfilerError:
        return results
    for result, counters in zip(timed.values(), counted, strict=True):
        result.update({name: counters[name] for name in COUNTED if name in counters})
    return results


def _verified(case: PrefetchCase, problem: Problem, known: dict[tuple[Any, ...], Result]) -> tuple[Result, Any]:
    """Return a case's result so far, and its launch; None if it is wrong or does not fit.

    known: what is known of kernels that were there before: each is verified once for a size.
    """
    r = case.rung
    entry: Result = {"rung": r.name, "of": case.of, "language": case.language, "params": {**r.params, **case.params}}
    entry |= {**dict(zip("MNK", case.size, strict=True)), "warps": case.warps}
    entry |= {"loads": case.loads} if case.loads else {}
    key = (*case.kernel, case.size)
    kernel, grid, block, _ = prepare(r, *case.size, **case.params)
    first = key not in known
    if first:
        known[key] = _judged(case, problem, kernel[grid, block])
        if "wrong" not in known[key]:
            known[key]["loop"] = loop_of(kernel, case.params.get("tile_width") == LISTED)
    entry |= known[key] if first or "wrong" in known[key] else {}
    if "wrong" in entry:
        return entry, None
    room = 0
    if case.blocks:
        launch = limited(r, case.params, case.blocks, problem.sets[0], case.size)
        if launch is None:
            return {**entry, "skipped": "so many blocks do not fit"}, None
        room = launch[3]
    used = kernel.resources(block, room) if isinstance(kernel, CKernel) else resources(kernel, block, room)
    return {**entry, "grid": grid, "block": block, **used, "filler_bytes": room}, kernel[grid, block, 0, room]


def _judged(case: PrefetchCase, problem: Problem, call: Callable[..., Any]) -> Result:
    """Return a kernel's error on a size that no tile divides, or on the problem's, if it is wrong, or on both."""
    verdict = verify(case.rung, *RAGGED, **case.params)
    if not verdict.correct:
        return {"wrong": f"relative error {verdict.relative_error:.1e} at {RAGGED}"}
    ragged = verdict
    verdict = problem.judge(call)
    if not verdict.correct:
        return {"wrong": f"relative error {verdict.relative_error:.1e} is over {verdict.tolerance:.0e}"}
    return {"relative_error": verdict.relative_error, "ragged_error": ragged.relative_error}


def loop_of(kernel: Any, listed: bool) -> Result:
    """Return what the machine code of a compiled kernel's main loop is made of (see `made_of`).

    listed: whether its instructions are in it one by one, as text.
    """
    cubin = kernel.code.code if isinstance(kernel, CKernel) else _cubin(kernel)
    body = inner_body(MachineCode("", from_listing(disassembled(cubin), {}), 0, 0, 0, 0))
    return {**made_of(body), **({"code": [each.text for each in body]} if listed else {})}


def _cubin(kernel: Any) -> bytes:
    return bytes(next(iter(kernel.overloads.values()))._codelibrary.get_cubin().code)


def made_of(body: Sequence[MachineInstruction]) -> Result:
    """Return of a loop how many instructions it has, how many of each kind, and where its loads from memory stand.

    `multiply_adds_before_loads` has for each load, or copy, from global memory the number of multiply-adds before it.
    """
    named = kinds(body)
    products = 0
    before: list[int] = []
    for each in body:
        products += each.operation.startswith(KINDS["multiply-add"][1])
        if each.operation.startswith(("LDG", "LDGSTS")):
            before.append(products)
    counts = {kind: named.count(kind) for kind in KINDS if kind in named}
    return {"instructions": len(body), "kinds": counts, "multiply_adds_before_loads": before}


@lru_cache
def _arguments(size: Size) -> tuple[Any, ...]:
    return tuple(require().to_device(X) for X in random_matrices(*size))


def launch_cases(chosen: Sequence[PrefetchCase], numbers: Iterable[int]) -> None:
    """Launch those cases with these numbers once, for a profiler."""
    cuda = require()
    for case in map(chosen.__getitem__, numbers):
        kernel, grid, block, _ = prepare(case.rung, *case.size, **case.params)
        room = 0
        arguments = _arguments(case.size)
        if case.blocks:
            launch = limited(case.rung, case.params, case.blocks, arguments, case.size)
            assert launch is not None  # it was timed
            room = launch[3]
        kernel[grid, block, 0, room](*arguments)
        cuda.synchronize()
