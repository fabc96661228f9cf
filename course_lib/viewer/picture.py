"""A step as a still picture: what the stepper shows, for readers who have not run the notebook."""

from __future__ import annotations

import io
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Circle, FancyBboxPatch, Rectangle
from PIL import Image

from ..trace.program import accumulators, roles, shown_source, tiles
from ..trace.replay import State, Timeline
from ..trace.trace import TraceArray
from .words import label, n_dims, sentence, short, thread_position

HUES = {
    "A": "#0072B2",
    "B": "#D55E00",
    "C": "#009E73",
    "shared": "#E69F00",
    "local": "#CC79A7",
    "global": "#7F7F7F",
}
INK, SOFT, PANEL = "#1b1f24", "#59636e", "#f3f4f6"
WIDTH = 1000  # of the drawing, in units of a hundredth of an inch
LEFT = 450  # of the matrices
LINE = 17.5


@dataclass
class _Look:
    """Which elements of one array are marked, and how."""

    region: np.ndarray
    seen: np.ndarray
    read: np.ndarray
    written: np.ndarray
    mine: set[int]  # touched by the chosen thread in this step
    dots: set[int]  # loaded by the chosen thread so far


class Picture(Figure):
    """A matplotlib figure that shows itself in a notebook with or without an active backend."""

    def _repr_png_(self) -> bytes:
        canvas = FigureCanvasAgg(self)
        canvas.draw()
        # The picture has few colours; a palette makes it a third of the size, and notebooks carry many.
        image = Image.fromarray(np.asarray(canvas.buffer_rgba())).convert("RGB").quantize(64)
        buffer = io.BytesIO()
        image.save(buffer, format="png", optimize=True)
        return buffer.getvalue()


def draw_picture(timeline: Timeline, n_steps: int, thread: int) -> Picture:
    """Draw the state of a block after ``n_steps`` of its steps, seen by one of its threads (linear id)."""
    state, last = timeline.state(n_steps), timeline.state(len(timeline))
    looks = _looks(timeline, n_steps, thread, state, last)
    memory = _matrices_height(timeline) + _memory_height(timeline)
    height = 60 + max(memory, LINE * len(shown_source(timeline.trace)) + 40)
    figure = Picture(figsize=(WIDTH / 100, height / 100), facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, WIDTH), ylim=(height, 0))
    axes.axis("off")
    _head(axes, timeline, n_steps, thread)
    bottom = _matrices(axes, timeline, state, last, looks, thread)
    _memory(axes, timeline, state, looks, thread, n_steps, bottom + 16)
    _source(axes, timeline, n_steps, state, thread)
    return figure


def _head(axes: Axes, timeline: Timeline, n_steps: int, thread: int) -> None:
    trace, dims = timeline.trace, n_dims(timeline.trace)
    axes.text(14, 20, trace.kernel_name, size=13, weight="bold", family="monospace", color=INK, va="center")
    where = (
        f"grid {label(trace.grid, dims)} × block {label(trace.block, dims)}     "
        f"block {label(timeline.block, dims)}, thread {label(thread_position(thread, trace.block), dims)}"
        f"     step {n_steps} of {len(timeline)}"
    )
    axes.text(WIDTH - 14, 20, where, size=9, color=SOFT, va="center", ha="right")
    axes.text(14, 42, sentence(timeline, n_steps, thread), size=9.5, color=INK, va="center")


def _looks(timeline: Timeline, n_steps: int, thread: int, state: State, last: State) -> dict[str, _Look]:
    looks = {}
    for name, array in timeline.trace.arrays.items():
        touches = timeline.touches(name)
        now = touches.at(n_steps)
        element, store, mine = touches.element[now], touches.store[now], touches.thread[now] == thread
        if array.space == "local":
            element, store, mine = element[mine], store[mine], mine[mine]
        read, written = np.zeros(array.size, bool), np.zeros(array.size, bool)
        read[element[~store]] = True
        written[element[store]] = True
        looks[name] = _Look(
            last.loaded(name) | last.stored(name),
            state.loaded(name) | state.stored(name),
            read,
            written,
            set(element[mine].tolist()),
            set(state.loaded_by(name, thread).tolist()),
        )
    return looks


def _side(timeline: Timeline) -> float:
    """Size the elements of the matrices so that A and C, and B and C, fit the left part."""
    shapes = [timeline.trace.arrays[name].shape for name in roles(timeline.trace)]
    return min(40.0, (LEFT - 60) / max((a[0] + b[0] for a in shapes for b in shapes), default=8))


def _product_shapes(timeline: Timeline) -> tuple[int, int, int] | None:
    named = {role: timeline.trace.arrays[name] for name, role in roles(timeline.trace).items()}
    return (*named["A"].shape, named["B"].shape[1]) if named else None


