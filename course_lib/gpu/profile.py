"""Hardware counters through Nsight Compute, and the machine instructions of inner loops."""

import csv
import io
import re
import shutil
import subprocess
import sys

import numpy as np

from ..kernels import rung
from .experiments import _launch
from .verification import random_matrices

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
    "l2_bytes": "lts__t_bytes.sum",
    "dram_read_bytes": "dram__bytes_read.sum",
    "dram_write_bytes": "dram__bytes_write.sum",
    "instructions": "smsp__inst_executed.sum",
    "issue_active_percent": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "occupancy_percent": "sm__warps_active.avg.pct_of_peak_sustained_active",
}
#: The loop of an unrolled kernel runs to thousands of instructions, all alike.
LISTED = 150
UNITS = {"byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}


def counters(names, size):
    """Return the counters of every rung on one size, each launched once under `ncu`; None where it is missing."""
    ncu = shutil.which("ncu")
    if ncu is None:
        return None
    size_words = "x".join(map(str, size))
    command = [ncu, "--clock-control", "none", "--csv", "--metrics", ",".join(METRICS.values())]
    command += [sys.executable, "-m", "course_lib.gpu", "launch", "--size", size_words]
    command += ["--rungs", ",".join(names)] if names else []
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"ncu failed: {(done.stderr or done.stdout)[-500:]}")
    return parse_ncu(done.stdout, size)


def parse_ncu(text, size):
    """Return one result per kernel from the CSV that ncu printed."""
    rows = csv.DictReader(io.StringIO(text[text.index('"ID"') :]))
    names = {metric: name for name, metric in METRICS.items()}
    results = {}
    for row in rows:
        kernel = re.match(r"\w+", row["Kernel Name"].removeprefix("course_lib::"))[0]
        result = results.setdefault(row["ID"], {"rung": kernel, **dict(zip("MNK", size, strict=True))})
        value = float(row["Metric Value"].replace(",", "")) * UNITS.get(row["Metric Unit"], 1)
        result[names[row["Metric Name"]]] = value if row["Metric Unit"] == "%" else int(value)
    return list(results.values())


def instructions(names):
    """Return the inner loop of each rung in machine instructions, and how many of each kind it holds."""
    results = []
    for name in names or ("tiled", "outer_product", "unrolled", "register_2d", "vectorized", "best"):
        kernel, grid, block, params = _launch(rung(name), 256, 256, 256)
        A, B, C = random_matrices(256, 256, 256)
        kernel[grid, block](A, B, C)
        text = next(iter(kernel.inspect_sass().values()))
        loop = inner_loop(text)
        results.append(
            {"rung": name, "params": params, "instructions": len(loop), "mix": mix(loop), "loop": loop[:LISTED]}
        )
    return results


def inner_loop(text):
    """Return the instructions of the shortest loop that holds the most multiply-adds per instruction."""
    code = []
    labels = {}
    for line in text.splitlines():
        label = re.match(r"\s*(\.L\w+):", line)
        if label:
            labels[label[1]] = len(code)
        instruction = re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(.+?)\s*;", line)
        if instruction:
            code.append(instruction[1])
    best = []
    for end, instruction in enumerate(code):
        target = re.search(r"BRA.*?(\.L\w+)", instruction)
        if target and labels.get(target[1], end + 1) <= end:
            body = code[labels[target[1]] : end + 1]
            if _share(body) > _share(best):
                best = body
    return best


def mix(loop):
    """Return {operation: count} of a loop, predicates and modifiers dropped."""
    kinds = [re.sub(r"^@!?U?P\w+\s+", "", line).split()[0] for line in loop]
    wide = ("LDS", "STS", "LDG", "STG")
    kinds = [kind if kind.startswith(wide) else kind.split(".")[0] for kind in kinds]
    values, counts = np.unique(kinds, return_counts=True) if kinds else ((), ())
    return {str(kind): int(count) for kind, count in zip(values, counts, strict=True)}


def _share(body):
    return sum("FFMA" in line for line in body) / len(body) if body else 0
