"""The static picture of a stepper: a few frames of its animation, or one step, for who has not run the notebook.

The frames are those of the animation (``course_lib/trace/frames.py``); each shows the arrays after it, and what the
block's threads read and wrote in it. A single step also shows its line and what its threads do, for a page on which no
script runs.
"""

import textwrap
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..palette import INK
from ..replay import Timeline
from ..structure import roles, shown_source
from ..trace import TraceArray
from .captions import facts_of, says
from .digits import short
from .picture import Layout, StaticPicture
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
)
from .words import label, n_dims, sentence

#: The hint on a static picture, for a reader who can run the notebook.
HINT = "A still picture: run this cell to play the launch."
#: The most frames side by side, and the fewest that make room for numbers; in pixels the largest side of an element, the
#: size of the smallest digits, and the height of the matrices.
FRAMES, FEWEST, LARGEST, LEGIBLE, TALLEST = 5, 3, 34.0, 8.9, 520.0
#: The size of a digit, in sides of its element, and that of all digits of a number together.
DIGIT, DIGITS = 0.62, 1.38
#: Elements that are drawn one by one; a larger array is a picture of pixels.
MOST_CELLS = 1100
GAP = 10.0
ALL = WIDTH - 16 + GAP  # pixels of the frames, each with a gap after it


def chosen_frames(timeline: Timeline) -> list[tuple[str, str, tuple[int, int]]]:
    """The first frames and the last, each with its number, as "1 of 9", and what it says.

    There are fewer where numbers then become legible.
    """
    frames = timeline.animation.frames
    across = sum(timeline.trace.arrays[name].shape[1] for name, role in roles(timeline.trace).items() if role in "AB")
    choices = [[*frames[: most - 1], *frames[most - 1 :][-1:]] for most in range(FRAMES, FEWEST - 1, -1)]
    legible = (some for some in choices if across * LEGIBLE <= DIGIT * (ALL / len(some) - 2 * GAP))
    facts = facts_of(timeline.animation)
    chosen = [frames.index(frame) for frame in next(legible, choices[0])]
    return [(f"{n + 1} of {len(frames)}", says(facts[n]), frames[n]) for n in chosen]


