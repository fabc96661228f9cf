"""Hardware counters of the rungs, from Nsight Compute."""

import csv
import io
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from ...kernels import LADDER, TENSOR_CORES
from .result_types import Names, Result, Results, Size

#: Nsight Compute's stalls of warps: what they wait for, and the reason of the timing model, "" for what it has not.
#: A scoreboard tells that a value is on its way; a throttle is a queue, or a unit, that takes no further instruction.
STALLS = {
    "short_scoreboard": ("a value from shared memory", "shared memory"),
    "long_scoreboard": ("a value from global memory", "global memory"),
    "mio_throttle": ("a place in the queue to shared memory", "shared memory"),
    "lg_throttle": ("a place in the queue to global memory", "global memory"),
    "barrier": ("the other warps, at a barrier", "barrier"),
    "math_pipe_throttle": ("a busy arithmetic unit", "arithmetic"),
    "dispatch_stall": ("the dispatch to its unit", "arithmetic"),
    "no_instruction": ("the next instruction", ""),
    "wait": ("the result of an instruction before, a fixed number of cycles", "arithmetic"),
    "branch_resolve": ("the target of a branch", ""),
    "imc_miss": ("a constant", ""),
    "not_selected": ("nothing: another warp was selected", "not selected"),
}
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
#: With n = 1024 all matrices fit into a large L2 cache, with n = 4096 they do not: bytes from DRAM show the difference.
COUNTER_SIZES = ((1024, 1024, 1024), (4096, 4096, 4096))
#: Rungs whose launch takes seconds on large matrices; the profiler repeats it for every group of metrics.
SLOW = ("per_row", "per_column")
SLOW_FROM = 4096
UNITS = {"byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}


class NoProfilerError(RuntimeError):
    """Raised where `ncu` is missing."""


def counters(names: Names, size: Size) -> Results:
    """Return the counters of every rung on a size, launched once under `ncu`; NoProfilerError if it is missing.

    Rungs that take seconds are left out for large sizes, and the result says so.
    """
    chosen = [r.name for r in (*LADDER, *TENSOR_CORES) if not names or r.name in names]
    slow = [name for name in chosen if name in SLOW and max(size) >= SLOW_FROM]
    quick = ",".join(name for name in chosen if name not in slow)
    results = list[Result]()
    if quick:
        launch = ["-m", "course_lib.gpu", "launch", "--size", "x".join(map(str, size)), "--rungs", quick]
        results = parse_ncu(under_ncu(launch, METRICS), size)
    shape = dict(zip("MNK", size, strict=True))
    reason = "one launch takes seconds, and is repeated for every group"
    return results + [{"rung": name, **shape, "skipped": reason} for name in slow]


def under_ncu(
    arguments: Sequence[str], metrics: Mapping[str, str], keep_caches: bool = False, marked: bool = False
) -> str:
    """Run Python with `arguments` under ncu and return the CSV that it prints; NoProfilerError if ncu is missing.

    Unless `keep_caches`, ncu empties the caches before every kernel. With `marked`, it profiles only what is launched
    within `cuda.profiling()`.
    """
    ncu = shutil.which("ncu")
    if ncu is None:
        raise NoProfilerError("Nsight Compute's command ncu is not there")
    command = [ncu, "--clock-control", "none", "--csv", "--metrics", ",".join(metrics.values())]
    command += ["--cache-control", "none"] if keep_caches else []
    command += ["--profile-from-start", "off"] if marked else []
    done = subprocess.run([*command, sys.executable, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"ncu failed: {(done.stderr or done.stdout)[-500:]}")
    return done.stdout


def parse_ncu(text: str, size: Any, metrics: Mapping[str, str] = METRICS) -> Results:
    """Return one result per kernel from the CSV that ncu printed; `metrics` maps names to what ncu calls them."""
    rows = csv.DictReader(io.StringIO(text[text.index('"ID"') :]))
    names = {metric: name for name, metric in metrics.items()}
    results: dict[str, Result] = {}
    for row in rows:
        kernel = re.split(r"\W", row["Kernel Name"].removeprefix("course_lib::"), maxsplit=1)[0]
        result = results.setdefault(row["ID"], {"rung": kernel, **dict(zip("MNK", size, strict=False))})
        if row["Metric Value"] == "n/a":  # this GPU does not count it
            continue
        value = float(row["Metric Value"].replace(",", "")) * UNITS.get(row["Metric Unit"], 1)
        result[names[row["Metric Name"]]] = value if row["Metric Unit"] == "%" else int(value)
    return list(results.values())
