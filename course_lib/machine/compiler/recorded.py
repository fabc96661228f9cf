"""Recorded machine code, for machines without the compiler: that of every rung, and of what the lessons play.

`tile-by-tile machine-code record` makes it anew, on any machine that has the compiler; no GPU takes part.
"""

from __future__ import annotations

import base64
import functools
import json
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from .build import options_of
from .code import MachineCode, from_text
from .identity import digest, functions_of, outline

FILE = Path(__file__).parent / "recorded.json"
#: Sizes of the arrays for which a launch is described; the code does not depend on them.
SIDE = 8


@functools.cache
def _entries() -> dict[str, dict[str, Any]]:
    """Return what was recorded, by the key of `identity.digest`."""
    return {entry["key"]: entry for entry in json.loads(FILE.read_text(encoding="utf-8"))["results"]}


def recorded(key: str, kernel: Any) -> MachineCode | None:
    """Return the recorded code with this key, with the lines of this kernel's own source; None if there is none."""
    entry = _entries().get(key)
    if entry is None:
        return None
    lines = zlib.decompress(base64.b64decode(entry["code"])).decode("utf-8").split("\n")
    functions = functions_of(getattr(kernel, "py_func", kernel))
    moved = {name: outline(function) for name, function in functions.items()}

    def place(name: str, number: int) -> tuple[str, int]:
        return name, moved[name][min(number, len(moved[name]) - 1)] if name in moved else number

    instructions = tuple(
        each._replace(places=tuple(place(*known) for known in each.places)) for each in from_text(lines)
    )
    about = {name: entry[name] for name in ("kernel", "registers", "shared_bytes", "stack_bytes", "spilled_bytes")}
    return MachineCode(
        **about,
        instructions=instructions,
        versions=json.loads(FILE.read_text(encoding="utf-8"))["versions"],
        first_lines={
            name: (function.__code__.co_filename, function.__code__.co_firstlineno)
            for name, function in functions.items()
        },
        recorded=True,
    )


def cases() -> Iterator[tuple[str, dict[str, Any], Any, tuple[Any, ...]]]:
    """Yield what is recorded: a rung's name, its parameters, its kernel, and the arguments of a launch."""
    from ...kernels import LADDER, TENSOR_CORES, WGMMA
    from ...kernels.bulk_copy import Mapped, WithMaps
    from ..gpu.experiments import widest
    from ..gpu.residency import cases as of_residency

    plain = np.zeros((SIDE, SIDE), np.float32)
    wanted: dict[tuple[Any, ...], tuple[Any, dict[str, Any]]] = {}
    widths = ({**r.params, "tile_width": 4} for r in LADDER if r.name in ("tiled", "prefetched"))
    for r, params in [
        *((r, dict(r.params)) for r in (*LADDER, *TENSOR_CORES, *WGMMA)),
        *((r, {**r.params, **widest(r)}) for r in LADDER),
        *((r, params) for r, params, _ in of_residency()),
        *zip([r for r in LADDER if r.name in ("tiled", "prefetched")], widths, strict=True),
        *((r, {**r.params, "tile_width": 8}) for r in LADDER if r.name in ("tiled", "prefetched")),
        *((r, {**r.params, "rounded": True}) for r in TENSOR_CORES if "rounded" in r.params),
    ]:
        wanted[(r.name, *sorted(params.items()))] = r, params
    for r, params in wanted.values():
        kernel = r.make(dtype=np.float32, **params)
        operand = r.operand(plain)
        if isinstance(kernel, WithMaps):  # what it gets of a matrix on a GPU
            kernel, operand = kernel.kernel, Mapped(np.zeros(16, np.uint64), operand.shape)
        yield r.name, params, kernel, (operand, operand, plain)


def record(progress: Any) -> dict[str, Any]:
    """Compile everything that is recorded; return the recording."""
    from .build import versions
    from .find import HOPPER, machine_code, types_of

    results = []
    for name, params, kernel, arguments in progress(list(cases()), lambda case: f"{case[0]} {case[1]}"):
        code = machine_code(kernel, arguments)
        plain = getattr(kernel, "py_func", kernel)
        numbers = {name: _numbers(outline(function)) for name, function in functions_of(plain).items()}
        lines = MachineCode.text(_numbered(code, numbers))
        results.append(
            {
                "rung": name,
                "params": params,
                "key": digest(kernel, types_of(arguments), options_of(kernel), HOPPER),
                "kernel": code.kernel,
                "registers": code.registers,
                "shared_bytes": code.shared_bytes,
                "stack_bytes": code.stack_bytes,
                "spilled_bytes": code.spilled_bytes,
                "code": base64.b64encode(zlib.compress("\n".join(lines).encode(), 9)).decode("ascii"),
            }
        )
    command = "tile-by-tile machine-code record"
    return {"what": "machine_code", "command": command, "versions": versions(), "results": results}


def _numbers(lines: Iterable[int]) -> dict[int, int]:
    return {offset: number for number, offset in enumerate(lines)}


def _numbered(code: MachineCode, numbers: dict[str, dict[int, int]]) -> MachineCode:
    """Return the code with lines counted among those of a function that hold code, whatever stands between them."""
    from dataclasses import replace

    def number(name: str, offset: int) -> int:
        known = numbers.get(name)
        if known is None:
            return offset
        return known.get(offset, max((n for at, n in known.items() if at <= offset), default=0))

    moved = (
        each._replace(places=tuple((name, number(name, offset)) for name, offset in each.places))
        for each in code.instructions
    )
    return replace(code, instructions=tuple(moved))
