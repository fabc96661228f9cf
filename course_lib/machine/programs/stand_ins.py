"""A program without a GPU: arrays of the host take the place of a GPU's, and each launch of a kernel is a call of ours.

What a program calls of numba.cuda beside its kernels is in :mod:`host_api`.
"""

import contextlib
import copy
import functools
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any

from ...simulator.device_memory import AllocationView
from ...simulator.hardware import FORALL, ceil_div
from .. import measurements
from ..patched_attributes import replaced
from . import host_api
from .executed_texts import readable_texts
from .import_hook import when_imported
from .missing_packages import StandInModule, absent_packages

#: numba's variable for its own simulator, whose place the stand-ins take.
CUDASIM = "NUMBA_ENABLE_CUDASIM"
#: The modules with the decorator of kernels; numba-cuda takes the name of numba's.
CUDA_MODULES = ("numba.cuda", "numba_cuda_mlir.cuda")
#: Called for a launch with the kernel, the grid, the block, the bytes of dynamic shared memory and the arguments.
LaunchHandler = Callable[[Any, Any, Any, int, Sequence[Any]], None]


def signatures_wait(jit: Callable[..., Any]) -> Callable[..., Any]:
    """Return numba's ``cuda.jit``, but that a signature compiles nothing: that would need a GPU's driver.

    The simulator reads it from the dispatcher's ``waiting_for``. ``lto`` asks for NVIDIA's linker, which may be absent.
    """

    @functools.wraps(jit)
    def waiting(func_or_sig: Any = None, *others: Any, **options: Any) -> Any:
        options.pop("lto", None)
        if isinstance(func_or_sig, FunctionType):
            return jit(func_or_sig, *others, **options)
        signature = options.pop("signature", func_or_sig)
        decorate = jit(**options)

        def decorated(function: FunctionType) -> Any:
            dispatcher = decorate(function)
            dispatcher.waiting_for = signature
            return dispatcher

        return decorated

    return waiting


def _plain(value: Any) -> Any:
    """Return an argument of a launch as the simulator takes it."""
    hint = type(value).__name__ if type(value).__module__.startswith("numba") else ""
    if hint not in ("In", "Out", "InOut"):
        return host_api.as_argument(value)
    plain = _plain(value.value)
    if isinstance(plain, AllocationView) and not plain.copied:  # in the GPU's memory already
        return plain
    if hint == "In":  # numba copies what a kernel stores nowhere
        return copy.deepcopy(plain)
    return host_api.as_output(plain) if hint == "Out" else plain


@contextlib.contextmanager
def without_device(launch: LaunchHandler, note: host_api.Note, gpu: str = measurements.DEFAULT_GPU) -> Iterator[None]:
    """Let a program do without a device: ``launch`` gets each launch, and ``note`` sentences for the user.

    numba and numba-cuda-mlir may be imported already, later, or not be installed.
    """
    with contextlib.ExitStack() as stack:

        def replace(owner: Any, names: dict[str, Any]) -> None:
            stack.enter_context(replaced(owner, **names))

        @functools.cache
        def table() -> dict[str, Any]:
            return host_api.stand_ins(measurements.load(measurements.MACHINE, gpu).provenance, note)

        def of_numba(numba: ModuleType) -> None:
            if not isinstance(numba, StandInModule):
                replace(numba, {name: host_api.elementwise(getattr(numba, name), note, "cpu") for name in _ELEMENTWISE})

        def of_cuda(cuda: ModuleType) -> None:
            kernel = type(cuda.jit(_no_kernel))
            replace(kernel, _kernel_methods(launch, note))
            names = dict(table())
            if not isinstance(cuda, StandInModule):
                of_elements = {name: host_api.elementwise(_of_numba(name), note, "cuda") for name in _ELEMENTWISE}
                names |= {"jit": signatures_wait(cuda.jit), **of_elements}
            for module, known in [(cuda, names), *host_api.parts(cuda, table())]:
                replace(module, {name: stand_in for name, stand_in in known.items() if hasattr(module, name)})

        stack.enter_context(readable_texts())
        stack.enter_context(absent_packages(table, note))
        stack.enter_context(when_imported({"numba": of_numba} | dict.fromkeys(CUDA_MODULES, of_cuda)))
        yield


@contextlib.contextmanager
def kernels_defined() -> Iterator[None]:
    """Let files define kernels, also with signatures, by packages that are installed or not. A launch needs a GPU."""
    with contextlib.ExitStack() as stack:

        def of_cuda(cuda: ModuleType) -> None:
            if not isinstance(cuda, StandInModule):
                stack.enter_context(replaced(cuda, jit=signatures_wait(cuda.jit)))

        def table() -> dict[str, Any]:
            return host_api.stand_ins(measurements.load(measurements.MACHINE).provenance, host_api.nothing)

        stack.enter_context(absent_packages(table, host_api.nothing))
        stack.enter_context(when_imported(dict.fromkeys(CUDA_MODULES, of_cuda)))
        yield


#: The decorators of functions of the elements of arrays.
_ELEMENTWISE = ("vectorize", "guvectorize")


def _of_numba(name: str) -> Callable[..., Any]:
    """Return a function of numba, which is imported when it is called: numba-cuda-mlir does without."""
    return lambda *arguments, **named: getattr(import_module("numba"), name)(*arguments, **named)


def _no_kernel(x: Any) -> None:
    """Be decorated, to see of which class a kernel is."""


def _kernel_methods(launch: LaunchHandler, note: host_api.Note) -> dict[str, Any]:
    """Return what replaces the methods by which a kernel is launched."""

    def configure(kernel: Any, griddim: Any, blockdim: Any, stream: Any = 0, sharedmem: int = 0) -> Callable[..., None]:
        def call(*arguments: Any, **named: Any) -> None:
            __tracebackhide__ = True  # pytest shows the line that launches
            if named:
                raise TypeError(f"a kernel takes no arguments by name; give {', '.join(named)} in its place")
            given = [*map(_plain, arguments)]
            launch(kernel, griddim, blockdim, sharedmem, given)
            for each in given:
                if isinstance(each, AllocationView) and each.output:
                    host_api.note_missing(each, note, "cuda.Out copies to the host")

        return call

    def chosen(kernel: Any, configuration: Any) -> Callable[..., None]:
        if not isinstance(configuration, tuple) or not 2 <= len(configuration) <= 4:
            raise ValueError("a launch takes the grid and the block, as kernel[4, 32](x)")
        return configure(kernel, *configuration)

    def forall(kernel: Any, ntasks: int, tpb: int = 0, stream: Any = 0, sharedmem: int = 0) -> Callable[..., None]:
        if ntasks < 0:
            raise ValueError(f"Can't create ForAll with negative task count: {ntasks}")
        if ntasks == 0:
            return host_api.nothing
        return configure(kernel, ceil_div(ntasks, tpb or FORALL), tpb or FORALL, stream, sharedmem)

    return {
        "__getitem__": chosen,
        "configure": configure,
        "forall": forall,
        "specialize": lambda kernel, *arguments: kernel,
        "compile": lambda kernel, sig: kernel,
    }
