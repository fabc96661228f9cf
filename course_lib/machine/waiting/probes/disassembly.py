"""Machine code of kernels, with the control information that the compiler wrote into every instruction.

These GPUs do not track dependences in hardware: the compiler states them in the instruction itself, in 21 bits that the
disassembler does not print. They hold the cycles until the warp may issue its next instruction (up to 15), a counter to
lower when the result is there, one to lower when the operands have been read, and the counters that must be down before
this instruction issues.
Source: Jia, Maggioni, Staiger, Scarpazza, "Dissecting the NVIDIA Volta GPU Architecture via Microbenchmarking" (2018),
section 2.1, on the 128-bit instructions, which have kept their places since.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from collections.abc import Iterable
from math import prod
from typing import Any

import numpy as np

from ....kernels import LADDER, Rung
from ...gpu.experiments import RAGGED, prepare, widest
from ...gpu.residency import cases
from ...gpu.types import Names, Progress, Results

#: First bit of the control information in the upper 64 bits of an instruction.
CONTROL = 41
#: The number that means no counter.
NONE = 7


def machine_code(names: Names, progress: Progress) -> Results:
    """Return the machine code of every rung, as it is launched on large matrices, and of the cases of residency."""
    wanted: dict[tuple[Any, ...], tuple[Rung, dict[str, int]]] = {}
    launched = [(r, {**r.params, **widest(r)}) for r in LADDER]
    for r, params in [*launched, *((r, params) for r, params, _ in cases())]:
        if (not names or r.name in names) and r.name not in ("per_element", "single_block"):
            wanted[r.name, *params.items()] = r, params
    results: Results = []
    for r, params in progress(list(wanted.values()), lambda case: f"{case[0].name} {case[1]}"):
        kernel, grid, block, _ = prepare(r, *RAGGED, **params)
        M, N, K = RAGGED
        kernel[grid, block](*(np.ones(shape, np.float32) for shape in ((M, K), (K, N), (M, N))))
        results.append({"rung": r.name, "params": params, "threads": prod(block), "code": code_of(kernel)})
    return results


def code_of(kernel: Any) -> list[str]:
    """Return the loops of a compiled kernel, with their labels."""
    return loops(disassembly(next(iter(kernel.overloads.values()))._codelibrary.get_cubin().code))


def disassembly(cubin: bytes) -> str:
    """Return what nvdisasm prints of a compiled kernel, with the bits of the instructions."""
    from cuda import pathfinder

    program = pathfinder.find_nvidia_binary_utility("nvdisasm") or "nvdisasm"
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        done = subprocess.run([program, "-c", "-hex", file.name], capture_output=True, text=True, check=True)
    return done.stdout


def loops(text: str) -> list[str]:
    """Return the code from the first loop's beginning to the last one's end: labels and instructions (see `word`)."""
    code: list[str] = []
    for line in text.splitlines():
        label = re.match(r"\s*(\.L\w+):", line)
        operation = re.match(r"\s*/\*[0-9a-f]{4,}\*/\s+(.+?)\s*;\s*/\* 0x[0-9a-f]{16} \*/", line)
        bits = re.match(r"\s*/\* 0x([0-9a-f]{16}) \*/\s*$", line)
        if label:
            code.append(label[1] + ":")
        elif operation:
            code.append(operation[1])
        elif bits and code:
            code[-1] = f"{word(int(bits[1], 16))}  {code[-1]}"
    places = {line[:-1]: i for i, line in enumerate(code) if line.endswith(":")}
    back = [
        (places[target[1]], i)
        for i, line in enumerate(code)
        if (target := re.search(r"BRA.*?(\.L\w+)", line)) and places.get(target[1], i) < i - 1
    ]
    return code[min(start for start, _ in back) : max(end for _, end in back) + 1] if back else []


def word(upper: int) -> str:
    """Decode the control information in the upper 64 bits of an instruction: four fields separated by spaces.

    Cycles until the warp's next instruction; the counter lowered with the result, then that lowered when the operands
    have been read, or -; and the counters to wait for, as digits, or -.
    """
    bits = upper >> CONTROL
    cycles, result, operands, waits = bits & 15, bits >> 5 & 7, bits >> 8 & 7, bits >> 11 & 63
    counters = "".join(str(i) for i in range(6) if waits >> i & 1)
    return " ".join([str(cycles), *("-" if c == NONE else str(c) for c in (result, operands)), counters or "-"])


def count(code: Iterable[str]) -> int:
    """Return the number of instructions among the lines of `loops`."""
    return sum(not line.endswith(":") for line in code)
