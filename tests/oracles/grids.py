"""The elements that the viewer shows of one step: of each array, and of variables in all threads of the block."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from course_lib.simulator.findings import Finding
from course_lib.simulator.hardware import WARP_SIZE, ceil_div
from course_lib.trace.kernel_structure import accumulators, roles
from course_lib.trace.replay import Timeline, tiles
from course_lib.trace.trace import TraceArray
from course_lib.trace.viewer.digits import short
from course_lib.trace.viewer.wrong_elements import WrongElements
from oracles.replay import State, assignments

#: The state of an element, a letter each: not used by the block, in its region, accessed by it, of an active lane,
#: nothing stored yet, read in this step, written in this step, nothing stored but loaded to a register for it.
PLAIN, REGION, SEEN, ACTIVE, EMPTY, READ, WRITTEN, PENDING = ".rsaeRWp"
#: The longest row in which an array of one dimension is shown, so that numbers fit.
WRAP = 16
#: Grids with more elements, or wider ones, are shown without numbers.
NUMBERED, NUMBERED_SIDE = 1024, 40


@dataclass
class Grid:
    """The elements of a matrix, of one buffer of an array, or of a variable in all threads of the block.

    ``states`` has a letter an element; ``texts`` are the values, None if they do not fit; ``mine`` are the elements
    that the chosen thread accesses in this step, ``dots`` those that it has loaded so far, ``outside`` (row, column)
    of accesses outside the grid; ``owned`` are the elements of the result that the thread stores in the whole
    launch, and ``owned_by_warp`` those of its warp; ``wrong`` are those at which this step breaks a rule, or whose
    value is not the wanted one. ``frame`` is (top, left, bottom, right) of the block's region. ``counts`` say how often
    each element has been loaded from global memory, or read in shared memory since it was stored; before the first step
    how often the launch loads it. ``most`` is the largest of a global array's, on one scale for all of them. ``filled``
    are the percents of the elements of a product that are computed.
    """

    name: str
    rows: int
    columns: int
    states: str
    texts: list[str] | None
    mine: list[int] = field(default_factory=list)
    dots: list[int] = field(default_factory=list)
    outside: list[tuple[int, int]] = field(default_factory=list)
    owned: list[int] = field(default_factory=list)
    owned_by_warp: list[int] = field(default_factory=list)
    wrong: list[int] = field(default_factory=list)
    frame: tuple[int, int, int, int] | None = None
    counts: list[int] | None = None
    most: int | None = None
    filled: list[int] | None = None
    tile: tuple[int, int] | None = None


class Grids:
    """All grids of a step, as one thread of the block sees them.

    ``broken`` are the findings in which the step takes part, ``threads`` the threads that caused them.
    """

    def __init__(
        self,
        timeline: Timeline,
        position: int,
        thread: int,
        broken: Sequence[Finding] = (),
        threads: Sequence[int] = (),
        wrong: WrongElements | None = None,
    ):
        self.timeline, self.position, self.thread = timeline, position, thread
        self.broken, self.threads, self.wrong = broken, threads, wrong or {}
        self.trace, self.state = timeline.trace, State(timeline, position)
        self.roles, self.tiles = roles(self.trace), tiles(self.trace)

    def all(self) -> list[Grid]:
        """A, B and C, the other global arrays, shared and local ones, then variables in all threads."""
        order = {"global": 1, "shared": 2, "local": 3}
        arrays = sorted(
            self.trace.arrays.values(),
            key=lambda a: (0, self.roles[a.name]) if a.name in self.roles else (order[a.space], ""),
        )
        found = [grid for array in arrays for grid in self._array(array)]
        variables = [name for name in accumulators(self.trace) if name in self.trace.columns.names]
        return found + [self._variable(name) for name in variables or [""]]

    def _array(self, array: TraceArray) -> list[Grid]:
        """Return the grids of an array: one, or one for each of its leading indices."""
        rows, columns, slices = sides(array.shape)
        states, mine = self._states(array)
        values = self.state.values(array.name)
        values = values[self.thread] if array.space == "local" else values
        dots = self.state.loaded_by(array.name, self.thread) if array.space == "global" else np.empty(0, int)
        owned, warp_owned = self._owned(array)
        wrong = self._wrong(array)
        counts, most = self._counts(array)
        filled = self._filled(array)
        blank = self._unused(array)
        for element, value in self._pending(array).items():
            states[element], values[element], blank[element] = PENDING, value, False
        found = []
        for part in range(slices):
            offset = part * rows * columns
            extent = min(rows * columns, array.size - offset)

            def inside(elements: np.ndarray, offset: int = offset, extent: int = extent) -> list[int]:
                kept = elements[(elements >= offset) & (elements < offset + extent)] - offset
                return [int(i) for i in kept]

            numbered = extent <= NUMBERED and columns <= NUMBERED_SIDE
            grid = Grid(
                array.name if slices == 1 else f"{array.name}[{part}]",
                rows,
                columns,
                "".join(states[offset : offset + extent].tolist()),
                texts_of(np.ma.array(values, mask=np.ma.getmaskarray(values) | blank)[offset : offset + extent])
                if numbered
                else None,
                inside(mine),
                inside(dots),
                self._outside(array, rows, columns) if part == slices - 1 else [],
                inside(owned),
                inside(warp_owned),
                inside(wrong),
                tile=self.tiles.get(array.name),
            )
            if counts is not None:
                grid.counts, grid.most = counts[offset : offset + extent].tolist(), most
            if filled is not None:
                grid.filled = filled[offset : offset + extent].tolist()
            if array.space == "global" and (len(array.shape) > 1 or rows == 1):
                grid.frame = self._frame(grid)
            found.append(grid)
        return found

    def _states(self, array: TraceArray) -> tuple[np.ndarray, np.ndarray]:
        """The letter of every element, and the elements that the thread accesses in this step."""
        accesses = self.timeline.accesses(array.name)
        now = accesses.between(self.position - 1, self.position)
        element_now, store, mine = accesses.element[now], accesses.store[now], accesses.thread[now] == self.thread
        if array.space == "local":
            element_now, store, mine = element_now[mine], store[mine], mine[mine]
        states = np.full(array.size, PLAIN, "U1")
        if array.space == "global":
            states[accesses.element] = REGION
            states[accesses.element[accesses.between(0, self.position)]] = SEEN
        else:
            values = self.state.values(array.name)
            empty = np.ma.getmaskarray(values[self.thread] if array.space == "local" else values)
            states[:] = np.where(empty, EMPTY, SEEN)
        states[element_now[~store]] = READ
        states[element_now[store]] = WRITTEN
        return states, np.unique(element_now[mine])

    def _pending(self, array: TraceArray) -> dict[int, Any]:
        """What ``name = ARRAY[...]`` has loaded, and ``SHARED[...] = name`` will store where nothing is."""
        if array.space != "shared":
            return {}
        source = {line: text.strip() for line, text in self.trace.source}
        accesses, empty = self.timeline.accesses(array.name), np.ma.getmaskarray(self.state.values(array.name))
        later = np.flatnonzero(accesses.store & (accesses.position > self.position) & empty[accesses.element])
        found: dict[int, Any] = {}
        for i in later[np.argsort(accesses.position[later], kind="stable")].tolist():
            element, thread, at = (int(each[i]) for each in (accesses.element, accesses.thread, accesses.position))
            name = source[int(self.timeline.lines[at - 1])].partition("] = ")[2]
            if not name.isidentifier() or element in found:
                continue
            for loaded in (other.name for other in self.trace.arrays.values() if other.space == "global"):
                loads = self.timeline.accesses(loaded)
                mine = loads.position[(loads.thread == thread) & ~loads.store & (loads.position < at)].tolist()
                lines = [source[int(self.timeline.lines[each - 1])] for each in mine]
                held = [each for each, line in zip(mine, lines, strict=True) if line.startswith(f"{name} = ")]
                if held and held[-1] <= self.position:
                    found[element] = accesses.value[i]
        return found

    def _unused(self, array: TraceArray) -> np.ndarray:
        """Which elements of the result have no number yet: the block has not stored them, and never loads them."""
        accesses = self.timeline.accesses(array.name)
        loaded = np.isin(np.arange(array.size), accesses.element[~accesses.store])
        return (self.roles.get(array.name) == "C") & ~self.state.stored(array.name) & ~loaded

    def _counts(self, array: TraceArray) -> tuple[np.ndarray | None, int | None]:
        """How often each element has been loaded, and the most of a global array; element by element."""
        accesses = self.timeline.accesses(array.name)
        if array.space == "shared":
            counts = np.zeros(array.size, int)
            done = accesses.position <= self.position
            for element, store in zip(accesses.element[done].tolist(), accesses.store[done].tolist(), strict=True):
                counts[element] = 0 if store else counts[element] + 1
            return counts, 0
        if array.space != "global" or accesses.store.any() or not len(accesses.element):
            return None, None
        whole = not self.position and len(self.trace.columns.blocks) == np.prod(self.trace.grid)
        blocks = [tuple(at) for at in self.trace.columns.blocks.tolist()] if whole else [self.timeline.block]
        loads = {name: self._loads(name, blocks) for name, each in self.trace.arrays.items() if each.space == "global"}
        most = max(int(each.max(initial=0)) for each in loads.values())
        if self.position:
            done = ~accesses.store & (accesses.position <= self.position)
            return np.bincount(accesses.element[done], minlength=array.size), most
        return (loads[array.name] if whole else np.zeros(array.size, int)), most

    def _filled(self, array: TraceArray) -> np.ndarray | None:
        """The percent of each element of C that is computed: as many as are done of the steps with ``+=`` in which the
        thread that stores it changes a sum.
        """
        if self.roles.get(array.name) != "C" or set(self.roles.values()) != {"A", "B", "C"}:
            return None
        changes = [np.empty((2, 0), int)]  # positions and threads
        for name in accumulators(self.trace):
            if name in self.trace.arrays:
                accesses = self.timeline.accesses(name)
                changes.append(np.stack([accesses.position, accesses.thread])[:, accesses.store])
            else:
                changes.append(np.stack(assignments(self.timeline, name)[:2]))
        position, thread = np.concatenate(changes, axis=1)
        lines = [line for line, text in self.trace.source if "+=" in text]
        adds = np.isin(self.timeline.lines[position - 1], lines)
        position, thread = position[adds], thread[adds]
        if not len(position):
            return None
        n = self.timeline.n_threads
        whole = np.bincount(thread, minlength=n)
        done = np.bincount(thread[position <= self.position], minlength=n)
        accesses = self.timeline.accesses(array.name)
        share = np.zeros(array.size)
        for element, who in zip(accesses.element[accesses.store], accesses.thread[accesses.store], strict=True):
            share[element] = done[who] / max(1, whole[who])
        share[self.state.stored(array.name)] = 1
        return np.floor(100 * share + 0.5).astype(int)

    def _loads(self, name: str, blocks: list[tuple[int, ...]]) -> np.ndarray:
        """How often these blocks load each element of an array in the launch."""
        size = self.trace.arrays[name].size
        touched = (Timeline(self.trace, block).accesses(name) for block in blocks)
        return sum((np.bincount(each.element[~each.store], minlength=size) for each in touched), np.zeros(size, int))

    def _owned(self, array: TraceArray) -> tuple[np.ndarray, np.ndarray]:
        """The elements of the result that the thread, and those that its warp, stores in the whole launch."""
        none = np.empty(0, np.int64)
        if self.roles.get(array.name) != "C":
            return none, none
        accesses = self.timeline.accesses(array.name)
        thread, element_ = accesses.thread[accesses.store], accesses.element[accesses.store]
        mine, warp = thread == self.thread, thread // WARP_SIZE == self.thread // WARP_SIZE
        return np.unique(element_[mine]), np.unique(element_[warp])

    def _outside(self, array: TraceArray, rows: int, columns: int) -> list[tuple[int, int]]:
        """Row and column, outside the grid, of this step's accesses that are out of bounds."""
        places = []
        for name, _, index in self.timeline.outside(self.position):
            if name != array.name:
                continue
            if len(index) == 1:
                places.append(divmod(index[0], columns) if rows > 1 else (0, index[0]))
            else:
                places.append((index[-2], index[-1]))
        return [(int(row), int(column)) for row, column in sorted(set(places))]

    def _wrong(self, array: TraceArray) -> np.ndarray:
        """The elements at which this step breaks a rule, and those stored so far that have a wrong value."""
        places = [f.index for f in self.broken if f.array == array.name and f.index is not None]
        inside = [at for at in places if all(0 <= i < n for i, n in zip(at, array.shape, strict=True))]
        broken = [int(np.ravel_multi_index(at, array.shape)) if at else 0 for at in inside]
        stored = self.state.stored(array.name)
        return np.array(broken + [int(i) for i in self.wrong.get(array.name, {}) if stored[int(i)]], np.int64)

    def _frame(self, grid: Grid) -> tuple[int, int, int, int] | None:
        region = np.frombuffer(grid.states.encode(), "S1") != PLAIN.encode()
        if not region.any():
            return None
        y, x = np.divmod(np.flatnonzero(region), grid.columns)
        return int(y.min()), int(x.min()), int(y.max()), int(x.max())

    def _variable(self, name: str) -> Grid:
        """A variable in every thread of the block; without a name, only the active threads."""
        bx, by, bz = self.trace.block
        rows, columns = (bx // WARP_SIZE, WARP_SIZE) if by * bz == 1 and bx % WARP_SIZE == 0 else (by * bz, bx)
        n = self.timeline.n_threads
        values = self.state.variable(name) if name else np.ma.array(np.zeros(n), mask=True)
        states = np.where(np.ma.getmaskarray(values), EMPTY if name else PLAIN, SEEN)
        if self.position:
            step = self.timeline.step(self.position)
            states[step.threads] = WRITTEN if name in step.variables else ACTIVE
        texts = texts_of(values) if name and n <= NUMBERED else None
        letters = "".join(states.tolist())
        return Grid(name or "threads", rows, columns, letters, texts, [self.thread], wrong=list(self.threads))


def sides(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """(rows, columns, grids) of an array: a single dimension is wrapped, each leading index has its own grid."""
    if len(shape) == 0:
        return 1, 1, 1
    if len(shape) == 1:
        columns = min(shape[0], WRAP)
        return ceil_div(shape[0], columns) if columns else 0, columns, 1 if columns else 0
    rows, columns = shape[-2:]
    return rows, columns, int(np.prod(shape[:-2])) if rows * columns else 0


def texts_of(values: Any) -> list[str]:
    """Abbreviate values; an empty text for elements without one."""
    return ["" if value is np.ma.masked else short(value) for value in values]
