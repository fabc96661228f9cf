"""The static picture of a stepper: a few frames of its animation, or one step, for who has not run the notebook.

The frames are those of the animation (``course_lib/trace/frames.py``); each shows the arrays after it, and what the
block's threads read and wrote in it. A single step also shows its line and what its threads do, for a page on which no
script runs.
"""

import textwrap
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ...simulator.hardware import ceil_div
from ..kernel_structure import roles, shown_source
from ..palette import INK
from ..replay import Timeline
from ..trace import TraceArray
from .captions import facts_of, says
from .digits import short
from .picture_shapes import (
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
from .static_picture import Layout, StaticPicture
from .words import label, sentence, shown_dimensions

#: The hint on a static picture, for a reader who can run the notebook.
HINT = "A still picture: run this cell to play the launch."
#: The most frames side by side, and the fewest that make room for numbers.
MOST_FRAMES, FEWEST_FRAMES = 5, 3
#: In pixels, the largest side of an element, and the largest height of the matrices.
LARGEST, TALLEST = 34.0, 520.0
#: The size of the smallest digits; in sides of an element, that of a digit and of all digits of a number together.
LEGIBLE, DIGIT, DIGITS = 8.9, 0.62, 1.38
#: Elements that are drawn one by one; a larger array, or one of smaller elements, is a picture of pixels.
MOST_CELLS, LEAST_CELL = 1100, 3
#: White space in pixels: at the left and right edge, between arrays or frames, above an array for its name, at the end.
MARGIN, GAP, NAME, END = 8, 10.0, 22, 10
#: From the middle of an array's name to the array, and the width of a character of it.
TO_ARRAY, NAME_CHARACTER = 8, 7.5
#: Sizes of text in pixels: of the kernel's name; of a number of a frame, and of what a step does; of the launch; of a
#: frame's sentence, and of an array's name; of source.
KERNEL_SIZE, STEP_SIZE, LAUNCH_SIZE, NAME_SIZE, SOURCE_SIZE = 15, 12.5, 12, 11.5, 11
#: Pixels of the frames, each with a gap after it.
FRAMES_WIDTH = WIDTH - 2 * MARGIN + GAP
#: The title's height on the page; below it, those of a frame's number and of the first line of its sentence.
TITLE, NUMBER, SENTENCE = 16, 44, 62
#: Pixels from line to line of a frame's sentence, and of a character of it; the fewest characters of a line; and from
#: the middle of the line after it to the arrays.
LINE, CHARACTER, LEAST_CHARACTERS, TO_FRAME = 15, 6.6, 22, 12
#: A single step: pixels from line to line of text and source, the characters of a line of text; the heights of the
#: card with the text, the space in it above and below, at its side, and its corners' radius.
STEP_LINE, STEP_CHARACTERS, CARD_TOP, CARD_PADDING, CARD_SPACE, CARD_TEXT, CARD_ROUND = 18, 132, 40.0, 8, 12, 12, 6
#: A single step: from the card to the arrays, and to the source.
TO_ARRAYS, TO_SOURCE = 24, 14
#: A single step: the width of its arrays, where its source begins, where line numbers end, and where code begins.
ARRAYS, SOURCE, NUMBERS, CODE = 560, 590, 618, 628
#: Lines of the source around the current one, and the characters of a line.
AROUND, CODE_CHARACTERS = 5, 56
#: Spaces before the rest of a long line, more than before the line, and at most.
REST_INDENT, MOST_INDENT = 8, 40
#: How strong the colour is of the current line.
CURRENT_LINE = 0.17
#: The side of an element of an array that is no matrix of the product, as a part of the largest; and the elements of a
#: row of a vector.
SMALLER, VECTOR_ROW = 0.7, 16
#: The hint below a picture: from the picture to it, and what it takes.
TO_HINT, HINT_HEIGHT = 6, 20
#: How strong the colour of an element is: accessed sometime in the launch, accessed by now, accessed now.
EVER, BY_NOW, NOW = 0.2, 0.48, 1.0


def chosen_frames(timeline: Timeline) -> list[tuple[str, str, tuple[int, int]]]:
    """The first frames and the last, each with its number, as "1 of 9", and what it says.

    There are fewer where numbers then become legible.
    """
    frames = timeline.animation.frames
    across = sum(timeline.trace.arrays[name].shape[1] for name, role in roles(timeline.trace).items() if role in "AB")
    choices = [[*frames[: most - 1], *frames[most - 1 :][-1:]] for most in range(MOST_FRAMES, FEWEST_FRAMES - 1, -1)]
    legible = (some for some in choices if across * LEGIBLE <= DIGIT * (FRAMES_WIDTH / len(some) - 2 * GAP))
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
    width, bottom = FRAMES_WIDTH / len(chosen) - GAP, 0.0
    left = [MARGIN + place * (width + GAP) for place in range(len(chosen))]
    for x, (title, text, _) in zip(left, chosen, strict=True):
        lines = _wrapped(text, max(LEAST_CHARACTERS, round(width / CHARACTER)))
        shapes.append(Text(x, NUMBER, title, STEP_SIZE, HEADING, bold=True))
        shapes += [Text(x, SENTENCE + LINE * row, line, NAME_SIZE, HEADING) for row, line in enumerate(lines)]
        bottom = max(bottom, SENTENCE + LINE * len(lines))
    drawn = [Arrays(shapes, timeline.animation, *frame) for _, _, frame in chosen]
    ends = [arrays.place(x, bottom + TO_FRAME, width) for x, arrays in zip(left, drawn, strict=True)]
    return Layout(shapes, max(ends) + END)


def step_layout(view: PicturedRun) -> Layout:
    """Lay out one step: what it does and breaks, the arrays on the left, the lines around it on the right."""
    timeline, shapes = view.timeline, _title(view.timeline, f", step {view.position} of {len(view.timeline)}")
    below = _texts(view, shapes, CARD_TOP)
    threads = {thread for _, thread in view.places}
    arrays = Arrays(shapes, timeline, view.position - 1, view.position, threads)
    ends = arrays.place(MARGIN, below + TO_ARRAYS, ARRAYS), _source(view, shapes, below + TO_SOURCE)
    return Layout(shapes, max(ends) + END)


def _texts(view: PicturedRun, shapes: list[Shape], y: float) -> float:
    """Add a card with the sentences of a step and what is wrong with it; return the next y."""
    texts = [*((text, INK) for text in view.sentences), *((note, WRONG) for note in view.notes)]
    rows = [(line, ink) for text, ink in texts for line in _wrapped(text, STEP_CHARACTERS)]
    height = CARD_SPACE + STEP_LINE * len(rows)
    shapes.append(Box(1, y - CARD_PADDING, WIDTH - 2, height, CARD, CARD_EDGE, round=CARD_ROUND))
    for line, ink in rows:
        shapes.append(Text(CARD_TEXT, y + 7, line, STEP_SIZE, ink, bold=ink == WRONG))
        y += STEP_LINE
    return y


def _source(view: PicturedRun, shapes: list[Shape], y: float) -> float:
    """Add the lines of the source around that of a step; return the next y."""
    lines, now = list(shown_source(view.timeline.trace)), view.timeline.step(view.position).line
    at = next((i for i, (line, _) in enumerate(lines) if line == now), 0)
    for number, code in lines[max(0, at - AROUND) : at + AROUND + 1]:
        indent = " " * min(len(code) - len(code.lstrip()) + REST_INDENT, MOST_INDENT)
        parts = textwrap.wrap(code, CODE_CHARACTERS, subsequent_indent=indent, break_on_hyphens=False) or [""]
        if number == now:
            shapes.append(Box(SOURCE, y, WIDTH - SOURCE - 1, STEP_LINE * len(parts), tint(CURRENT, CURRENT_LINE)))
        ink = SOFT if number == now else HEADING
        shapes.append(Text(NUMBERS, y + STEP_LINE / 2, str(number), SOURCE_SIZE, ink, "right", mono=True))
        for part in parts:
            shapes.append(
                Text(CODE, y + STEP_LINE / 2, part, SOURCE_SIZE, INK if number == now else HEADING, mono=True)
            )
            y += STEP_LINE
    return y


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


def _title(timeline: Timeline, where: str) -> list[Shape]:
    trace, dims = timeline.trace, shown_dimensions(timeline.trace)
    here, grid, block = (label(each, dims) for each in (timeline.block, trace.grid, trace.block))
    launch = f"block {here} of grid {grid}, each of {block} threads"
    name = Text(MARGIN, TITLE, trace.kernel_name, KERNEL_SIZE, HEADING, mono=True, bold=True)
    return [name, Text(WIDTH - MARGIN, TITLE, launch + where, LAUNCH_SIZE, HEADING, "right")]


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
        role = {r: self.timeline.trace.arrays[name] for name, r in roles(self.timeline.trace).items()}
        if role:
            y = self._product(role, left, y, width)
        x, deep = left, y
        for array in self.timeline.trace.arrays.values():
            if array.space == "local" or array in role.values():
                continue
            for part, (rows, columns) in enumerate(_parts(array)):
                side = min(LARGEST * SMALLER, (width - GAP) / 2 / columns if rows > 1 else width / columns)
                wide = max(columns * side, NAME_CHARACTER * len(array.name))
                if x > left and x + wide > left + width:
                    x, y = left, deep + NAME
                self._add(array, x, y, side, part)
                x, deep = x + wide + GAP, max(deep, y + rows * side)
        return deep

    def _product(self, role: Mapping[str, TraceArray], left: float, y: float, width: float) -> float:
        """Add A on the left, B above and C beside it; return the next y."""
        (m, k), n = role["A"].shape, role["B"].shape[1]
        side = min(LARGEST, (width - GAP) / (k + n), TALLEST / (k + m))
        x, low = left + k * side + GAP, y + k * side + GAP + 12
        for name, corner in (("A", (left, low)), ("B", (x, y)), ("C", (x, low))):
            self._add(role[name], *corner, side)
        return low + m * side + NAME

    def _add(self, array: TraceArray, x: float, y: float, side: float, part: int = 0) -> None:
        """Add one array, or one part of it, under its name, in the colour of its role."""
        parts = _parts(array)
        rows, columns = parts[part]
        elements = slice(part * rows * columns, min(array.size, (part + 1) * rows * columns))
        strength = self._strength(array)[elements]
        hue = HUES[roles(self.timeline.trace).get(array.name, array.space)]
        name = f"{array.name}[{part}]" if len(parts) > 1 else array.name
        self.shapes.append(Text(x, y - TO_ARRAY, name, NAME_SIZE, HEADING, mono=True, bold=True))
        if len(strength) > MOST_CELLS or side < LEAST_CELL:
            self.shapes.append(_pixels(x, y, side, (rows, columns), strength, hue))
        else:
            self._cells(array, elements, (x, y), side, strength, hue)

    def _strength(self, array: TraceArray) -> np.ndarray:
        """Return how strong the colour of each element is: full where it is accessed now."""
        accesses, strength = self.timeline.accesses(array.name), np.zeros(array.size)
        strength[accesses.element] = EVER if array.space == "global" else 0.0
        strength[accesses.element[accesses.between(0, self.end)]] = BY_NOW
        strength[accesses.element[accesses.between(self.begin, self.end)]] = NOW
        return strength

    def _cells(
        self, array: TraceArray, elements: slice, corner: tuple[float, float], side: float, strength: Any, hue: str
    ) -> None:
        """Add a box for each of these elements of an array, with its value where that is legible."""
        accesses = self.timeline.accesses(array.name)
        now = accesses.between(self.begin, self.end)
        framed = set(accesses.element[now][np.isin(accesses.thread[now], list(self.threads))].tolist())
        values = self.timeline.values(array.name, self.end)[elements]
        is_result = roles(self.timeline.trace).get(array.name) == "C"
        # what a kernel is to store, and a lesson has filled with NaN, is empty as in the stepper
        empty = np.ma.getmaskarray(values) | (is_result & (strength < BY_NOW) & np.isnan(np.ma.getdata(values)))
        texts = ["" if nothing else short(value) for value, nothing in zip(values, empty, strict=True)]
        longest = max((len(line) for text in texts for line in text.split("\n")), default=0)
        size = side * min(DIGIT, DIGITS / max(1, longest))
        columns = _parts(array)[0][1]
        for number, (strong, text) in enumerate(zip(strength.tolist(), texts, strict=True)):
            row, column = divmod(number, columns)
            left, top = corner[0] + column * side + 0.5, corner[1] + row * side + 0.5
            edge = INK if number + elements.start in framed else None
            self.shapes.append(Box(left, top, side - 1, side - 1, _fill(hue, strong), edge, 2.0))
            if size >= LEGIBLE and text:
                ink = _ink_on(hue, strong)
                self.shapes.append(Text(left + side / 2, top + side / 2, text, size, ink, "middle"))


def _fill(hue: str, strength: float) -> str:
    """Return the colour of an element: that of its array, as strong as it is accessed; grey if it never is."""
    return tint(hue, strength) if strength else PLAIN_CELL


def _ink_on(hue: str, strength: float) -> str:
    """Return the colour of a number in an element of this colour: white on the darkest, and pale before any access."""
    if strength == NOW and hue == HUES["A"]:
        return "#ffffff"
    return INK if strength >= BY_NOW else SOFT


def _pixels(x: float, y: float, side: float, shape: tuple[int, int], strength: np.ndarray, hue: str) -> Pixels:
    """Return elements as a picture with a pixel for each; those that fill the last row up are transparent."""
    rows, columns = shape
    fills = {strong: [*rgb(_fill(hue, strong)), 255] for strong in set(strength.tolist())}
    colours = [fills[strong] for strong in strength.tolist()] + [[0] * 4] * (rows * columns - len(strength))
    pixels = np.array(colours, np.uint8).reshape(rows, columns, 4)
    return Pixels(x, y, columns * side, rows * side, pixels)


def _parts(array: TraceArray) -> list[tuple[int, int]]:
    """Rows and columns of each picture of an array: a vector is wrapped, each leading index has its own."""
    if len(array.shape) < 2:
        columns = max(1, min(VECTOR_ROW, array.size))
        return [(ceil_div(array.size, columns), columns)] if array.size else []
    rows, columns = array.shape[-2:]
    return [(rows, columns)] * (array.size // (rows * columns) if rows * columns else 0)


def picture(views: list[PicturedRun], hint: str = HINT) -> StaticPicture:
    """The static picture of one run, or of two below each other."""
    layouts = [view.layout for view in views]
    if hint:
        last = layouts[-1]
        note = Text(MARGIN, last.height + TO_HINT, hint, LAUNCH_SIZE, HEADING)
        layouts[-1] = Layout([*last.shapes, note], last.height + HINT_HEIGHT)
    return StaticPicture(tuple(layouts), "; ".join(view.description for view in views))
