"""The stepper in words: the sentence for a step, and the text form of a launch."""

import ast
from functools import cache

import numpy as np

from ...simulator.hardware import WARP_SIZE
from ...simulator.launch_shape import coordinates
from ...simulator.run import REQUESTS
from ..columns import OPS, lanes_of
from ..replay import Timeline
from ..trace import Dim3, Step, Trace
from .digits import number
from .lane_exchanges import exchanged


def shown_dimensions(trace: Trace) -> int:
    """Count the dimensions to write: up to the last one in which the grid or the block exceeds 1."""
    used = (axis for shape in (trace.grid, trace.block) for axis, extent in enumerate(shape, 1) if extent > 1)
    return max(used, default=1)


def label(position: Dim3, dims: int) -> str:
    """Write a block, thread, grid or block shape in x, y, z order, trimmed to ``dims``."""
    return str(position[0]) if dims == 1 else f"({', '.join(map(str, position[:dims]))})"


def element(name: str, flat: int, shape: tuple[int, ...], width: int = 1) -> str:
    """Write an element the way the kernel does, ``A[1, 2]``; or neighbouring ones of a row, ``A[1, 4:8]``."""
    index = [str(int(i)) for i in np.unravel_index(flat, shape)]
    if width > 1:
        index[-1] += f":{int(index[-1]) + width}"
    return f"{name}[{', '.join(index) or '()'}]"


def sentence(timeline: Timeline, position: int, thread: int) -> str:
    """Say what the last of the first ``position`` steps did, with the numbers of one thread."""
    trace, dims = timeline.trace, shown_dimensions(timeline.trace)
    if position == 0:
        return f"Block {label(timeline.block, dims)} is about to start: {len(timeline)} steps."
    step = timeline.step(position)
    lead = f"Line {step.line}, warp {step.warp} ({_lanes(step.threads)}). "
    if step.barrier:
        if position in timeline.releases:
            return lead + "Every warp has arrived: the barrier opens."
        return lead + "It waits at the barrier for the other warps."
    who = f"Thread {label(coordinates(thread, trace.block), dims)}"
    if thread not in step.threads:
        return f"{lead}{who} takes no part."
    done = "; ".join(f"{verb} {', '.join(what)}" for verb, what in _actions(timeline, position, thread) if what)
    return f"{lead}{who} {done or 'runs it'}."


#: What a thread does that starts a product of a warpgroup; the pieces that are named after it are some of them.
STARTS = "starts a product of its warpgroup, for which the tensor cores read, among others,"


def _actions(timeline: Timeline, position: int, thread: int) -> list[tuple[str, list[str]]]:
    """Return what a thread does in a step: verbs, each with its objects, of which there may be none."""
    step = timeline.step(position)
    done: dict[str, list[str]] = {op: [] for op in OPS}
    before = cache(lambda name: timeline.values(name, position - 1))
    for access in step.accesses:
        array = timeline.trace.arrays[access.array]
        lane = np.flatnonzero(access.threads == thread)
        if not len(lane) or access.operation:
            continue
        flat = int(np.ravel_multi_index(tuple(access.index[lane[0]]), array.shape)) if array.shape else 0
        known = before(array.name)
        if array.space == "local":
            known = known[thread]
        known = known[flat : flat + access.width]
        held = known if access.values is None else np.ma.array(access.values[lane[0]]).reshape(-1)
        text = f"{element(array.name, flat, array.shape, access.width)} = {_listed(held)}"
        if access.op == "load" and _listed(held) != _listed(known):
            text += " (stored by another block)"
        done[access.op].append(text)
    lane = np.flatnonzero(step.threads == thread)
    actions = (exchanged(exchange).action(thread % WARP_SIZE) for exchange in step.exchanges)
    sets = [f"{name} = {number(np.asarray(values)[lane[0]])}" for name, values in step.variables.items()]
    starts = timeline.first + position - 1 in timeline.trace.columns.product["step"]
    return [
        ("finds", conditions(step, thread)),
        (STARTS if starts else "reads", done["load"]),
        *((verb, [what]) for verb, what in filter(None, actions)),
        ("writes", done["store"]),
        ("receives", done["result"]),
        ("updates", _updates(timeline, position, thread)),
        ("misses", missed(timeline, position, thread)),
        ("sets", sets),
    ]


def _listed(values: np.ma.MaskedArray) -> str:
    """Write values one after another; an element that nobody has stored is empty."""
    return ", ".join("empty" if value is np.ma.masked else number(value) for value in values)


