"""Every rung compiled by numba-cuda and by its successor numba-cuda-mlir; the commands that use each of them."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from pathlib import Path
from tempfile import TemporaryDirectory

from ...kernels import LADDER, TENSOR_CORES, WGMMA
from ...kernels.intrinsics import packages
from .. import measurements
from .types import Names, Result, Results, Size

#: The module whose commands use each package.
COMMANDS = {"numba-cuda": "course_lib.gpu", "numba-cuda-mlir": "course_lib.mlir"}
GROUPS = {"ladder": LADDER, "tensor": TENSOR_CORES, "wgmma": WGMMA}
#: What is kept of a result: the resources and the speed.
KEPT = ("rung", "params", *"MNK", "milliseconds", "gflops", "registers", "local_bytes", "skipped", "wrong")


def module() -> str:
    """Return the module whose commands use the package that compiles the kernels of this process."""
    return COMMANDS[packages()[-1]]


def arguments_for(code: str) -> list[str]:
    """Return the arguments with which Python runs this code, its kernels compiled as those of this process."""
    chosen = "" if module() == COMMANDS["numba-cuda"] else "from course_lib import mlir; mlir.use(); "
    return ["-W", "ignore", "-c", chosen + code]


def measured_alone(command: str, what: str, folder: Path, repeats: int, *options: str) -> tuple[int, str]:
    """Run one measurement of a module's commands in a process of its own; return its status and what it said."""
    words = [sys.executable, "-m", command, what, *options, "--repeats", str(repeats), "--output", str(folder)]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def reason(status: int, said: str) -> str:
    """Return the last line that a process said, or its status if it said nothing."""
    return next((line.strip() for line in reversed(said.splitlines()) if line.strip()), f"status {status}")


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


def measure(command: str, what: str, rungs: list[str], size: Size, repeats: int) -> Results:
    """Return the results of one command; RuntimeError with the last line that it printed where there are none."""
    with TemporaryDirectory() as name:
        folder, options = Path(name), ("--rungs", ",".join(rungs), "--size", "x".join(map(str, size)))
        status, said = measured_alone(command, what, folder, repeats, *options)
        if what not in measurements.kinds(folder):
            raise RuntimeError(f"python -m {command} {what}: {reason(status, said)}")
        return measurements.load(what, folder).results


def _kept(compiler: str, result: Result) -> Result:
    return {"compiler": compiler} | {key: result[key] for key in KEPT if key in result}
