"""python -m course_lib.gpu capstone my_kernel.py: a reader's kernel, timed beside the ladder and cuBLAS."""

from __future__ import annotations

import argparse
import runpy
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from ..kernels import rung
from ..kernels.rung import Rung
from ..simulator.hardware import ceil_div
from .device import NoGPUError, require
from .experiments import Problem, measure_cublas, measure_rung, widest
from .types import Results, Size

#: Those of the milestones, and the fastest.
BESIDE = ("tiled", "outer_product", "register_2d", "vectorized", "software_pipelined", "best")
#: What the file defines.
NAMES = ("mine", "TILE", "THREADS")


def kernel_in(path: Path) -> Rung:
    """Return the kernel of a file as a rung; raise ValueError if the file does not say all that a launch needs."""
    if not path.is_file():
        raise ValueError(f"{path} is no file: give the Python file with your kernel")
    try:
        found = runpy.run_path(str(path))
    except Exception as error:  # whatever the reader's file does
        raise ValueError(f"{path} cannot be run: {type(error).__name__}: {error}") from error
    missing = [name for name in NAMES if name not in found]
    if missing:
        raise ValueError(f"{path} lacks {', '.join(missing)}: it defines the kernel mine, TILE and THREADS")
    kernel, (tile, threads) = found["mine"], ([found[name] for name in NAMES[1:]])
    for name, sizes in (("TILE", tile), ("THREADS", threads)):
        if not (isinstance(sizes, tuple) and len(sizes) == 2 and all(isinstance(n, int) and n > 0 for n in sizes)):
            raise ValueError(f"{name} is {sizes!r} in {path}: two whole numbers of at least 1, as in the lesson")
    if not hasattr(kernel, "py_func"):
        raise ValueError(f"mine is no kernel in {path}: write @cuda.jit above it")

    def launch(M: int, N: int, K: int) -> tuple[tuple[int, int], tuple[int, int]]:
        return (ceil_div(N, tile[1]), ceil_div(M, tile[0])), (threads[0], threads[1])

    return Rung("mine", f"Yours, {path.name}", lambda **_: kernel, launch, dtypes=("float32",), tile=lambda: tile)


def main(arguments: Sequence[str], size: Callable[[str], Size], show: Callable[[str, Results], None]) -> int:
    """Verify and time; return 0, 1 if the kernel is wrong, 2 without a GPU or without a kernel.

    size parses a size, show prints results.
    """
    parser = argparse.ArgumentParser(prog="python -m course_lib.gpu capstone", description=__doc__)
    parser.add_argument("file", type=Path, help="defines mine, TILE and THREADS, as the cell of lesson 17 does")
    parser.add_argument("--size", type=size, default=(4096, 4096, 4096), help="n, or MxNxK (default 4096)")
    parser.add_argument("--repeats", type=int, default=20, help="timed launches per kernel (default 20)")
    options = parser.parse_args(arguments)
    try:
        own = kernel_in(options.file)
        require()
    except (ValueError, NoGPUError) as reason:
        print(reason, file=sys.stderr)
        return 2
    results = beside(own, options.size, options.repeats)
    show("ladder", results)
    return int("wrong" in results[0])


def beside(own: Rung, size: Size, repeats: int) -> Results:
    """Measure the kernel, then the rungs and cuBLAS, on the same matrices."""
    problem = Problem(*size)
    results = [measure_rung(r, problem, repeats, **widest(r)) for r in (own, *map(rung, BESIDE))]
    return results + [result for result in [measure_cublas(problem, repeats)] if result]