@dataclass(frozen=True)
class PicturedRun:
    """One run in a static picture: its block, and a position, 0 for the animation.

    ``places`` are (position, thread) of what is described, ``notes`` what is wrong with it.
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
    def description(self) -> str:
        """What the picture shows, in words."""
        trace = self.timeline.trace
        if self.position:
            return f"{trace.kernel_name}, step {self.position}: {' '.join([*self.sentences, *self.notes])}"
        said = (f"frame {title}: {text}" for title, text, _ in chosen_frames(self.timeline))
        return f"{trace.kernel_name}, {' '.join(said)}"

    @cached_property
    def layout(self) -> Layout:
        """The shapes of the picture."""
        return step_layout(self) if self.position else frames_layout(self.timeline)


def frames_layout(timeline: Timeline) -> Layout:
    """Lay out the frames beside each other, each with its number and sentence above the arrays."""
    chosen, shapes = chosen_frames(timeline), _title(timeline, "")
    width, bottom = ALL / len(chosen) - GAP, 0.0
    left = [8 + place * (width + GAP) for place in range(len(chosen))]
    for x, (title, text, _) in zip(left, chosen, strict=True):
        lines = _wrapped(text, max(22, round(width / 6.6)))
        shapes.append(Text(x, 44, title, 12.5, HEADING, bold=True))
        shapes += [Text(x, 62 + 15 * row, line, 11.5, HEADING) for row, line in enumerate(lines)]
        bottom = max(bottom, 58 + 15 * len(lines))
    drawn = [Arrays(shapes, timeline.animation, *frame) for _, _, frame in chosen]
    ends = [arrays.place(x, bottom + 16, width) for x, arrays in zip(left, drawn, strict=True)]
    return Layout(shapes, max(ends) + 10)


def step_layout(view: PicturedRun) -> Layout:
    """Lay out one step: what it does and breaks, the arrays on the left, the lines around it on the right."""
    timeline, y = view.timeline, 40.0
    shapes = _title(timeline, f", step {view.position} of {len(timeline)}")
    said = [(text, INK) for text in view.sentences]
    rows = [(line, ink) for text, ink in [*said, *((n, WRONG) for n in view.notes)] for line in _wrapped(text, 132)]
    shapes.append(Box(1, y - 8, WIDTH - 2, 12 + 18 * len(rows), CARD, CARD_EDGE, round=6))
    for line, ink in rows:
        shapes.append(Text(12, y + 7, line, 12.5, ink, bold=ink == WRONG))
        y += 18
    threads = {thread for _, thread in view.places}
    end = Arrays(shapes, timeline, view.position - 1, view.position, threads).place(8, y + 24, 560)
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


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


def _title(timeline: Timeline, where: str) -> list[Shape]:
    trace, dims = timeline.trace, n_dims(timeline.trace)
    here, grid, block = (label(each, dims) for each in (timeline.block, trace.grid, trace.block))
    launch = f"block {here} of grid {grid}, each of {block} threads"
    name = Text(8, 16, trace.kernel_name, 15, HEADING, mono=True, bold=True)
    return [name, Text(WIDTH - 8, 16, launch + where, 12, HEADING, "right")]


@dataclass(frozen=True)
class Arrays:
    """The arrays of a block as they are after ``end``, with what is accessed after ``begin``, added to ``shapes``.

    ``threads``: those whose elements are framed.
    """

    shapes: list[Shape]
    timeline: Timeline
    begin: int
    end: int
    threads: Collection[int] = ()

    def place(self, left: float, y: float, width: float) -> float:
        """Add all of them; return the next y."""
        arrays = self.timeline.trace.arrays.values()
        role = {r: self.timeline.trace.arrays[name] for name, r in roles(self.timeline.trace).items()}
        if role:
            (m, k), n = role["A"].shape, role["B"].shape[1]
            side = min(LARGEST, (width - GAP) / (k + n), TALLEST / (k + m))
            x, low = left + k * side + GAP, y + k * side + GAP + 12
            for name, corner in (("A", (left, low)), ("B", (x, y)), ("C", (x, low))):
                self._add(role[name], *corner, side)
            y = low + m * side + 22
        x, deep = left, y
        for array in arrays:
            if array.space == "local" or array in role.values():
                continue
            for part, (rows, columns) in enumerate(_parts(array)):
                side = min(LARGEST * 0.7, (width - GAP) / 2 / columns if rows > 1 else width / columns)
                wide = max(columns * side, 7.5 * len(array.name))
                if x > left and x + wide > left + width:
                    x, y = left, deep + 22
                self._add(array, x, y, side, part)
                x, deep = x + wide + GAP, max(deep, y + rows * side)
        return deep

    def _add(self, array: TraceArray, x: float, y: float, side: float, part: int = 0) -> None:
        """Add one array, or one part of it, under its name: what is accessed now is full, what was accessed is pale."""
        shapes, parts, touches = self.shapes, _parts(array), self.timeline.touches(array.name)
        rows, columns = parts[part]
        role = roles(self.timeline.trace).get(array.name, array.space)
        hue = HUES[role]
        now = touches.between(self.begin, self.end)
        strength = np.zeros(array.size)
        strength[touches.element] = 0.2 if array.space == "global" else 0.0
        strength[touches.element[touches.between(0, self.end)]] = 0.48
        strength[touches.element[now]] = 1.0
        part_of = slice(part * rows * columns, min(array.size, (part + 1) * rows * columns))
        strength, values = strength[part_of], self.timeline.values(array.name, self.end)[part_of]
        name = f"{array.name}[{part}]" if len(parts) > 1 else array.name
        shapes.append(Text(x, y - 8, name, 11.5, HEADING, mono=True, bold=True))
        if len(strength) > MOST_CELLS or side < 3:
            fills = {s: [*rgb(tint(hue, s) if s else PLAIN_CELL), 255] for s in set(strength.tolist())}
            colours = [fills[s] for s in strength.tolist()] + [[0] * 4] * (rows * columns - len(strength))
            pixels = np.array(colours, np.uint8).reshape(rows, columns, 4)
            shapes.append(Pixels(x, y, columns * side, rows * side, pixels))
            return
        mine = {int(e) for t in self.threads for e in touches.element[now][touches.thread[now] == t]}
        # what a kernel is to store, and a lesson has filled with NaN, is empty as in the stepper
        empty = np.ma.getmaskarray(values) | ((role == "C") & (strength < 0.48) & np.isnan(np.ma.getdata(values)))
        texts = ["" if nothing else short(value) for value, nothing in zip(values, empty, strict=True)]
        longest = max((len(line) for text in texts for line in text.split("\n")), default=0)
        size = side * min(DIGIT, DIGITS / max(1, longest))
        for i, (s, text) in enumerate(zip(strength.tolist(), texts, strict=True)):
            box = x + i % columns * side + 0.5, y + i // columns * side + 0.5, side - 1, side - 1
            edge = INK if i + part_of.start in mine else None
            shapes.append(Box(*box, tint(hue, s) if s else PLAIN_CELL, edge, 2.0))
            if size >= LEGIBLE and text:
                ink = "#ffffff" if s == 1.0 and hue == HUES["A"] else INK if s >= 0.48 else SOFT
                shapes.append(Text(box[0] + side / 2, box[1] + side / 2, text, size, ink, "middle"))


def _parts(array: TraceArray) -> list[tuple[int, int]]:
    """Rows and columns of each picture of an array: a vector is wrapped, each leading index has its own."""
    if len(array.shape) < 2:
        columns = max(1, min(16, array.size))
        return [(-(-array.size // columns), columns)] if array.size else []
    rows, columns = array.shape[-2:]
    return [(rows, columns)] * (array.size // (rows * columns) if rows * columns else 0)


def picture(views: list[PicturedRun], hint: str = HINT) -> StaticPicture:
    """The static picture of one run, or of two below each other."""
    layouts = [view.layout for view in views]
    if hint:
        last = layouts[-1]
        note = Text(8, last.height + 6, hint, 12, HEADING)
        layouts[-1] = Layout([*last.shapes, note], last.height + 20)
    return StaticPicture(tuple(layouts), "; ".join(view.description for view in views))
