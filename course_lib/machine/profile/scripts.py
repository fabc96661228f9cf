"""The launches of a script: it runs as it is, on arrays of the host, and each of its launches is profiled.

``cuda.to_device``, ``cuda.device_array``, streams, events and the like do nothing that a GPU is needed for.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from ...simulator.findings import SimulatorError
from ...simulator.hardware import WARP_SIZE, ceil_div
from ...simulator.language.source import python_function
from ...simulator.simulate import simulate
from .. import measurements
from .files import load
from .profiling import MACHINE, Profile, profile

#: Launches that are profiled; further different launches of a script run without a profile.
MOST_PROFILES = 20
#: Threads of a block where a script leaves their number to numba (``kernel.forall(n)``).
FORALL = 128


class DeviceArray(np.ndarray):
    """An array of the host with the methods of one of a GPU."""

    def copy_to_host(self, ary: np.ndarray | None = None, stream: Any = 0) -> np.ndarray:
        """Return a copy, or fill ``ary`` with one and return that."""
        if ary is None:
            return np.array(self)
        ary[...] = self
        return ary

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        """Fill this array."""
        self[...] = ary


@dataclass
class ScriptLaunch:
    """A launch that a script makes, and how often: launches of the same shapes, types and numbers are one."""

    profile: Profile
    times: int = 1


@dataclass(frozen=True)
class ScriptRun:
    """The launches of a script, its statements that failed, and the number of further launches, not profiled."""

    launches: tuple[ScriptLaunch, ...]
    skipped: tuple[str, ...]
    more: int


def run_script(path: Path, gpu: str = measurements.DEFAULT_GPU, **options: Any) -> ScriptRun:
    """Run a script and profile its launches; ``options`` are those of :func:`profile`."""
    found: dict[Any, ScriptLaunch] = {}
    more = 0

    def launch(kernel: Any, grid: Any, block: Any, shared_bytes: int, arguments: Sequence[Any]) -> None:
        nonlocal more
        plain = [np.asarray(value) if isinstance(value, np.ndarray) else value for value in arguments]
        key = python_function(kernel).__code__, repr((grid, block)), shared_bytes, *map(_described, plain)
        try:
            if key not in found and len(found) < MOST_PROFILES:
                made = profile(kernel, grid, block, *plain, shared_bytes=shared_bytes, gpu=gpu, **options)
                found[key] = ScriptLaunch(made)
                return
            simulate(kernel, strict=False)[grid, block, 0, shared_bytes](*plain)
        except SimulatorError as error:
            raise RuntimeError(error.without_option()) from None
        if key in found:
            found[key].times += 1
        else:
            more += 1

    device = measurements.load(MACHINE, gpu).provenance
    arguments = sys.argv
    sys.argv = [str(path)]
    try:
        with _no_device(launch, device):
            file = load(path, "__main__")
    finally:
        sys.argv = arguments
    return ScriptRun(tuple(found.values()), file.skipped, more)


def _described(value: Any) -> Any:
    return (value.shape, value.dtype.str, value.strides) if isinstance(value, np.ndarray) else repr(value)


class _Stream:
    """A stream or an event: everything is done at once."""

    def __getattr__(self, name: str) -> Callable[..., None]:
        if name.startswith("_"):
            raise AttributeError(name)
        return lambda *arguments, **named: None

    def auto_synchronize(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()


def _configured(launch: Callable[..., None], kernel: Any, configuration: Any) -> Callable[..., None]:
    grid, block, *rest = configuration
    shared_bytes = rest[1] if len(rest) > 1 else 0
    return lambda *arguments: launch(kernel, grid, block, shared_bytes, arguments)


@contextlib.contextmanager
def _no_device(launch: Callable[..., None], gpu: dict[str, Any]) -> Iterator[None]:
    """Let numba.cuda work on arrays of the host, and hand each launch of a kernel to ``launch``."""
    from numba import cuda

    kind: Any = type(cuda.jit(lambda x: None))

    def empty(shape: Any, dtype: Any = np.float64, *rest: Any, **named: Any) -> DeviceArray:
        return np.zeros(shape, dtype).view(DeviceArray)

    def like(ary: Any, *rest: Any, **named: Any) -> DeviceArray:
        return np.zeros_like(ary, subok=False).view(DeviceArray)

    def to_device(obj: Any, *rest: Any, copy: bool = True, to: Any = None, **named: Any) -> DeviceArray:
        made = np.array(obj).view(DeviceArray)
        if to is None:
            return made
        to[...] = made
        filled: DeviceArray = to
        return filled

    def forall(kernel: Any, ntasks: int, tpb: int = 0, stream: Any = 0, sharedmem: int = 0) -> Callable[..., None]:
        block = tpb or FORALL
        return _configured(launch, kernel, (ceil_div(ntasks, block), block, stream, sharedmem))

    device = SimpleNamespace(
        name=gpu["gpu"].encode(),
        id=0,
        WARP_SIZE=WARP_SIZE,
        MULTIPROCESSOR_COUNT=gpu["multiprocessors"],
        MAX_THREADS_PER_BLOCK=1024,
        compute_capability=tuple(int(part) for part in gpu["compute_capability"].split(".")),
    )
    nothing = _Stream()
    stand_ins: dict[str, Any] = {
        **dict.fromkeys(("device_array", "pinned_array", "mapped_array", "managed_array"), empty),
        **dict.fromkeys(("device_array_like", "pinned_array_like", "mapped_array_like"), like),
        **dict.fromkeys(("stream", "default_stream", "event"), lambda *_, **__: nothing),
        **dict.fromkeys(("synchronize", "close", "profile_start", "profile_stop"), lambda *_: None),
        **dict.fromkeys(("select_device", "get_current_device"), lambda *_: device),
        **dict.fromkeys(("pinned", "mapped", "defer_cleanup"), lambda *_, **__: contextlib.nullcontext()),
        **dict.fromkeys(("is_available", "detect"), lambda: True),
        "to_device": to_device,
        "as_cuda_array": to_device,
        "event_elapsed_time": lambda *_: float("nan"),
        "gpus": [device],
    }
    methods = {
        "__getitem__": lambda kernel, configuration: _configured(launch, kernel, configuration),
        "configure": lambda kernel, *configuration: _configured(launch, kernel, configuration),
        "forall": forall,
    }
    with contextlib.ExitStack() as stack:
        for owner, names in ((cuda, stand_ins), (kind, methods)):
            for name, stand_in in names.items():
                stack.enter_context(_replaced(owner, name, stand_in))
        yield


@contextlib.contextmanager
def _replaced(owner: Any, name: str, stand_in: Any) -> Iterator[None]:
    """Give an attribute another value for a while."""
    own = vars(owner).get(name, _replaced)
    setattr(owner, name, stand_in)
    try:
        yield
    finally:
        if own is _replaced:
            delattr(owner, name)
        else:
            setattr(owner, name, own)
