"""A program without a GPU: numba.cuda works on arrays of the host, and each launch of a kernel is a call of ours.

What a program calls of numba.cuda beside its kernels is in :mod:`host`.
"""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numba
import numpy as np
from numba import cuda

from ...simulator.hardware import FORALL, ceil_div
from .. import measurements
from ..gpu.device import replaced
from . import host
from .profiling import MACHINE

#: Called for a launch with the kernel, the grid, the block, the bytes of dynamic shared memory and the arguments.
Launch = Callable[[Any, Any, Any, int, Sequence[Any]], None]


def _plain(value: Any) -> Any:
    """Return an argument of a launch as the simulator takes it."""
    hint = type(value).__name__ if type(value).__module__.startswith("numba.cuda") else ""
    if hint in ("In", "Out", "InOut"):  # numba copies what a kernel stores in In() nowhere
        return np.array(value.value) if hint == "In" else _plain(value.value)
    return host.as_argument(value)


@contextlib.contextmanager
def without_device(launch: Launch, note: host.Note, gpu: str = measurements.DEFAULT_GPU) -> Iterator[None]:
    """Let numba.cuda do without a device: ``launch`` gets each launch, and ``note`` sentences for the user."""
    recorded = measurements.load(MACHINE, gpu).provenance
    kind: Any = type(cuda.jit(lambda x: None))

    def configure(kernel: Any, griddim: Any, blockdim: Any, stream: Any = 0, sharedmem: int = 0) -> Callable[..., None]:
        def call(*arguments: Any, **named: Any) -> None:
            if named:
                raise TypeError(f"a kernel takes no arguments by name; give {', '.join(named)} in its place")
            launch(kernel, griddim, blockdim, sharedmem, [*map(_plain, arguments)])

        return call

    def chosen(kernel: Any, configuration: Any) -> Callable[..., None]:
        if not isinstance(configuration, tuple) or not 2 <= len(configuration) <= 4:
            raise ValueError("a launch takes the grid and the block, as kernel[4, 32](x)")
        return configure(kernel, *configuration)

    def forall(kernel: Any, ntasks: int, tpb: int = 0, stream: Any = 0, sharedmem: int = 0) -> Callable[..., None]:
        if ntasks < 0:
            raise ValueError(f"Can't create ForAll with negative task count: {ntasks}")
        if ntasks == 0:
            return host.nothing
        return configure(kernel, ceil_div(ntasks, tpb or FORALL), tpb or FORALL, stream, sharedmem)

    methods = {
        "__getitem__": chosen,
        "configure": configure,
        "forall": forall,
        "specialize": lambda kernel, *arguments: kernel,
    }
    ufuncs = {name: host.elementwise(getattr(numba, name), note) for name in ("vectorize", "guvectorize")}
    of_cuda = {name: made for name, made in (host.stand_ins(recorded, note) | ufuncs).items() if hasattr(cuda, name)}
    with contextlib.ExitStack() as stack:
        for owner, names in ((cuda, of_cuda), (numba, ufuncs), (kind, methods)):
            stack.enter_context(replaced(owner, **names))
        yield
