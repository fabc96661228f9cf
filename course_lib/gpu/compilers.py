"""Every rung compiled by numba-cuda and by its successor numba-cuda-mlir, measured one after the other."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from tempfile import TemporaryDirectory

from .. import measurements
from ..kernels import LADDER, TENSOR_CORES, WGMMA
from .types import Names, Result, Results, Size

#: The module whose commands use each package.
COMMANDS = {"numba-cuda": "course_lib.gpu", "numba-cuda-mlir": "course_lib.mlir"}
GROUPS = {"ladder": LADDER, "tensor": TENSOR_CORES, "wgmma": WGMMA}
#: What is kept of a result: the resources and the speed.
KEPT = ("rung", "params", *"MNK", "milliseconds", "gflops", "registers", "local_bytes", "skipped", "wrong")


def compilers(names: Names, size: Size, repeats: int) -> Results:
    """Return the results of the rungs on one size with each package; each measurement has a process of its own."""
    results = []
    for package, module in COMMANDS.items():
        for what, group in GROUPS.items():
            rungs = [r.name for r in group if not names or r.name in names]
            if rungs:
                results += measure(package, module, [what, "--rungs", ",".join(rungs)], size, repeats, rungs)
    return results


def measure(package: str, module: str, words: list[str], size: Size, repeats: int, rungs: list[str]) -> Results:
    """Return the results of one command; RuntimeError with its last line where it fails."""
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", module, *words, "--size", "x".join(map(str, size))]
        done = subprocess.run(
            [*command, "--repeats", str(repeats), "--output", folder], capture_output=True, text=True, check=False
        )
        if done.returncode not in (0, 1):
            raise RuntimeError(f"{' '.join(command[1:])}: {done.stderr.strip().splitlines()[-1]}")
        found = measurements.load(words[0], folder).results
    named = f"{package} {metadata.version(package)}"
    return [_kept(named, result) for result in found if result.get("rung") in rungs]


def _kept(compiler: str, result: Result) -> Result:
    return {"compiler": compiler} | {key: result[key] for key in KEPT if key in result}
