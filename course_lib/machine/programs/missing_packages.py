"""Modules in the place of numba, numba-cuda or numba-cuda-mlir, where a program imports one that is not installed.

They hold what kernels and the programs around them use: the names of kernels, types, ``jit``, exceptions, and the
functions of :mod:`host_api`. Whatever else a program asks for raises one sentence that names the package to install.
"""

import ast
import builtins
import contextlib
import functools
import linecache
import os
import sys
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import FrameType, FunctionType, ModuleType, SimpleNamespace
from typing import Any, NoReturn

from ... import lazy
from ...simulator.language.source.names import COORDINATES, OTHER_NAMES, KernelName
from ...simulator.language.translation.calls import CUDA
from ...simulator.language.types.stand_in_types import (
    CLASSES,
    OF_MLIR,
    TYPES,
    VECTORS,
    NumbaSignature,
    NumbaType,
    normalize_signature,
    of_dtype,
    typeof,
)
from .. import measurements
from . import host_api

#: For each package that may stand in: what pip installs, and the version of it that the simulator follows.
PACKAGES = {
    "numba": ("numba", "0.68.1"),
    "numba_cuda": ("numba-cuda", "0.30.4"),
    "numba_cuda_mlir": ("numba-cuda-mlir", "0.6.0"),
}


#: Names in ``cuda`` that an installed package keeps, and that need it: its compiler, or its own types.
OF_THE_PACKAGE = frozenset(
    """
    compile compile_all compile_cubin compile_for compile_mlir compile_ptx declare_device inline_ptx
    Archive CUSource Cubin Fatbin LTOIR LinkableCode Object PTXSource
    BaseCUDAMemoryManager HostOnlyCUDAMemoryManager GetIpcHandleMixin MappedMemory MemoryPointer PinnedMemory
    set_memory_manager MemoryInfo
    Reduce reduce vectorize guvectorize literal_unroll carray farray
    Dim3 dim3 GridGroup grid_group bfloat16 complex32 deferred_type optional ffi ffi_forced_object
    cuda_error prepare_shape_strides_dtype resolve_cuda_array_interface_dtype
    HAS_NUMBA config_default_cc numba_cuda_default_ptx_cc shfl_sync_intrinsic vote_sync_intrinsic test runtests
    """.split()
)


def lacks(name: str) -> str:
    """Return why a part of a package is not there, in one sentence."""
    package, _ = PACKAGES[name.partition(".")[0]]
    return f"{name} needs {package}, which is not installed: pip install {package}"


class StandInModule(ModuleType):
    """A module in the place of one that is not installed."""

    __path__: list[str] = []

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        if self.__name__.endswith(".cuda") and name not in OF_THE_PACKAGE:
            raise AttributeError(f"{self.__name__} has no {name!r}; look up how it is spelled")
        raise AttributeError(lacks(f"{self.__name__}.{name}"))


def _kernel_names() -> dict[str, Any]:
    """Return the names of ``numba.cuda`` that kernels use, by the simulator's table."""
    parts: dict[str, list[str]] = {
        **{name: ["x", "y", "z"] for name in COORDINATES},
        **{"shared": ["array"], "local": ["array"], "laneid": []},
        **{name: [] for (name,) in OTHER_NAMES},
    }
    for name in CUDA:
        first, _, part = name.partition(".")
        parts.setdefault(first, []).extend([part] * bool(part and "." not in part))
    names: dict[str, Any] = {
        first: KernelName(first, {p: KernelName(f"{first}.{p}", {}) for p in inside}) for first, inside in parts.items()
    }
    names |= {other: KernelName(name, {}) for other, name in VECTORS.items()}
    return names | {"warpsize": 32}


