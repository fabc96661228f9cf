"""The still of a stepper: a strip of a few frames of its film, or one step, for readers who have not run the notebook.

A frame lasts from one opening of a barrier to the next. It shows the arrays after it, and what the block's threads read
and wrote in it; without barriers the loads from global memory are divided into equal parts. A single step also shows
its line and what its threads do, for a page on which no script runs.
"""

import textwrap
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..palette import INK
from ..replay import Timeline
from ..structure import roles, shown_source
from ..trace import TraceArray
from .digits import short
from .picture import Layout, StillPicture
from .shapes import (
    CARD,
    CARD_EDGE,
    CURRENT,
    HEADING,
    HUES,
    PLAIN_CELL,
    SOFT,
    WIDTH,
    WRONG,
    Box,
    Pixels,
    Shape,
    Text,
    rgb,
    tint,
    wrapped,
)
from .words import label, n_dims, sentence

#: The hint on a still, for a reader who can run the notebook.
HINT = "A still picture: run this cell to play the launch."
#: The most frames in a strip; in pixels the largest side of an element, twice the size of the smallest digits, and the
#: height of the matrices.
FRAMES, LARGEST, LEGIBLE, TALLEST = 5, 34.0, 13.0, 520.0
#: Elements that are drawn one by one; a larger array is a picture of pixels.
MOST_CELLS = 1100
GAP = 10.0


def frames_of(timeline: Timeline) -> list[tuple[int, int]]:
    """(first, last) of the frames: positions in the block, exclusive and inclusive; all steps are in one of them."""
    steps, trace = len(timeline), timeline.trace
    touched = [(a, timeline.touches(a.name)) for a in trace.arrays.values() if a.space == "global"]
    ends = [at for at in timeline.releases if at < steps]
    if not ends:
        loads = np.unique(np.concatenate([np.empty(0, np.int64), *(t.position[~t.store] for _, t in touched)]))
        parts = min(FRAMES - 1, len(loads))
        ends = [int(part[-1]) for part in np.array_split(loads, parts)] if parts else []
    nothing, after = np.empty(0, np.int64), max(ends, default=0)
    stores = np.concatenate([nothing, *(t.position[t.store & (t.position > after)] for _, t in touched)])
    loads = np.concatenate([nothing, *(timeline.touches(a.name).position for a in trace.arrays.values())])
    late = int(stores.min()) - 1 if len(stores) else 0  # the results, after all that is computed
    before = loads[(loads > after) & (loads <= late)]
    if len(before) and not ((loads > late) & ~np.isin(loads, stores)).any():
        ends.append(late)
    ends = sorted({*ends, steps} - {0})
    return list(zip([0, *ends], ends, strict=False))


def shown(frames: list[tuple[int, int]]) -> list[int]:
    """The numbers of the frames in a strip: the first ones and the last."""
    return [*range(min(len(frames), FRAMES - 1)), *([len(frames) - 1] if len(frames) >= FRAMES else [])]


def frame_says(timeline: Timeline, begin: int, end: int) -> str:
    """What the block's threads do in a frame: ``16 threads copy 32 numbers of A and B to shared memory.``"""
    names: dict[tuple[str, bool], list[str]] = {}
    counts: dict[tuple[str, bool], int] = {}
    threads: set[int] = set()
    for array in timeline.trace.arrays.values():
        if array.space == "local":
            continue
        touches = timeline.touches(array.name)
        now = touches.between(begin, end)
        threads |= set(np.unique(touches.thread[now]).tolist())
        for store in (False, True):
            chosen = touches.store[now] == store
            if chosen.any():
                key = array.space, store
                names.setdefault(key, []).append(array.name)
                counts[key] = counts.get(key, 0) + int(chosen.sum())
    done = []
    copied = ("shared", True) in counts and ("shared", False) not in counts
    for key, verb in (
        (("global", False), "copy" if copied else "load"),
        (("shared", False), "read"),
        (("shared", True), "store"),
        (("global", True), "store"),
    ):
        if key in counts and not (copied and key == ("shared", True) and ("global", False) in counts):
            where = " in shared memory" if key[0] == "shared" else f" of {' and '.join(names[key])}"
            where += " to shared memory" if verb == "copy" else ""
            done.append(f"{verb} {counts[key]:,} number{'s' * (counts[key] != 1)}{where}")
    who = f"{len(threads):,} thread{'s' * (len(threads) != 1)}"
    return f"{who} {' and '.join(done) or 'compute'}."


