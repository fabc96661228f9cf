"""The command `tile-by-tile machine-code`: record the machine code that answers where no compiler is installed."""

import argparse
import base64
import contextlib
import io
import json
import zlib
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ..kernels import LADDER, TENSOR_CORES, WGMMA, rung
from ..kernels.bulk_copy import Mapped, WithMaps
from ..simulator.simulation import Simulation
from . import measurements
from .gpu.capstone import recorded
from .gpu.measuring import widest
from .gpu.result_types import Progress
from .machine_code.compiling import options_of, versions
from .machine_code.find import available, how, machine_code, types_of
from .machine_code.identity import digest, functions_of, outline
from .machine_code.instructions import MachineCode
from .machine_code.recorded import ABOUT, FILE
from .patched_attributes import replaced

#: Sizes of the arrays for which a launch is described; the code does not depend on them.
SIDE = 8


def cases() -> Iterator[tuple[str, dict[str, Any], Any, tuple[Any, ...]]]:
    """Yield what is recorded: a rung's name, its parameters, its kernel, and the arguments of a launch."""
    plain = np.zeros((SIDE, SIDE), np.float32)
    wanted: dict[tuple[Any, ...], tuple[Any, dict[str, Any]]] = {}
    narrow = [(rung(name), {"tile_width": width}) for name in ("tiled", "prefetched") for width in (2, 4, 8)]
    for r, params in [
        *((r, dict(r.params)) for r in (*LADDER, *TENSOR_CORES, *WGMMA)),
        *((r, {**r.params, **widest(r)}) for r in LADDER),
        *((rung(case["rung"]), case["params"]) for case in measurements.load("residency").results),
        *narrow,
        *((r, {**r.params, "rounded": True}) for r in TENSOR_CORES if "rounded" in r.params),
    ]:
        wanted[(r.name, *sorted(params.items()))] = r, params
    for r, params in wanted.values():
        kernel = r.make(dtype=np.float32, **params)
        operand = r.operand(plain)
        if isinstance(kernel, WithMaps):  # what it gets of a matrix on a GPU
            kernel = kernel.kernel
            operand = Mapped(np.zeros(16, np.uint64), operand.shape)
        yield r.name, params, kernel, (operand, operand, plain)
    for name, own in recorded().items():
        yield f"capstone {name}", {}, own.make(), (plain, plain, plain)


def handed_in(notebook: Path) -> Iterator[tuple[str, dict[str, Any], Any, tuple[Any, ...]]]:
    """Yield the kernels of a notebook's exercises, each with the types of the arguments of its first launch.

    All cells are executed in this process.
    """
    from IPython.core.interactiveshell import InteractiveShell

    launched: dict[Any, tuple[Any, ...]] = {}
    launch = Simulation._launch

    def noted(self: Simulation, grid: Any, block: Any, arguments: Any, dynamic_shared: Any) -> Any:
        launched.setdefault(getattr(self.kernel, "py_func", self.kernel), types_of(tuple(arguments)))
        return launch(self, grid, block, arguments, dynamic_shared)

    shell: Any = InteractiveShell()  # type: ignore[no-untyped-call]
    with replaced(Simulation, _launch=noted):
        for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
            if cell["cell_type"] != "code":
                continue
            known = dict(shell.user_ns)
            with contextlib.redirect_stdout(io.StringIO()):
                shell.run_cell("".join(cell["source"])).raise_error()
            for name, value in shell.user_ns.items():
                plain = getattr(value, "py_func", None)
                own = cell["id"].startswith(("exercise", "own")) and known.get(name) is not value
                if own and plain in launched:
                    yield f"{notebook.stem} {name}", {}, value, launched[plain]


def record(progress: Progress, notebooks: Sequence[Path] = ()) -> dict[str, Any]:
    """Compile everything that is recorded, and the kernels of these notebooks' exercises; return the recording."""
    results = []
    wanted = [*cases(), *(case for notebook in notebooks for case in handed_in(notebook))]
    for name, params, kernel, arguments in progress(wanted, lambda case: f"{case[0]} {case[1]}"):
        try:
            code = machine_code(kernel, arguments)
        except ValueError as reason:
            print(f"{name} is not recorded: {reason}")
            continue
        plain = getattr(kernel, "py_func", kernel)
        lines_of = {name: outline(function) for name, function in functions_of(plain).items()}
        lines = MachineCode.text(_numbered(code, lines_of))
        results.append(
            {
                "rung": name,
                "params": params,
                "key": digest(kernel, types_of(arguments), options_of(kernel)),
                **{name: getattr(code, name) for name in ABOUT},
                "code": base64.b64encode(zlib.compress("\n".join(lines).encode(), 9)).decode("ascii"),
            }
        )
    command = "tile-by-tile machine-code record notebooks/solutions/*.ipynb"
    return {"what": "machine_code", "command": command, "versions": versions(), "results": results}


def _numbered(code: MachineCode, lines_of: Mapping[str, Sequence[int]]) -> MachineCode:
    """Return the code with lines counted among those lines of a function that hold code; comments do not count."""

    def number(name: str, offset: int) -> int:
        return bisect_right(lines_of[name], offset) - 1 if name in lines_of else offset

    moved = (
        each._replace(places=tuple((name, number(name, offset)) for name, offset in each.places))
        for each in code.instructions
    )
    return replace(code, instructions=tuple(moved))


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    parser = argparse.ArgumentParser(prog="tile-by-tile machine-code", description=__doc__)
    parser.add_argument("what", choices=("record",), help="compile every recorded kernel anew; no GPU is needed")
    parser.add_argument("notebooks", type=Path, nargs="*", help="notebooks/solutions/*.ipynb: exercises to record, too")
    options = parser.parse_args(arguments)
    if not available():
        parser.exit(2, f"No compiler is installed: {how()}.\n")
    from .gpu.command import progress

    FILE.write_text(json.dumps(record(progress, options.notebooks), indent=1) + "\n", encoding="utf-8")
    print(f"{FILE}: {FILE.stat().st_size:,} bytes")
    return 0
