"""The GPU and the software that drives it. numba is imported on first use."""

import platform
import subprocess
from datetime import UTC, datetime
from importlib import metadata
from typing import Any


class NoGPUError(RuntimeError):
    """Raised where numba finds no CUDA GPU; the message is one sentence."""


def available() -> bool:
    """Return whether numba finds a CUDA GPU. Its own CPU simulator (NUMBA_ENABLE_CUDASIM) is not one.

    >>> gpu.available() in (True, False)
    True
    """
    try:
        from numba import config, cuda
    except ImportError:
        return False
    return not config.ENABLE_CUDASIM and cuda.is_available()


def require() -> Any:
    """Return `numba.cuda`; raise NoGPUError with one sentence if there is no GPU."""
    if not available():
        raise NoGPUError(
            "No CUDA GPU was found, so nothing can be measured here; "
            "the recorded results are in course_lib/machine/measurements."
        )
    from numba import cuda

    return cuda


def l2_bytes() -> int:
    """Return the size of the GPU's L2 cache in bytes."""
    return int(require().get_current_device().L2_CACHE_SIZE)


def describe() -> dict[str, Any]:
    """Return the provenance of a recording: GPU, driver, versions, date.

    >>> not gpu.available() or "driver" in gpu.describe()
    True
    """
    cuda = require()
    gpu = cuda.get_current_device()
    name = gpu.name.decode() if isinstance(gpu.name, bytes) else gpu.name
    return {
        "gpu": name,
        "compute_capability": ".".join(map(str, gpu.compute_capability)),
        "multiprocessors": int(gpu.MULTIPROCESSOR_COUNT),
        "l2_bytes": l2_bytes(),
        "shared_bytes_per_multiprocessor": int(gpu.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
        "registers_per_multiprocessor": int(gpu.MAX_REGISTERS_PER_MULTIPROCESSOR),
        "threads_per_multiprocessor": threads_per_multiprocessor(gpu),
        "clock_hertz": (kilohertz := _attribute(gpu, "CLOCK_RATE")) and 1000 * kilohertz,  # the highest allowed one
        "driver": _driver_version(),
        "cuda_runtime": ".".join(map(str, cuda.runtime.get_version())),
        "python": platform.python_version(),
        "numpy": _version("numpy"),
        **{package: _version(package) for package in ("numba", "numba-cuda")},
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def threads_per_multiprocessor(gpu: Any) -> int | None:
    """Return the limit, under either of the two names that versions of numba give it."""
    return _attribute(gpu, "MAX_THREADS_PER_MULTI_PROCESSOR", "MAX_THREADS_PER_MULTIPROCESSOR")


def _attribute(gpu: Any, *names: str) -> int | None:
    """Return the device's attribute by the first of the names that this numba knows, or None."""
    for name in names:
        try:
            return int(getattr(gpu, name))
        except AttributeError:
            continue
    return None


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _driver_version() -> str | None:
    """Return the display driver's version from nvidia-smi, or None if that tool is missing."""
    command = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    try:
        asked = subprocess.run(command, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return None
    return asked.stdout.split("\n")[0].strip() or None
