"""Every rung compiled by numba-cuda and by its successor numba-cuda-mlir; the commands that use each of them."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory

from .. import measurements
from ..kernels import LADDER, TENSOR_CORES, WGMMA
from ..kernels.intrinsics import packages
from .types import Names, Result, Results, Size

#: The module whose commands use each package.
COMMANDS = {"numba-cuda": "course_lib.gpu", "numba-cuda-mlir": "course_lib.mlir"}
GROUPS = {"ladder": LADDER, "tensor": TENSOR_CORES, "wgmma": WGMMA}
#: What is kept of a result: the resources and the speed.
KEPT = ("rung", "params", *"MNK", "milliseconds", "gflops", "registers", "local_bytes", "skipped", "wrong")


def module() -> str:
    """Return the module whose commands use the package that compiles the kernels of this process."""
    return COMMANDS[packages()[-1]]


def with_this_compiler(code: str) -> str:
    """Return Python code whose kernels are compiled as those of this process."""
    return code if module() == "course_lib.gpu" else f"from course_lib import mlir; mlir.use(); {code}"


def compilers(names: Names, size: Size, repeats: int) -> Results:
    """Return the results of the rungs on one size with each package.

    Each package and group of rungs has a process of its own; numba-cuda comes first. PackageNotFoundError if one of the
    packages is not installed.
    """
    results = []
    versions = {package: f"{package} {metadata.version(package)}" for package in COMMANDS}
    for package, command in COMMANDS.items():
        for what, group in GROUPS.items():
            rungs = [r.name for r in group if not names or r.name in names]
            if rungs:
                found = measure(command, what, rungs, size, repeats)
                results += [_kept(versions[package], result) for result in found if result.get("rung") in rungs]
    return results


def measure(module: str, what: str, rungs: list[str], size: Size, repeats: int) -> Results:
    """Return the results of one command; RuntimeError with the last line that it printed where there are none."""
    with TemporaryDirectory() as folder:
        command = [sys.executable, "-m", module, what, "--rungs", ",".join(rungs), "--size", "x".join(map(str, size))]
        command += ["--repeats", str(repeats), "--output", folder]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if not (Path(folder) / f"{what}.json").is_file():
            reason = [f"status {done.returncode}", *filter(str.strip, done.stderr.splitlines())][-1]
            raise RuntimeError(f"{' '.join(command[1:3])} {what}: {reason.strip()}")
        return measurements.load(what, folder).results


def _kept(compiler: str, result: Result) -> Result:
    return {"compiler": compiler} | {key: result[key] for key in KEPT if key in result}
