"""The launches of a script: it runs as it is, on arrays of the host, and each of its launches is profiled.

What it calls of numba.cuda beside its kernels is in :mod:`host`.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numba
import numpy as np
from numba import cuda

from ...simulator.findings import SimulatorError
from ...simulator.hardware import FORALL, ceil_div
from ...simulator.language.source import python_function
from ...simulator.simulate import simulate
from .. import measurements
from ..gpu.device import replaced
from . import host
from .files import load, place_of
from .limit import OutOfTime, stopped_after
from .profiling import MACHINE, Profile, profile

#: Launches that are profiled; further different launches of a script run without a profile. Tries of repairs take a
#: third of a script's time at most.
MOST_PROFILES = 20
#: How long a script may run, in seconds.
SECONDS = 120.0


@dataclass
class ScriptLaunch:
    """A launch that a script makes, and how often: launches of the same shapes, types and numbers are one.

    ``profile`` is None if the kernel or its launch is ``refused``, with the reason; ``name`` is the kernel's.
    """

    name: str
    profile: Profile | None
    refused: str = ""
    times: int = 1


@dataclass
class ScriptRun:
    """The launches of a script, its statements that failed, and the number of further launches, not profiled.

    ``notes`` says where it was told something else than a GPU tells, and ``stopped`` where it was after its time.
    """

    found: dict[Any, ScriptLaunch] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    more: int = 0
    notes: dict[str, None] = field(default_factory=dict)
    stopped: str = ""


def run_script(
    path: Path,
    gpu: str = measurements.DEFAULT_GPU,
    limit: float = SECONDS,
    words: Sequence[str] = (),
    **options: Any,
) -> ScriptRun:
    """Run a script with the arguments ``words`` for at most ``limit`` seconds and profile its launches, with the
    ``options`` of :func:`profile`."""
    done = ScriptRun()
    options = {"gpu": gpu, "repair_seconds": limit / 3 / MOST_PROFILES, **options}

    def launch(kernel: Any, grid: Any, block: Any, shared_bytes: int, arguments: Sequence[Any]) -> None:
        plain = [_plain(value) for value in arguments]
        said = [(v.shape, v.dtype.str, v.strides) if isinstance(v, np.ndarray) else repr(v) for v in plain]
        key = python_function(kernel).__code__, repr((grid, block)), shared_bytes, *said
        name = python_function(kernel).__name__
        known = done.found.get(key)
        try:
            if known is None and len(done.found) < MOST_PROFILES:
                made = profile(kernel, grid, block, *plain, shared_bytes=shared_bytes, **options)
                done.found[key] = ScriptLaunch(name, made)
                return
            if known is None or not known.refused:
                simulate(kernel, strict=False)[grid, block, 0, shared_bytes](*plain)
        except SimulatorError as error:  # the script goes on: its other kernels are judged, too
            done.found.setdefault(key, ScriptLaunch(name, None, error.without_option()))
            return
        if known is not None:
            known.times += 1
        else:
            done.more += 1

    device = measurements.load(MACHINE, gpu).provenance
    try:
        with stopped_after(limit, str(path)), _no_device(launch, device, lambda said: done.notes.update({said: None})):
            load(path, "__main__", done.skipped, words)
    except OutOfTime as error:
        done.stopped = f"The script ran for {limit:g} s and was stopped in line {place_of(error, str(path))}"
    return done


def _plain(value: Any) -> Any:
    """Return an argument of a launch as the simulator takes it."""
    hint = type(value).__name__ if type(value).__module__.startswith("numba.cuda") else ""
    if hint in ("In", "Out", "InOut"):  # numba copies what a kernel stores in In() nowhere
        return np.array(value.value) if hint == "In" else np.asarray(value.value)
    return np.asarray(value) if isinstance(value, np.ndarray) else value


@contextlib.contextmanager
def _no_device(launch: Callable[..., None], gpu: dict[str, Any], note: Callable[[str], None]) -> Iterator[None]:
    """Let numba.cuda work on arrays of the host, and hand each launch of a kernel to ``launch``."""
    kind: Any = type(cuda.jit(lambda x: None))

    def configure(kernel: Any, griddim: Any, blockdim: Any, stream: Any = 0, sharedmem: int = 0) -> Callable[..., None]:
        def call(*arguments: Any, **named: Any) -> None:
            if named:
                raise TypeError(f"a kernel takes no arguments by name; give {', '.join(named)} in its place")
            launch(kernel, griddim, blockdim, sharedmem, arguments)

        return call

    def chosen(kernel: Any, configuration: Any) -> Callable[..., None]:
        if not isinstance(configuration, tuple) or not 2 <= len(configuration) <= 4:
            raise ValueError("a launch takes the grid and the block, as kernel[4, 32](x)")
        return configure(kernel, *configuration)

    def forall(kernel: Any, ntasks: int, tpb: int = 0, stream: Any = 0, sharedmem: int = 0) -> Callable[..., None]:
        return configure(kernel, ceil_div(ntasks, tpb or FORALL), tpb or FORALL, stream, sharedmem)

    methods = {
        "__getitem__": chosen,
        "configure": configure,
        "forall": forall,
        "specialize": lambda kernel, *arguments: kernel,
    }
    ufuncs = {name: host.elementwise(getattr(numba, name), note) for name in ("vectorize", "guvectorize")}
    of_cuda = {name: made for name, made in (host.stand_ins(gpu, note) | ufuncs).items() if hasattr(cuda, name)}
    with contextlib.ExitStack() as stack:
        for owner, names in ((cuda, of_cuda), (numba, ufuncs), (kind, methods)):
            stack.enter_context(replaced(owner, **names))
        yield
