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
from types import ModuleType, SimpleNamespace
from typing import Any, NoReturn

import numpy as np

from ...simulator import device_memory
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


#: Takes a sentence for the user.
Note = Callable[[str], None]
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


class DeviceArray(_StandIn):
    """An array in a GPU's memory, as numba's DeviceNDArray: ``part`` says where it is, and what of it was written."""

    __cuda_memory__ = __cuda_ndarray__ = True

    def __init__(self, shape: Any, strides: Any, dtype: Any, stream: Any = 0, gpu_data: Any = None) -> None:
        """Make an array in memory that nothing wrote, as numba's class does."""
        if gpu_data is not None:
            raise NotImplementedError("gpu_data is memory of a GPU; cuda.as_cuda_array takes memory that is there")
        self._place(device_memory.allocate(shape, dtype, strides), nothing, stream)

    @classmethod
    def at(cls, part: device_memory.AllocationView, note: Note, stream: Any = 0) -> DeviceArray:
        """Return the array of a part of an allocation; ``note`` takes sentences for the user."""
        array = cls.__new__(cls)
        array._place(part, note, stream)
        return array

    def __getattr__(self, name: str) -> NoReturn:
        if not name.startswith("_") and hasattr(np.ndarray, name):  # numba's has not
            raise AttributeError(f"an array in a GPU's memory has no {name}; write copy_to_host().{name}")
        super().__getattr__(name)

    def _place(self, part: device_memory.AllocationView, note: Note, stream: Any) -> None:
        self.part, self.stream, self._note = part, stream, note
        self.shape = part.shape
        self.strides = part.strides
        self.dtype = part.dtype
        self.ndim = part.ndim
        self.size = part.size
        self.nbytes = part.size * part.dtype.itemsize

    def _of(self, values: np.ndarray) -> DeviceArray:
        """Return the array of a view of the elements."""
        if values.size and not np.may_share_memory(values, self.part.values):
            raise NotImplementedError("operation requires copying")
        return DeviceArray.at(device_memory.AllocationView(self.part.allocation, values), self._note, self.stream)

    @property
    def flags(self) -> dict[str, bool]:
        flags = self.part.values.flags
        return {"C_CONTIGUOUS": flags.c_contiguous, "F_CONTIGUOUS": flags.f_contiguous}

    @property
    def alloc_size(self) -> int:
        return int(self.part.allocation.bytes.size)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return {**self.part.values.__array_interface__, "version": 3}

    @property
    def _numba_type_(self) -> Any:
        from numba import typeof

        return typeof(self.part.values)

    def copy_to_host(self, ary: np.ndarray | None = None, stream: Any = 0) -> np.ndarray:
        """Return a copy, or fill ``ary`` with one and return that."""
        if any(stride < 0 for stride in self.strides):
            raise NotImplementedError(f"D->H copy not implemented for negative strides: {self.strides}")
        note_missing(self.part, self._note, "copy_to_host reads")
        if ary is None:
            return np.array(self.part.values)
        _check_compatible(self, ary, strides=True)
        ary[...] = self.part.values
        return ary

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        """Fill the array with another one, of the host or of the GPU."""
        if ary.size:
            _check_contiguous(self.part.values)
            _check_compatible(self, ary, strides=isinstance(ary, DeviceArray))
            self._put(self.part, ary)

    def _put(self, part: device_memory.AllocationView, value: Any) -> None:
        """Store values to a part; what is not written in an array of the GPU is not written here, too."""
        if isinstance(value, DeviceArray | HostArray):
            value = as_argument(value)
        if isinstance(value, device_memory.AllocationView) and value.dtype.itemsize == part.dtype.itemsize:
            values, flags = value.values.copy(), value.flags.copy()
            part.values[...], part.flags[...] = values, flags
        else:
            part.values[...] = value
            part.mark()

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(self.copy_to_host(), dtype)

    def __len__(self) -> int:
        return int(self.shape[0])

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, item: Any) -> Any:
        found = self.part.values[item]
        if isinstance(found, np.void) and found.dtype.names:
            return self._of(np.ndarray((), found.dtype, self.part.values[item].data))
        if isinstance(found, np.ndarray):
            return self._of(found)
        if not self._element(item).written:
            self._note("An element is copied to the host that nothing wrote: on a GPU, it is anything.")
        return found

    def _element(self, item: Any) -> device_memory.AllocationView:
        """Return the part of an index, also of a single element."""
        if self.dtype.names and isinstance(item, str):
            return device_memory.AllocationView(self.part.allocation, self.part.values[item])
        items = item if isinstance(item, tuple) else (item,)
        more = () if Ellipsis in items else (Ellipsis,)  # with it, NumPy gives a view of an element, too
        return device_memory.AllocationView(self.part.allocation, self.part.values[(*items, *more)])

    def __setitem__(self, key: Any, value: Any) -> None:
        self._put(self._element(key), value)

    def getitem(self, item: Any, stream: Any = 0) -> Any:
        return self[item]

    def setitem(self, key: Any, value: Any, stream: Any = 0) -> None:
        self[key] = value

    def is_c_contiguous(self) -> bool:
        return self.part.values.flags.c_contiguous

    def is_f_contiguous(self) -> bool:
        return self.part.values.flags.f_contiguous

    def split(self, section: int, stream: Any = 0) -> Iterator[DeviceArray]:
        """Yield parts of ``section`` elements; the last one may be shorter."""
        if self.ndim != 1:
            raise ValueError("only support 1d array")
        if self.strides[0] != self.dtype.itemsize:
            raise ValueError("only support unit stride")
        for begin in range(0, self.size, section):
            yield self[begin : begin + section]

    def reshape(self, *newshape: Any, order: Any = "C") -> DeviceArray:
        """Return the same elements in another shape; NotImplementedError if that takes a copy."""
        shape = newshape[0] if len(newshape) == 1 and isinstance(newshape[0], tuple | list) else newshape
        return self._of(self.part.values.reshape(shape, order=order))

    def ravel(self, order: Any = "C", stream: Any = 0) -> DeviceArray:
        return self._of(self.part.values.reshape(-1, order=order))

    def squeeze(self, axis: Any = None, stream: Any = 0) -> DeviceArray:
        return self._of(self.part.values.squeeze(axis))

    def view(self, dtype: Any) -> DeviceArray:
        """Return the same bytes as elements of another type."""
        if np.dtype(dtype).itemsize != self.dtype.itemsize and not self.is_c_contiguous():
            raise ValueError("To change to a dtype of a different size, the array must be C-contiguous")
        return self._of(self.part.values.view(dtype))

    def transpose(self, axes: Any = None) -> DeviceArray:
        """Return a copy with the axes exchanged, of a matrix; numba copies, too."""
        if axes is not None and tuple(axes) == tuple(range(self.ndim)):
            return self
        if self.ndim != 2:
            raise NotImplementedError("transposing a non-2D DeviceNDArray isn't supported")
        if axes is not None and set(axes) != {0, 1}:
            raise ValueError(f"invalid axes list {axes!r}")
        transposed = device_memory.allocate(self.shape[::-1], self.dtype)
        transposed.values[...], transposed.flags[...] = self.part.values.T, self.part.flags.T
        return DeviceArray.at(transposed, self._note, self.stream)

    T = property(transpose)

    def bind(self, stream: Any = 0) -> DeviceArray:
        """Return the same array: work on every stream is done at once."""
        return DeviceArray.at(self.part, self._note, stream)

    def as_cuda_arg(self) -> DeviceArray:
        return self

    get_ipc_handle = needs("DeviceArray.get_ipc_handle")
    device_ctypes_pointer = property(needs("DeviceArray.device_ctypes_pointer"))


