"""tile-by-tile gpu capstone my_kernel.py …: readers' kernels, timed beside the ladder and cuBLAS."""

import linecache
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ...kernels import rung
from ...kernels.rung import Rung, blocks, ready_made
from .. import measurements
from .experiments import Experiment, Wanted, beside_cublas, measure, timed
from .result_types import Results, Size

#: Those of the milestones, and the fastest.
BESIDE = ("tiled", "outer_product", "register_2d", "vectorized", "software_pipelined", "best")
#: The GPU whose recording has the kernels of `recorded`.
RECORDED = "nvidia-h100"
#: What the file defines.
NAMES = ("mine", "TILE", "THREADS")


def kernel_in(path: Path) -> Rung:
    """Return the kernel of a file as a rung; raise ValueError if the file does not say all that a launch needs."""
    if not path.is_file():
        raise ValueError(f"{path} is no file: give the Python file with your kernel")
    return _kernel_of(path.read_text(encoding="utf-8"), str(path), path.stem)


def recorded_texts() -> dict[str, str]:
    """Return the files that were recorded with their speeds, by their names."""
    return {r["rung"]: r["text"] for r in measurements.load("capstone", RECORDED).results if "text" in r}


def recorded() -> dict[str, Rung]:
    """Return the kernels of these files, by their names. No rung is among them: they are written as students do."""
    found = {}
    for name, text in recorded_texts().items():
        path = f"<{name}>"
        linecache.cache[path] = len(text), None, text.splitlines(True), path  # so that its lines are found
        found[name] = _kernel_of(text, path, name)
    return found


def _kernel_of(text: str, path: str, name: str) -> Rung:
    found: dict[str, Any] = {"__name__": name, "__file__": path}
    try:
        exec(compile(text, path, "exec"), found)
    except Exception as error:  # whatever the reader's file does
        raise ValueError(f"{path} cannot be run: {type(error).__name__}: {error}") from error
    missing = [name for name in NAMES if name not in found]
    if missing:
        raise ValueError(f"{path} lacks {', '.join(missing)}: it defines the kernel mine, TILE and THREADS")
    kernel = found["mine"]
    tile, threads = [found[name] for name in NAMES[1:]]
    for what, sizes in (("TILE", tile), ("THREADS", threads)):
        is_pair = isinstance(sizes, tuple) and len(sizes) == 2
        if not is_pair or not all(isinstance(n, int) and n > 0 for n in sizes):
            raise ValueError(f"{what} is {sizes!r} in {path}: two whole numbers of at least 1, as in the lesson")
    if not hasattr(kernel, "py_func"):
        raise ValueError(f"mine is no kernel in {path}: write @cuda.jit above it")

    return Rung(name, f"Yours, {name}", ready_made(kernel), blocks(*tile, *threads), dtypes=("float32",))


def beside(own: Sequence[Rung], size: Size, repeats: int) -> Results:
    """Measure the kernels, then the rungs and cuBLAS, on the same matrices."""
    cases = beside_cublas([size], [*own, *map(rung, BESIDE)])
    return measure(Experiment("capstone", "", timed, lambda ask: cases), Wanted(repeats=repeats))
