"""The still of a stepper: a strip of a few frames of its film, or one step, for readers who have not run the notebook.

A frame lasts from one opening of a barrier to the next. It shows the arrays after it, and what the block's threads read
and wrote in it; without barriers the loads from global memory are divided into equal parts. In a race a thread may
overwrite what another one has read since the frame began: there another frame begins, as in the film. A single step
also shows its line and what its threads do, for a page on which no script runs.
"""

import textwrap
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

import numpy as np

from ...simulator.tables import plural
from ..columns import Touches
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
)
from .words import label, n_dims, sentence

#: The hint on a still, for a reader who can run the notebook.
HINT = "A still picture: run this cell to play the launch."
#: The most frames in a strip, and the fewest that make room for numbers; in pixels the largest side of an element, the
#: size of the smallest digits, and the height of the matrices.
FRAMES, FEWEST, LARGEST, LEGIBLE, TALLEST = 5, 3, 34.0, 8.9, 520.0
#: The size of a digit, in sides of its element, and that of all digits of a number together.
DIGIT, DIGITS = 0.62, 1.38
#: Elements that are drawn one by one; a larger array is a picture of pixels.
MOST_CELLS = 1100
GAP = 10.0
ALL = WIDTH - 16 + GAP  # pixels of the frames, each with a gap after it


def frames_of(timeline: Timeline) -> list[tuple[int, int]]:
    """(first, last) of the frames: positions in the block, exclusive and inclusive; all steps are in one of them."""
    steps, spaces = len(timeline), {"global": list[Touches](), "shared": [], "local": []}
    for array in timeline.trace.arrays.values():
        spaces[array.space].append(timeline.touches(array.name))
    ends = [at for at in timeline.releases if at < steps]
    if not ends:
        loads = np.unique(_positions(t.position[~t.store] for t in spaces["global"]))
        parts = min(FRAMES - 1, len(loads))
        ends = [int(part[-1]) for part in np.array_split(loads, parts)] if parts else []
    after = max(ends, default=0)
    stores = _positions(t.position[t.store & (t.position > after)] for t in spaces["global"])
    used = _positions(t.position for t in chain(*spaces.values()))
    late = int(stores.min()) - 1 if len(stores) else 0  # the results, after all that is computed
    before = (used > after) & (used <= late)
    if before.any() and not ((used > late) & ~np.isin(used, stores)).any():
        ends.append(late)
    ends = sorted({*ends, steps} - {0})
    return [part for frame in zip([0, *ends], ends, strict=False) for part in _divided(timeline, *frame)]


def _divided(timeline: Timeline, begin: int, end: int) -> Iterator[tuple[int, int]]:
    """Yield the parts of a frame in which no thread overwrites what another one has read."""
    arrays = timeline.trace.arrays.values()
    touched = [(timeline.touches(array.name), array.size) for array in arrays if array.space != "local"]
    while cuts := [cut for each in touched if (cut := _overwritten(*each, begin, end)) is not None]:
        yield begin, min(cuts)
        begin = min(cuts)
    yield begin, end


def _overwritten(touches: Touches, size: int, begin: int, end: int) -> int | None:
    """Return the position before the first step, after ``begin``, that changes what another thread has read since."""
    now = touches.between(begin, end)
    position, thread, element = touches.position[now], touches.thread[now], touches.element[now]
    load, change = ~touches.store[now], touches.store[now] | touches.new[now]
    changed = np.zeros(size, bool)
    changed[element[change]] = True
    reads = np.flatnonzero(load & changed[element])
    first, other = np.full((2, size), end + 1)  # where each element is first read, and by another thread than then
    reader = np.full(size, -1)
    elements, at = np.unique(element[reads], return_index=True)  # entries are in the order of the steps
    first[elements], reader[elements] = position[reads[at]], thread[reads[at]]
    others = reads[thread[reads] != reader[element[reads]]]
    elements, at = np.unique(element[others], return_index=True)
    other[elements] = position[others[at]]
    read = np.where(reader[element] == thread, other[element], first[element]) < position
    wrong = position[change & read]
    return int(wrong.min()) - 1 if len(wrong) else None


def _positions(parts: Iterable[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.empty(0, np.int64), *parts])