def _matrices_height(timeline: Timeline) -> float:
    shape = _product_shapes(timeline)
    return 0 if shape is None else 24 + (shape[0] + max(shape[1], 120 / _side(timeline))) * _side(timeline) + 36


def _matrices(axes, timeline, state, last, looks, thread) -> float:
    """Draw B above C and A left of it, and the counts of global loads in the free corner."""
    shape = _product_shapes(timeline)
    if shape is None:
        return 60
    M, K, N = shape
    side = min(_side(timeline), (LEFT - 60) / (K + N))
    left, top = 34 + max(0, 130 - K * side), 78 + max(0, 120 - K * side)
    corners = {
        "A": (left, top + K * side + 24),
        "B": (left + K * side + 28, top),
        "C": (left + K * side + 28, top + K * side + 24),
    }
    tile = tiles(timeline.trace)
    for name, role in roles(timeline.trace).items():
        array, (x, y) = timeline.trace.arrays[name], corners[role]
        _grid(axes, array, state.values(name), looks[name], (x, y), side, HUES[role], tile=tile.get(name))
        axes.text(x - 6, y - 5, name, size=13, weight="bold", color=HUES[role], ha="right", va="bottom")
    loads, total = state.counts("global", "load"), last.counts("global", "load")
    x, y = 34, top + K * side / 2 - 30
    axes.text(x, y - 22, "Global loads", size=9, weight="bold", color=SOFT, va="center")
    for row, (now, of, who) in enumerate(
        [(loads[thread], total[thread], "this thread"), (loads.sum(), total.sum(), "this block")]
    ):
        axes.text(
            x + 46,
            y + 8 + 34 * row,
            str(now),
            size=20 - 4 * row,
            weight="bold",
            color=INK,
            ha="right",
            va="center",
        )
        axes.text(x + 52, y + 8 + 34 * row, f"of {of}\n{who}", size=8, color=SOFT, va="center")
    return top + (K + M) * side + 24


def _memory_height(timeline: Timeline) -> float:
    return 60 + max((rows * side for *_, rows, _, side in _memory_grids(timeline)), default=0)


