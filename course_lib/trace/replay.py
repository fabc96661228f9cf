"""What one block did, step by step: the trace of a launch, read the way the viewer draws it."""

from __future__ import annotations

import ast
import textwrap
from collections import Counter
from dataclasses import dataclass, field

import numpy as np

from .record import Step, Trace, TraceAccess

Dim3 = tuple[int, int, int]
# (space, op) pairs in the order in which the viewer lists them; an atomic counts as a store of its space.
COUNTED = (("global", "load"), ("global", "store"), ("shared", "load"), ("shared", "store"))


def roles(trace: Trace) -> dict[str, str]:
    """Say which of the launch's global matrices is A, B and C in C = A·B; the names decide where they can.

    Without the names, C is the first two-dimensional array stored to, and A and B are the first two others
    loaded from. Arrays left over have no entry.
    """
    matrices = [a.name for a in trace.arrays.values() if a.space == "global" and len(a.shape) == 2]
    by_name = {name.upper(): name for name in matrices}
    if {"A", "B", "C"} <= by_name.keys():
        return {by_name[role]: role for role in "ABC"}
    touched = {"load": {}, "store": {}, "atomic": {}}
    for step in trace.steps:
        for access in step.accesses:
            touched[access.op].setdefault(access.array)
    stored = [name for name in (*touched["store"], *touched["atomic"]) if name in matrices]
    if not stored:
        return {}
    loaded = [name for name in touched["load"] if name in matrices and name != stored[0]]
    if len(loaded) < 2:
        return {}
    return {loaded[0]: "A", loaded[1]: "B", stored[0]: "C"}


def tiles(trace: Trace) -> dict[str, tuple[int, int]]:
    """Measure the tile of every global matrix: the (rows, columns) a block touches between two barriers.

    It is read from the accesses, so a kernel that fetches the wrong tile shows the wrong tile. The size seen
    most often in the first block counts, and the larger one on a tie.
    """
    first = trace.steps[0].block if trace.steps else None
    phase: Counter[int] = Counter()
    touched: dict[tuple[str, int], list[np.ndarray]] = {}
    for step in trace.steps:
        if step.block != first:
            continue
        for access in step.accesses:
            if trace.arrays[access.array].space == "global" and access.index.shape[1:] == (2,):
                touched.setdefault((access.array, phase[step.warp]), []).append(access.index)
        phase[step.warp] += step.barrier
    sizes: dict[str, Counter[tuple[int, int]]] = {}
    for (name, _), parts in touched.items():
        index = np.concatenate(parts)
        if len(index):
            rows, columns = (int(extent) for extent in np.ptp(index, axis=0) + 1)
            sizes.setdefault(name, Counter())[rows, columns] += 1
    return {name: max(seen, key=lambda size: (seen[size], size)) for name, seen in sizes.items()}


def shown_source(trace: Trace) -> tuple[tuple[int, str], ...]:
    """Give the kernel's numbered lines flush left, without the decorators and the docstring: no step runs them."""
    lines = textwrap.dedent("\n".join(text for _, text in trace.source)).split("\n")
    hidden: set[int] = set()
    try:
        function = ast.parse("\n".join(lines)).body[0]
    except (SyntaxError, IndexError):
        function = None
    if isinstance(function, ast.FunctionDef):
        hidden.update(range(1, function.lineno))
        if ast.get_docstring(function) is not None:
            hidden.update(range(function.body[0].lineno, function.body[0].end_lineno + 1))
    numbered = zip(trace.source, lines, strict=True)
    return tuple((line, text) for row, ((line, _), text) in enumerate(numbered, start=1) if row not in hidden)


def accumulators(trace: Trace) -> tuple[str, ...]:
    """Name the variables that gather a result: each is updated from itself and flows into a global array."""
    try:
        tree = ast.parse(textwrap.dedent("\n".join(text for _, text in trace.source)))
    except SyntaxError:
        return ()
    feeds: dict[str, set[str]] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.AugAssign):
            targets, names = [node.target], _names(node.value) | _names(node.target)
        elif isinstance(node, ast.Assign):
            targets, names = node.targets, _names(node.value)
        else:
            continue
        for target in targets:
            for name in _names(target):
                feeds.setdefault(name, set()).update(names)
    reaches = {name for name, array in trace.arrays.items() if array.space == "global"}
    grown = True
    while grown:
        more = set().union(*(feeds.get(name, set()) for name in reaches)) - reaches
        grown = bool(more)
        reaches |= more
    assigned = dict.fromkeys(name for step in trace.steps for name in step.variables)
    return tuple(name for name in assigned if name in reaches and name in feeds.get(name, ()))


def _names(node: ast.AST) -> set[str]:
    """Collect the variable names of an expression, without those that only compute an index."""
    if isinstance(node, ast.Name):
        return {node.id}
    children = [node.value] if isinstance(node, ast.Subscript) else ast.iter_child_nodes(node)
    return set().union(*(_names(child) for child in children))


