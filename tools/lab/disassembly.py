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
from collections.abc import Iterator
from functools import partial
from math import prod
from typing import Any

import numpy as np

from course_lib.kernels import LADDER, Rung
from course_lib.machine.gpu.experiments import OwnCase, Wanted
from course_lib.machine.gpu.problem import RAGGED, prepare, widest
from course_lib.machine.gpu.types import Result

from .residency import cases

#: Rungs that cannot compute large matrices.
UNLISTED = ("per_element", "single_block")
#: First bit of the control information in the upper 64 bits of an instruction.
CONTROL = 41
#: The number that means no counter.
NONE = 7


def wanted(ask: Wanted) -> Iterator[OwnCase]:
    """Yield the rungs, as they are launched on large matrices, and the cases of residency."""
    launched = [(r, {**r.params, **widest(r)}) for r in LADDER]
    launched += [(r, params) for r, params, _ in cases()]
    for name, (r, params) in {f"{r.name} {params}": (r, params) for r, params in launched}.items():
        if (not ask.names or r.name in ask.names) and r.name not in UNLISTED:
            yield OwnCase(name, partial(machine_code, r, params))


def machine_code(r: Rung, params: dict[str, int], repeats: int = 1) -> Result:
    """Return the machine code of a rung's loops."""
    kernel, grid, block, _ = prepare(r, *RAGGED, **params)
    M, N, K = RAGGED
    kernel[grid, block](*(np.ones(shape, np.float32) for shape in ((M, K), (K, N), (M, N))))
    return {"rung": r.name, "params": params, "threads": prod(block), "code": code_of(kernel)}


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