@dataclass(frozen=True)
class Told:
    """One run in a still: its block, and a position, 0 for the film.

    ``places`` are (position, thread) of what is told, ``notes`` what is wrong with it.
    """

    timeline: Timeline
    position: int = 0
    places: tuple[tuple[int, int], ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def sentences(self) -> list[str]:
        """What each thread does at its position, which is named where it is another one."""
        said = ((at, sentence(self.timeline, at, thread)) for at, thread in self.places)
        return [text if at == self.position else f"Step {at}: {text}" for at, text in said]

    @property
    def told(self) -> str:
        """What the picture shows, in words."""
        trace = self.timeline.trace
        if self.position:
            return f"{trace.kernel_name}, step {self.position}: {' '.join([*self.sentences, *self.notes])}"
        frames = frames_of(self.timeline)
        said = (f"frame {i + 1} of {len(frames)}: {frame_says(self.timeline, *frames[i])}" for i in shown(frames))
        return f"{trace.kernel_name}, {' '.join(said)}"

    @cached_property
    def layout(self) -> Layout:
        """The shapes of the picture."""
        return step_layout(self) if self.position else film_layout(self.timeline)


def film_layout(timeline: Timeline) -> Layout:
    """Lay out the frames beside each other, each with its number and sentence above the arrays."""
    frames, shapes = frames_of(timeline), list[Shape]()
    chosen = shown(frames)
    width, bottom = (WIDTH - 16 + GAP) / len(chosen) - GAP, 0.0
    _title(shapes, timeline, "")
    for place, i in enumerate(chosen):
        x = 8 + place * (width + GAP)
        lines = wrapped(frame_says(timeline, *frames[i]), max(22, round(width / 6.6)))
        shapes.append(Text(x, 44, f"{i + 1} of {len(frames)}", 12.5, HEADING, bold=True))
        shapes += [Text(x, 62 + 15 * row, line, 11.5, HEADING) for row, line in enumerate(lines)]
        bottom = max(bottom, 58 + 15 * len(lines))
    ends = [
        _arrays(shapes, timeline, *frames[i], (8 + place * (width + GAP), bottom + 16), width)
        for place, i in enumerate(chosen)
    ]
    return Layout(shapes, max(ends) + 10)


def step_layout(view: Told) -> Layout:
    """Lay out one step: what it does and breaks, the arrays on the left, the lines around it on the right."""
    timeline, shapes, y = view.timeline, list[Shape](), 40.0
    _title(shapes, timeline, f"step {view.position} of {len(timeline)}")
    said = [(text, INK) for text in view.sentences]
    rows = [(line, ink) for text, ink in [*said, *((n, WRONG) for n in view.notes)] for line in wrapped(text, 132)]
    shapes.append(Box(1, y - 8, WIDTH - 2, 12 + 18 * len(rows), CARD, CARD_EDGE, round=6))
    for line, ink in rows:
        shapes.append(Text(12, y + 7, line, 12.5, ink, bold=ink == WRONG))
        y += 18
    threads = {thread for _, thread in view.places}
    end = _arrays(shapes, timeline, view.position - 1, view.position, (8, y + 24), 560, threads=threads)
    lines, now = list(shown_source(timeline.trace)), timeline.step(view.position).line
    at = next((i for i, (line, _) in enumerate(lines) if line == now), 0)
    top = y + 14
    for number, code in lines[max(0, at - 5) : at + 6]:
        inner = " " * min(len(code) - len(code.lstrip()) + 8, 40)
        parts = textwrap.wrap(code, 56, subsequent_indent=inner, break_on_hyphens=False) or [""]
        if number == now:
            shapes.append(Box(590, top, WIDTH - 591, 18 * len(parts), tint(CURRENT, 0.17)))
        shapes.append(Text(618, top + 9, str(number), 11, SOFT if number == now else HEADING, "right", mono=True))
        for part in parts:
            shapes.append(Text(628, top + 9, part, 11, INK if number == now else HEADING, mono=True))
            top += 18
    return Layout(shapes, max(end, top) + 10)


def _title(shapes: list[Shape], timeline: Timeline, where: str) -> None:
    trace, dims = timeline.trace, n_dims(timeline.trace)
    launch = f"grid {label(trace.grid, dims)} × block {label(trace.block, dims)}, block {label(timeline.block, dims)}"
    shapes.append(Text(8, 16, trace.kernel_name, 15, HEADING, mono=True, bold=True))
    shapes.append(Text(WIDTH - 8, 16, f"{launch}{', ' * bool(where)}{where}", 12, HEADING, "right"))


# --- arrays -----------------------------------------------------------------------------------------------------------


def _arrays(
    shapes: list[Shape],
    timeline: Timeline,
    begin: int,
    end: int,
    at: tuple[float, float],
    width: float,
    *,
    threads: Iterable[int] = (),
) -> float:
    """Add the arrays as they are after ``end``, with what is accessed after ``begin``; return the next y.

    ``threads``: those whose elements are framed.
    """
    trace, (left, y) = timeline.trace, at
    role = {r: trace.arrays[name] for name, r in roles(trace).items()}
    others = [
        a for a in trace.arrays.values() if a.space == "shared" or (a.space == "global" and a not in role.values())
    ]
    if role:
        (m, k), n = role["A"].shape, role["B"].shape[1]
        side = min(LARGEST, (width - GAP) / (k + n), TALLEST / (k + m))
        x, low = left + k * side + GAP, y + k * side + GAP + 12
        for name, corner in (("A", (left, low)), ("B", (x, y)), ("C", (x, low))):
            _array(shapes, timeline, role[name], begin, end, corner, side=side, threads=threads)
        y = low + m * side + 22
    x, deep = left, y
    for array in others:
        for part, (rows, columns) in enumerate(_parts(array)):
            side = min(LARGEST * 0.7, (width - GAP) / 2 / columns if rows > 1 else width / columns)
            wide = max(columns * side, 7.5 * len(array.name))
            if x > left and x + wide > left + width:
                x, y = left, deep + 22
            _array(shapes, timeline, array, begin, end, (x, y), side=side, threads=threads, part=part)
            x, deep = x + wide + GAP, max(deep, y + rows * side)
    return deep


def _parts(array: TraceArray) -> list[tuple[int, int]]:
    """Rows and columns of each picture of an array: a vector is wrapped, each leading index has its own."""
    if len(array.shape) < 2:
        columns = max(1, min(16, array.size))
        return [(-(-array.size // columns), columns)] if array.size else []
    rows, columns = array.shape[-2:]
    return [(rows, columns)] * (array.size // (rows * columns) if rows * columns else 0)


def _array(
    shapes: list[Shape],
    timeline: Timeline,
    array: TraceArray,
    begin: int,
    end: int,
    at: tuple[float, float],
    *,
    side: float,
    threads: Iterable[int],
    part: int = 0,
) -> None:
    """Add one array, or one part of it, under its name: what is accessed now is full, what was accessed is pale."""
    rows, columns = _parts(array)[part]
    hue = HUES[roles(timeline.trace).get(array.name, array.space)]
    touches, x, y = timeline.touches(array.name), *at
    strength = np.zeros(array.size)
    strength[touches.element] = 0.2 if array.space == "global" else 0.0
    strength[touches.element[touches.between(0, end)]] = 0.48
    now = touches.between(begin, end)
    strength[touches.element[now]] = 1.0
    part_of = slice(part * rows * columns, min(array.size, (part + 1) * rows * columns))
    strength, values = strength[part_of], timeline.values(array.name, end)[part_of]
    several = len(_parts(array)) > 1
    shapes.append(
        Text(x, y - 8, f"{array.name}[{part}]" if several else array.name, 11.5, HEADING, mono=True, bold=True)
    )
    if len(strength) > MOST_CELLS or side < 3:
        fills = {s: [*rgb(tint(hue, s) if s else PLAIN_CELL), 255] for s in set(strength.tolist())}
        colours = np.array(
            [fills[s] for s in strength.tolist()] + [[0] * 4] * (rows * columns - len(strength)), np.uint8
        )
        shapes.append(Pixels(x, y, columns * side, rows * side, colours.reshape(rows, columns, 4)))
        return
    mine = {int(e) for t in threads for e in touches.element[now][touches.thread[now] == t]}
    texts = ["" if value is np.ma.masked else short(value) for value in values]
    longest = max((len(line) for text in texts for line in text.split("\n")), default=0)
    size = side * {1: 0.5, 2: 0.46, 3: 0.38}.get(longest, 1.3 / max(1, longest))
    for i, (s, text) in enumerate(zip(strength.tolist(), texts, strict=True)):
        box = x + i % columns * side + 0.5, y + i // columns * side + 0.5, side - 1, side - 1
        edge = INK if i + part_of.start in mine else None
        shapes.append(Box(*box, tint(hue, s) if s else PLAIN_CELL, edge, 2.0))
        if size >= LEGIBLE / 2 and text:
            ink = "#ffffff" if s == 1.0 and hue == HUES["A"] else INK if s >= 0.48 else SOFT
            shapes.append(Text(box[0] + side / 2, box[1] + side / 2, text, size, ink, "middle"))


def picture(views: list[Told], hint: str = HINT) -> StillPicture:
    """The still of one run, or of two below each other."""
    layouts = [view.layout for view in views]
    if hint:
        last = layouts[-1]
        note = Text(8, last.height + 6, hint, 12, HEADING)
        layouts[-1] = Layout([*last.shapes, note], last.height + 20)
    return StillPicture(tuple(layouts), "; ".join(view.told for view in views))
