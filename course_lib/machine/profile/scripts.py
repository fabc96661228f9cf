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

from ...simulator.hardware import FORALL, ceil_div
from .. import measurements
from ..gpu.device import replaced
from . import host
from .files import load, place_of
from .launches import Launches
from .limit import OutOfTime, stopped_after
from .profiling import MACHINE

#: How long a script may run, in seconds.
SECONDS = 120.0


@dataclass
class ScriptRun:
    """The launches of a script, and its statements that failed.

    ``notes`` says where it was told something else than a GPU tells, and ``stopped`` where it was after its time.
    """

    launches: Launches
    skipped: list[str] = field(default_factory=list)
    notes: dict[str, None] = field(default_factory=dict)
    stopped: str = ""


def run_script(
    path: Path,
    gpu: str = measurements.DEFAULT_GPU,
    limit: float = SECONDS,
    words: Sequence[str] = (),
    **options: Any,
) -> ScriptRun:
    """Run a script with the arguments ``words`` for at most ``limit`` seconds, and judge its launches, with the
    ``options`` of :class:`Launches`. Tries of repairs take a third of the time at most."""
    done = ScriptRun(Launches(gpu, repair_seconds=limit / 3, **options))

    def launch(kernel: Any, grid: Any, block: Any, shared_bytes: int, arguments: Sequence[Any]) -> None:
        done.launches.launch(kernel, grid, block, shared_bytes, [_plain(value) for value in arguments])

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
