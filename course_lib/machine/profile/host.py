"""What a host program calls of numba.cuda, on arrays of the host: one table, :func:`stand_ins`.

All that a GPU would do later is done at once, so whatever a program polls or waits for is done. What has no honest
answer without a GPU raises :class:`NeedsGPU`, in the words of :data:`NEEDS`.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping
from operator import attrgetter, itemgetter
from types import SimpleNamespace
from typing import Any, NoReturn

import numpy as np

from ...simulator.hardware import MAX_BLOCK, MAX_GRID, MAX_THREADS_PER_BLOCK, SHARED_LIMIT, WARP_SIZE

#: What to do instead of what a GPU alone can do: for each advice, names in numba.cuda and in the classes below.
_INSTEAD = {
    "it compiles for the GPU that is there; name one, as in cuda.compile_ptx(f, types, cc=(9, 0))": """
        compile_for_current_device compile_ptx_for_current_device""",
    "it shares memory with another process on a GPU; leave it out": """
        open_ipc_array IpcHandle DeviceArray.get_ipc_handle DeviceContext.get_ipc_handle
        DeviceContext.open_ipc_handle""",
    "its memory is this machine's; pass the array itself": "DeviceArray.device_ctypes_pointer",
    "it loads machine code; decorate the kernel with @cuda.jit and launch it": """
        DeviceContext.create_module_image DeviceContext.create_module_ptx DeviceContext.unload_module""",
    "call numba.cuda's function instead, such as cuda.device_array, cuda.stream or cuda.event": """
        DeviceContext.memalloc DeviceContext.memallocmanaged DeviceContext.memhostalloc DeviceContext.mempin""",
    "it asks the driver about machine code; the profile says how many blocks a multiprocessor holds": """
        DeviceContext.get_active_blocks_per_multiprocessor DeviceContext.get_max_potential_block_size""",
    "it looks for one GPU of several; use cuda.get_current_device()": "Device.from_identity",
    "it is an address on a bus; leave it out": "Device.get_device_identity",
}
NEEDS = {name: advice for advice, names in _INSTEAD.items() for name in names.split()}


class NeedsGPU(AttributeError):
    """A host program asks for what only a GPU can say or do. The message is one sentence."""

    def __init__(self, name: str) -> None:
        advice = NEEDS.get(name, "leave it out, or give the value by hand")
        super().__init__(f"{'cuda.' if '.' not in name else ''}{name} needs a GPU: {advice}")


#: Free memory and all of it, in bytes.
MemoryInfo = namedtuple("MemoryInfo", "free total")


def needs(name: str) -> Callable[..., NoReturn]:
    """Return a function that raises NeedsGPU."""

    def absent(*arguments: Any, **named: Any) -> NoReturn:
        raise NeedsGPU(name)

    return absent


def nothing(*arguments: Any, **named: Any) -> None:
    """Do nothing: all work is done at once."""


def no_context(*arguments: Any, **named: Any) -> contextlib.AbstractContextManager[None]:
    """Return a context that does nothing."""
    return contextlib.nullcontext()


class _StandIn:
    """An object of the driver. What it does not have needs a GPU."""

    def __getattr__(self, name: str) -> NoReturn:
        if name.startswith("_"):
            raise AttributeError(name)
        raise NeedsGPU(f"{type(self).__name__}.{name}")


class DeviceArray(np.ndarray):
    """An array of the host with the methods of one of a GPU."""

    stream: Any = 0
    alloc_size = property(attrgetter("nbytes"))
    __cuda_array_interface__ = property(attrgetter("__array_interface__"))

    def copy_to_host(self, ary: np.ndarray | None = None, stream: Any = 0) -> np.ndarray:
        """Return a copy, or fill ``ary`` with one and return that."""
        if ary is None:
            return np.array(self)
        ary[...] = self
        return ary

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        self[...] = ary

    def is_c_contiguous(self) -> bool:
        return self.flags.c_contiguous

    def is_f_contiguous(self) -> bool:
        return self.flags.f_contiguous

    def split(self, section: int, stream: Any = 0) -> Iterator[DeviceArray]:
        """Yield parts of ``section`` elements; the last one may be shorter."""
        if self.ndim != 1:
            raise ValueError("only support 1d array")
        for begin in range(0, self.size, section):
            yield self[begin : begin + section]  # type: ignore[misc]

    def ravel(self, order: Any = "C", stream: Any = 0) -> Any:
        return super().ravel(order)

    def squeeze(self, axis: Any = None, stream: Any = 0) -> Any:
        return super().squeeze(axis)

    def getitem(self, item: Any, stream: Any = 0) -> Any:
        return self[item]

    def setitem(self, key: Any, value: Any, stream: Any = 0) -> None:
        self[key] = value

    def bind(self, stream: Any = 0) -> DeviceArray:
        """Return the same array: work on every stream is done at once."""
        return self

    as_cuda_arg = bind
    get_ipc_handle = needs("DeviceArray.get_ipc_handle")
    device_ctypes_pointer = property(needs("DeviceArray.device_ctypes_pointer"))


class Stream(_StandIn):
    """A stream: everything on it is done at once."""

    handle = 0
    synchronize = nothing

    def auto_synchronize(self) -> contextlib.AbstractContextManager[Stream]:
        """Return a context that waits for nothing."""
        return contextlib.nullcontext(self)

    def add_callback(self, callback: Callable[..., Any], arg: Any = None) -> None:
        callback(self, 0, arg)

    def async_done(self) -> asyncio.Future[Stream]:
        """Return an awaitable that is done, with the stream as its result."""
        done: asyncio.Future[Stream] = asyncio.get_running_loop().create_future()
        done.set_result(self)
        return done


class Event(_StandIn):
    """An event, which has happened."""

    record = wait = synchronize = nothing

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note

    def query(self) -> bool:
        """Return that all work before the event is done."""
        return True

    def elapsed_time(self, evtend: Any) -> float:
        """Return nan: no time is measured."""
        self._note("No time is measured: the time between two events is nan.")
        return float("nan")


class Device(_StandIn):
    """A recorded GPU; ``with`` selects it."""

    release_primary_context = reset = __exit__ = nothing

    def __init__(self, context: DeviceContext, gpu: Mapping[str, Any]) -> None:
        capability = tuple(int(part) for part in gpu["compute_capability"].split("."))
        self._context = context
        self.name, self.id, self.uuid = gpu["gpu"].encode(), 0, "GPU-00000000-0000-0000-0000-000000000000"
        self.compute_capability = capability
        self.COMPUTE_CAPABILITY_MAJOR, self.COMPUTE_CAPABILITY_MINOR = capability
        self.WARP_SIZE, self.MULTIPROCESSOR_COUNT = WARP_SIZE, gpu["multiprocessors"]
        self.MAX_THREADS_PER_BLOCK = MAX_THREADS_PER_BLOCK
        self.MAX_BLOCK_DIM_X, self.MAX_BLOCK_DIM_Y, self.MAX_BLOCK_DIM_Z = MAX_BLOCK
        self.MAX_GRID_DIM_X, self.MAX_GRID_DIM_Y, self.MAX_GRID_DIM_Z = MAX_GRID
        self.MAX_THREADS_PER_MULTI_PROCESSOR = gpu["threads_per_multiprocessor"]
        self.MAX_REGISTERS_PER_MULTIPROCESSOR = gpu["registers_per_multiprocessor"]
        self.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = gpu["shared_bytes_per_multiprocessor"]
        self.MAX_SHARED_MEMORY_PER_BLOCK = SHARED_LIMIT
        self.L2_CACHE_SIZE, self.CLOCK_RATE = gpu["l2_bytes"], gpu["clock_hertz"] // 1000
        self.UNIFIED_ADDRESSING = self.CAN_MAP_HOST_MEMORY = self.CONCURRENT_KERNELS = 1
        self.supports_float16 = self.supports_bfloat16 = self.supports_fp8 = True

    def get_primary_context(self) -> DeviceContext:
        return self._context

    def __enter__(self) -> Device:
        return self


class DeviceContext(_StandIn):
    """The context of the one device, whose memory is this machine's."""

    defer_cleanup = no_context
    synchronize = push = pop = reset = prepare_for_use = enable_peer_access = nothing

    def __init__(self, gpu: Mapping[str, Any], note: Callable[[str], None]) -> None:
        self._note = note
        self.device = Device(self, gpu)

    def get_memory_info(self) -> MemoryInfo:
        """Return the memory of this machine, where the arrays are."""
        try:
            page, free, total = (os.sysconf(f"SC_{name}") for name in ("PAGE_SIZE", "AVPHYS_PAGES", "PHYS_PAGES"))
        except (AttributeError, ValueError, OSError):
            raise NeedsGPU("DeviceContext.get_memory_info") from None
        self._note("The memory that the script asks for is this machine's, not a GPU's.")
        return MemoryInfo(free * page, total * page)

    def create_stream(self, ptr: int = 0) -> Stream:
        return Stream()

    create_external_stream = create_stream
    get_default_stream = get_legacy_default_stream = get_per_thread_default_stream = create_stream

    def create_event(self, timing: bool = True) -> Event:
        return Event(self._note)

    def can_access_peer(self, peer_context: Any) -> bool:
        """Return False: there is one GPU."""
        return False


