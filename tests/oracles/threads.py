"""A kernel, run as the Python function that it is, one thread after another, with a record of every access.

It knows nothing of types, masks and vectors: an array is a Python object, so that a variable may hold another one in
each thread, or None. Kernels compute with float64 and Python's integers; loops begin at the same number in all threads.
"""

import ast
import inspect
import itertools
import sys
import textwrap
from collections import Counter
from dataclasses import dataclass
from types import FunctionType, SimpleNamespace

import numpy as np
from greenlet import getcurrent, greenlet

WARP, SECTOR = 32, 32


@dataclass(frozen=True)
class Access:
    """`array`: (name, space, which of this name); `request`: what the lanes of a warp do together."""

    array: tuple
    line: int
    op: str
    request: tuple
    thread: tuple
    byte: int
    epoch: int


class RecordingArray:
    """An array, or a part of one, of which each access is recorded."""

    def __init__(self, data, root, launch, start):
        self.data, self.root, self.launch, self.start = data, root, launch, start

    def __getitem__(self, index):
        found = self.data[index]
        if isinstance(found, np.ndarray):
            return RecordingArray(found, self.root, self.launch, self.start)
        self._record("load", index)
        return found.item()

    def __setitem__(self, index, value):
        self._record("store", index)
        self.data[index] = value

    def __len__(self):
        return len(self.data)

    shape, size = (property(lambda self, name=name: getattr(self.data, name)) for name in ("shape", "size"))

    def _record(self, op, index):
        index = index if isinstance(index, tuple) else (index,)
        if not all(0 <= i < size for i, size in zip(index, self.data.shape, strict=True)):
            raise IndexError(f"{self.root}[{index}]")
        place = sum(i * stride for i, stride in zip(index, self.data.strides, strict=True))
        byte = self.data.__array_interface__["data"][0] + place - self.start
        self.launch.record_access(op, self.root, byte, sys._getframe(2))


class ThreadByThreadLaunch:
    """Runs the threads of a launch, each block's up to their next barrier; `accesses` holds what they did."""

    def __init__(self, kernel, grid, block, *arrays):
        """Run the launch: every block's threads one after another, up to its barriers, until all have ended."""
        function = getattr(kernel, "py_func", kernel)
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
        ast.increment_lineno(tree, first - 1)
        self.loops, self.names = {}, {}
        self._find_loops_and_names(tree, ())
        self.accesses, self.block, self.shared, self.local = [], block, {}, {}
        self.threads = {}  # by greenlet: (block, number of the thread)
        self.times_seen, self.epochs = Counter(), Counter()
        names = function.__code__.co_varnames
        recorded_arrays = [
            RecordingArray(array, (name, "global", 0), self, array.__array_interface__["data"][0])
            for name, array in zip(names[: len(arrays)], arrays, strict=True)
        ]
        for number in range(grid):
            cuda = SimpleNamespace(
                grid=lambda _: self._current_thread[0] * block + self._current_thread[1],
                shared=SimpleNamespace(array=lambda shape, dtype: self._array("shared", shape, dtype)),
                local=SimpleNamespace(array=lambda shape, dtype: self._array("local", shape, dtype)),
                syncthreads=lambda: getcurrent().parent.switch(True),
            )
            running = [greenlet(self._thread(function, cuda, number, t, recorded_arrays)) for t in range(block)]
            while running:
                for one in running:
                    one.switch()
                running = [one for one in running if not one.dead]
                self.epochs[number] += 1

    def _thread(self, function, cuda, number, t, recorded_arrays):
        class Coordinates:
            threadIdx, blockIdx, blockDim = (SimpleNamespace(x=x) for x in (t, number, self.block))

            def __getattr__(self, name):
                return getattr(cuda, name)

        known = {"cuda": Coordinates()}
        for name, thing in function.__globals__.items():
            inner = getattr(thing, "py_func", None)
            known.setdefault(name, thing if inner is None else FunctionType(inner.__code__, known))

        def run():
            self.threads[getcurrent()] = number, t
            FunctionType(function.__code__, known)(*recorded_arrays)

        return run

    @property
    def _current_thread(self):
        return self.threads[getcurrent()]

    def _find_loops_and_names(self, node, loops):
        """Find the loops around each line, by their variables, and the names of the arrays that are made."""
        if isinstance(node, ast.For):
            loops = (*loops, node.target.id)
        if isinstance(node, ast.stmt):
            self.loops[node.lineno] = loops
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            self.names[node.lineno] = node.targets[0].id
        for child in ast.iter_child_nodes(node):
            self._find_loops_and_names(child, loops)

    def _array(self, space, shape, dtype):
        line = sys._getframe(2).f_lineno
        owner = self._current_thread[: 1 if space == "shared" else 2]
        known = self.shared if space == "shared" else self.local
        if (owner, line) not in known:
            data = np.zeros(shape, np.dtype(str(dtype)))
            start = data.__array_interface__["data"][0]
            known[owner, line] = RecordingArray(data, (self.names[line], space, line), self, start)
        return known[owner, line]

    def record_access(self, op, root, byte, frame):
        line, thread = frame.f_lineno, self._current_thread
        path = tuple(frame.f_locals[name] for name in self.loops.get(line, ()))
        if line not in self.loops:  # of a device function: the request of the line that calls it
            caller = frame.f_back
            path = (caller.f_lineno, *(caller.f_locals[name] for name in self.loops[caller.f_lineno]))
        place = line, op, path
        repetition = self.times_seen[thread, place, self.epochs[thread[0]]]
        self.times_seen[thread, place, self.epochs[thread[0]]] += 1
        request = thread[0], thread[1] // WARP, place, repetition, root
        self.accesses.append(Access(root, line, op, request, thread, byte, self.epochs[thread[0]]))

    def rows(self):
        """Return {(line, array, space, op): (accesses, requests, sectors of global memory)}."""
        found = {}
        for access in self.accesses:
            found.setdefault((access.line, *access.array[:2], access.op), []).append(access)
        return {key: self._counts(accesses) for key, accesses in found.items()}

    def _counts(self, accesses):
        requests = {}
        for each in accesses:
            requests.setdefault(each.request, set()).add(each.byte // SECTOR)
        sectors = sum(map(len, requests.values())) if accesses[0].array[1] == "global" else 0
        return len(accesses), len(requests), sectors

    def races(self):
        """Return {(array, the two lines)} of the pairs of accesses that nothing orders."""
        words = {}
        for each in self.accesses:
            if each.array[1] != "local":
                owner = each.thread[0] if each.array[1] == "shared" else None
                words.setdefault((each.array, owner, each.byte), []).append(each)
        return {
            (one.array[0], frozenset((one.line, two.line)))
            for accesses in words.values()
            for one, two in itertools.combinations(accesses, 2)
            if one.thread != two.thread and "store" in (one.op, two.op)
            if one.thread[0] != two.thread[0] or one.epoch == two.epoch
        }