def _check_compatible(one: Any, other: Any, strides: bool) -> None:
    """Raise TypeError or ValueError where numba does not copy between two arrays."""
    if one.dtype != other.dtype:
        raise TypeError(f"incompatible dtype: {one.dtype} vs. {other.dtype}")
    (shape, steps), (other_shape, other_steps) = (_squeezed(each) for each in (one, other))
    if shape != other_shape:
        raise ValueError(f"incompatible shape: {one.shape} vs. {other.shape}")
    if strides and one.size and steps != other_steps:
        raise ValueError(f"incompatible strides: {one.strides} vs. {other.strides}")


def _squeezed(array: Any) -> tuple[list[int], list[int]]:
    kept = [d for d, size in enumerate(array.shape) if size != 1]
    return [array.shape[d] for d in kept], [array.strides[d] for d in kept]


def _check_contiguous(array: np.ndarray) -> None:
    """Raise ValueError for an array with gaps, which numba does not copy to a GPU."""
    if not (array.flags.c_contiguous or array.flags.f_contiguous):
        raise ValueError(
            "Array contains non-contiguous buffer and cannot be transferred as a single memory region: "
            "copy it first, as by np.ascontiguousarray"
        )


#: The bits that a float has which is no number, by its bytes.
_QUIET_NAN = {4: 0x7FC00000, 8: 0x7FF8000000000000}