def _memory_grids(timeline: Timeline) -> list[tuple[TraceArray, int, int, int, float]]:
    """List what is drawn below the matrices: every buffer of the shared arrays, then the accumulators."""
    grids = []
    for name, array in timeline.trace.arrays.items():
        if name in roles(timeline.trace):
            continue
        rows, columns = ((1, 1) + array.shape)[-2:]
        for buffer in range(int(np.prod(array.shape)) // max(rows * columns, 1)):
            grids.append((array, buffer, rows, columns))
    bx, by, bz = timeline.trace.block
    for name in accumulators(timeline.trace):
        if name not in timeline.columns.names:
            continue
        shape = (bx // 32, 32) if by * bz == 1 and bx % 32 == 0 else (by * bz, bx)  # a row is a warp, if it can be
        grids.append((TraceArray(name, "register", "", shape), 0, *shape))
    room = (LEFT + 20 - 24 * len(grids)) / max(1, sum(columns for *_, columns in grids))
    return [(*grid, min(28.0, room)) for grid in grids]


def _memory(axes, timeline, state, looks, thread, n_steps, top) -> None:
    x = 20.0
    for array, buffer, rows, columns, side in _memory_grids(timeline):
        size = rows * columns
        part = slice(buffer * size, (buffer + 1) * size)
        if array.space == "register":
            values, look, hue = *_register(timeline, state, array.name, thread, n_steps), HUES["local"]
        else:
            held = state.values(array.name)
            values = (held[thread] if array.space == "local" else held)[part]
            look, hue = _cut(looks[array.name], part), HUES[array.space]
        buffers = int(np.prod(array.shape)) // max(size, 1)
        title = array.name if buffers == 1 else f"{array.name}[{buffer}]"
        axes.text(x, top + 14, title, size=8.5, weight="bold", family="monospace", color=INK, va="center")
        flat = TraceArray(title, array.space, array.dtype, (rows, columns))
        _grid(axes, flat, values, look, (x, top + 26), side, hue)
        x += max(columns * side, 6.2 * len(title)) + 22


def _register(timeline, state, name, thread, n_steps) -> tuple[np.ma.MaskedArray, _Look]:
    values = state.variable(name)
    none = np.zeros(timeline.n_threads, bool)
    written = none.copy()
    if n_steps and name in timeline.step(n_steps).variables:
        written[timeline.step(n_steps).threads] = True
    return values, _Look(none, ~np.ma.getmaskarray(values), none, written, {thread}, set())


def _cut(look: _Look, part: slice) -> _Look:
    keep = range(part.start, part.stop)
    mine, dots = ({i - part.start for i in marked if i in keep} for marked in (look.mine, set()))
    return _Look(look.region[part], look.seen[part], look.read[part], look.written[part], mine, dots)


def _tint(hue: str, strength: float) -> tuple[float, ...]:
    return tuple(1 - strength * (1 - channel) for channel in to_rgb(hue))


def _grid(axes, array, values, look, corner, side, hue, tile=None) -> None:
    """Draw the elements of a matrix; reading is round and writing is framed, as in the widget."""
    (rows, columns), (left, top) = array.shape, corner
    gap = 1.0 if side > 8 else 0.0
    for i, value in enumerate(values):
        x, y = left + i % columns * side, top + i // columns * side
        empty = value is np.ma.masked
        now = look.read[i] or look.written[i]
        strength = 1.0 if now else 0.48 if look.seen[i] else 0.2 if look.region[i] else None
        fill = "white" if empty and not now else PANEL if strength is None else _tint(hue, strength)
        edge = {"lw": 0}
        if look.written[i]:
            edge = {"lw": 1.1, "edgecolor": INK}
        elif empty:
            edge = {"lw": 0.8, "edgecolor": _tint(hue, 0.7), "linestyle": (0, (2, 2))}
        if look.read[i] and not look.written[i]:
            axes.add_patch(Circle((x + side / 2, y + side / 2), side / 2 - gap, facecolor=fill, lw=0))
        else:
            axes.add_patch(Rectangle((x + gap / 2, y + gap / 2), side - gap, side - gap, facecolor=fill, **edge))
        if side >= 17 and not empty:
            faint = array.space == "global" and not now and not look.seen[i]
            color = "white" if now and hue == HUES["A"] else SOFT if faint else INK
            text = short(value)
            size = side * (0.27 if len(text) <= 3 else 0.21)
            axes.text(x + side / 2, y + side / 2, text, size=size, color=color, ha="center", va="center_baseline")
    _marks(axes, look, columns, corner, side)
    if tile:
        for y in range(tile[0], rows, tile[0]):
            axes.plot([left, left + columns * side], [top + y * side] * 2, color=SOFT, lw=0.8)
        for x in range(tile[1], columns, tile[1]):
            axes.plot([left + x * side] * 2, [top, top + rows * side], color=SOFT, lw=0.8)
    if array.space == "global" and look.region.any():
        y, x = np.unravel_index(np.flatnonzero(look.region), (rows, columns))
        box = (
            (left + x.min() * side, top + y.min() * side),
            np.ptp(x + 0) * side + side,
            np.ptp(y + 0) * side + side,
        )
        axes.add_patch(Rectangle(*box, facecolor="none", edgecolor=hue, lw=2.2))


def _marks(axes, look, columns, corner, side) -> None:
    for i in look.mine:
        x, y = corner[0] + i % columns * side, corner[1] + i // columns * side
        style = f"round,pad=0,rounding_size={side * 0.2}"
        axes.add_patch(FancyBboxPatch((x + 1, y + 1), side - 2, side - 2, style, fc="none", ec=INK, lw=1.8, zorder=5))
    for i in look.dots:
        x, y = corner[0] + i % columns * side, corner[1] + i // columns * side
        radius = max(1.8, side * 0.1)
        spot = (x + side - 1.6 * radius, y + 1.6 * radius)
        axes.add_patch(Circle(spot, radius, fc=INK, ec="white", lw=0.5, zorder=6))


def _source(axes, timeline: Timeline, n_steps: int, state: State, thread: int) -> None:
    trace, left, top = timeline.trace, LEFT + 34, 84
    current = timeline.step(n_steps).line if n_steps else None
    runs = timeline.runs(thread, n_steps)
    for column, name in ((52, "runs"), (86, "loads")):
        axes.text(left + column, top - 16, name, size=7.5, color=SOFT, ha="right", va="center")
    for row, (line, code) in enumerate(shown_source(trace)):
        y = top + row * LINE
        if line == current:
            box = (left - 6, y - LINE / 2), WIDTH - left - 4, LINE
            axes.add_patch(Rectangle(*box, facecolor=_tint("#1976d2", 0.17), lw=0))
            axes.add_patch(Rectangle((left - 6, y - LINE / 2), 4, LINE, facecolor="#1976d2", lw=0))
        mono = {"size": 7.8, "family": "monospace", "va": "center", "color": INK}
        axes.text(left + 22, y, str(line), ha="right", **(mono | {"color": SOFT}))
        for column, count in ((52, runs.get(line)), (86, state.line_loads(line)[thread])):
            axes.text(left + column, y, str(count or ""), ha="right", weight="bold", **mono)
        axes.text(left + 98, y, code if len(code) <= 58 else code[:57] + "…", parse_math=False, **mono)