def flat_index(access: TraceAccess, shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Give the row-major position of each element accessed, and which lanes stayed inside the array.

    A negative index counts from the end, as numba's does; a lane that is out of bounds touches nothing.
    """
    if not shape:
        return np.zeros(len(access.threads), np.int64), np.ones(len(access.threads), bool)
    index = np.asarray(access.index).reshape(len(access.threads), len(shape))
    index = np.where(index < 0, index + np.array(shape, dtype=index.dtype), index)
    inside = ((index >= 0) & (index < np.array(shape))).all(axis=1)
    return np.ravel_multi_index(tuple(index[inside].T), shape), inside


@dataclass
class State:
    """The machine as one block sees it after some of its steps.

    ``values`` maps an array to its elements (flat; nothing stored yet is masked); a local array has a row per
    thread. ``loaded`` and ``stored`` mark the elements that the block has touched, ``counts`` the accesses of
    each thread by (space, op), ``line_runs`` how often each thread ran each line.
    """

    values: dict[str, np.ma.MaskedArray]
    loaded: dict[str, np.ndarray]
    stored: dict[str, np.ndarray]
    variables: dict[str, np.ma.MaskedArray]
    counts: dict[tuple[str, str], np.ndarray]
    line_runs: dict[int, np.ndarray]
    line_loads: dict[int, np.ndarray]
    by_thread: dict[str, dict[int, set[int]]] = field(default_factory=dict)


class Timeline:
    """The steps of one block of a launch, in order, and the state after any number of them."""

    def __init__(self, trace: Trace, block: Dim3):
        self.trace = trace
        self.block = block
        self.n_threads = int(np.prod(trace.block))
        self.steps: tuple[Step, ...] = tuple(step for step in trace.steps if step.block == block)

    def __len__(self) -> int:
        return len(self.steps)

    def state(self, n_steps: int) -> State:
        """Replay the first ``n_steps`` steps of the block; other blocks' stores stay out of the picture."""
        state = self._initial_state()
        for step in self.steps[:n_steps]:
            self._apply(step, state)
        return state

    def releases(self) -> tuple[int, ...]:
        """Number the steps after which a barrier opens: its last arrival before a waiting warp goes on."""
        opened, waiting, last = [], set(), 0
        for number, step in enumerate(self.steps, start=1):
            if step.warp in waiting:
                opened.append(last)
                waiting = set()
            if step.barrier:
                waiting.add(step.warp)
                last = number
        return (*opened, last) if waiting else tuple(opened)

    def telling_step(self, thread: int) -> int:
        """Choose the step that a still picture shows: the middle one in which the thread reads shared memory.

        Without shared memory it is the middle one of those in which it loads from global memory.
        """
        for space in ("shared", "global"):
            reading = [
                number
                for number, step in enumerate(self.steps, start=1)
                if any(
                    access.op == "load" and self.trace.arrays[access.array].space == space and thread in access.threads
                    for access in step.accesses
                )
            ]
            if reading:
                return reading[len(reading) // 2]
        return len(self.steps)

    def _initial_state(self) -> State:
        values, loaded, stored = {}, {}, {}
        for name, array in self.trace.arrays.items():
            size = int(np.prod(array.shape))
            loaded[name], stored[name] = np.zeros(size, bool), np.zeros(size, bool)
            if array.initial is not None:
                values[name] = np.ma.array(np.ascontiguousarray(array.initial).reshape(-1).copy(), mask=False)
                values[name].mask = np.zeros(size, bool)
            else:
                shape = (self.n_threads, size) if array.space == "local" else (size,)
                values[name] = np.ma.masked_all(shape, dtype=array.dtype)
        lines = [number for number, _ in self.trace.source]
        return State(
            values,
            loaded,
            stored,
            {},
            {key: np.zeros(self.n_threads, int) for key in COUNTED},
            {line: np.zeros(self.n_threads, int) for line in lines},
            {line: np.zeros(self.n_threads, int) for line in lines},
        )

    def _apply(self, step: Step, state: State) -> None:
        if step.line in state.line_runs:
            state.line_runs[step.line][step.threads] += 1
        for access in step.accesses:
            array = self.trace.arrays[access.array]
            where, inside = flat_index(access, array.shape)
            threads, values = access.threads[inside], np.asarray(access.values)[inside]
            op = "load" if access.op == "load" else "store"
            if (array.space, op) in state.counts:
                np.add.at(state.counts[array.space, op], threads, 1)
            if array.space == "global" and op == "load" and step.line in state.line_loads:
                np.add.at(state.line_loads[step.line], threads, 1)
            if op == "load":
                state.loaded[access.array][where] = True
                touched = state.by_thread.setdefault(access.array, {})
                for thread, element in zip(threads.tolist(), where.tolist(), strict=True):
                    touched.setdefault(thread, set()).add(element)
            else:
                state.stored[access.array][where] = True
                target = (threads, where) if array.space == "local" else where
                state.values[access.array][target] = values
        for name, values in step.variables.items():
            values = np.asarray(values)
            held = state.variables.get(name, np.ma.masked_all(self.n_threads, values.dtype))
            held = state.variables[name] = held.astype(np.result_type(held, values))
            held[step.threads] = values