class HostArray(np.ndarray):
    """An array that the host and a GPU can both use: pinned, mapped or managed.

    What the host stores by an index is known. It stores in other ways, too, as by ``np.copyto``, ``out=`` or a file's
    ``readinto``: as soon as a byte that was not stored by an index is another one than in ``fresh``, the memory as it
    was made, all of it counts as written.
    """

    allocation: device_memory.Allocation | None = None
    fresh: np.ndarray | None = None
    copied = False  # a launch gets a copy
    note: Note = staticmethod(nothing)
    stream: Any = 0

    def __array_finalize__(self, base: Any) -> None:
        if isinstance(base, HostArray):
            self.allocation, self.fresh = base.allocation, base.fresh
            self.copied, self.note = base.copied, base.note

    def __array_wrap__(self, array: np.ndarray, context: Any = None, return_scalar: bool = False) -> Any:
        """Return what NumPy computed of such arrays: a number, as of arrays of its own, or an array."""
        return array[()] if return_scalar else super().__array_wrap__(array, context, return_scalar)

    @property
    def part(self) -> device_memory.AllocationView | None:
        """Where it is in the allocation; None of an array that NumPy computed of such ones."""
        if self.allocation is None or not self.allocation.holds(self):
            return None
        return device_memory.AllocationView(self.allocation, np.asarray(self), self.copied)

    def __setitem__(self, key: Any, value: Any) -> None:
        super().__setitem__(key, value)
        if self.part is not None:
            items = key if isinstance(key, tuple) else (key,)
            self.part.flags[items] = np.void(b"\x01" * self.itemsize)

    def fill(self, value: Any) -> None:
        self[...] = value

    def launched(self) -> Any:
        """Return the array as a launch takes it."""
        part = self.part
        if part is None:
            return np.asarray(self)
        if self.fresh is not None and np.any((part.allocation.bytes != self.fresh) & (part.allocation.written == 0)):
            part.allocation.written[:] = 1
        return part

    def _device(self) -> DeviceArray:
        part = self.part
        assert part is not None
        return DeviceArray.at(part, self.note)

    alloc_size = property(attrgetter("nbytes"))
    __cuda_array_interface__ = property(attrgetter("__array_interface__"))

    def copy_to_host(self, ary: np.ndarray | None = None, stream: Any = 0) -> np.ndarray:
        self.launched()
        return self._device().copy_to_host(ary)

    def copy_to_device(self, ary: Any, stream: Any = 0) -> None:
        self._device().copy_to_device(ary)

    def is_c_contiguous(self) -> bool:
        return self.flags.c_contiguous

    def is_f_contiguous(self) -> bool:
        return self.flags.f_contiguous

    def bind(self, stream: Any = 0) -> HostArray:
        return self


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

    def __init__(self, note: Note) -> None:
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
        self.name = gpu["gpu"].encode()
        self.id = 0
        self.uuid = "GPU-00000000-0000-0000-0000-000000000000"
        self.compute_capability = capability
        self.COMPUTE_CAPABILITY_MAJOR, self.COMPUTE_CAPABILITY_MINOR = capability
        self.WARP_SIZE = WARP_SIZE
        self.MULTIPROCESSOR_COUNT = gpu["multiprocessors"]
        self.MAX_THREADS_PER_BLOCK = MAX_THREADS_PER_BLOCK
        self.MAX_BLOCK_DIM_X, self.MAX_BLOCK_DIM_Y, self.MAX_BLOCK_DIM_Z = MAX_BLOCK
        self.MAX_GRID_DIM_X, self.MAX_GRID_DIM_Y, self.MAX_GRID_DIM_Z = MAX_GRID
        self.MAX_THREADS_PER_MULTI_PROCESSOR = gpu["threads_per_multiprocessor"]
        self.MAX_REGISTERS_PER_MULTIPROCESSOR = gpu["registers_per_multiprocessor"]
        self.MAX_SHARED_MEMORY_PER_MULTIPROCESSOR = gpu["shared_bytes_per_multiprocessor"]
        self.MAX_SHARED_MEMORY_PER_BLOCK = SHARED_LIMIT
        self.L2_CACHE_SIZE = gpu["l2_bytes"]
        self.CLOCK_RATE = gpu["clock_hertz"] // 1000
        self.UNIFIED_ADDRESSING = self.CAN_MAP_HOST_MEMORY = self.CONCURRENT_KERNELS = 1
        self.supports_float16 = self.supports_bfloat16 = self.supports_fp8 = True

    def get_primary_context(self) -> DeviceContext:
        return self._context

    def __enter__(self) -> Device:
        return self

    def __repr__(self) -> str:
        return f"<CUDA device {self.id} '{self.name.decode()}'>"


