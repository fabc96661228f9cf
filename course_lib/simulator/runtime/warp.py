"""The operations of a warp, for the same warp of every block of a chunk: votes, shuffles, syncwarp, copies."""

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any

import numpy as np

from ..findings import KernelDivisionError, KernelError, RaisedException
from ..hardware import WARP_SIZE, ceil_div
from ..launch_shape import Chunk, WarpLanes
from .access import Index, Site
from .arrays import Array
from .async_copies import Copies, SourceUse
from .barrier import Pause
from .diverging_arrays import array_of
from .engine_interface import EngineInterface
from .lane_vector import LaneVector
from .loops import LoopWatch, WaitsForOthers
from .masks import Mask
from .mbarriers import Mbarriers
from .memory import LocalArray, SharedArray, SharedField
from .warpgroup_products import ALIGNMENT, DESCRIPTOR_ALIGNMENT, Products


class WarpVector(LaneVector):
    """A lane vector with its arrays, copies and warp operations; the generated code calls its methods."""

    def __init__(
        self,
        engine: EngineInterface,
        lanes: WarpLanes,
        chunk: Chunk,
        loops: LoopWatch,
        shared: dict[int, SharedArray],
        mbarriers: Mbarriers,
    ) -> None:
        super().__init__(engine.launch, lanes, chunk)
        self.engine, self.budget, self.loops = engine, engine.budget, loops
        self.shared, self.mbarriers = shared, mbarriers  # of the chunk's blocks; arrays are those declared so far
        self.local: dict[Hashable, LocalArray] = {}
        self._ids: dict[int, Any] = {}  # see global_id
        self.returned: list[tuple[object, int]] = []  # (mask, line) of lanes that left the kernel early
        #: (clock, seen), replaced at each syncwarp. clock: the number of syncwarps that each lane passed. seen: None
        #: while each of them included all lanes; else seen[a, b, number of the block] is b's clock at their last
        #: syncwarp, direct or through other lanes: what b did until then is ordered before what a does now.
        self.syncwarp_clock: tuple[Any, Any] = (0, None)
        self.awaited: list[tuple[int, np.ndarray]] = []  # (line, lanes) of syncwarps at which these lanes were missing
        self._paused: tuple[Any, ...] = ()  # its state at the last pause

    def forget(self) -> None:
        """Drop the local arrays, which refer to this vector: the cycle would keep them until the next collection."""
        self.local.clear()
        self.__dict__.pop("copies", None)
        self.__dict__.pop("products", None)

    # --- called by the generated code ------------------------------------------------------------------------

    def global_id(self, axis: int) -> Any:
        """``threadIdx + blockIdx * blockDim`` along an axis, as int64."""
        if axis not in self._ids:
            thread, block = self.thread_index[axis].astype(np.int64), self.block_index[axis].astype(np.int64)
            self._ids[axis] = thread + block * self.launch.block[axis]
        return self._ids[axis]

    def shared_array(
        self,
        number: int,
        name: str,
        dtype: Any,
        shape: tuple[int, ...],
        mask: Mask,
        *,
        alignment: int = 0,
        record: tuple[int, int, int, int] | None = None,
    ) -> SharedArray:
        """The block's shared array of this declaration; all warps and all executions get the same one.

        ``record``: it is a field of records; its number, its byte in a record, a record's bytes, their dimensions.
        """
        if number not in self.shared:
            field, array = 0, SharedArray(name, dtype, shape, self.chunk)
            if record is not None:
                field, origin, size, ndim = record
                array = SharedField(name, dtype, shape, self.chunk, origin=origin, size=size, ndim=ndim)
            end = max((a.address + a.extent * a.itemsize for a in self.shared.values()), default=0)
            array.alignment = alignment
            first = self.shared.get(number - field)  # of the same records
            array.address = first.address - first.origin if first else ceil_div(end, ALIGNMENT) * ALIGNMENT
            array.address += array.origin
            self.engine.watch(array)
            self.shared[number] = array
        return self.shared[number]

    def local_array(self, number: Hashable, name: str, dtype: Any, shape: tuple[int, ...], mask: Mask) -> LocalArray:
        """The threads' own array of this declaration."""
        if number not in self.local:
            self.local[number] = LocalArray(name, dtype, shape, self, mask)
            self.engine.watch(self.local[number])
        array = self.local[number]
        if array.anchor is not mask:
            array.extend(mask)
        return array

    def no_array(self, name: str, dtype: Any, ndim: int, mask: Mask) -> LocalArray:
        """What a variable holds that no thread of the warp has given an array: one without elements."""
        array = self.local_array((name, dtype, ndim), name, dtype, (0,) * ndim, mask)
        array.missing = True
        return array

    def arrays(self) -> list[Array]:
        """All arrays that a thread of the block may store to."""
        return [*self.engine.arrays, *self.shared.values(), *self.local.values()]

    def check_progress(
        self, count: int, sites: tuple[Site, ...], values: tuple[Any, ...], mask: Mask, line: int, calls: bool
    ) -> None:
        """Stop a while loop that waits for other threads: none of them runs while this loop does.

        ``count`` iterations are over. ``sites`` are the loop's accesses, ``values`` those of the variables that it
        assigns; ``calls``: it calls functions, which may access any array. If it holds an atomic, its variables are
        ignored: they may count attempts.
        """
        all_stores_known = all(site.array is not None for site in sites if site.op != "load")
        arrays = self.arrays() if calls else [site.array for site in sites if site.array and site.op != "load"]
        atomic = self.engine.updates if calls else any(site.op == "atomic" for site in sites)
        state = (mask,) if atomic else (mask, *values)
        if self.loops.changes_nothing(
            self.warp_number, (line, sites), count, all_stores_known=all_stores_known, state=state, arrays=arrays
        ):
            by_others = [None, *self.engine.arrays, *self.shared.values()]  # None: not known
            if calls or any(array is site.array for site in sites for array in by_others if site.op != "store"):
                raise WaitsForOthers(line)
            raise KernelError("this loop never ends: nothing changes from one iteration to the next", line=line)

    def pause(self, values: tuple[Any, ...], mask: Mask, line: int) -> Pause:
        """Return what the warp yields after an iteration of the loop in ``line``, which may wait for others."""
        before = self._paused
        local = [array.storage().copy() for array in self.local.values()]
        self._paused = (line, mask, *values, *local)
        unchanged = len(before) == len(self._paused) and all(map(np.array_equal, before, self._paused))
        return Pause(line, unchanged)

    def drop_local(self, *numbers: int) -> None:
        """Drop the local arrays of a device function when it is called again."""
        for number in numbers:
            self.local.pop(number, None)

    def report(self, hook: str, *event: Any) -> None:
        """Report an event of this warp."""
        self.engine.report(hook, self, *event)

    def print(self, parts: tuple[Any, ...], mask: Mask) -> None:
        self.engine.printed.add(self, parts, mask)

    def failed(self, kind: str, text: str, exception: RaisedException | None, mask: Mask, line: int) -> None:
        """Report that the active lanes end in an ``assert`` or a ``raise``."""
        lanes = self.full(mask)
        self.engine.report("failed", kind, text, line, self, lanes)
        if exception is not None and self.engine.raised is None:
            self.engine.raised = exception.made(self.first_thread(lanes))

    def nonzero(self, divisor: Any, mask: Mask, line: int) -> Any:
        """Return the divisor of a kernel with debug=True. Raises KernelDivisionError if it is 0 in an active lane."""
        zero = divisor == 0
        if np.any(zero) and (lanes := self.full(mask) & zero).any():
            raise KernelDivisionError(
                f"{self.launch.format_thread(self.first_thread(lanes))} divides by zero; since the function has "
                "debug=True, a GPU ends the thread there, and the launch raises ZeroDivisionError: check the divisor "
                "first",
                line=line,
            )
        return divisor

    def report_missing(self, what: str, have: Mask, mask: Mask, name: str, line: int) -> None:
        """Report the active lanes that are not in ``have``: those in which the value exists.

        ``what`` is that of :meth:`~course_lib.simulator.observer.Hooks.missing`.
        """
        if have is True or have is mask:
            return
        missing = self.full(mask) & ~self.full(have)
        if missing.any():
            self.engine.report("missing", what, name, line, self, missing)

    def unwrap_optional(self, value: tuple[Any, Any], name: str, dtype: Any, ndim: int, mask: Mask, line: int) -> Any:
        """What an optional ``value`` holds, a number or an array; report the active lanes in which it is None."""
        have, held = value
        if not np.all(have):
            self.report_missing("none", have, mask, name, line)
        return self.no_array(name, dtype, ndim, mask) if held is None else array_of(held, mask)

    def syncwarp(self, members: Any, mask: Mask, line: int) -> None:
        """Order the memory accesses before and after it, among the active lanes that pass the same ``members``."""
        self.check_members(members, mask, line, ends=True)
        clock, seen = self.syncwarp_clock
        uniform = np.ndim(members) == 0
        if mask is True and seen is None and uniform:
            self.syncwarp_clock = (clock + 1, None)
            return
        here = self.full(mask)
        here = here | (self._gone() & here.any(axis=(0, 1)))  # nobody waits for lanes that returned
        met = np.asarray(here.all(axis=(0, 1)))
        if uniform and seen is None and (met == here.any(axis=(0, 1))).all():
            self.syncwarp_clock = (clock + met[None, None], None)
            return
        lanes, blocks = self.lanes.count, self.chunk.count
        here, members, clock = (np.broadcast_to(a, self.shape).reshape(lanes, blocks) for a in (here, members, clock))
        if seen is None:
            seen = np.broadcast_to(clock - 1, (lanes, lanes, blocks))
        own = np.arange(lanes)
        for named in np.unique(members[here]):
            group = here & (members == named)
            passed_on = seen.copy()
            passed_on[own, own] = clock
            passed_on = np.where(group[:, None], passed_on, -1).max(axis=0)
            seen = np.where(group[:, None], np.maximum(seen, passed_on), seen)
        clock = clock + here
        if uniform and met.all():
            self.syncwarp_clock = (clock.max(axis=0).reshape(1, 1, *self.chunk.shape), None)
        else:
            self.syncwarp_clock = (clock.reshape(self.shape), seen)

    def _gone(self) -> np.ndarray:
        """The lanes that have returned, as a boolean array of the whole shape."""
        gone = np.zeros(self.shape, bool)
        for returned, _ in self.returned:
            gone |= returned
        return gone

    def lanemask_lt(self) -> Any:
        return ((np.uint64(1) << self.lanes.lane.astype(np.uint64)) - np.uint64(1)).astype(np.uint32)

    def _by_lane(self, value: Any) -> np.ndarray:
        """``value`` as (lanes, block rows, block columns)."""
        return np.broadcast_to(value, self.shape).reshape(self.lanes.count, *self.chunk.shape)

    def check_members(self, members: Any, mask: Mask, line: int, ends: bool = False) -> None:
        """Report lanes named by a warp operation that did not arrive (unless they returned), and unnamed ones.

        ``ends``: it waits no longer for lanes that end, so that missing ones are reported if they go on (`went_on`).
        """
        if self.awaited:
            self.went_on(mask)
        whole_warp = (1 << self.lanes.count) - 1
        if mask is True and np.ndim(members) == 0 and int(members) & whole_warp == whole_warp:
            return
        members = np.broadcast_to(np.asarray(members).astype(np.int64) & 0xFFFFFFFF, self.shape)
        named = (members >> self.lanes.lane.astype(np.int64)) & 1 != 0
        here, gone = self.full(mask), self._gone()
        waited_for = (members * here).reshape(self.lanes.count, *self.chunk.shape)
        waited_for = np.bitwise_or.reduce(waited_for, axis=0)
        lane = self._by_lane(self.lanes.lane.astype(np.int64))
        absent = (((waited_for >> lane) & 1) != 0).reshape(self.shape) & ~here & ~gone
        stray = here & ~named
        if ends and absent.any():
            self.awaited.append((line, absent))
            absent = np.zeros_like(absent)
        for lanes, what in ((absent, "absent"), (stray, "stray")):
            if lanes.any():
                self.engine.report("wrong_mask", line, self, lanes, what)

    def went_on(self, mask: Mask) -> None:
        """Report those of the active lanes for which a syncwarp still waits: they do more than end."""
        here, awaited = self.full(mask), self.awaited
        self.awaited = [(line, lanes & ~here) for line, lanes in awaited if (lanes & ~here).any()]
        for line, lanes in awaited:
            if (lanes & here).any():
                self.engine.report("wrong_mask", line, self, lanes & here, "absent")

    @cached_property
    def copies(self) -> Copies:
        return Copies(self)

    @cached_property
    def products(self) -> Products:
        return Products(self)

    def descriptor(self, array: Any, first: Any, leading: Any, stride: Any, code: int, line: int) -> Any:
        """The 64-bit descriptor, for wgmma, of a matrix in shared memory that begins at element ``first``."""
        if array.space != "shared":
            raise KernelError(
                f"a descriptor describes shared memory, and {array.name} is in {array.space} memory", line=line
            )
        needed = DESCRIPTOR_ALIGNMENT[code]
        if array.alignment < needed:
            raise KernelError(
                f"the descriptor needs {array.name} to begin at a multiple of {needed} bytes; "
                f"give cuda.shared.array the alignment {needed} as its third argument",
                line=line,
            )
        address = array.address + np.asarray(first, np.int64) * array.itemsize
        if (address % 16).any():
            raise KernelError(
                f"a descriptor begins on a 16-byte boundary, and {array.name}[{int(np.max(first))}] does not", line=line
            )
        bits: Any = np.uint64(code << 62)
        for number, shift in ((address, 0), (leading, 16), (stride, 32)):
            field = (np.asarray(number, np.int64) & 0x3FFFF) >> 4  # in units of 16 bytes
            bits = bits | field.astype(np.uint64) << np.uint64(shift)
        return bits

    def vote(self, kind: str, members: Any, predicate: Any, mask: Mask, line: int | None = None, name: str = "") -> Any:
        """all_sync, any_sync, eq_sync, ballot_sync and match_any_sync over the active lanes of each warp.

        Lanes that pass different ``members`` vote apart. ``line`` is None for what is no vote in the source, and
        ``name`` that of the vote if it is not ``kind``.
        """
        value, here = self._by_lane(predicate), self._by_lane(mask)
        if np.ndim(members) == 0:
            result = self._voted(kind, value, here)
        else:
            members = self._by_lane(members)
            groups = [here & (members == named) for named in np.unique(members[here])]
            results = (np.broadcast_to(self._voted(kind, value, group), self.shape) for group in groups)
            result = np.select([group.reshape(self.shape) for group in groups], list(results), False)
        if line is not None:
            self.engine.report("exchanged", self, line, name or kind, (predicate, None, result), mask)
        return result

    def _voted(self, kind: str, value: np.ndarray, here: np.ndarray) -> np.ndarray:
        if kind in ("all_sync", "any_sync"):
            result = (value | ~here).all(axis=0) if kind == "all_sync" else (value & here).any(axis=0)
            return result[None, None]
        bit = np.int64(1) << np.arange(self.lanes.count, dtype=np.int64).reshape(-1, 1, 1)
        if kind == "ballot_sync":
            return np.where(value & here, bit, 0).sum(axis=0).astype(np.uint32).view(np.int32)[None, None]
        if value.dtype.kind == "f":  # as bits: 0.0 is not -0.0, and NaN is itself
            value = value.view(f"i{value.itemsize}")
        first = np.take_along_axis(value, here.argmax(axis=0)[None], axis=0)
        if kind == "eq_sync":
            return ((value == first) | ~here).all(axis=0)[None, None]
        same = np.zeros(value.shape, np.int64)
        for lane in range(self.lanes.count):
            same |= np.where((value == value[lane]) & here[lane], bit[lane], 0)
        return same.astype(np.uint32).view(np.int32).reshape(self.shape)

    def apply_to_warp(
        self,
        function: Callable[..., Any],
        name: str,
        values: tuple[Any, ...],
        dtypes: tuple[Any, ...],
        mask: Mask,
        line: int,
    ) -> tuple[Any, ...]:
        """Compute an operation of whole warps: ``function`` maps the values of all 32 lanes to each lane's result.

        It is called once, with an array of shape (warps, 32) for each value (a tuple of them for a tuple), and returns
        one, or a tuple of them. Lanes that are missing while others of their warp arrive are reported.
        """
        self.whole(mask, line)
        if self.lanes.count < WARP_SIZE:
            raise KernelError(
                f"{name} is done by the {WARP_SIZE} lanes of a warp together, and the last warp of this block has "
                f"{self.lanes.count}; launch a multiple of {WARP_SIZE} threads",
                line=line,
            )

        def by_warp(value: Any) -> Any:
            if isinstance(value, tuple):
                return tuple(map(by_warp, value))
            return self._by_lane(value).reshape(WARP_SIZE, -1).T

        results = self.apply_to_lanes(function, tuple(map(by_warp, values)), dtypes)
        return tuple(result.T.reshape(self.shape) for result in results)

    def whole(self, mask: Mask, line: int) -> np.ndarray:
        """Return the active lanes; report the others of their warps, which all take part in an operation together."""
        here = self.full(mask)
        absent = here.any(axis=(0, 1)) & ~here
        if absent.any():
            self.engine.report("wrong_mask", line, self, absent, "absent")
        return here

    def apply_to_lanes(
        self, function: Callable[..., Any], values: tuple[Any, ...], dtypes: tuple[Any, ...]
    ) -> tuple[Any, ...]:
        """Apply ``function`` to each lane's own values; return its result, or results, converted to ``dtypes``."""
        results = function(*values)
        results = results if isinstance(results, tuple) else (results,)
        return tuple(np.asarray(r).astype(dtype, copy=False)[()] for r, dtype in zip(results, dtypes, strict=True))

    def copy(
        self,
        load: Site,
        store: Site,
        target: Array,
        target_index: Index,
        array: Array,
        index: Index,
        *,
        mask: Mask,
        inside: Any = True,
    ) -> None:
        """Start an asynchronous copy from global to shared memory; lanes that are not ``inside`` copy zeros."""
        if inside is True or np.all(inside):
            value = load.load(array, index, mask)
        else:
            there = self.full(mask) & inside
            zero = array.dtype.type(0)
            loaded = load.load(array, index, there) if there.any() else (zero,) * load.width
            value = tuple(np.where(there, x, zero) for x in (loaded if load.width > 1 else (loaded,)))
        started = self.copies.start(store, target, target_index, value, mask)
        if started is None:
            return
        self.engine.report("copied", store, *started, array, index)
        if array in self.engine.arrays:
            blocks = self.chunk.count
            first = sum(i * stride for i, stride in zip(index, array.strides, strict=True))
            elements = np.arange(load.width).reshape(-1, 1, 1)
            words = np.broadcast_to(first, self.shape).reshape(-1, blocks) + elements
            reading = self.full(started[0].mask) & inside
            lanes = np.broadcast_to(reading.reshape(-1, blocks), words.shape)
            copy = self.copies.started[-1]
            copy.source = SourceUse(load, array, words, lanes, copy.in_use)
            self.engine.report("source_in_use", copy.source)

    def shuffle(self, kind: str, members: Any, given: Any, lane: Any, mask: Mask, line: int) -> Any:
        """Return, for each active lane, the value ``given`` by another lane; beyond the ends, up and down give its own.

        A lane may take only from one that passes the same ``members``.
        """
        value, here = self._by_lane(given), self._by_lane(mask)
        own = np.arange(self.lanes.count).reshape(-1, 1, 1)
        lane = self._by_lane(lane).astype(np.int64) % WARP_SIZE  # a GPU takes the last five bits
        source = {
            "shfl_sync": lambda: lane,
            "shfl_up_sync": lambda: own - lane,
            "shfl_down_sync": lambda: own + lane,
            "shfl_xor_sync": lambda: own ^ lane,
        }[kind]()
        source = np.where((source < 0) | (source >= WARP_SIZE), own, source)
        valid = source < self.lanes.count
        safe = np.where(valid, source, own)
        given_by = valid & np.take_along_axis(here, safe, axis=0)
        if np.ndim(members):
            members = self._by_lane(members)
            given_by &= members == np.take_along_axis(members, safe, axis=0)
        silent = here & ~given_by
        if silent.any():
            self.engine.report("missing", "register", "", line, self, silent.reshape(self.shape))
        result = np.take_along_axis(value, safe, axis=0).reshape(self.shape)
        source = np.where(given_by, source, source - WARP_SIZE).reshape(self.shape)
        self.engine.report("exchanged", self, line, kind, (given, source, result), mask)
        return result
