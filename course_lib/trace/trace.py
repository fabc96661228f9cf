"""The result of tracing: a :class:`Trace`, as objects for a reader and as columns for a program."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import starmap
from typing import Any

import numpy as np

from ..simulator.findings import Finding
from ..simulator.hardware import WARP_SIZE
from ..simulator.language.program.statement_nodes import Function
from .columns import BARRIER, NONE, OPS, Columns

Dim3 = tuple[int, int, int]


@dataclass(frozen=True)
class TraceArray:
    """An array that the kernel accessed.

    ``space`` is "global", "shared", "local" or "constant"; ``shape`` and ``strides`` are in elements. ``initial`` and
    ``final`` are copies of a global array's contents before and after the launch, None in other spaces.

    >>> run = simulate(rung("naive").make(), trace=True)[(2, 2), (16, 16)](*matrices(32, 32, 32))
    >>> array = run.trace.arrays["C"]
    >>> array.space, array.shape, array.dtype
    ('global', (32, 32), 'float32')
    """

    name: str
    space: str
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    initial: np.ndarray | None
    final: np.ndarray | None = None

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))


@dataclass(frozen=True)
class TraceAccess:
    """The part of one statement that accessed one array: a row of ``index`` and a value per active thread.

    ``threads`` (n,) are linear thread ids in the block, x fastest; ``index`` is (n, ndim), of the first element where a
    lane accesses ``width`` neighbouring ones at once; ``op`` is one of ``columns.OPS``; ``values`` is (n,) or (n,
    width): what was stored, what arrived as a result, or what each lane's atomic left. The values of a load are those
    in memory, see :meth:`.replay.Timeline.state`; given here if they are new to the block, because another one stored
    them. Of an atomic, ``operation`` is "add" or another of ``cuda.atomic``, ``old`` (n,) what each lane found, in the
    simulated order, and ``given`` (n, operands) its operands. ``sectors``, ``wavefronts`` and ``conflicts`` are those
    of the warp's request.

    >>> run = simulate(rung("naive").make(), trace=True)[(2, 2), (16, 16)](*matrices(32, 32, 32))
    >>> step = next(step for step in run.trace.steps if step.accesses)
    >>> [(access.op, access.array, access.sectors) for access in step.accesses]
    [('load', 'A', 2), ('load', 'B', 2)]
    """

    op: str
    array: str
    threads: np.ndarray
    index: np.ndarray
    values: np.ndarray | None
    width: int = 1
    sectors: int = 0
    wavefronts: int = 0
    conflicts: int = 0
    operation: str = ""
    old: np.ndarray | None = None
    given: np.ndarray | None = None


@dataclass(frozen=True)
class Condition:
    """A condition that a step evaluated: its text, the evaluating lanes, those for which it held, and the operands.

    >>> run = simulate(rung("naive").make(), trace=True)[(2, 2), (16, 16)](*matrices(32, 32, 32))
    >>> step = next(step for step in run.trace.steps if step.conditions)
    >>> [(condition.text, bool(condition.truth.all())) for condition in step.conditions]
    [('row < M', True), ('col < N', True)]
    """

    text: str
    threads: np.ndarray
    truth: np.ndarray
    left: np.ndarray | None
    right: np.ndarray | None


@dataclass(frozen=True)
class Exchange:
    """A shuffle or a vote by a function of ``cuda``: the ``threads`` (n,) that took part, what each gave and got.

    ``source`` (n,) are the lanes from which a shuffle takes, 32 less than a lane that gave nothing; None for a vote.
    """

    operation: str
    threads: np.ndarray
    given: np.ndarray
    source: np.ndarray | None
    result: np.ndarray


@dataclass(frozen=True)
class Step:
    """One source statement, executed once by one warp of one block.

    ``threads`` (n,) are the active linear thread ids; ``variables`` maps each name that the statement assigned to its
    new values, one per active thread; those of a device function are named ``function.name``.

    >>> run = simulate(rung("naive").make(), trace=True)[(2, 2), (16, 16)](*matrices(32, 32, 32))
    >>> step = run.trace.steps[0]
    >>> step.warp, len(step.threads), [*step.variables]
    (0, 32, ['row'])
    """

    line: int
    block: Dim3
    warp: int
    threads: np.ndarray
    accesses: tuple[TraceAccess, ...] = ()
    variables: dict[str, np.ndarray] = field(default_factory=dict)
    barrier: bool = False
    conditions: tuple[Condition, ...] = ()
    exchanges: tuple[Exchange, ...] = ()


@dataclass(frozen=True)
class Fragment:
    """A matrix in the registers of a warp: ``held`` has, for each lane, the elements that it holds.

    Elements are row-major numbers, in the order of the lane's values.
    """

    name: str
    rows: int
    columns: int
    held: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Pieces:
    """A matrix that is read from shared memory in pieces of 16 bytes, eight at a time.

    ``first``: for each piece, the row-major number of its first element.
    """

    name: str
    rows: int
    columns: int
    first: tuple[int, ...]


@dataclass(frozen=True)
class MatrixOperation:
    """An operation of a warp on whole matrices, in the statement that begins on ``line``, by the intrinsic ``name``.

    ``pieces`` are matrices that the tensor cores read from shared memory themselves; in the step they are loads of 32
    pieces each, in the same order.
    """

    line: int
    name: str
    fragments: tuple[Fragment, ...]
    pieces: tuple[Pieces, ...] = ()


@dataclass(frozen=True)
class Trace:
    """A launch as the viewer sees it: ``steps`` block by block, within a block in the order of their execution.

    ``findings`` and ``traffic`` are the run's; ``source`` holds the numbered lines of the kernel and of the device
    functions of its file; ``matrices`` are the operations on matrices in the registers of a warp; ``program`` is the
    kernel's typed program, None for a trace that no launch has made; ``scalars`` are the arguments that are numbers;
    ``timelines`` are those of the blocks that were looked at (:meth:`.replay.Timeline.of`).

    >>> run = simulate(rung("naive").make(), trace=True)[(2, 2), (16, 16)](*matrices(32, 32, 32))
    >>> run.trace.kernel_name, len(run.trace.steps)
    ('naive', 2272)
    """

    kernel_name: str
    grid: Dim3
    block: Dim3
    source: tuple[tuple[int, str], ...]
    arrays: dict[str, TraceArray]
    steps: "RecordedSteps"
    findings: tuple[Finding, ...] = ()
    traffic: tuple[Any, ...] = ()
    matrices: tuple[MatrixOperation, ...] = ()
    program: Function | None = field(default=None, repr=False, compare=False)
    scalars: Mapping[str, Any] = field(default_factory=dict, repr=False, compare=False)
    timelines: dict[Dim3, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """Return the state without the program, whose functions belong to this process, and without timelines."""
        return self.__dict__ | {"program": None, "timelines": {}}

    @property
    def columns(self) -> Columns:
        """The same trace as columns."""
        return self.steps.columns

    @property
    def n_threads(self) -> int:
        """Threads of a block."""
        return int(np.prod(self.block))

    def __repr__(self) -> str:
        return f"Trace({self.kernel_name}: {len(self.steps)} steps, {len(self.arrays)} arrays)"


class RecordedSteps(Sequence[Step]):
    """The steps of a recorded launch; each is converted to an object on access."""

    def __init__(self, columns: Columns, arrays: Mapping[str, TraceArray]):
        self.columns, self._arrays = columns, arrays

    def __len__(self) -> int:
        return len(self.columns.step["line"])

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return tuple(map(self._step, range(len(self))[place]))
        if not -len(self) <= place < len(self):
            raise IndexError(f"there is no step {place}; the trace has {len(self)}")
        return self._step(place % len(self))

    def _rows(self, table: str, step: int, warp: int) -> Iterator[tuple[dict[str, Any], np.ndarray]]:
        """Yield the rows of a table that belong to a step of a warp, each with its threads."""
        rows = self.columns.rows(table, step, step + 1)
        for i in range(rows.start, rows.stop):
            row = {name: column[i] for name, column in getattr(self.columns, table).items()}
            yield row, _threads(row.get("lanes", 0), warp)

    def _list(self, number: int, threads: np.ndarray, width: int = 1) -> Any:
        """Return the numbers of a list, ``width`` for each of the threads; None if there is no list."""
        if number == NONE:
            return None
        rows = self.columns.vector(number).reshape(-1, width)
        rows = np.repeat(rows, len(threads), axis=0) if len(rows) == 1 else rows  # one row is for all threads
        return rows[:, 0] if width == 1 else rows

    def _step(self, i: int) -> Step:
        """Return a row of the table of steps as an object, with what belongs to it in the other tables."""
        columns = self.columns
        line, warp, block, lanes, flags = (columns.step[of][i] for of in ("line", "warp", "block", "lanes", "flags"))
        threads = _threads(lanes, warp)
        variables = {
            columns.names[row["name"]]: self._list(row["values"], threads) for row, _ in self._rows("variable", i, warp)
        }
        return Step(
            int(line),
            tuple(columns.blocks[block].tolist()),
            int(warp),
            threads,
            tuple(starmap(self._access, self._rows("access", i, warp))),
            variables,
            bool(flags & BARRIER),
            tuple(starmap(self._test, self._rows("test", i, warp))),
            tuple(starmap(self._exchange, self._rows("exchange", i, warp))),
        )

    def _access(self, row: dict[str, Any], threads: np.ndarray) -> TraceAccess:
        """Return a row of the table of accesses as an object; ``threads`` are those that access the array."""
        array, width = self._arrays[self.columns.arrays[row["array"]]], int(row["width"])
        operation, given = row["operation"], row["given"]
        elements = row["base"] + self._list(row["pattern"], threads)
        index = (
            np.stack(np.unravel_index(elements, array.shape), axis=1) if array.shape else np.zeros((len(threads), 0))
        )
        return TraceAccess(
            OPS[row["op"]],
            array.name,
            threads,
            index.astype(np.int64),
            self._list(row["values"], threads, width),
            width,
            int(row["sectors"]),
            int(row["wavefronts"]),
            int(row["conflicts"]),
            self.columns.operations[operation] if operation != NONE else "",
            self._list(row["old"], threads),
            self.columns.vector(given).reshape(len(threads), -1) if given != NONE else None,
        )

    def _test(self, row: dict[str, Any], threads: np.ndarray) -> Condition:
        truth = np.isin(threads % WARP_SIZE, _threads(row["truth"], 0))
        sides = (self._list(row[side], threads) for side in ("left", "right"))
        return Condition(self.columns.texts[row["text"]], threads, truth, *sides)

    def _exchange(self, row: dict[str, Any], threads: np.ndarray) -> Exchange:
        given, source, result = (self._list(row[part], threads) for part in ("given", "source", "result"))
        return Exchange(self.columns.operations[row["operation"]], threads, given, source, result)


_LANES = np.arange(WARP_SIZE, dtype=np.uint32)


def _threads(lanes: Any, warp: int) -> np.ndarray:
    return np.flatnonzero(lanes >> _LANES & 1) + warp * WARP_SIZE