class PendingDeallocations(_StandIn):
    """The deallocations that wait: none, since memory is freed at once."""

    is_disabled = False
    clear = nothing

    def add_item(self, dtor: Callable[[Any], object], handle: Any, size: int = 0) -> None:
        """Free something at once."""
        dtor(handle)

    def disable(self) -> contextlib.AbstractContextManager[None]:
        """Return a context that does nothing."""
        return contextlib.nullcontext()

    def __len__(self) -> int:
        return 0


class DeviceContext(_StandIn):
    """The context of the one device, whose memory is this machine's."""

    defer_cleanup = no_context
    synchronize = push = pop = reset = prepare_for_use = enable_peer_access = nothing

    def __init__(self, gpu: Mapping[str, Any], note: Note) -> None:
        self._note = note
        self.device = Device(self, gpu)
        self.deallocations = PendingDeallocations()
        self.extras: dict[Any, Any] = {}  # a program's own

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


class Devices(tuple[Device, ...]):
    """``cuda.gpus``: the one recorded GPU, or none."""

    lst = property(list)
    current = property(itemgetter(0))


class Runtime(_StandIn):
    """``cuda.runtime``: the version with which the GPU was recorded."""

    def __init__(self, gpu: Mapping[str, Any]) -> None:
        version = tuple(int(part) for part in gpu["cuda_runtime"].split("."))[:2]
        self.get_version = lambda: version
        self.is_supported_version = lambda: True
        self.supported_versions = (version,)


def as_argument(value: Any) -> Any:
    """Return an argument of a launch as the simulator takes it."""
    if isinstance(value, DeviceArray):
        return value.part
    if isinstance(value, HostArray):
        return value.launched()
    if isinstance(value, tuple):
        items = [*map(as_argument, value)]
        return type(value)(*items) if hasattr(value, "_fields") else tuple(items)
    if isinstance(value, np.ndarray):
        return np.asarray(value)
    if hasattr(value, "__cuda_array_interface__"):
        return _part_of(_of_interface(value.__cuda_array_interface__, value))
    return value


def as_output(value: Any) -> Any:
    """Return an array of the host as a launch takes it of which nothing is copied to the GPU."""
    if isinstance(value, device_memory.AllocationView):
        values, allocation = value.values, value.allocation
    elif isinstance(value, np.ndarray):
        values = value
        _check_contiguous(values)
        allocation = device_memory.Allocation(device_memory.bytes_of(values), True)
    else:
        return value
    return device_memory.AllocationView(allocation, values, copied=True, output=True)


def note_missing(part: device_memory.AllocationView, note: Note, reads: str) -> None:
    """Tell the user of elements that nothing wrote, which ``reads``, in words, something reads."""
    if missing := part.size - int(np.count_nonzero(part.written)):
        note(f"{reads} {missing:,} of {part.size:,} elements that nothing wrote: on a GPU, they hold anything.")


