"""What the viewer draws: every statement that every warp executed, with its accesses and assignments."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from ..simulator.findings import LaunchError
from ..simulator.observer import Observer


@dataclass(frozen=True)
class TraceArray:
    """An array that the kernel touched.

    ``space`` is "global", "shared" or "local"; ``shape`` is in elements. ``initial`` is a copy of a global
    array's contents before the launch, and None for the arrays of the other spaces.
    """

    name: str
    space: str
    dtype: str
    shape: tuple[int, ...]
    initial: np.ndarray | None = None


@dataclass(frozen=True)
class TraceAccess:
    """The part of one statement that touched one array: a row of ``index`` and a value per active thread.

    ``threads`` (n,) are linear thread ids in the block, x fastest; ``index`` is (n, ndim); ``values`` is (n,).
    """

    op: str
    array: str
    threads: np.ndarray
    index: np.ndarray
    values: np.ndarray


@dataclass(frozen=True)
class Step:
    """One source statement, executed once by one warp of one block.

    ``threads`` (n,) are the active linear thread ids; ``variables`` maps each name that the statement
    assigned to its new values, one per active thread.
    """

    line: int
    block: tuple[int, int, int]
    warp: int
    threads: np.ndarray
    accesses: tuple[TraceAccess, ...] = ()
    variables: dict[str, np.ndarray] = field(default_factory=dict)
    barrier: bool = False


@dataclass(frozen=True)
class Trace:
    """A launch as the viewer sees it: ``steps`` in the order in which the simulator executed them."""

    kernel_name: str
    grid: tuple[int, int, int]
    block: tuple[int, int, int]
    source: tuple[tuple[int, str], ...]
    arrays: dict[str, TraceArray]
    steps: tuple[Step, ...]

    def __repr__(self) -> str:
        return f"Trace({self.kernel_name}: {len(self.steps)} steps, {len(self.arrays)} arrays)"


class TraceObserver(Observer):
    """Records a :class:`Trace` of a whole launch, which must be small.

    Raises LaunchError beyond ``MAX_STEPS`` steps: a viewer could not show them.
    """

    MAX_STEPS = 200_000

    def __init__(self):
        super().__init__()
        self.records: list[dict] = []  # in the order in which the statements began
        self.arrays: dict[str, TraceArray] = {}
        self._open: dict[tuple, dict] = {}  # (block, warp) -> the step being recorded

    def start(self, engine):
        self.engine = engine
        for value in engine.values:
            if hasattr(value, "host"):
                self.arrays[value.name] = TraceArray(
                    value.name, "global", value.dtype.name, value.shape, value.host.copy()
                )

    def watch(self, array):
        self.arrays.setdefault(array.name, TraceArray(array.name, array.space, array.dtype.name, array.shape))
        return self._access

    def statement(self, vector, line, mask):
        self._close(vector.warp)
        here = vector.full(mask)
        blocks, lanes = vector.chunk.linear[0, 0], vector.lanes.linear[:, :, 0, 0]
        for row, column in np.argwhere(here.any(axis=(0, 1))):
            place = (slice(None), slice(None), row, column)  # of the block in the vector
            active, block = here[place].copy(), int(blocks[row, column])
            record = {
                "line": line,
                "block": block,
                "warp": vector.warp,
                "place": place,
                "active": active,
                "threads": lanes[active],
                "accesses": [],
                "variables": {},
                "barrier": False,
            }
            self._open[block, vector.warp] = record
            self.records.append(record)
        if len(self.records) > self.MAX_STEPS:
            raise LaunchError(
                f"this launch has more than {self.MAX_STEPS:,} steps, too many to trace; "
                "use smaller matrices or fewer threads"
            )

    def _of(self, vector, mask):
        """The open steps of a warp, each with its lanes (of its own block) under ``mask``."""
        here = vector.full(mask)
        for (_, warp), step in self._open.items():
            if warp == vector.warp:
                lanes = step["active"] & here[step["place"]]
                if lanes.any():
                    yield step, lanes

    def _access(self, site, pattern, base, value):
        array, vector = pattern.array, site.vector
        offsets = np.broadcast_to(pattern.elements(base), vector.shape)
        if isinstance(value, tuple):
            value = value[-1]
        values = np.broadcast_to(np.asarray(value), vector.shape)
        threads = vector.lanes.linear[:, :, 0, 0]
        for step, lanes in self._of(vector, pattern.mask):
            at = offsets[step["place"]][lanes]
            index = np.empty((at.size, array.ndim), np.int64)
            for d, numbers in enumerate(array.index_of(at)):
                index[:, d] = numbers
            step["accesses"].append(
                TraceAccess(
                    site.op, array.name, threads[lanes], index, values[step["place"]][lanes].astype(array.dtype)
                )
            )

    def assigned(self, vector, name, value, mask):
        values = np.broadcast_to(np.asarray(value), vector.shape)
        for step, _ in self._of(vector, mask):
            step["variables"][name] = values[step["place"]][step["active"]]

    def barrier(self, arrivals, complete):
        for vector, mask in arrivals:
            for step, _ in self._of(vector, mask):
                step["barrier"] = True

    def _close(self, warp):
        for key in [k for k in self._open if k[1] == warp]:
            del self._open[key]

    def end_of_chunk(self, vectors):
        for vector in vectors:
            self._close(vector.warp)

    @property
    def trace(self) -> Trace:
        """The recording; complete once the launch has finished."""
        launch, source = self.engine.launch, self.engine.source
        steps = tuple(
            Step(
                r["line"],
                launch.block_at(r["block"]),
                r["warp"],
                r["threads"],
                tuple(r["accesses"]),
                r["variables"],
                r["barrier"],
            )
            for r in self.records
        )
        return Trace(source.name, launch.grid, launch.block, source.lines, self.arrays, steps)