def _updates(timeline: Timeline, position: int, thread: int) -> list[str]:
    """A thread's atomics with old and new values: ``counts[6]: 1 → 2 (add 1)``; says if other blocks intervened."""
    found: list[str] = []
    for access in timeline.step(position).accesses:
        if thread not in access.threads or access.old is None:
            continue
        assert access.given is not None and access.values is not None  # of an atomic
        (lane,) = np.flatnonzero(access.threads == thread)
        array, accesses = timeline.trace.arrays[access.array], timeline.accesses(access.array)
        flat = int(np.ravel_multi_index(tuple(access.index[lane]), array.shape))
        old, new = number(access.old[lane]), number(access.values[lane])
        given = ", ".join(map(number, access.given[lane]))
        others = ""
        if array.initial is not None:
            here = np.flatnonzero(accesses.new & (accesses.element == flat))
            mine = here[(accesses.position[here] == position) & (accesses.thread[here] == thread)]
            nth = sum(text.startswith(f"{element(array.name, flat, array.shape)}:") for text in found)
            before = here[here < mine[nth]]
            left = number(accesses.value[before[-1]] if len(before) else array.initial.reshape(-1)[flat])
            others = f"; other blocks changed it from {left}" if left != old else ""
        found.append(f"{element(array.name, flat, array.shape)}: {old} → {new} ({access.operation} {given}{others})")
    return found


def conditions(step: Step, thread: int) -> list[str]:
    """The conditions that a thread evaluated in a step: ``row < M: 7 < 5 is false``."""
    found = []
    for condition in step.conditions:
        lane = np.flatnonzero(condition.threads == thread)
        if not len(lane):
            continue
        truth = "true" if condition.truth[lane[0]] else "false"
        parts = comparison(condition.text)
        if parts is None or condition.left is None or condition.right is None:
            found.append(f"{condition.text} is {truth}")
        else:
            left, right = number(condition.left[lane[0]]), number(condition.right[lane[0]])
            found.append(f"{condition.text}: {left} {parts[1]} {right} is {truth}")
    return found


def comparison(text: str) -> tuple[str, str, str] | None:
    """(left, operator, right) of the text of a single comparison, else None."""
    node = ast.parse(text, mode="eval").body
    if not isinstance(node, ast.Compare) or len(node.ops) != 1:
        return None
    left, right = ast.unparse(node.left), ast.unparse(node.comparators[0])
    return left, text[len(left) : len(text) - len(right)].strip(), right


def missed(timeline: Timeline, position: int, thread: int) -> list[str]:
    """The elements outside their arrays that a thread accessed in a step: ``x[50] (out of bounds)``."""
    accessed = [(name, index) for name, who, index in timeline.outside(position) if who == thread]
    return [f"{name}[{', '.join(map(str, index))}] (out of bounds)" for name, index in accessed]


def _lanes(threads: np.ndarray) -> str:
    ordered = sorted(threads.tolist())
    if len(ordered) == 1:
        return f"thread {ordered[0]}"
    if ordered[-1] - ordered[0] + 1 == len(ordered):
        return f"threads {ordered[0]}–{ordered[-1]}"
    return f"{len(ordered)} threads"


def summary(trace: Trace) -> str:
    """Describe a launch in a few lines: shape, steps, accesses by space, shared arrays, findings."""
    dims = shown_dimensions(trace)
    blocks = [tuple(at) for at in trace.columns.blocks.tolist()]
    first = Timeline.of(trace, blocks[0])
    barriers = len(first.releases)
    lines = [
        f"Stepper of {trace.kernel_name}: grid {label(trace.grid, dims)} × block {label(trace.block, dims)}, "
        f"{len(first)} steps and {barriers} barrier{'s' * (barriers != 1)} in block {label(first.block, dims)}"
    ]
    for op in REQUESTS:
        if op != "atomic" or any(row.op == op and row.space == "global" for row in trace.traffic):
            lines.append(f"global {op}s: {_per_thread(trace, op)}")
    for space in ("shared", "local"):
        arrays = [a for a in trace.arrays.values() if a.space == space]
        if arrays:
            lines.append(f"{space} arrays: {', '.join(f'{a.name} {_size(a.shape)} {a.dtype}' for a in arrays)}")
    lines += [str(finding) for finding in trace.findings]
    return "\n".join(lines)


def _size(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape)) or "1"


def _per_thread(trace: Trace, op: str) -> str:
    """Count per thread (a range where threads differ), by array, and in all."""
    columns = trace.columns
    counts: dict[str, np.ndarray] = {}
    for name, array in trace.arrays.items():
        here = (columns.access["array"] == columns.arrays.index(name)) & (columns.access["op"] == OPS.index(op))
        if array.space == "global" and here.any():
            step = columns.access["step"][here]
            row, lane, _ = lanes_of(columns.access["lanes"][here])
            thread = columns.step["warp"][step][row].astype(np.int64) * WARP_SIZE + lane
            place = columns.step["block"][step][row].astype(np.int64) * trace.n_threads + thread
            by_array = np.bincount(place.astype(np.intp, copy=False), minlength=len(columns.blocks) * trace.n_threads)
            counts[name] = by_array.reshape(len(columns.blocks), trace.n_threads)
    if not counts:
        return "none"
    total = sum(counts.values(), start=np.zeros(1, np.int64))
    arrays = ", ".join(f"{name} {_range(by_array)}" for name, by_array in sorted(counts.items()))
    return f"{_range(total)} per thread ({arrays}), {_range(total.sum(axis=1))} per block, {total.sum()} in all"


def _range(counts: np.ndarray) -> str:
    low, high = int(counts.min()), int(counts.max())
    return str(low) if low == high else f"{low} to {high}"