class ArrayFactory:
    """The functions that make arrays. ``note`` takes sentences for the user."""

    def __init__(self, note: Note) -> None:
        self._note = note
        self._random = np.random.default_rng(0)  # of one program, each run has the same

    def device_array(
        self, shape: Any, dtype: Any = np.float64, strides: Any = None, order: Any = "C", stream: Any = 0
    ) -> DeviceArray:
        """Return an array in memory that nothing wrote."""
        return DeviceArray.at(device_memory.allocate(shape, dtype, strides, order), self._note, stream)

    def device_array_like(self, ary: Any, stream: Any = 0) -> DeviceArray:
        """Return an array of the same shape, type and order in memory that nothing wrote."""
        return self.device_array(*_like(ary), stream=stream)

    def of_host(
        self, shape: Any, dtype: Any = np.float64, strides: Any = None, order: Any = "C", **options: Any
    ) -> HostArray:
        """Return an array for the host and the GPU, in memory that nothing wrote."""
        allocated = device_memory.allocate(shape, dtype, strides, order)
        self._fill(allocated.allocation, allocated.dtype)
        found = allocated.values.view(HostArray)
        found.allocation = allocated.allocation
        found.note = self._note
        found.fresh = allocated.allocation.bytes.copy()
        return found

    def _fill(self, allocation: device_memory.Allocation, dtype: np.dtype[Any]) -> None:
        """Fill new memory with values that no program stores: random ones; of floats, NaN with random digits.

        An element of one or two bytes may hold any value, so such memory counts as written.
        """
        if dtype.itemsize < 4:
            allocation.written[:] = 1
            return
        memory = allocation.bytes
        memory[:] = self._random.integers(0, 256, memory.size, np.uint8)
        size = dtype.itemsize // (2 if dtype.kind == "c" else 1)
        if dtype.kind in "fc" and size in _QUIET_NAN and memory.size % size == 0:
            memory.view(f"u{size}")[...] |= np.array(_QUIET_NAN[size], f"u{size}")

    def of_host_like(self, ary: Any, **options: Any) -> HostArray:
        return self.of_host(*_like(ary))

    def pinned_array(self, *arguments: Any, **named: Any) -> HostArray:
        """Return an array of the host: a launch gets a copy of it."""
        found = self.of_host(*arguments, **named)
        found.copied = True
        return found

    def pinned_array_like(self, ary: Any) -> HostArray:
        return self.pinned_array(*_like(ary))

    def to_device(self, obj: Any, stream: Any = 0, copy: bool = True, to: Any = None) -> Any:
        """Return a copy, or fill ``to`` with one and return that."""
        if isinstance(obj, DeviceArray) and to is None:
            return obj
        source: Any = obj if isinstance(obj, DeviceArray | HostArray) else np.asarray(obj)
        if to is None:
            _check_contiguous(np.asarray(source))
            to = self.device_array_like(source, stream)
        if copy:
            to.copy_to_device(source)
        return to

    def as_cuda_array(self, obj: Any, sync: bool = True) -> DeviceArray:
        """Return the same memory, of an array that to_device and the like made."""
        if not hasattr(obj, "__cuda_array_interface__"):
            raise TypeError("*obj* doesn't implement the cuda array interface.")
        return self.from_interface(obj.__cuda_array_interface__, owner=obj)

    def from_interface(self, desc: Mapping[str, Any], owner: Any = None, sync: bool = True) -> DeviceArray:
        """Return the same memory, of the interface of such an array."""
        return DeviceArray.at(_part_of(_of_interface(desc, owner)), self._note)

    @contextlib.contextmanager
    def mapped(self, *arylist: np.ndarray, stream: Any = 0) -> Iterator[Any]:
        """Give the arrays to kernels for a while; what these store is in them."""
        found = [self._mapped(ary) for ary in arylist]
        yield found[0] if len(found) == 1 else found

    def _mapped(self, ary: np.ndarray) -> HostArray:
        found = ary.view(HostArray)
        found.allocation = _part_of(ary).allocation
        found.note = self._note
        return found


def _like(ary: Any) -> tuple[Any, Any, Any, Any]:
    """Return shape, type, strides and order of an array like another one: its dimensions' order, without gaps."""
    if ary.flags["C_CONTIGUOUS"] or ary.ndim <= 1:
        return ary.shape, ary.dtype, None, "C"
    if ary.flags["F_CONTIGUOUS"]:
        return ary.shape, ary.dtype, None, "F"
    strides = [0] * ary.ndim
    step = ary.dtype.itemsize
    for dimension in sorted(range(ary.ndim), key=lambda each: ary.strides[each]):
        strides[dimension] = step
        step *= ary.shape[dimension]
    return ary.shape, ary.dtype, tuple(strides), "C"


def _of_interface(desc: Mapping[str, Any], owner: Any) -> np.ndarray:
    """Return the elements of a CUDA array interface, whose memory is this machine's."""
    return np.asarray(SimpleNamespace(__array_interface__=desc, owner=owner))


def _part_of(values: np.ndarray) -> device_memory.AllocationView:
    """Return the place of an array of this process: in a known allocation, or in a new one, which is written."""
    allocation = device_memory.Allocation.of(values)
    if allocation is None:
        _check_contiguous(values)
        allocation = device_memory.Allocation(device_memory.bytes_of(values), True)
    return device_memory.AllocationView(allocation, values)


