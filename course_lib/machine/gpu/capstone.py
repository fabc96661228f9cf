"""python -m course_lib.gpu capstone my_kernel.py …: readers' kernels, timed beside the ladder and cuBLAS."""

from __future__ import annotations

import argparse
import linecache
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from ...kernels import rung
from ...kernels.rung import Rung, blocks, ready_made
from ...lazy import called
from .. import measurements
from .device import NoGPUError, require
from .experiments import Experiment, Wanted, beside_cublas, measure, timed
from .types import Results, Size

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
    kernel, (tile, threads) = found["mine"], ([found[name] for name in NAMES[1:]])
    for what, sizes in (("TILE", tile), ("THREADS", threads)):
        if not (isinstance(sizes, tuple) and len(sizes) == 2 and all(isinstance(n, int) and n > 0 for n in sizes)):
            raise ValueError(f"{what} is {sizes!r} in {path}: two whole numbers of at least 1, as in the lesson")
    if not hasattr(kernel, "py_func"):
        raise ValueError(f"mine is no kernel in {path}: write @cuda.jit above it")

    return Rung(name, f"Yours, {name}", ready_made(kernel), blocks(*tile, *threads), dtypes=("float32",))


def main(
    arguments: Sequence[str],
    size: Callable[[str], Size],
    show: Callable[[str, Results], None],
    store: Callable[[str, str, Results, Path], object],
) -> int:
    """Verify and time; return 0, 1 if a kernel is wrong, 2 without a GPU or without a kernel.

    size parses a size, show prints results, store writes them with the command to a folder.
    """
    parser = argparse.ArgumentParser(prog=called("gpu") + " capstone", description=__doc__)
    parser.add_argument(
        "files",
        type=Path,
        nargs="*",
        metavar="file",
        help="defines mine, TILE and THREADS (lesson 18); without one, the recorded kernels are timed again",
    )
    parser.add_argument("--size", type=size, default=(4096, 4096, 4096), help="n, or MxNxK (default 4096)")
    parser.add_argument("--repeats", type=int, default=20, help="timed launches per kernel (default 20)")
    parser.add_argument("--output", type=Path, help="folder to write the recording capstone.json to (default: none)")
    options = parser.parse_args(arguments)
    try:
        own = [kernel_in(path) for path in options.files] or [*recorded().values()]
        require()
    except (ValueError, NoGPUError) as reason:
        print(reason, file=sys.stderr)
        return 2
    texts = [path.read_text(encoding="utf-8") for path in options.files] or [*recorded_texts().values()]
    results = beside(own, options.size, options.repeats)
    for result, text in zip(results, texts, strict=False):  # those of the ladder come after them
        result["text"] = text
    show("ladder", results)
    if options.output:
        words = [path.as_posix() for path in options.files]
        words += ["--size", "x".join(map(str, options.size)), "--repeats", str(options.repeats)]
        command = f"python -m course_lib.gpu capstone {' '.join(words)}"
        store("capstone", command, results, options.output)
    return int(any("wrong" in result for result in results))


def beside(own: Sequence[Rung], size: Size, repeats: int) -> Results:
    """Measure the kernels, then the rungs and cuBLAS, on the same matrices."""
    cases = beside_cublas([size], [*own, *map(rung, BESIDE)])
    return measure(Experiment("capstone", "", lambda ask: cases, timed), Wanted(repeats=repeats))
