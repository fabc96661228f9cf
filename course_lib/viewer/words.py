"""The stepper in words: the sentence for a step, and the text that stands for a launch."""

from __future__ import annotations

import numpy as np

from ..trace.record import Trace
from ..trace.replay import Dim3, Timeline, flat_index


def n_dims(trace: Trace) -> int:
    """Count the dimensions worth writing: up to the last one in which the grid or the block extends."""
    return max(3 if d[2] > 1 else 2 if d[1] > 1 else 1 for d in (trace.grid, trace.block))


def label(position: Dim3, dims: int) -> str:
    """Write a block, thread, grid or block shape in x, y, z order, trimmed to ``dims``."""
    return str(position[0]) if dims == 1 else f"({', '.join(map(str, position[:dims]))})"


def number(value: object) -> str:
    """Write a value with at most seven significant digits, whole numbers without a point."""
    if isinstance(value, str) or np.iscomplexobj(value) or not np.isfinite(value):
        return str(value)
    rounded = float(f"{float(str(value)):.7g}")  # from the digits of its own type, as the browser has them
    return str(int(rounded)) if rounded == int(rounded) and abs(rounded) < 1e16 else repr(rounded)


def short(value: object) -> str:
    """Write a value so that it fits a small cell: two or three significant digits, no leading zero."""
    if np.iscomplexobj(value):
        return str(value)
    value = float(str(value))
    if value.is_integer() and abs(value) < 1e5:
        return str(int(value))
    if not np.isfinite(value) or abs(value) >= 1e4 or abs(value) < 0.005:
        return f"{value:.0e}".replace("e+0", "e").replace("e-0", "e-")
    text = f"{value:.{2 if abs(value) < 10 else 1 if abs(value) < 100 else 0}f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 else text


def element(name: str, flat: int, shape: tuple[int, ...]) -> str:
    """Write an element the way the kernel does: ``A[1, 2]``."""
    return f"{name}[{', '.join(str(int(i)) for i in np.unravel_index(flat, shape)) or '()'}]"


def thread_position(thread: int, block: Dim3) -> Dim3:
    """Turn a linear thread id into (x, y, z); x runs fastest."""
    return (thread % block[0], thread // block[0] % block[1], thread // (block[0] * block[1]))


def sentence(timeline: Timeline, n_steps: int, thread: int) -> str:
    """Say what the last of the first ``n_steps`` steps did, with the numbers of one thread."""
    trace, dims = timeline.trace, n_dims(timeline.trace)
    if n_steps == 0:
        return f"Block {label(timeline.block, dims)} is about to start: {len(timeline)} steps."
    step = timeline.steps[n_steps - 1]
    lead = f"Line {step.line}, warp {step.warp} ({_lanes(step.threads)}). "
    if step.barrier:
        if n_steps in timeline.releases():
            return lead + "Every warp has arrived: the barrier opens."
        return lead + "It waits at the barrier for the other warps."
    who = f"Thread {label(thread_position(thread, trace.block), dims)}"
    if thread not in step.threads:
        return f"{lead}{who} takes no part."
    done = "; ".join(f"{verb} {', '.join(what)}" for verb, what in _doings(timeline, n_steps, thread) if what)
    return f"{lead}{who} {done or 'runs it'}."


def _doings(timeline: Timeline, n_steps: int, thread: int) -> list[tuple[str, list[str]]]:
    step = timeline.steps[n_steps - 1]
    loads, stores = [], []
    before = timeline.state(n_steps - 1)
    for access in step.accesses:
        shape = timeline.trace.arrays[access.array].shape
        where, inside = flat_index(access, shape)
        for lane in np.flatnonzero(access.threads[inside] == thread):
            held = before.values[access.array]
            held = held[thread, where[lane]] if held.ndim > 1 else held[where[lane]]
            empty = access.op == "load" and held is np.ma.masked
            value = "empty" if empty else number(access.values[inside][lane])
            text = f"{element(access.array, where[lane], shape)} = {value}"
            (loads if access.op == "load" else stores).append(text)
    lane = int(np.flatnonzero(step.threads == thread)[0])
    sets = [f"{name} = {number(np.asarray(values)[lane])}" for name, values in step.variables.items()]
    return [("reads", loads), ("writes", stores), ("sets", sets)]


def _lanes(threads: np.ndarray) -> str:
    ordered = sorted(threads.tolist())
    if len(ordered) == 1:
        return f"thread {ordered[0]}"
    if ordered[-1] - ordered[0] + 1 == len(ordered):
        return f"threads {ordered[0]}–{ordered[-1]}"
    return f"{len(ordered)} threads"


def summary(trace: Trace) -> str:
    """Describe a launch in a few lines: shape, steps, accesses by space, shared arrays."""
    dims = n_dims(trace)
    blocks = sorted({step.block for step in trace.steps}, key=lambda at: at[::-1])
    first = Timeline(trace, blocks[0])
    barriers = len(first.releases())
    lines = [
        f"Stepper of {trace.kernel_name}: grid {label(trace.grid, dims)} × block {label(trace.block, dims)}, "
        f"{len(first)} steps and {barriers} barrier{'s' * (barriers != 1)} in block {label(first.block, dims)}"
    ]
    for op in ("load", "store"):
        lines.append(f"global {op}s: {_per_thread(trace, blocks, op)}")
    for space in ("shared", "local"):
        arrays = [a for a in trace.arrays.values() if a.space == space]
        if arrays:
            lines.append(f"{space} arrays: {', '.join(f'{a.name} {_size(a.shape)} {a.dtype}' for a in arrays)}")
    return "\n".join(lines)


def _size(shape: tuple[int, ...]) -> str:
    return "×".join(map(str, shape)) or "1"


def _per_thread(trace: Trace, blocks: list[Dim3], op: str) -> str:
    """Count per thread (a range where threads differ), by array, and in all."""
    places = {block: row for row, block in enumerate(blocks)}
    counts: dict[str, np.ndarray] = {}
    for step in trace.steps:
        for access in step.accesses:
            if trace.arrays[access.array].space == "global" and _is(access.op, op):
                by_array = counts.setdefault(access.array, np.zeros((len(blocks), int(np.prod(trace.block))), int))
                np.add.at(by_array[places[step.block]], access.threads, 1)
    if not counts:
        return "none"
    total = sum(counts.values())
    arrays = ", ".join(f"{name} {_range(by_array)}" for name, by_array in sorted(counts.items()))
    return f"{_range(total)} per thread ({arrays}), {_range(total.sum(axis=1))} per block, {total.sum()} in all"


def _is(op: str, wanted: str) -> bool:
    return (op == "load") == (wanted == "load")


def _range(counts: np.ndarray) -> str:
    low, high = int(counts.min()), int(counts.max())
    return str(low) if low == high else f"{low} to {high}"