class HostUfunc:
    """A ufunc for a GPU, computed by numba's for the CPU. ``stream`` makes no difference."""

    def __init__(self, function: Any, arrays: ArrayFactory) -> None:
        self._function, self._arrays = function, arrays
        self.__name__ = getattr(function, "__name__", "ufunc")

    def __call__(self, *arguments: Any, out: Any = None, stream: Any = 0) -> Any:
        """Compute. A ``guvectorize`` returns nothing: its results are among the arguments, also those on the GPU."""
        given = [np.asarray(each) if isinstance(each, DeviceArray) else each for each in arguments]
        stored = None if out is None else np.asarray(out)
        result = self._function(*given, **({} if out is None else {"out": stored}))
        on_gpu = [each for each in (*arguments, out) if isinstance(each, DeviceArray)]
        for each, values in zip((*arguments, out), (*given, stored), strict=True):
            if isinstance(each, DeviceArray) and (each is out or result is None):
                each[...] = values
        if isinstance(out, DeviceArray):
            return out
        return self._arrays.to_device(np.asarray(result)) if on_gpu and result is not None else result

    def reduce(self, arg: Any, stream: Any = 0) -> Any:
        """Combine all elements of an array."""
        return self._function.reduce(np.asarray(arg))


def elementwise(original: Callable[..., Any], note: Note, usual: str) -> Callable[..., Any]:
    """Return numba's ``vectorize`` or ``guvectorize``, which compiles for the CPU what is meant for a GPU.

    ``usual`` is the target where none is named, "cpu" or "cuda".
    """

    def decorator(*given: Any, **options: Any) -> Any:
        target = options.pop("target", usual)
        if target != "cuda":
            return original(*given, **({} if target == "cpu" else {"target": target}), **options)

        def compiled(function: Any) -> HostUfunc:
            note(f"{function.__name__}, made for all elements of arrays, runs on the CPU and is not profiled.")
            return HostUfunc(original(*given, **options)(function), ArrayFactory(note))

        return compiled

    return decorator


def parts(cuda: ModuleType, table: Mapping[str, Any]) -> list[tuple[ModuleType, Mapping[str, Any]]]:
    """Return modules in a ``cuda`` module through which programs reach the same, with what replaces their names."""
    devices = {"get_context": table["current_context"], "gpus": table["gpus"], "reset": nothing}
    known = {"api": table, "devices": devices, "devicearray": {"DeviceNDArray": DeviceArray}}
    return [(getattr(cuda, part), names) for part, names in known.items() if hasattr(cuda, part)]


def stand_ins(gpu: Mapping[str, Any], note: Note) -> dict[str, Any]:
    """Return what replaces each name in numba.cuda that a host program calls; ``note`` takes sentences for the user.

    ``gpu`` is the provenance of a recording.
    """
    context = DeviceContext(gpu, note)
    device = context.device
    stream = Stream()
    arrays = ArrayFactory(note)

    def selected(device_id: Any) -> Device:
        """Return the device of a number; IndexError for one that is not in ``cuda.gpus``, as numba raises."""
        if int(device_id) not in range(1):
            raise IndexError(f"there is no device {device_id}: cuda.gpus has 1, the device 0")
        return device

    return {
        **{name: needs(name) for name in NEEDS if "." not in name},
        "device_array": arrays.device_array,
        "device_array_like": arrays.device_array_like,
        "pinned_array": arrays.pinned_array,
        "pinned_array_like": arrays.pinned_array_like,
        **dict.fromkeys(("mapped_array", "managed_array"), arrays.of_host),
        "mapped_array_like": arrays.of_host_like,
        **dict.fromkeys(
            ("stream", "default_stream", "legacy_default_stream", "per_thread_default_stream", "external_stream"),
            lambda ptr=0: stream,
        ),
        **dict.fromkeys(("synchronize", "close", "profile_start", "profile_stop"), nothing),
        **dict.fromkeys(("pinned", "defer_cleanup", "profiling"), no_context),
        **dict.fromkeys(("is_available", "detect", "is_float16_supported"), lambda: True),
        **dict.fromkeys(("is_bfloat16_supported", "is_fp8_supported", "is_supported_version"), lambda: True),
        "DeviceNDArray": DeviceArray,
        "as_cuda_array": arrays.as_cuda_array,
        "current_context": lambda devnum=None: selected(devnum or 0).get_primary_context(),
        "event": context.create_event,
        "event_elapsed_time": lambda evtstart, evtend: evtstart.elapsed_time(evtend),
        "from_cuda_array_interface": arrays.from_interface,
        "get_current_device": lambda: device,
        "gpus": Devices((device,)),
        "list_devices": lambda: Devices((device,)),
        "mapped": arrays.mapped,
        "require_context": lambda fn: fn,
        "runtime": Runtime(gpu),
        "select_device": selected,
        "to_device": arrays.to_device,
    }
