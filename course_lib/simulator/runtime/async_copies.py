"""Asynchronous copies from global to shared memory that have not arrived.

On a GPU the data can arrive at any time between the copy and the wait. Here they arrive as late as possible, at the
wait, so a thread that reads too early finds the old values. The access to global memory and the request to shared
memory are counted when the copy starts.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np

from .access import Site
from .arrays import Pattern


@dataclass(frozen=True, eq=False)
class SourceUse:
    """What a copy reads of a global array: ``words`` are keys, (elements, lanes, blocks), those of ``lanes`` are read.

    ``in_use()`` are the lanes, or the blocks, whose copies have not arrived. Of a bulk copy, ``waited`` are the warps
    that know that it has arrived, since they waited for its phase; None of others.
    """

    site: Site
    array: Any
    words: np.ndarray
    lanes: np.ndarray
    in_use: Callable[[], np.ndarray]
    waited: set[int] | None = None


@dataclass(eq=False)
class Pending:
    """An asynchronous operation of a warp: each lane's group, counted from its first commit, and the lanes to come."""

    group: np.ndarray
    on_its_way: np.ndarray


Operation = TypeVar("Operation", bound=Pending)


class Groups(Generic[Operation]):
    """The asynchronous operations of one kind that a warp vector has started, in the groups of each lane."""

    def __init__(self, vector: Any) -> None:
        self.vector = vector
        self.started: list[Operation] = []
        self.group = np.zeros(vector.shape, np.int64)

    def commit(self, mask: Any) -> None:
        """Make one group of the operations that each lane started since its last call."""
        self.group = self.group + self.vector.full(mask)

    def wait(self, pending: int, mask: Any) -> None:
        """Let all groups of the lanes arrive, except their last ``pending`` ones."""
        here = self.vector.full(mask)
        for operation in self.started:
            done = operation.on_its_way & here & (operation.group < self.group - int(pending))
            if done.any():
                operation.on_its_way &= ~done
                self.arrive(operation, done)
        self.started = [operation for operation in self.started if operation.on_its_way.any()]

    def arrive(self, operation: Operation, lanes: np.ndarray) -> None:
        raise NotImplementedError


@dataclass(eq=False)
class PendingCopy(Pending):
    """One copy instruction of a warp: its target and its values."""

    site: Site
    pattern: Pattern
    base: int
    values: tuple[Any, ...]
    source: SourceUse | None = None

    def in_use(self) -> np.ndarray:
        """The lanes, (lanes, blocks), in which the copy has not arrived."""
        return self.on_its_way.reshape(self.on_its_way.shape[0] * self.on_its_way.shape[1], -1)


class Copies(Groups[PendingCopy]):
    def start(
        self, site: Any, target: Any, index: tuple[Any, ...], value: Any, mask: Any
    ) -> tuple[Pattern, int] | None:
        """Start a copy of ``value`` to ``target``; return its pattern and base, or None if no lane takes part."""
        pattern, base = site.begin_access(target, index, mask)
        if pattern.mask is False:
            return None
        values = value if isinstance(value, tuple) else (value,)
        if site.width > 1:
            site.check_alignment(pattern, base)
        self.vector.engine.report("copy_started", site, pattern, base, values)
        lanes = self.vector.full(pattern.mask).copy()
        self.started.append(PendingCopy(self.group, lanes, site, pattern, base, values))
        return pattern, base

    def arrive(self, copy: PendingCopy, lanes: np.ndarray) -> None:
        array, engine = copy.pattern.array, self.vector.engine
        if copy.source is not None:
            engine.report("source_read", copy.source, lanes.reshape(copy.source.words.shape[1:]))
        pattern = Pattern(array, self.vector, copy.pattern.offsets, True if lanes.all() else lanes, copy.site.width)
        engine.report("copy_arrived", copy.site, pattern, copy.base)
        for element, value in enumerate(copy.values):
            copy.site.put(pattern, copy.base + element, value)
