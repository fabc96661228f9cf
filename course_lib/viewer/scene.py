"""What the viewer shows of one step, as data: grids of elements and their marks, requests, counts, and words.

The static picture and the text form are drawn from it, and the page's state must equal it (:meth:`Scene.data`).
Elements are row-major numbers; threads are linear ids in the block.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..simulator.hardware import BANKS, SECTOR_BYTES, WARP_SIZE, WORD_BYTES, ceil_div
from ..trace.locate import locate
from ..trace.program import accumulators, roles, shown_source, tiles
from ..trace.replay import Timeline
from ..trace.strips import Strip
from ..trace.trace import Dim3, Step, Trace, TraceAccess, TraceArray
from .fragments import Matrices, matrices_of
from .words import element, n_dims, number, sentence, short, thread_position, waiting_sentence
from .words import label as position_label

#: How an element looks, a letter each: not the block's business, in its region, touched by it, part of an active lane,
#: nothing stored yet, read in this step, written in this step.
PLAIN, REGION, SEEN, ACTIVE, EMPTY, READ, WRITTEN = ".rsaeRW"
#: An array of one dimension is shown in rows of at most so many elements, so that numbers fit.
WRAP = 16
#: Grids with more elements, or wider ones, are shown without numbers, and a lens shows those around the thread's.
NUMBERED, NUMBERED_SIDE, LENS = 1024, 40, 8

#: The views of a step beside its arrays and its source; findings are shown wherever there are some.
PANELS = ("findings", "warp", "banks", "fragments", "waits", "launch")
#: The view that tells of requests to each space.
_TELLS = {"global": "warp", "shared": "banks"}

#: Of each array, element number (as text) -> (what it holds in the end, what was wanted).
WrongElements = dict[str, dict[str, tuple[str, str]]]


@dataclass
class Grid:
    """The elements of a matrix, of one buffer of an array, or of a variable in all threads of the block.

    ``looks`` has a letter an element; ``texts`` are the values, None where they do not fit; ``mine`` are the elements
    that the chosen thread touches in this step, ``dots`` those that it has loaded so far, ``outside`` the (row, column)
    of accesses that miss the grid; ``owned`` are the elements of the result that the thread stores in the whole
    launch, and ``owned_by_warp`` those of its warp. ``frame`` is (top, left, bottom, right) of the block's region.
    ``offset`` is the number of the grid's first element in its array.
    """

    name: str
    array: str | None
    hue: str
    rows: int
    columns: int
    looks: str
    texts: list[str] | None
    offset: int = 0
    mine: list[int] = field(default_factory=list)
    dots: list[int] = field(default_factory=list)
    outside: list[tuple[int, int]] = field(default_factory=list)
    owned: list[int] = field(default_factory=list)
    owned_by_warp: list[int] = field(default_factory=list)
    frame: tuple[int, int, int, int] | None = None
    tile: tuple[int, int] | None = None
    wrapped: bool = False
    lens: tuple[int, int, list[list[str]]] | None = None


@dataclass
class Request:
    """What the warp asked of memory in this step: one access of one array.

    ``lanes`` has, for each lane of the warp, the byte address (from the array's start) or None where it takes no
    part. ``sectors`` (global) maps the number of each 32-byte sector to how many of its bytes were asked for;
    ``banks`` (shared) has for each bank the lanes that hit it. The figures are those of the observers.
    """

    array: str
    op: str
    space: str
    access_bytes: int
    lanes: list[int | None]
    n_sectors: int
    n_wavefronts: int
    n_conflicts: int
    sectors: dict[int, int] = field(default_factory=dict)
    banks: list[list[int]] = field(default_factory=list)

    @property
    def active(self) -> int:
        return sum(address is not None for address in self.lanes)

    @property
    def says(self) -> str:
        """The request in a sentence."""
        what = f"{self.op.capitalize()} of {self.array}: {self.active} lanes × {self.access_bytes} bytes"
        if self.space == "global":
            moved = self.n_sectors * SECTOR_BYTES
            plural = "s" * (self.n_sectors != 1)
            return (
                f"{what} in {self.n_sectors} sector{plural}; {sum(self.sectors.values())} of {moved} bytes asked for."
            )
        wave, conflict = "s" * (self.n_wavefronts != 1), "s" * (self.n_conflicts != 1)
        return f"{what} in {self.n_wavefronts} wavefront{wave}, {self.n_conflicts} bank conflict{conflict}."


class Scene:
    """One step of a block, seen by one of its threads; parts are worked out when they are asked for."""

    def __init__(
        self,
        timeline: Timeline,
        position: int,
        thread: int,
        wrong: WrongElements | None = None,
        panels: Collection[str] = PANELS,
    ):
        self.timeline, self.position, self.thread = timeline, position, thread
        self.wrong, self.panels = wrong or {}, panels
        self.trace = timeline.trace
        self.state, self.end = timeline.state(position), timeline.state(len(timeline))
        self.roles = roles(self.trace)
        self.tiles = tiles(self.trace)

    @cached_property
    def step(self) -> Step | None:
        """The last step taken; None before the first."""
        return self.timeline.step(self.position) if self.position else None

    @cached_property
    def says(self) -> str:
        return sentence(self.timeline, self.position, self.thread)

    @property
    def told(self) -> str:
        """The sentence, and which step it is of."""
        return f"step {self.position} of {len(self.timeline)}: {self.says}"

    @property
    def where(self) -> str:
        """Launch, block, thread and step, in a line."""
        trace, dims = self.trace, n_dims(self.trace)
        return (
            f"grid {position_label(trace.grid, dims)} × block {position_label(trace.block, dims)}     "
            f"block {position_label(self.timeline.block, dims)}, "
            f"thread {position_label(thread_position(self.thread, trace.block), dims)}     "
            f"step {self.position} of {len(self.timeline)}"
        )

    # --- source --------------------------------------------------------------------------------------------------

    @cached_property
    def source(self) -> list[tuple[int, str, int, int]]:
        """(line, text, runs, global loads) of every line shown; the counts are the thread's."""
        runs = self.timeline.runs(self.thread, self.position)
        lines = shown_source(self.trace)
        loads = {line: int(self.state.line_loads(line)[self.thread]) if line in runs else 0 for line, _ in lines}
        return [(line, text, runs.get(line, 0), loads[line]) for line, text in lines]

    @property
    def line(self) -> int | None:
        return self.step.line if self.step else None

    # --- findings ------------------------------------------------------------------------------------------------

    @cached_property
    def findings(self) -> list[tuple[str, tuple[int, ...]]]:
        """Every finding that took place in this block: its text and the positions of its accesses, later first."""
        found = []
        for finding in self.trace.findings:
            at = tuple(p.position for p in locate(self.trace, finding) if p.block == self.timeline.block)
            if at:
                found.append((str(finding), at))
        return found

    @property
    def findings_now(self) -> list[str]:
        """The findings of which this step is a part, and the wrong values that it stores."""
        return [text for text, positions in self.findings if self.position in positions] + self.wrong_now

    @property
    def wrong_now(self) -> list[str]:
        """``C[1, 2] holds 3 in the end, and 5 was wanted``, of the elements that the thread stores in this step."""
        found = []
        for name, elements in self.wrong.items():
            touches = self.timeline.touches(name)
            now = touches.at(self.position)
            mine = touches.store[now] & (touches.thread[now] == self.thread)
            for flat in np.unique(touches.element[now][mine]).tolist():
                if str(flat) in elements:
                    holds, wanted = elements[str(flat)]
                    place = element(name, flat, self.trace.arrays[name].shape)
                    found.append(f"{place} holds {holds} in the end, and {wanted} was wanted.")
        return found

    # --- counts --------------------------------------------------------------------------------------------------

    @cached_property
    def counts(self) -> dict[str, tuple[int, int, int, int]]:
        """(thread so far, block so far, thread in all, block in all) of "global load", "shared store" and so on."""
        found = {}
        for space in ("global", "shared", "local"):
            if not any(a.space == space for a in self.trace.arrays.values()):
                continue
            for op in ("load", "store"):
                now, total = self.state.counts(space, op), self.end.counts(space, op)
                mine = int(now[self.thread]), int(now.sum()), int(total[self.thread]), int(total.sum())
                if space == "global" or mine[3]:
                    found[f"{space} {op}"] = mine
        return found

    @cached_property
    def registers(self) -> list[tuple[str, str]]:
        """(name, value) of every variable that the thread has assigned, in the order of their first assignments."""
        held = ((name, self.state.variable(name)[self.thread]) for name in self.timeline.variables)
        return [(name, number(value)) for name, value in held if value is not np.ma.masked]

    # --- grids ---------------------------------------------------------------------------------------------------

    @cached_property
    def grids(self) -> list[Grid]:
        """All grids: A, B and C, the other global arrays, shared and local ones, then variables in all threads."""
        order = {"global": 1, "shared": 2, "local": 3}
        arrays = sorted(
            self.trace.arrays.values(),
            key=lambda a: (0, self.roles[a.name]) if a.name in self.roles else (order[a.space], ""),
        )
        found = [grid for array in arrays for grid in self._array(array)]
        variables = [name for name in accumulators(self.trace) if name in self.trace.columns.names]
        return found + [self._variable(name) for name in variables or [""]]

    def _array(self, array: TraceArray) -> list[Grid]:
        rows, columns, slices = sides(array.shape)
        looks, mine = self._looks(array)
        values = self.state.values(array.name)
        values = values[self.thread] if array.space == "local" else values
        dots = self.state.loaded_by(array.name, self.thread) if array.space == "global" else np.empty(0, int)
        role = self.roles.get(array.name)
        owned, warp_owned = self._owned(array)
        found = []
        for part in range(slices):
            offset = part * rows * columns
            extent = min(rows * columns, array.size - offset)

            def inside(elements: np.ndarray, offset: int = offset, extent: int = extent) -> list[int]:
                kept = elements[(elements >= offset) & (elements < offset + extent)] - offset
                return [int(i) for i in kept]

            chosen = values[offset : offset + extent]
            numbered = extent <= NUMBERED and columns <= NUMBERED_SIDE
            grid = Grid(
                array.name if slices == 1 else f"{array.name}[{part}]",
                array.name,
                role or array.space,
                rows,
                columns,
                "".join(looks[offset : offset + extent].tolist()),
                texts_of(chosen) if numbered else None,
                offset,
                inside(mine),
                inside(dots),
                self._outside(array, rows, columns) if part == slices - 1 else [],
                inside(owned),
                inside(warp_owned),
                tile=self.tiles.get(array.name),
                wrapped=len(array.shape) == 1 and rows > 1,
            )
            if array.space == "global" and not grid.wrapped:
                grid.frame = self._frame(array, rows, columns)
            if not numbered:
                grid.lens = self._lens(grid, chosen)
            found.append(grid)
        return found

    def _looks(self, array: TraceArray) -> tuple[np.ndarray, np.ndarray]:
        """The letter of every element, and the elements that the thread touches in this step."""
        touches = self.timeline.touches(array.name)
        now = touches.at(self.position)
        element_now, store, mine = touches.element[now], touches.store[now], touches.thread[now] == self.thread
        if array.space == "local":
            element_now, store, mine = element_now[mine], store[mine], mine[mine]
        looks = np.full(array.size, PLAIN, "U1")
        if array.space == "global":
            looks[touches.element] = REGION
            looks[touches.element[touches.until(self.position)]] = SEEN
        else:
            values = self.state.values(array.name)
            empty = np.ma.getmaskarray(values[self.thread] if array.space == "local" else values)
            looks[:] = np.where(empty, EMPTY, SEEN)
        looks[element_now[~store]] = READ
        looks[element_now[store]] = WRITTEN
        return looks, np.unique(element_now[mine])

    def _owned(self, array: TraceArray) -> tuple[np.ndarray, np.ndarray]:
        """The elements of the result that the thread, and those that its warp, stores in the whole launch."""
        none = np.empty(0, np.int64)
        if self.roles.get(array.name) != "C":
            return none, none
        touches = self.timeline.touches(array.name)
        thread, element_ = touches.thread[touches.store], touches.element[touches.store]
        mine, warp = thread == self.thread, thread // WARP_SIZE == self.thread // WARP_SIZE
        return np.unique(element_[mine]), np.unique(element_[warp])

    def _outside(self, array: TraceArray, rows: int, columns: int) -> list[tuple[int, int]]:
        """Where the accesses of this step that miss the array would land: row and column beyond its grid."""
        places = []
        for name, _, index in self.timeline.outside(self.position):
            if name != array.name:
                continue
            if len(index) == 1:
                places.append(divmod(index[0], columns) if rows > 1 else (0, index[0]))
            else:
                places.append((index[-2], index[-1]))
        return [(int(row), int(column)) for row, column in sorted(set(places))]

    def _frame(self, array: TraceArray, rows: int, columns: int) -> tuple[int, int, int, int] | None:
        touched = np.unique(self.timeline.touches(array.name).element) % (rows * columns)
        if not len(touched):
            return None
        y, x = np.divmod(touched, columns)
        return int(y.min()), int(x.min()), int(y.max()), int(x.max())

    def _lens(self, grid: Grid, values: Any) -> tuple[int, int, list[list[str]]]:
        """(top, left, texts) of the elements around the first that the thread touches, has loaded or will store."""
        focus = (grid.mine or grid.dots[-1:] or grid.owned or [0])[0]
        height, width = min(LENS, grid.rows), min(LENS, grid.columns)
        top = min(max(0, focus // grid.columns - height // 2), grid.rows - height)
        left = min(max(0, focus % grid.columns - width // 2), grid.columns - width)
        rows = [values[row * grid.columns + left :][:width] for row in range(top, top + height)]
        return top, left, [texts_of(row) for row in rows]

    def _variable(self, name: str) -> Grid:
        """A variable in every thread of the block; without a name only which threads are active."""
        bx, by, bz = self.trace.block
        rows, columns = (bx // WARP_SIZE, WARP_SIZE) if by * bz == 1 and bx % WARP_SIZE == 0 else (by * bz, bx)
        n = self.timeline.n_threads
        values = self.state.variable(name) if name else np.ma.array(np.zeros(n), mask=True)
        looks = np.where(np.ma.getmaskarray(values), EMPTY if name else PLAIN, SEEN)
        if self.step is not None:
            looks[self.step.threads] = WRITTEN if name in self.step.variables else ACTIVE
        texts = texts_of(values) if name and n <= NUMBERED else None
        return Grid(
            name or "threads", None, "register", rows, columns, "".join(looks.tolist()), texts, 0, [self.thread]
        )

    # --- the warp's requests ---------------------------------------------------------------------------------------

    @cached_property
    def requests(self) -> list[Request]:
        """What the step's warp asked of global and shared memory."""
        if self.step is None:
            return []
        arrays = self.trace.arrays
        return [self._request(access) for access in self.step.accesses if arrays[access.array].space != "local"]

    @property
    def requests_told(self) -> list[Request]:
        """Those of which one of the chosen panels tells."""
        return [request for request in self.requests if _TELLS[request.space] in self.panels]

    def _request(self, access: TraceAccess) -> Request:
        array = self.trace.arrays[access.array]
        itemsize = np.dtype(array.dtype).itemsize
        strides = np.array(array.element_strides, np.int64)
        at = (access.index @ strides * itemsize) if len(strides) else np.zeros(len(access.threads), np.int64)
        size = itemsize * access.width
        lanes: list[int | None] = [None] * WARP_SIZE
        for thread, address in zip(access.threads.tolist(), at.tolist(), strict=True):
            lanes[thread % WARP_SIZE] = int(address)
        figures = access.sectors, access.wavefronts, access.conflicts
        request = Request(access.array, access.op, array.space, size, lanes, *figures)
        if array.space == "global":
            asked = np.unique((at[:, None] + np.arange(size)).reshape(-1))
            sectors, used = np.unique(asked // SECTOR_BYTES, return_counts=True)
            request.sectors = dict(zip(sectors.tolist(), used.tolist(), strict=True))
        else:
            request.banks = [[] for _ in range(BANKS)]
            for lane, first in enumerate(lanes):
                if first is not None:
                    words = range(first // WORD_BYTES, ceil_div(first + size, WORD_BYTES))
                    for word in words:
                        request.banks[word % BANKS].append(lane)
        return request

    # --- matrices in a warp's registers -------------------------------------------------------------------------------

    @cached_property
    def matrices(self) -> list[Matrices]:
        """Which lane of the step's warp holds which element of the matrices that the statement multiplies."""
        return matrices_of(self.trace, self.step, self.thread)

    @property
    def matrices_told(self) -> list[str]:
        """Their sentences, if the panel that shows them is one of the chosen."""
        return [each.says for each in self.matrices] if "fragments" in self.panels else []

    # --- where warps wait ------------------------------------------------------------------------------------------

    @property
    def strips(self) -> tuple[Strip, ...]:
        """What each warp, and each buffer of shared memory, goes through in the whole walk of the block."""
        return self.timeline.strips

    @cached_property
    def waiting(self) -> str:
        """Which warps wait at a barrier now, and for which."""
        return waiting_sentence(self.timeline, self.position)

    # --- for comparison ----------------------------------------------------------------------------------------------

    def data(self) -> dict[str, Any]:
        """Everything as JSON takes it: what a page must show for the same step."""
        return {
            "where": [list(self.timeline.block), self.thread, self.position, len(self.timeline)],
            "says": self.says,
            "line": self.line,
            "source": [list(row) for row in self.source],
            "findings": self.findings_now,
            "counts": {name: list(row) for name, row in self.counts.items()},
            "registers": [list(row) for row in self.registers],
            "grids": [
                {
                    name: getattr(grid, name)
                    for name in ("name", "rows", "columns", "looks", "texts", "mine", "dots", "outside", "owned")
                }
                for grid in self.grids
            ],
            "requests": [
                {
                    "says": request.says,
                    "lanes": request.lanes,
                    "sectors": [list(item) for item in request.sectors.items()],
                    "banks": request.banks,
                }
                for request in self.requests
            ],
            "matrices": [
                {"says": each.says, "held": [[m.title, m.lanes, sorted(m.mine)] for m in each.held]}
                for each in self.matrices
            ],
            "strips": [[name, [list(span) for span in spans]] for name, spans in self.strips],
            "waiting": self.waiting,
        }


def wrong_elements(trace: Trace, wanted: Mapping[str, np.ndarray]) -> WrongElements:
    """For each array that should hold something else after the launch: element -> (what it holds, what was wanted).

    Numbers that differ by rounding alone are not wrong. Raises ValueError for an array that the launch does not have,
    or that has another shape.
    """
    found: WrongElements = {}
    for name, right in wanted.items():
        array, right = trace.arrays.get(name), np.asarray(right)
        if array is None or array.space != "global" or array.shape != right.shape:
            raise ValueError(f"The launch has no global array {name!r} of shape {right.shape}.")
        held = final(trace, name)
        right = right.reshape(-1)
        scale = np.abs(right[np.isfinite(right)]).max(initial=0)
        differs = ~np.isclose(held, right, rtol=1e-3, atol=1e-5 * float(scale), equal_nan=True)
        elements = {str(i): (number(held[i]), number(right[i])) for i in np.flatnonzero(differs).tolist()}
        if elements:
            found[name] = elements
    return found


def final(trace: Trace, name: str) -> np.ndarray:
    """A global array after the launch, flat."""
    array = trace.arrays[name]
    held = np.array(array.initial).reshape(-1)
    for at in trace.columns.blocks.tolist():
        touches = Timeline(trace, tuple(at)).touches(name)
        held[touches.element[touches.store]] = touches.value[touches.store]
    return held


def sides(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """(rows, columns, grids) in which an array is shown: one dimension is wrapped, leading ones get a grid each."""
    if len(shape) == 0:
        return 1, 1, 1
    if len(shape) == 1:
        columns = min(shape[0], WRAP)
        return ceil_div(shape[0], columns) if columns else 0, columns, 1 if columns else 0
    rows, columns = shape[-2:]
    return rows, columns, int(np.prod(shape[:-2])) if rows * columns else 0


def texts_of(values: Any) -> list[str]:
    """Values in short, nothing where nothing was stored."""
    return ["" if value is np.ma.masked else short(value) for value in values]


def heat(timeline: Timeline, name: str) -> np.ndarray:
    """How often the whole launch loads every element of an array: an array of its shape."""
    trace = timeline.trace
    counts = np.zeros(trace.arrays[name].size, np.int64)
    for at in trace.columns.blocks.tolist():
        block: Dim3 = tuple(at)
        touches = (timeline if block == timeline.block else Timeline(trace, block)).touches(name)
        np.add.at(counts, touches.element[~touches.store], 1)
    return counts.reshape(trace.arrays[name].shape)
