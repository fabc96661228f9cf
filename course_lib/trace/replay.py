"""The replay of one block, step by step: the trace of a launch in the form that the viewer draws."""

from collections import Counter
from functools import cached_property

import numpy as np

from ..simulator.hardware import WARP_SIZE, ceil_div
from ..simulator.run import SPACES
from . import frames
from .columns import BARRIER, NONE, OPS, ElementAccesses, Table, lanes_of, rows_of
from .trace import Dim3, Step, Trace

#: What a step does, or a phase of a warp; the last of these where it does several, and the first where it does none.
KINDS = ("", "compute", "store", "load", "barrier")
#: What an access is: its array's space and its operation.
_ACTIONS = tuple((space, op) for space in SPACES for op in OPS)


class Timeline:
    """The steps of one block of a launch, in order, and the state after any number of them.

    A *position* is a number of steps that the block has taken: 0 before the first, ``len(timeline)`` at the end.
    """

    def __init__(self, trace: Trace, block: Dim3):
        self.trace = trace
        self.block = block
        self.n_threads = trace.n_threads
        columns = self.columns = trace.columns
        places = np.flatnonzero((columns.blocks == np.array(block)).all(axis=1))
        self.first, self.last = 0, 0  # rows of its steps
        if len(places):
            self.first, self.last = (int(row) for row in columns.first[places[0] : places[0] + 2])
        rows = slice(self.first, self.last)
        self.lines, self.warps, self.lanes, self.flags = (
            columns.step[name][rows] for name in ("line", "warp", "lanes", "flags")
        )
        self._accesses: dict[str, ElementAccesses] = {}

    @classmethod
    def of(cls, trace: Trace, block: Dim3) -> "Timeline":
        """Return the timeline of a block, which is made once."""
        known: Timeline | None = trace.timelines.get(block)
        if known is None:
            known = trace.timelines[block] = cls(trace, block)
        return known

    def __len__(self) -> int:
        return self.last - self.first

    def step(self, position: int) -> Step:
        """Return the last of the first ``position`` steps."""
        return self.trace.steps[self.first + position - 1]

    # --- columns, lane by lane ----------------------------------------------------------------------------------

    def table(self, name: str) -> Table:
        """Return the rows of a table of the columns that belong to the block's steps."""
        return rows_of(getattr(self.columns, name), self.columns.rows(name, self.first, self.last))

    def accesses(self, name: str) -> ElementAccesses:
        """Return the accesses of the block's lanes to one array."""
        if name not in self._accesses:
            self._accesses[name] = self.expand_accesses(name)
        return self._accesses[name]

    def expand_accesses(self, name: str) -> ElementAccesses:
        """Return the same, without keeping them: those of all blocks are large."""
        columns, array, table = self.columns, self.trace.arrays[name], self.table("access")
        table = rows_of(table, np.flatnonzero(table["array"] == columns.arrays.index(name)))
        row, lane, rank = lanes_of(table["lanes"])
        width = table["width"][row].astype(np.intp)
        element = table["base"][row] + columns.values(table["pattern"], row, rank, np.int64)
        # an entry for each of the neighbouring elements
        part = np.arange(width.sum()) - np.repeat(np.cumsum(width) - width, width)
        if len(part) > len(width):
            row, lane, rank, element, width = (np.repeat(each, width) for each in (row, lane, rank, element, width))
        new = table["values"][row] != NONE
        value = np.zeros(len(row), array.dtype)
        if new.any():
            # A list as long as one lane's values (one, or several for wide stores) is for all lanes.
            lengths = columns.lists[2][table["values"]][row]
            place = np.where(lengths == width, part, rank * width + part)
            value[new] = columns.values(table["values"], row[new], place[new], value.dtype)
        position = table["step"][row] - self.first + 1
        thread = self.warps[position - 1].astype(np.int64) * WARP_SIZE + lane
        store, atomic = table["op"][row] != OPS.index("load"), table["op"][row] == OPS.index("atomic")
        return ElementAccesses(position, thread, element + part, store, atomic, new, value)

    def values(self, name: str, position: int) -> np.ma.MaskedArray:
        """Return an array's elements after the first ``position`` steps, flat; of a local array, a row for each thread.

        An element is masked if it is not stored yet; of other blocks there is what this one has read.
        """
        array, accesses = self.trace.arrays[name], self.accesses(name)
        done = accesses.between(0, position)
        new = accesses.new[done]
        element = accesses.element[done][new]
        local = array.space == "local"
        if array.initial is not None:
            held = np.ma.array(np.ascontiguousarray(array.initial).reshape(-1).copy(), mask=np.zeros(array.size, bool))
        else:
            held = np.ma.array(np.zeros((self.n_threads if local else 1) * array.size, array.dtype), mask=True)
        held[element + (accesses.thread[done][new] * array.size if local else 0)] = accesses.value[done][new]
        return held.reshape(self.n_threads, array.size) if local else held

    def outside(self, position: int) -> list[tuple[str, int, tuple[int, ...]]]:
        """Return (array, thread, index) of every access outside its array in the step before ``position``."""
        if not position:
            return []
        columns, step = self.columns, self.first + position - 1
        found = []
        for row in range(*columns.rows("outside", step, step + 1).indices(len(columns.outside["step"]))):
            array = columns.arrays[columns.outside["array"][row]]
            dims = max(1, len(self.trace.arrays[array].shape))
            index = columns.vector(columns.outside["index"][row]).reshape(-1, dims)
            _, lanes, rank = lanes_of(columns.outside["lanes"][row : row + 1])
            for lane, place in zip(lanes.tolist(), rank.tolist(), strict=True):
                at = index[place if len(index) > 1 else 0]
                found.append((array, int(columns.step["warp"][step]) * WARP_SIZE + lane, tuple(at.tolist())))
        return found

    def statement_of(self, line: int) -> int:
        """Return the first line of the statement that contains a line: the nearest line above that ran."""
        lines = np.unique(self.lines)
        at = int(np.searchsorted(lines, line, side="right"))
        return int(lines[at - 1]) if at else line

    def of_thread(self, thread: int) -> np.ndarray:
        """Return in which steps a thread takes part."""
        warp, lane = divmod(thread, WARP_SIZE)
        takes_part: np.ndarray = (self.warps == warp) & ((self.lanes >> np.uint32(lane)) & 1).astype(bool)
        return takes_part

    def does(self, space: str, *ops: str) -> np.ndarray:
        """Return which steps access an array of this space by one of these operations of `columns.OPS`."""
        found: np.ndarray = self._actions & sum(1 << _ACTIONS.index((space, op)) for op in ops) != 0
        return found

    @cached_property
    def _actions(self) -> np.ndarray:
        """What each step accesses, a bit for each of `_ACTIONS`."""
        access, found = self.table("access"), np.zeros(len(self), np.int64)
        first = [_ACTIONS.index((self.trace.arrays[name].space, OPS[0])) for name in self.columns.arrays]
        bits = np.left_shift(1, np.array(first, np.int64)[access["array"]] + access["op"])
        starts = np.flatnonzero(np.diff(access["step"], prepend=-1))
        if len(starts):
            found[access["step"][starts] - self.first] = np.bitwise_or.reduceat(bits, starts)
        return found

    @cached_property
    def frame_of_step(self) -> np.ndarray:
        """The frame of the animation to which each step belongs, from 0."""
        return frames.frames_of(self)

    @cached_property
    def animation(self) -> "BlockAnimation":
        """The same steps in the order of their animation."""
        return BlockAnimation(self)

    # --- where to stop --------------------------------------------------------------------------------------------

    @cached_property
    def releases(self) -> tuple[int, ...]:
        """Return the positions at which a barrier opens: its last arrival before a waiting warp continues."""
        opened, last = [], 0
        waiting: set[int] = set()
        barrier = (self.flags & BARRIER) != 0
        for number, (warp, arrives) in enumerate(zip(self.warps.tolist(), barrier.tolist(), strict=True), start=1):
            if warp in waiting:
                opened.append(last)
                waiting = set()
            if arrives:
                waiting.add(warp)
                last = number
        return (*opened, last) if waiting else tuple(opened)

    @property
    def _kinds(self) -> np.ndarray:
        """What each step does, as indices into `KINDS`.

        A step that loads from global memory is a load, whatever else it does; one that stores to global memory, or to
        shared memory without reading it, is a store. A step that reads shared memory computes, and so does one that
        updates local arrays, or that assigns a float and accesses no memory. The rest is none: loop heads, indices,
        moves.
        """
        columns, changes = self.columns, ("store", "atomic", "result")
        variable, computes = self.table("variable"), np.zeros(len(self), bool)
        real = np.array([pool.dtype.kind in "fc" for pool in columns.pools] or [False])
        computes[variable["step"][real[columns.lists[0][variable["values"]]]] - self.first] = True
        computes[self.table("access")["step"] - self.first] = False
        computes |= self.does("shared", "load") | (self.does("local", *changes) & self.does("local", "load"))
        kind = np.where(computes, KINDS.index("compute"), KINDS.index(""))
        stores = self.does("global", *changes) | (self.does("shared", *changes) & ~self.does("shared", "load"))
        kind[stores] = KINDS.index("store")
        kind[self.does("global", "load")] = KINDS.index("load")
        kind[(self.flags & BARRIER) != 0] = KINDS.index("barrier")
        return kind

    @cached_property
    def phases(self) -> tuple[tuple[tuple[int, str], ...], ...]:
        """Return for each warp its phases: (last position, kind); a step that does none belongs to the current one."""
        kinds = self._kinds
        found: list[tuple[tuple[int, str], ...]] = []
        for warp in range(ceil_div(self.n_threads, WARP_SIZE)):
            mine = np.flatnonzero(self.warps == warp)
            own = kinds[mine]
            does = np.flatnonzero(own)
            if not len(does):
                found.append(((int(mine[-1]) + 1, "compute"),) if len(mine) else ())
                continue
            changes = does[1:][own[does[1:]] != own[does[:-1]]]
            ends = [*(mine[changes - 1] + 1).tolist(), int(mine[-1]) + 1]
            found.append(tuple(zip(ends, (KINDS[kind] for kind in own[[does[0], *changes]]), strict=True)))
        return tuple(found)

    def representative_step(self, thread: int) -> int:
        """Return the step that a static picture shows: the middle one in which the thread reads shared memory.

        Without shared memory it is the middle one of those in which it loads from global memory.
        """
        for space in ("shared", "global"):
            found = [self.accesses(name) for name, array in self.trace.arrays.items() if array.space == space]
            loads = [accesses.position[(accesses.thread == thread) & ~accesses.store] for accesses in found]
            reading = np.unique(np.concatenate([np.empty(0, np.int64), *loads]))
            if len(reading):
                return int(reading[len(reading) // 2])
        return len(self)


class BlockAnimation(Timeline):
    """The steps of a block frame by frame, and inside a frame as recorded; positions are those of the animation.

    ``order``: the recorded number of each step, from 0; ``frames``: (first, last) positions of the frames, exclusive
    and inclusive.
    """

    def __init__(self, recorded: Timeline):
        super().__init__(recorded.trace, recorded.block)
        self.recorded = recorded
        self.order = np.argsort(recorded.frame_of_step, kind="stable")
        self.lines, self.warps, self.lanes, self.flags = (
            column[self.order] for column in (self.lines, self.warps, self.lanes, self.flags)
        )
        ends = np.cumsum(np.bincount(recorded.frame_of_step)).tolist()
        self.frames = [*zip([0, *ends], ends, strict=False)]

    def step(self, position: int) -> Step:
        return self.recorded.step(int(self.order[position - 1]) + 1)

    def expand_accesses(self, name: str) -> ElementAccesses:
        accesses, position = self.recorded.accesses(name), np.empty(len(self), np.int64)
        position[self.order] = np.arange(1, len(self) + 1)
        moved = position[accesses.position - 1]
        place = np.argsort(moved, kind="stable")
        rest = (getattr(accesses, name)[place] for name in ("thread", "element", "store", "atomic", "new", "value"))
        return ElementAccesses(moved[place], *rest)


def tiles(trace: Trace) -> dict[str, tuple[int, int]]:
    """Return the tile of every global matrix: the (rows, columns) that a block accesses between two barriers.

    It is measured from the accesses, so a kernel that fetches the wrong tile shows the wrong tile. The most frequent
    size in the first block counts, and the larger one on a tie.
    """
    timeline = Timeline.of(trace, tuple(trace.columns.blocks[0].tolist()))
    arrives = (timeline.flags & BARRIER) != 0
    passed = np.zeros(len(timeline) + 1, np.int64)  # by each step's warp before it, by position
    for warp in np.unique(timeline.warps):
        mine = np.flatnonzero(timeline.warps == warp)
        passed[mine + 1] = np.cumsum(arrives[mine]) - arrives[mine]
    found: dict[str, tuple[int, int]] = {}
    for name, array in trace.arrays.items():
        if array.space == "global" and len(array.shape) == 2 and len(timeline.accesses(name).element):
            accesses = timeline.accesses(name)
            row, column = np.divmod(accesses.element, array.shape[1])
            when = passed[accesses.position]
            sides = ((np.ptp(row[when == number]), np.ptp(column[when == number])) for number in np.unique(when))
            sizes = Counter((int(down) + 1, int(across) + 1) for down, across in sides)
            found[name] = max(sizes, key=lambda size: (sizes[size], size))
    return found
