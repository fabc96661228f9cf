"""What the threads of a block have done by a step, from the columns of the trace: more than the product itself asks."""

import functools
from bisect import bisect_right

import numpy as np

from course_lib.simulator.hardware import WARP_SIZE
from course_lib.trace import replay
from course_lib.trace.columns import lanes_of


@functools.lru_cache(maxsize=256)
def assignments(timeline, name):
    """Return (position, thread, value) of every assignment of the block to a variable, in order."""
    columns = timeline.columns
    rows = columns.rows("variable", timeline.first, timeline.last)
    table = {key: column[rows] for key, column in columns.variable.items()}
    here = table["name"] == columns.names.index(name)
    table = {key: column[here] for key, column in table.items()}
    at = table["step"] - timeline.first
    row, lane, rank = lanes_of(timeline.lanes[at])
    value = columns.values(table["values"], row, rank) if len(row) else np.empty(0)
    return at[row] + 1, WARP_SIZE * timeline.warps[at][row].astype(int) + lane, value


class State(replay.State):
    """The machine as one block sees it after some of its steps, with counts and variables."""

    def _done(self, name):
        touches = self.timeline.touches(name)
        return touches, touches.until(self.position)

    def stored(self, name):
        """Return which elements of an array the block has stored."""
        touches, done = self._done(name)
        marked = np.zeros(self.timeline.trace.arrays[name].size, bool)
        marked[touches.element[done][touches.store[done]]] = True
        return marked

    def loaded_by(self, name, thread):
        """Return the elements of an array that a thread has loaded, in ascending order."""
        touches, done = self._done(name)
        return np.unique(touches.element[done][(touches.thread[done] == thread) & ~touches.store[done]])

    def counts(self, space, op, line=None):
        """Return the loads, stores or atomics of each thread, of one line or of all; a wide access counts as one."""
        total = np.zeros(self.timeline.n_threads, np.int64)
        for name in (name for name, array in self.timeline.trace.arrays.items() if array.space == space):
            touches, done = self._done(name)
            kinds = {"load": ~touches.store, "store": touches.store & ~touches.atomic, "atomic": touches.atomic}
            chosen = (touches.first & kinds[op])[done]
            if line is not None:
                chosen &= self.timeline.lines[touches.position[done] - 1] == line
            total += np.bincount(touches.thread[done][chosen], minlength=self.timeline.n_threads)
        return total

    def variable(self, name):
        """Return a variable's value in each thread; masked if it has none yet."""
        position, thread, value = assignments(self.timeline, name)
        done = slice(0, bisect_right(position, self.position))
        held = np.ma.array(np.zeros(self.timeline.n_threads, value.dtype), mask=True)
        held[thread[done]] = value[done]
        return held
