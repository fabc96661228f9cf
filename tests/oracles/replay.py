"""What the threads of a block have done by a step, from the columns of the trace: more than the product itself asks."""

import functools
from bisect import bisect_right
from typing import NamedTuple

import numpy as np

from course_lib.simulator.hardware import WARP_SIZE
from course_lib.trace.columns import OPS, lanes_of, rows_of
from course_lib.trace.replay import Timeline


@functools.lru_cache(maxsize=256)
def assignments(timeline, name):
    """Return (position, thread, value) of every assignment of the block to a variable, in order."""
    columns = timeline.columns
    table = rows_of(columns.variable, columns.rows("variable", timeline.first, timeline.last))
    table = rows_of(table, table["name"] == columns.names.index(name))
    at = table["step"] - timeline.first
    row, lane, rank = lanes_of(timeline.lanes[at])
    value = columns.values(table["values"], row, rank) if len(row) else np.empty(0)
    return at[row] + 1, WARP_SIZE * timeline.warps[at][row].astype(int) + lane, value


class State(NamedTuple):
    """The machine as one block sees it after some of its steps: values, counts and variables."""

    timeline: Timeline
    position: int

    def values(self, name):
        return self.timeline.values(name, self.position)

    def stored(self, name):
        """Return which elements of an array the block has stored."""
        accesses = self.timeline.accesses(name)
        done = accesses.store & (accesses.position <= self.position)
        return np.isin(np.arange(self.timeline.trace.arrays[name].size), accesses.element[done])

    def loaded_by(self, name, thread):
        """Return the elements of an array that a thread has loaded, in ascending order."""
        accesses = self.timeline.accesses(name)
        mine = (accesses.thread == thread) & ~accesses.store & (accesses.position <= self.position)
        return np.unique(accesses.element[mine])

    def counts(self, space, op, line=None):
        """Return the loads, stores or atomics of each thread, of one line or of all; a wide access counts as one."""
        columns, timeline = self.timeline.columns, self.timeline
        rows = rows_of(columns.access, columns.rows("access", timeline.first, timeline.first + self.position))
        arrays = [at for at, name in enumerate(columns.arrays) if timeline.trace.arrays[name].space == space]
        chosen = np.isin(rows["array"], arrays) & (rows["op"] == OPS.index(op))
        if line is not None:
            chosen &= columns.step["line"][rows["step"]] == line
        row, lane, _ = lanes_of(rows["lanes"][chosen])
        warp = columns.step["warp"][rows["step"]][chosen][row].astype(int)
        return np.bincount(WARP_SIZE * warp + lane, minlength=timeline.n_threads)

    def variable(self, name):
        """Return a variable's value in each thread; masked if it has none yet."""
        position, thread, value = assignments(self.timeline, name)
        done = slice(0, bisect_right(position, self.position))
        held = np.ma.array(np.zeros(self.timeline.n_threads, value.dtype), mask=True)
        held[thread[done]] = value[done]
        return held