class Devices(tuple[Device]):
    """``cuda.gpus``: the one recorded GPU."""

    lst = property(list)
    current = property(itemgetter(0))


class Runtime(_StandIn):
    """``cuda.runtime``: the version with which the GPU was recorded."""

    def __init__(self, gpu: Mapping[str, Any]) -> None:
        version = tuple(int(part) for part in gpu["cuda_runtime"].split("."))[:2]
        self.get_version, self.is_supported_version = lambda: version, lambda: True
        self.supported_versions = (version,)


def array(shape: Any, dtype: Any = np.float64, strides: Any = None, order: Any = "C", **options: Any) -> DeviceArray:
    """Return an array of zeros; streams and kinds of memory make no difference."""
    made = np.zeros(shape, dtype, order=order)
    if strides is not None:
        extent = np.atleast_1d(shape)
        size = int(np.dot(extent - 1, np.atleast_1d(strides))) + made.itemsize if made.size else 0
        made = np.ndarray(shape, dtype, np.zeros(size, np.uint8), strides=strides)
    return made.view(DeviceArray)


def array_like(ary: Any, stream: Any = 0, portable: bool = False, wc: bool = False) -> DeviceArray:
    """Return an array of zeros of the same shape, type and order."""
    return np.zeros_like(ary, subok=False).view(DeviceArray)


