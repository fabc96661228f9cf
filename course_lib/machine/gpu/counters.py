"""Hardware counters from Nsight Compute, and the machine instructions of inner loops."""

from __future__ import annotations

import csv
import io
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ...kernels import LADDER, TENSOR_CORES, rung
from .experiments import prepare
from .types import Names, Progress, Result, Results, Size
from .verification import random_matrices

#: Reasons for stalls of warps: a result of shared or of global memory, a full queue to memory, a barrier, the
#: arithmetic units, the dispatch to a unit, the next instruction, a fixed latency, a branch, constants; and another
#: warp that issues.
STALLS = (
    "short_scoreboard",
    "long_scoreboard",
    "mio_throttle",
    "lg_throttle",
    "barrier",
    "math_pipe_throttle",
    "dispatch_stall",
    "no_instruction",
    "wait",
    "branch_resolve",
    "imc_miss",
    "not_selected",
)
METRICS = {
    "global_load_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "global_load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "global_store_requests": "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum",
    "global_store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_load_requests": "smsp__inst_executed_op_shared_ld.sum",
    "shared_store_requests": "smsp__inst_executed_op_shared_st.sum",
    "shared_load_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "shared_store_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "shared_load_bank_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "shared_store_bank_conflicts": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "matrix_load_requests": "smsp__inst_executed_op_ldsm.sum",
    "copy_requests": "smsp__inst_executed_op_ldgsts.sum",
    "copy_wavefronts": "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldgsts.sum",
    "product_wavefronts": "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_gmma.sum",  # counted by Hopper alone
    "l2_bytes": "lts__t_bytes.sum",
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
    "instructions": "smsp__inst_executed.sum",
    "issue_active_percent": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "occupancy_percent": "sm__warps_active.avg.pct_of_peak_sustained_active",
    **{
        f"stalled_{reason}_percent": f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.pct"
        for reason in STALLS
    },
}
#: The longest loop that is listed; an unrolled kernel has thousands of instructions, all alike.
LISTED = 150
#: The metrics that a simulator can count: what the source requests, independent of caches and clocks.
COUNTS = tuple(name for name in METRICS if name.startswith(("global_", "shared_", "matrix_", "copy_")))
#: M, N, K: no tile divides the last; 16-byte accesses are possible in the first two.
EXACT_SIZES = ((128, 256, 64), (200, 136, 72), (201, 137, 73))
#: With n = 1024 all matrices fit into a large L2 cache, with n = 4096 they do not: bytes from DRAM show the difference.
COUNTER_SIZES = ((1024, 1024, 1024), (4096, 4096, 4096))
#: Rungs whose launch takes seconds on large matrices; the profiler repeats it for every group of metrics.
SLOW = ("per_row", "per_column")
SLOW_FROM = 4096
UNITS = {"byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}


class NoProfilerError(RuntimeError):
    """Raised where `ncu` is missing."""


def counters(names: Names, sizes: Sequence[Size]) -> Results:
    """Return the counters of every rung on each size, launched once under `ncu`; NoProfilerError if it is missing.

    Rungs that take seconds are left out for large sizes, and the result says so.
    """
    results: Results = []
    for size in sizes:
        chosen = [r.name for r in (*LADDER, *TENSOR_CORES) if not names or r.name in names]
        slow = [name for name in chosen if name in SLOW and max(size) >= SLOW_FROM]
        part = _counters([name for name in chosen if name not in slow], size)
        shape, reason = dict(zip("MNK", size, strict=True)), "one launch takes seconds, and is repeated for every group"
        results += part + [{"rung": name, **shape, "skipped": reason} for name in slow]
    return results


def _counters(names: Names, size: Any) -> Results:
    """Return the counters of some rungs on one size."""
    if not names:
        return []
    arguments = ["-m", "course_lib.gpu", "launch", "--size", "x".join(map(str, size))]
    return parse_ncu(_under_ncu([*arguments, "--rungs", ",".join(names)], METRICS), size)


def exact_counters(names: Names) -> Results:
    """Return requests and sectors of every rung on small sizes, ragged ones too, for comparison with a simulator."""
    return [_only(result, ("rung", *"MNK", *COUNTS)) for result in counters(names, EXACT_SIZES)]


def _only(result: Result, names: Collection[str]) -> Result:
    return {name: value for name, value in result.items() if name in names}


def residency(repeats: int, progress: Progress, cached: bool = False) -> Results:
    """Return the time of every case of residency, with the share of cycles that issue and the stalls from `ncu`.

    cached: whether to use matrices that the second-level cache keeps.
    """
    from . import residency as cases

    size = cases.CACHED if cached else cases.SIZE
    results = cases.residency(repeats, progress, size)
    launch = f"from course_lib.machine.gpu.residency import launch_cases; launch_cases({size})"
    wanted = {name: metric for name, metric in METRICS.items() if name.startswith(("stalled", "issue", "occupancy"))}
    try:
        text = _under_ncu(["-W", "ignore", "-c", launch], wanted, keep_caches=cached)
    except NoProfilerError:
        return results
    measured = [result for result in results if "gflops" in result]
    for result, counters in zip(measured, parse_ncu(text, size), strict=True):
        result.update(_only(counters, wanted))
    return results


def pattern_counters(names: Names = None) -> Results:
    """Return the requests, sectors and wavefronts of the access patterns whose names begin with one of `names`.

    Without names, those of all patterns.
    """
    from .patterns import PRODUCT, launchable

    starts = tuple(names or ("",))
    chosen = launchable(starts)
    launch = f"from course_lib.machine.gpu.patterns import launch_patterns; launch_patterns({starts!r})"
    wanted = {name: METRICS[name] for name in COUNTS}
    if any(pattern.name.startswith(PRODUCT) for pattern in chosen):
        wanted["product_wavefronts"] = METRICS["product_wavefronts"]
    counted = parse_ncu(_under_ncu(["-W", "ignore", "-c", launch], wanted), (0, 0, 0))
    return [{"pattern": pattern.name, **_only(result, wanted)} for pattern, result in zip(chosen, counted, strict=True)]


def _under_ncu(arguments: Sequence[str], metrics: Mapping[str, str], keep_caches: bool = False) -> str:
    """Run Python with `arguments` under ncu and return the CSV that it prints; NoProfilerError if ncu is missing.

    Unless `keep_caches`, ncu empties the caches before every kernel.
    """
    ncu = shutil.which("ncu")
    if ncu is None:
        raise NoProfilerError("Nsight Compute's command ncu is not there")
    command = [ncu, "--clock-control", "none", "--csv", "--metrics", ",".join(metrics.values())]
    command += ["--cache-control", "none"] if keep_caches else []
    done = subprocess.run([*command, sys.executable, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"ncu failed: {(done.stderr or done.stdout)[-500:]}")
    return done.stdout


def parse_ncu(text: str, size: Any) -> Results:
    """Return one result per kernel from the CSV that ncu printed."""
    rows = csv.DictReader(io.StringIO(text[text.index('"ID"') :]))
    names = {metric: name for name, metric in METRICS.items()}
    results: dict[str, Result] = {}
    for row in rows:
        kernel = re.split(r"\W", row["Kernel Name"].removeprefix("course_lib::"), maxsplit=1)[0]
        result = results.setdefault(row["ID"], {"rung": kernel, **dict(zip("MNK", size, strict=True))})
        if row["Metric Value"] == "n/a":  # this GPU does not count it
            continue
        value = float(row["Metric Value"].replace(",", "")) * UNITS.get(row["Metric Unit"], 1)
        result[names[row["Metric Name"]]] = value if row["Metric Unit"] == "%" else int(value)
    return list(results.values())


def instructions(names: Names) -> Results:
    """Return the inner loop of each rung in machine instructions, and the number of each kind."""
    results = []
    for name in names or ("tiled", "outer_product", "unrolled", "register_2d", "vectorized", "best"):
        kernel, grid, block, params = prepare(rung(name), 256, 256, 256)
        A, B, C = random_matrices(256, 256, 256)
        kernel[grid, block](rung(name).operand(A), rung(name).operand(B), C)
        text = next(iter(kernel.inspect_sass().values()))
        loop = inner_loop(text)
        results.append(
            {"rung": name, "params": params, "instructions": len(loop), "mix": mix(loop), "loop": loop[:LISTED]}
        )
    return results


def inner_loop(text: str) -> list[str]:
    """Return the instructions of the shortest loop that holds the most multiply-adds, or mma, per instruction."""
    code: list[str] = []
    labels: dict[str, int] = {}
    for line in text.splitlines():
        label = re.match(r"\s*(\.L\w+):", line)
        if label:
            labels[label[1]] = len(code)
        operation = re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(.+?)\s*;", line)
        if operation:
            code.append(operation[1])
    best: list[str] = []
    for end, instruction in enumerate(code):
        target = re.search(r"BRA.*?(\.L\w+)", instruction)
        if target and labels.get(target[1], end + 1) <= end:
            body = code[labels[target[1]] : end + 1]
            if _share(body) > _share(best):
                best = body
    return best


def mix(loop: Sequence[str]) -> dict[str, int]:
    """Return {operation: count} of a loop, without predicates and modifiers."""
    kinds = [re.sub(r"^@!?U?P\w+\s+", "", line).split()[0] for line in loop]
    wide = ("LDS", "STS", "LDG", "STG")
    kinds = [kind if kind.startswith(wide) else kind.split(".")[0] for kind in kinds]
    values, counts = np.unique(kinds, return_counts=True) if kinds else ((), ())
    return {str(kind): int(count) for kind, count in zip(values, counts, strict=True)}


def _share(body: Sequence[str]) -> float:
    return sum("FFMA" in line or "HMMA" in line for line in body) / len(body) if body else 0