class Dispatcher:
    """A kernel or a device function, as ``cuda.jit`` of a package makes it; a program's run launches it."""

    _can_compile = True

    def __init__(self, function: FunctionType, signatures: list[Any], options: Mapping[str, Any]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self.targetoptions = dict(options)
        self.overloads = {}
        for each in signatures:
            arguments, result = normalize_signature(each)
            self.overloads[arguments] = SimpleNamespace(signature=NumbaSignature(result or TYPES["none"], arguments))
        if signatures:
            self._can_compile = False

    @property
    def signatures(self) -> list[tuple[NumbaType, ...]]:
        """The types of the arguments for which it is declared."""
        return [*self.overloads]

    def __call__(self, *arguments: Any, **named: Any) -> NoReturn:
        if self.targetoptions.get("device"):
            raise RuntimeError(f"{self.__name__} is a device function; a kernel calls it")
        raise ValueError(
            f"Kernel launch configuration was not specified: write {self.__name__}[blockspergrid, threadsperblock]"
            f"({', '.join(map(repr, arguments))})"
        )

    def _launch(self, *arguments: Any, **named: Any) -> NoReturn:
        raise DRIVER_ERRORS["CudaSupportError"](
            f"{self.__name__} is launched where nothing stands in for a GPU; "
            f"simulate({self.__name__})[grid, block](...) runs it"
        )

    __getitem__ = configure = forall = specialize = _launch

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith(("inspect_", "get_")):
            raise AttributeError(f"{self.__name__}.{name}() needs a compiler for GPUs: pip install numba-cuda")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __repr__(self) -> str:
        return f"<kernel {self.__name__}>"


def jit(func_or_sig: Any = None, *, device: bool = False, **options: Any) -> Any:
    """Return a kernel, or with ``device`` a device function, or a decorator that makes one, as ``numba.cuda.jit``."""
    if isinstance(func_or_sig, FunctionType):
        return Dispatcher(func_or_sig, [], {**options, "device": device})
    given = options.pop("signature", options.pop("argtypes", func_or_sig))
    signatures = list(given) if isinstance(given, list) else [] if given is None else [given]

    def decorated(function: Any) -> Dispatcher:
        return Dispatcher(getattr(function, "py_func", function), signatures, {**options, "device": device})

    return decorated


class Interpreted:
    """A function that numba would compile for the CPU: Python runs it, as with ``NUMBA_DISABLE_JIT=1``."""

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        return self.py_func(*arguments, **named)

    def __get__(self, owner: Any, kind: Any = None) -> Any:
        return self if owner is None else functools.partial(self, owner)


def _jit_for_the_host(note: host_api.Note) -> Callable[..., Any]:
    """Return ``numba.jit``: Python runs the functions, and ``note`` says so."""

    def interpreted(function: Any) -> Interpreted:
        note("numba is not installed: Python runs the functions that it would compile for the CPU.")
        return Interpreted(function)

    def jit_for_the_host(func_or_sig: Any = None, *signatures: Any, **options: Any) -> Any:
        return interpreted(func_or_sig) if isinstance(func_or_sig, FunctionType) else interpreted

    return jit_for_the_host


class Intrinsic:
    """A function for which numba's compiler writes code of its own; the simulator reads its ``__simulated_as__``."""

    def __init__(self, typer: Callable[..., Any]) -> None:
        self.__name__ = typer.__name__
        self.__doc__ = typer.__doc__
        self.__module__ = typer.__module__

    def __call__(self, *arguments: Any, **named: Any) -> NoReturn:
        raise NotImplementedError(f"{self.__name__} is an intrinsic; a kernel calls it")

    def __repr__(self) -> str:
        return f"<intrinsic {self.__name__}>"


def intrinsic(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Return an intrinsic, or a decorator that makes one, as ``numba.extending.intrinsic``."""
    return Intrinsic if function is None else Intrinsic(function)


class ArgumentHint:
    """``cuda.In(x)``, ``cuda.Out(x)`` or ``cuda.InOut(x)``: which way a launch copies an array."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _errors(rows: str) -> dict[str, Any]:
    """Return exceptions: a row names a base, and the exceptions that have it."""
    classes: dict[str, Any] = {}
    for row in rows.strip().splitlines():
        base, *names = row.split()
        known = classes[base] if base in classes else getattr(builtins, base)
        classes |= {name: type(name, (known,), {"__module__": "numba.core.errors"}) for name in names}
    return classes


#: Exceptions and warnings of numba.
ERRORS = _errors("""
    Warning NumbaWarning NumbaSystemWarning
    NumbaWarning NumbaPerformanceWarning NumbaDeprecationWarning NumbaExperimentalFeatureWarning NumbaDebugInfoWarning
    NumbaWarning NumbaTypeSafetyWarning NumbaInvalidConfigWarning NumbaPedanticWarning NumbaIRAssumptionWarning
    NumbaWarning NumbaParallelSafetyWarning
    NumbaDeprecationWarning NumbaPendingDeprecationWarning
    Exception NumbaError
    NumbaError UnsupportedError IRError DeprecationError LoweringError ForbiddenConstruct TypingError CompilerError
    NumbaError ByteCodeSupportError ConstantInferenceError InternalError RequireLiteralValue NumbaRuntimeError
    NumbaError NumbaAssertionError NumbaNotImplementedError
    TypingError NumbaValueError NumbaTypeError NumbaAttributeError NumbaKeyError NumbaIndexError LiteralTypingError
    UnsupportedError UnsupportedBytecodeError UnsupportedRewriteError UnsupportedParforsError
    IRError RedefinedError NotDefinedError VerificationError
    TypingError UntypedAttributeError
""")
#: Exceptions of the driver: nothing here raises them, and programs name them.
DRIVER_ERRORS = _errors("""
    Exception CudaDriverError CudaRuntimeError NvvmError NvrtcError
    ImportError CudaSupportError NvvmSupportError NvrtcSupportError
    Warning NvvmWarning
    RuntimeError CCSupportError DeadMemoryError LinkerError KernelRuntimeError
    CudaDriverError CudaAPIError
    CudaRuntimeError CudaRuntimeAPIError
    NvrtcError NvrtcCompilationError NvrtcBuiltinOperationFailure
""")


def _of_cuda(module: str, table: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what is in a ``cuda`` module and in those below it; ``table`` is that of :func:`host_api.stand_ins`."""
    context, gpus = table["current_context"], table["gpus"]
    own = {
        **TYPES,
        **_kernel_names(),
        **table,
        **{name: type(name, (ArgumentHint,), {"__module__": f"{module}.args"}) for name in ("In", "Out", "InOut")},
        **{name: DRIVER_ERRORS[name] for name in ("CudaSupportError", "KernelRuntimeError")},
        "jit": jit,
        "is_cuda_array": lambda obj: hasattr(obj, "__cuda_array_interface__"),
    }
    return {
        "": own,
        ".types": {**TYPES, **CLASSES, "Type": NumbaType},
        ".errors": ERRORS | {"KernelRuntimeError": DRIVER_ERRORS["KernelRuntimeError"]},
        ".libdevice": {name: KernelName(f"libdevice.{name}", {}) for name in vars(own["libdevice"]) if name[0] != "_"},
        ".cudadrv": {},
        ".cudadrv.error": DRIVER_ERRORS,
        ".cudadrv.driver": DRIVER_ERRORS,
        ".cudadrv.runtime": DRIVER_ERRORS,
        ".cudadrv.nvvm": DRIVER_ERRORS,
        ".cudadrv.devices": {"gpus": gpus, "get_context": context, "require_context": table["require_context"]},
        ".cudadrv.devicearray": {
            "DeviceNDArray": host_api.DeviceArray,
            **dict.fromkeys(("MappedNDArray", "ManagedNDArray"), host_api.HostArray),
            "is_cuda_ndarray": lambda obj: bool(getattr(obj, "__cuda_ndarray__", False)),
        },
    }


def _of_numba(table: Mapping[str, Any], note: host_api.Note) -> dict[str, dict[str, Any]]:
    """Return what is in numba and its modules."""
    types = {**TYPES, **CLASSES, "Type": NumbaType}
    config = {
        **dict.fromkeys(("ENABLE_CUDASIM", "CUDA_LOW_OCCUPANCY_WARNINGS", "CUDA_WARN_ON_IMPLICIT_COPY"), 0),
        **{"DISABLE_JIT": 1, "NUMBA_NUM_THREADS": os.cpu_count() or 1},
    }
    of_host = _jit_for_the_host(note)
    own: dict[str, Any] = {name: kind for name, kind in TYPES.items() if name not in ("float16", "f2")}
    own |= {**ERRORS, "jit": of_host, "njit": of_host, "prange": range, "typeof": typeof, "from_dtype": of_dtype}
    return {
        "": own,
        ".types": types,
        ".extending": {"intrinsic": intrinsic, "register_jitable": of_host},
        ".core": {},
        ".core.types": types,
        ".core.errors": ERRORS,
        ".core.config": config,
        ".core.sigutils": {"normalize_signature": normalize_signature},
        **{f".cuda{part}": names for part, names in _of_cuda("numba.cuda", table).items()},
    }


def _of_mlir(table: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return what is in numba_cuda_mlir and its modules."""
    types = {**TYPES, **OF_MLIR, **CLASSES, "Type": NumbaType}
    return {
        "": {},
        ".types": types,
        ".errors": ERRORS,
        **{f".cuda{part}": names for part, names in _of_cuda("numba_cuda_mlir.cuda", table).items()},
    }


def modules(top: str, table: Mapping[str, Any], note: host_api.Note) -> dict[str, StandInModule]:
    """Return the modules of a package of PACKAGES, by their names; each is an attribute of the one above it."""
    found: dict[str, StandInModule] = {}
    inside = {"numba": lambda: _of_numba(table, note), "numba_cuda_mlir": lambda: _of_mlir(table)}
    for name, names in inside.get(top, lambda: {"": {}})().items():
        module = found[top + name] = StandInModule(top + name)
        vars(module).update(names)
        above, _, last = module.__name__.rpartition(".")
        if above and last != "cuda":  # it is imported, and then changed, as that of an installed package
            setattr(found[above], last, module)
    vars(found[top])["__version__"] = PACKAGES[top][1]
    for alias, name in (("types", "core.types"), ("config", "core.config"), ("errors", "core.errors")):
        if f"{top}.{name}" in found:
            setattr(found[top], alias, found[f"{top}.{name}"])
    return found


class AbsentPackages(MetaPathFinder):
    """Finds the packages of PACKAGES, asked after all other finders; ``stand_ins`` are the modules of those it found.

    It does so for an import alone: ``importlib.util.find_spec`` says what is installed. If another one of PACKAGES is
    installed, an import in a ``try`` fails, too: the program chooses what is there.
    """

    packages: Collection[str] = PACKAGES
    #: Modules that look for a package, where others import it.
    looks: Collection[str] = ("importlib.util",)

    def __init__(self, table: Callable[[], Mapping[str, Any]], note: host_api.Note) -> None:
        self._table, self._note = table, note
        self.stand_ins: dict[str, StandInModule] = {}

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """Return how to load a module of such a package; raise ModuleNotFoundError for one that is not made."""
        top = name.partition(".")[0]
        if name == top and top in self.packages and top not in self.stand_ins:
            asking = _asking()
            if asking is None or asking.f_globals.get("__name__") in self.looks:
                return None
            if self._leaves_to_a_try(top) and _may_fail(asking):
                return None
            self.stand_ins |= modules(top, self._table(), self._note)
        if name in self.stand_ins:
            spec = ModuleSpec(name, _ModuleLoader(self.stand_ins[name]), is_package=True)
            spec.origin = f"names of {__package__}: {PACKAGES[top][0]} is not installed"
            return spec
        if top in self.stand_ins:
            raise ModuleNotFoundError(lacks(name), name=top)  # named so, `from package import part` says this, too
        return None

    def _leaves_to_a_try(self, top: str) -> bool:
        """Whether an import in a ``try`` fails: another package is installed."""
        return any(find_spec(each) is not None for each in PACKAGES if each != top and each not in self.stand_ins)


class _NoDriver:
    """What is in ``cuda`` for programs of the host, where nothing stands in for a GPU."""

    def __init__(self, name: str) -> None:
        self.__name__ = name

    def __call__(self, *arguments: Any, **named: Any) -> NoReturn:
        raise DRIVER_ERRORS["CudaSupportError"](
            f"cuda.{self.__name__} needs numba and a GPU, and neither is here; simulate(kernel)[grid, block](...) runs "
            "a kernel, and after without_gpu() a program runs as it is"
        )

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        self()


def _without_driver() -> dict[str, Any]:
    """Return what is in ``cuda`` for programs of the host, by the names of `host_api.stand_ins`: no GPU is there."""
    known = host_api.stand_ins(measurements.load(measurements.MACHINE).provenance, host_api.nothing)
    absent = {name: thing if isinstance(thing, type) else _NoDriver(name) for name, thing in known.items()}
    return {**absent, "gpus": host_api.Devices(()), "is_available": lambda: False, "require_context": lambda fn: fn}


class NumbaOfLessons(AbsentPackages):
    """Finds numba for kernels and lessons where it is not installed, as in a browser: without a GPU and its driver.

    A program that is run by this process has stand-ins of its own. An import in a ``try`` fails, and so does one by
    name: whoever writes one does without.
    """

    packages = ("numba",)
    looks = ("importlib", "importlib.util")

    def __init__(self) -> None:
        super().__init__(_without_driver, lambda said: warnings.warn(said, stacklevel=3))

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        """Return how to load a module of numba; None while a program is run."""
        if not self.stand_ins and any(isinstance(each, AbsentPackages) for each in sys.meta_path):
            return None
        return super().find_spec(name, path, target)

    def _leaves_to_a_try(self, top: str) -> bool:
        return True


def _asking() -> FrameType | None:
    """Return what asks for a module: of the program, or of a module such as importlib.util."""
    frame: FrameType | None = sys._getframe()
    own = (__name__, f"{__package__}.import_hook", f"{__package__}.start", lazy.__name__, "importlib._bootstrap")
    while frame is not None and frame.f_globals.get("__name__") in own:
        frame = frame.f_back
    return frame


def _may_fail(importing: FrameType) -> bool:
    """Whether the line that imports is in a ``try`` that handles an exception. Without its text, it is not."""
    line = importing.f_lineno
    try:
        tree = ast.parse("".join(linecache.getlines(importing.f_code.co_filename, importing.f_globals)))
    except SyntaxError:  # as in a cell with a magic
        return False
    tries = [node for node in ast.walk(tree) if isinstance(node, ast.Try) and node.handlers]
    return any(node.lineno <= line <= (node.body[-1].end_lineno or 0) for node in tries)


class _ModuleLoader(Loader):
    """The loader of a module that is made."""

    def __init__(self, module: StandInModule) -> None:
        self._module = module

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """Return the module."""
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module as it was made."""


@contextlib.contextmanager
def absent_packages(table: Callable[[], Mapping[str, Any]], note: host_api.Note) -> Iterator[None]:
    """Let a program import packages that are not installed; ``table`` returns that of :func:`host_api.stand_ins`."""
    finder = AbsentPackages(table, note)
    sys.meta_path.append(finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)
        for name, module in finder.stand_ins.items():
            if sys.modules.get(name) is module:
                del sys.modules[name]