def to_device(obj: Any, stream: Any = 0, copy: bool = True, to: Any = None) -> Any:
    """Return a copy, or fill ``to`` with one and return that."""
    if to is None:
        return np.array(obj).view(DeviceArray)
    if copy:
        to[...] = obj
    return to


def as_cuda_array(obj: Any, sync: bool = True) -> DeviceArray:
    """Return the same memory, of an array that to_device and the like made."""
    if not hasattr(obj, "__cuda_array_interface__"):
        raise TypeError("*obj* doesn't implement the cuda array interface.")
    return np.asarray(obj).view(DeviceArray)


def from_interface(desc: Mapping[str, Any], owner: Any = None, sync: bool = True) -> DeviceArray:
    """Return the same memory, of the interface of such an array."""
    return np.asarray(SimpleNamespace(__array_interface__=desc)).view(DeviceArray)


@contextlib.contextmanager
def mapped(*arylist: np.ndarray, stream: Any = 0) -> Iterator[Any]:
    """Give the arrays to kernels for a while; what these store is in them."""
    found = [ary.view(DeviceArray) for ary in arylist]
    yield found[0] if len(found) == 1 else found


class HostUfunc:
    """A ufunc for a GPU, computed by numba's for the CPU. ``stream`` makes no difference."""

    def __init__(self, function: Any) -> None:
        self._function = function
        self.__name__ = getattr(function, "__name__", "ufunc")

    def __call__(self, *arguments: Any, out: Any = None, stream: Any = 0) -> Any:
        options = {} if out is None else {"out": np.asarray(out)}
        made = self._function(*map(np.asarray, arguments), **options)
        if any(isinstance(argument, DeviceArray) for argument in (*arguments, out)):
            return None if made is None else np.asarray(made).view(DeviceArray)
        return made

    def reduce(self, arg: Any, stream: Any = 0) -> Any:
        """Combine all elements of an array."""
        return self._function.reduce(np.asarray(arg))


def elementwise(original: Callable[..., Any], note: Callable[[str], None]) -> Callable[..., Any]:
    """Return numba's ``vectorize`` or ``guvectorize``, which compiles for the CPU what is meant for a GPU."""

    def decorator(*given: Any, **options: Any) -> Any:
        if options.pop("target", "cpu") != "cuda":
            return original(*given, **options)

        def compiled(function: Any) -> HostUfunc:
            note(f"{function.__name__}, made for all elements of arrays, runs on the CPU and is not profiled.")
            return HostUfunc(original(*given, **options)(function))

        return compiled

    return decorator


def stand_ins(gpu: Mapping[str, Any], note: Callable[[str], None]) -> dict[str, Any]:
    """Return what replaces each name in numba.cuda that a host program calls; ``note`` takes sentences for the user.

    ``gpu`` is the provenance of a recording.
    """
    context = DeviceContext(gpu, note)
    device, stream = context.device, Stream()
    return {
        **{name: needs(name) for name in NEEDS if "." not in name},
        **dict.fromkeys(("device_array", "pinned_array", "mapped_array", "managed_array"), array),
        **dict.fromkeys(("device_array_like", "pinned_array_like", "mapped_array_like"), array_like),
        **dict.fromkeys(
            ("stream", "default_stream", "legacy_default_stream", "per_thread_default_stream", "external_stream"),
            lambda ptr=0: stream,
        ),
        **dict.fromkeys(("synchronize", "close", "profile_start", "profile_stop"), nothing),
        **dict.fromkeys(("pinned", "defer_cleanup", "profiling"), no_context),
        **dict.fromkeys(("is_available", "detect", "is_float16_supported"), lambda: True),
        **dict.fromkeys(("is_bfloat16_supported", "is_fp8_supported", "is_supported_version"), lambda: True),
        "as_cuda_array": as_cuda_array,
        "current_context": lambda devnum=None: context,
        "event": context.create_event,
        "event_elapsed_time": lambda evtstart, evtend: evtstart.elapsed_time(evtend),
        "from_cuda_array_interface": from_interface,
        "get_current_device": lambda: device,
        "gpus": Devices((device,)),
        "list_devices": lambda: Devices((device,)),
        "mapped": mapped,
        "require_context": lambda fn: fn,
        "runtime": Runtime(gpu),
        "select_device": lambda device_id: device,
        "to_device": to_device,
    }