def strip_of(timeline: Timeline) -> list[tuple[str, tuple[int, int]]]:
    """The first frames and the last, each with its number, as "1 of 9"; fewer where numbers then become legible."""
    frames = frames_of(timeline)
    across = sum(timeline.trace.arrays[name].shape[1] for name, role in roles(timeline.trace).items() if role in "AB")
    strips = [[*frames[: most - 1], *frames[most - 1 :][-1:]] for most in range(FRAMES, FEWEST - 1, -1)]
    legible = (strip for strip in strips if across * LEGIBLE <= DIGIT * (ALL / len(strip) - 2 * GAP))
    return [(f"{frames.index(f) + 1} of {len(frames)}", f) for f in next(legible, strips[0])]


def frame_says(timeline: Timeline, begin: int, end: int) -> str:
    """What the block's threads do in a frame: ``16 threads copy 32 numbers of A and B to shared memory.``"""
    names, counts, threads = defaultdict[tuple[str, str], list[str]](list), Counter[tuple[str, str]](), set[int]()
    empty = 0  # of what is read in shared memory
    for array in timeline.trace.arrays.values():
        if array.space == "local":
            continue
        touches = timeline.touches(array.name)
        now = touches.between(begin, end)
        threads |= set(touches.thread[now].tolist())
        if array.space == "shared":
            empty += _empty(touches, array.size, now)
        for op, chosen in (("load", ~touches.store[now]), ("store", touches.store[now])):
            if chosen.any():
                names[array.space, op].append(array.name)
                counts[array.space, op] += int(chosen.sum())
    copied = counts["shared", "store"] and not counts["shared", "load"]
    if copied and counts["global", "load"]:
        del counts["shared", "store"]
    done = []
    for key, verb in (
        (("global", "load"), "copy" if copied else "load"),
        (("shared", "load"), "read"),
        (("shared", "store"), "store"),
        (("global", "store"), "store"),
    ):
        if counts[key]:
            where = " in shared memory" if key[0] == "shared" else f" of {' and '.join(names[key])}"
            where += " to shared memory" if verb == "copy" else ""
            what = plural(counts[key], "number")
            if verb == "read" and empty:
                what = f"{what} ({empty} empty)" if empty < counts[key] else plural(empty, "empty element")
            done.append(f"{verb} {what}{where}")
    return f"{plural(len(threads), 'thread')} {' and '.join(done) or 'compute'}."


def _empty(touches: Touches, size: int, now: slice) -> int:
    """Count the reads of elements that nobody in the block has stored before."""
    stored = np.full(size, np.iinfo(np.int64).max)
    elements, at = np.unique(touches.element[touches.store], return_index=True)
    stored[elements] = touches.position[touches.store][at]
    return int((~touches.store[now] & (touches.position[now] <= stored[touches.element[now]])).sum())


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
        said = (f"frame {title}: {frame_says(self.timeline, *frame)}" for title, frame in strip_of(self.timeline))
        return f"{trace.kernel_name}, {' '.join(said)}"

    @cached_property
    def layout(self) -> Layout:
        """The shapes of the picture."""
        return step_layout(self) if self.position else film_layout(self.timeline)


def film_layout(timeline: Timeline) -> Layout:
    """Lay out the frames beside each other, each with its number and sentence above the arrays."""
    strip, shapes = strip_of(timeline), _title(timeline, "")
    width, bottom = ALL / len(strip) - GAP, 0.0
    left = [8 + place * (width + GAP) for place in range(len(strip))]
    for x, (title, frame) in zip(left, strip, strict=True):
        lines = _wrapped(frame_says(timeline, *frame), max(22, round(width / 6.6)))
        shapes.append(Text(x, 44, title, 12.5, HEADING, bold=True))
        shapes += [Text(x, 62 + 15 * row, line, 11.5, HEADING) for row, line in enumerate(lines)]
        bottom = max(bottom, 58 + 15 * len(lines))
    drawn = [Arrays(shapes, timeline, *frame) for _, frame in strip]
    ends = [arrays.place(x, bottom + 16, width) for x, arrays in zip(left, drawn, strict=True)]
    return Layout(shapes, max(ends) + 10)


def step_layout(view: Told) -> Layout:
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


def picture(views: list[Told], hint: str = HINT) -> StillPicture:
    """The still of one run, or of two below each other."""
    layouts = [view.layout for view in views]
    if hint:
        last = layouts[-1]
        note = Text(8, last.height + 6, hint, 12, HEADING)
        layouts[-1] = Layout([*last.shapes, note], last.height + 20)
    return StillPicture(tuple(layouts), "; ".join(view.told for view in views))
