"""Runs a launch: chunks of blocks, warps between barriers, and the observers that watch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..compile.unit import Unit, Units
from ..findings import LaunchError
from ..hardware import HOPPER_SHARED_LIMIT, SHARED_LIMIT
from ..language import signatures
from ..language.source import Source, read
from ..language.types import SCALARS, ArrayType, TupleType, TypingError, of_value
from ..language.variables import Variable, Variables
from ..language.why import Reason
from ..observer import Observer
from .access import REMEMBERED, MatrixSite, Site, WideSite
from .arithmetic import cast
from .barrier import Barrier
from .geometry import Chunk, Launch
from .loops import Steps
from .masks import Mask
from .memory import Array, GlobalArray, SharedArray
from .printed import Printed
from .schedule import order
from .warp import WarpVector

#: Shared and local memory of the blocks that run together.
MAX_BYTES = 256 * 1024 * 1024
#: What observers may keep about an element of a shared array: who wrote it, who read it, and when.
WATCHING_BYTES = 40
#: Threads of one launch: a thread is counted by itself, and a grid that large by mistake would run for hours.
MAX_THREADS = 2**28
#: What :meth:`Engine.tell` can tell; ``start`` and ``watch`` are called on every observer.
HOOKS = (
    "warnings",
    "tallied",
    "negative_index",
    "out_of_bounds",
    "misaligned",
    "unwritten",
    "unassigned",
    "unreturned",
    "barrier",
    "divergence",
    "fence",
    "misled",
    "copy_started",
    "copied",
    "copy_arrived",
    "product_started",
    "product_finished",
    "proxy_fence",
    "register_fence",
    "misplaced",
    "statement",
    "assigned",
    "tested",
    "failed",
    "end_of_chunk",
)


class Engine:
    """One launch of one kernel. ``observers`` are fed while :meth:`run` runs; ``units`` compiles the kernel."""

    def __init__(
        self,
        kernel: Any,
        grid: Any,
        block: Any,
        arguments: Any,
        observers: list[Observer],
        schedule: str | int = "in-order",
        tracing: bool = False,
        max_steps: int | None = None,
        dynamic_shared: Any = 0,
        units: Units | None = None,
    ) -> None:
        self.launch = Launch.of(grid, block, dynamic_shared)
        threads = self.launch.blocks * self.launch.threads_per_block
        if threads > MAX_THREADS:
            raise LaunchError(
                f"the launch has {threads:,} threads, and the simulator runs at most {MAX_THREADS:,}; "
                "use a smaller grid"
            )
        self.source: Source = read(kernel)
        self.observers = observers
        self.order = order(schedule)
        if max_steps is not None and (
            isinstance(max_steps, bool) or not isinstance(max_steps, (int, np.integer)) or max_steps < 1
        ):
            raise LaunchError(f"max_steps is {max_steps!r}; give a whole number of at least 1")
        self.steps = Steps(None if max_steps is None else int(max_steps))
        names = [a.arg for a in self.source.tree.args.args]
        arguments = self._with_defaults(names, arguments)
        self.values = [take_argument(name, value) for name, value in zip(names, arguments, strict=True)]
        self.arrays = arrays_in(self.values)
        mark_aliases(self.arrays)
        variables = {n: variable_of(n, a, v) for n, a, v in zip(names, arguments, self.values, strict=True)}
        variables = self._cast(kernel, variables)
        if units is None:
            self.unit = Unit(self.launch, self.source, variables, tracing)
        else:
            self.unit = units.of(self.launch, self.source, variables, tracing)
        self._check_shared()
        self.printed = Printed()
        hooks = {type(o): hooks_of(type(o)) for o in observers}
        self._listeners = {name: tuple(getattr(o, name) for o in observers if name in hooks[type(o)]) for name in HOOKS}

    def _with_defaults(self, names: list[str], arguments: Any) -> tuple[Any, ...]:
        defaults = self.source.function.__defaults__ or ()
        missing = len(names) - len(arguments)
        if missing < 0 or missing > len(defaults):
            raise LaunchError(
                f"{self.source.name} takes {len(names)} arguments ({', '.join(names)}) and was given {len(arguments)}"
            )
        return (*arguments, *(defaults[len(defaults) - missing :] if missing else ()))

    def _cast(self, kernel: object, variables: Variables) -> Variables:
        """Cast the arguments to the kernel's signature, if it declares any; return what is known of them."""
        try:
            declared = signatures.declared(kernel, self.source)
            if not declared:
                return variables
            chosen = signatures.choose(declared, tuple(v.type for v in variables.values()), self.source.name)
        except TypingError as error:
            raise LaunchError(str(error)) from None
        kinds = dict(zip(variables, chosen.arguments, strict=True))
        self.values = [
            cast(value, np.dtype(kind)) if isinstance(kind, str) else value
            for value, kind in zip(self.values, kinds.values(), strict=True)
        ]
        return {n: v if v.type == kinds[n] else Variable(kinds[n]) for n, v in variables.items()}

    def _check_shared(self) -> None:
        arrays = {number: array for number, array in self.unit.static_shared.items() if number >= 0}
        used = sum(size for _, size, *_ in arrays.values())
        limit = HOPPER_SHARED_LIMIT if self.unit.products else SHARED_LIMIT
        if used + self.launch.dynamic_shared > limit and self.launch.dynamic_shared:
            raise LaunchError(
                f"the launch asks for {self.launch.dynamic_shared:,} bytes of dynamic shared memory a block, beside "
                f"{used:,} of the kernel's own arrays; the limit is {limit:,} bytes ({limit // 1024} KiB): ask for less"
            )
        if used > SHARED_LIMIT:
            parts = ", ".join(f"{name} {size:,}" for name, size, *_ in self.unit.static_shared.values())
            line = max(line for *_, line in self.unit.static_shared.values())
            raise LaunchError(
                f"the kernel's shared arrays take {used:,} bytes a block ({parts}); the limit of static shared memory "
                f"is {SHARED_LIMIT:,} bytes (48 KiB): use smaller tiles",
                line,
            )

    @property
    def lines(self) -> tuple[tuple[int, str], ...]:
        """The numbered lines of the kernel and of the device functions in its file, in the file's order."""
        return tuple(sorted({line for source in self.unit.sources for line in source.lines}))

    # --- events ------------------------------------------------------------------------------------------------

    def tell(self, hook: str, *event: Any) -> None:
        """Call a hook of every observer that overrides it."""
        for listener in self._listeners[hook]:
            listener(*event)

    def watch(self, array: Array) -> None:
        """Ask every observer for a function that is to see each access of ``array``."""
        array.watchers = tuple(w for w in (o.watch(array) for o in self.observers) if w is not None)

    # --- the run -----------------------------------------------------------------------------------------------

    def run(self) -> None:
        for observer in self.observers:
            observer.start(self)
        self.tell("warnings", self.unit)
        for array in (*self.arrays, *self.unit.outside):
            self.watch(array)
        sites = [[self._site(*site) for site in self.unit.sites] for _ in self.launch.warps]
        kernels = [self.unit.make(s) for s in sites]
        with np.errstate(all="ignore"):
            for chunk in self.launch.chunks(self._edges(), self._blocks_in_memory()):
                self._run_chunk(chunk, kernels, sites)

    def _blocks_in_memory(self) -> int:
        """How many blocks may run together so that their shared and local arrays stay within MAX_BYTES."""
        shared = sum(size + WATCHING_BYTES * elements for _, size, elements, _ in self.unit.static_shared.values())
        local = self.unit.local_bytes * self.launch.threads_per_block
        return max(1, MAX_BYTES // max(1, shared + local))

    def _edges(self) -> tuple[bool, bool]:
        """Does the launch reach past the arrays in x and y? A guess that costs or saves time, and nothing else."""
        if self.launch.blocks < 64:
            return False, False
        sizes = {size for array in self.arrays for size in array.shape}
        x, y = (self.launch.grid[d] * self.launch.block[d] not in sizes for d in (0, 1))
        return x, y

    def _site(self, line: int, op: str, width: int) -> Site:
        room = REMEMBERED // (len(self.unit.sites) * len(self.launch.warps))
        if op == "matrices":
            return MatrixSite(line, "load", self, room, width)
        return Site(line, op, self, room) if width == 1 else WideSite(line, op, self, room, width)

    def _run_chunk(self, chunk: Chunk, kernels: list[Any], sites: list[list[Site]]) -> None:
        """Run the warps of some blocks, each up to its next barrier, until all have ended.

        Of the barriers at which warps wait, the first in program order is passed first.
        """
        shared: dict[int, SharedArray] = {}
        vectors = [WarpVector(self, lanes, chunk, shared) for lanes in self.launch.warps]
        runs = []
        for vector, kernel, own in zip(vectors, kernels, sites, strict=True):
            for site in own:
                site.vector = vector
            runs.append(kernel(vector, True, (), *self.values))
        waiting: dict[int, Barrier] = {}

        def advance(warps: Sequence[int], replies: dict[int, Any]) -> None:
            for warp in self.order(warps):
                try:
                    waiting[warp] = runs[warp].send(replies.get(warp))
                except StopIteration:
                    waiting.pop(warp, None)

        try:
            advance(range(len(runs)), {})
            while waiting:
                first = min(barrier.place for barrier in waiting.values())
                group = [warp for warp, barrier in waiting.items() if barrier.place == first]
                replies = self._meet(vectors, waiting, group)
                advance(group, replies)
        finally:
            for own in sites:
                for site in own:
                    site.flush()
            self.tell("end_of_chunk", vectors)
            for vector in vectors:
                vector.forget()

    def _meet(self, vectors: list[WarpVector], waiting: dict[int, Barrier], group: list[int]) -> dict[int, Any]:
        """Warps met at a barrier: check that whole blocks did, tell the observers, work out a reduction."""
        arrivals = [(vectors[warp], waiting[warp].mask) for warp in group]
        complete = len(group) == len(vectors) and all(mask is True for _, mask in arrivals)
        if not complete:
            chunk = vectors[0].chunk
            arrived = np.zeros(chunk.shape, np.int64)
            for vector, mask in arrivals:
                arrived += vector.full(mask).sum(axis=(0, 1))
            partial = (arrived > 0) & (arrived < self.launch.threads_per_block)
            if partial.any():
                here = {vector.warp: mask for vector, mask in arrivals}
                missing = {v.warp: ~v.full(here.get(v.warp, False)) & partial for v in vectors}
                self.tell("divergence", waiting[group[0]], vectors, arrivals, missing, waiting)
        self.tell("barrier", arrivals, complete)
        return self._reduce(arrivals, waiting, group)

    def _reduce(
        self, arrivals: list[tuple[WarpVector, Mask]], waiting: dict[int, Barrier], group: list[int]
    ) -> dict[int, Any]:
        """What ``syncthreads_count`` and the like give to each warp of ``group``; nothing for a plain barrier."""
        reductions = {warp: waiting[warp].reduction for warp in group}
        predicates = {warp: reduction[1] for warp, reduction in reductions.items() if reduction is not None}
        if not predicates:
            return {}
        kind = next(reduction[0] for reduction in reductions.values() if reduction is not None)
        count: Any = sum(
            (vector.full(predicates[vector.warp]) & vector.full(mask)).sum(axis=(0, 1)) for vector, mask in arrivals
        )
        if kind == "syncthreads_and":
            count = count == sum(vector.full(mask).sum(axis=(0, 1)) for vector, mask in arrivals)
        elif kind == "syncthreads_or":
            count = count > 0
        reply = count.astype(np.int32)[None, None]
        return dict.fromkeys(group, reply)


def hooks_of(kind: type[Observer]) -> frozenset[str]:
    """The hooks of which observers of this class have one of their own."""
    return frozenset(name for name in HOOKS if getattr(kind, name) is not getattr(Observer, name))


def take_argument(name: str, value: Any) -> Any:
    """An argument as the kernel sees it: a GlobalArray or a NumPy scalar. Raises LaunchError."""
    if isinstance(value, np.ma.MaskedArray):
        raise LaunchError(f"the array {name!r} is a masked array, and a GPU knows no masks; pass .filled(...)")
    if isinstance(value, np.ndarray):
        value = np.asarray(value)
        if value.dtype.names:
            raise LaunchError(
                f"the array {name!r} holds records, which the simulator does not run; pass an array for each field"
            )
        if value.dtype.name not in SCALARS or not value.dtype.isnative:
            raise LaunchError(
                f"the array {name!r} has dtype {value.dtype}; the simulator runs {', '.join(SCALARS)} "
                "in native byte order: convert it with .astype()"
            )
        if not (value.flags.c_contiguous or value.flags.f_contiguous):
            raise LaunchError(
                f"the array {name!r} is not contiguous, and numba does not copy such an array to the "
                "GPU; pass np.ascontiguousarray(...)"
            )
        return GlobalArray(name, value)
    if isinstance(value, tuple):
        fields = getattr(value, "_fields", None) or range(len(value))
        named = (f"{name}.{field}" if isinstance(field, str) else f"{name}[{field}]" for field in fields)
        return tuple(take_argument(item, part) for item, part in zip(named, value, strict=True))
    kind = of_value(value)
    if kind is None:
        what = "an int beyond 64 bits" if type(value) is int else f"a {type(value).__name__}"
        raise LaunchError(
            f"the argument {name!r} is {what}; a kernel takes NumPy arrays, numbers and tuples of them: int, float, "
            f"complex, bool or NumPy's {', '.join(SCALARS[1:])}"
        )
    return np.dtype(kind).type(value)


def arrays_in(values: Sequence[Any]) -> list[GlobalArray]:
    """The arrays among arguments, and in their tuples."""
    found: list[GlobalArray] = []
    for value in values:
        found += arrays_in(value) if isinstance(value, tuple) else [value] if isinstance(value, GlobalArray) else []
    return found


def mark_aliases(arrays: Sequence[GlobalArray]) -> None:
    """Note which arguments share memory: they may be read, but not written."""
    for i, array in enumerate(arrays):
        for other in arrays[:i]:
            if np.may_share_memory(array.flat, other.flat):
                array.aliases, other.aliases = other.name, array.name


def variable_of(name: str, argument: Any, value: Any) -> Variable:
    """What the compiler knows of an argument, given as ``argument`` and taken as ``value``."""
    if isinstance(value, GlobalArray):
        return Variable(ArrayType(value.dtype.name, value.ndim))
    if isinstance(value, tuple):
        items = [variable_of(f"{name}[{i}]", a, v) for i, (a, v) in enumerate(zip(argument, value, strict=True))]
        reasons = tuple(item.why for item in items)
        fields = tuple(getattr(argument, "_fields", ()))
        return Variable(TupleType(tuple(item.type for item in items), fields), reasons if any(reasons) else None)
    python = type(argument) in (float, complex)
    origin = Reason(f"{name}, a Python {type(argument).__name__} argument") if python else None
    return Variable(value.dtype.name, origin)
