"""Pictures of time: the order of a warp's statements, races, schedules, and what early loads gain."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from ...trace.figures.canvas import (
    FINE_LINE,
    NUMBER_SIZE,
    PICTURE_WIDTH,
    TEXT_SIZE,
    describe,
    legend,
    mixed,
    name_strips,
    new_axes,
)
from ...trace.palette import COLOURS, FAINT, GROUND, INK, ISSUING, SKY
from ...trace.trace import Trace

#: What a row does, when that begins, how long it takes, and the text on it.
Span = tuple[str, float, float, str]
_ROW_COLOURS = (FAINT, COLOURS["register"], COLOURS["shared"], SKY)
#: `race`, in inches: the height of a warp's row, of a strip's name with the gap above it, and of what is around all.
_WARP_HEIGHT, _STRIP_NAME_HEIGHT, _AROUND_STRIPS = 0.45, 0.6, 1.1
#: In rows: the thickness of a row; from the middle of a strip's first row up to its name; and between the rows of two
#: strips, where that name is. And the part of its place that a statement fills.
_WARP_BAR, _STRIP_NAME, _STRIP_GAP, _STATEMENT = 0.72, 0.55, 1.3, 0.92
#: The cross on a wrong number: its size and the width of its lines, in points.
_CROSS: dict[str, Any] = {"marker": "x", "ls": "", "ms": 7, "mew": 2}
#: `spans`, in inches: the height of a row and of what is around them; and in rows, the thickness of a row, and from the
#: middle of the first and of the last row to the limits of the picture.
_ROW_HEIGHT, _AROUND_ROWS = 0.34, 1.3
_ROW_BAR, _ABOVE_ROWS, _BELOW_ROWS = 0.8, 0.6, 0.6
#: The share of their colour that spans have. A span is short, and has no edge, if so many fit into the picture's time.
_LIGHT, _SHORT_SPANS = 0.6, 100
#: `early_loads`: width and height in inches, and the limits of the gain.
_GAINS_SIZE, _LEAST_GAIN, _MOST_GAIN = (8, 4.6), 0.95, 1.7
#: Where the words on the limit of gains are: at this use, in per cent, and so many points from the line.
_LIMIT_WORDS, _FROM_LIMIT = 68, (8, 4)
#: In points: the widths of the line of that limit and of the line of no gain, and the size of a dot.
_LIMIT_LINE, _NO_GAIN_LINE, _DOT = 1.5, 1, 8


def race(traces: Mapping[str, Trace], array: str) -> Axes:
    """Draw when the warps of the first block store to a shared array and read it, one strip per entry of ``traces``.

    The last entry is the right kernel; the others lack a barrier. A read that does not get the same number as there,
    because it comes too early or too late, is marked with a cross. The horizontal axis is the order in which the
    simulator executed the statements: one warp after the other, each up to its next barrier. A GPU may choose another.

    >>> kernel = rung("tiled").make(tile_width=4)
    >>> run = simulate(kernel, trace=True)[(1, 1), (4, 4)](*matrices(4, 4, 8))
    >>> print(str(figures.show(figures.race({"tiled": run.trace}, "A_tile"))).splitlines()[0])
    Figure: Two warps store to A_tile and read it.
    """
    *_, right = histories = [_history(trace, array) for trace in traces.values()]
    counts = [len({warp for warp, *_ in history}) for history in histories]
    strips = sum(_WARP_HEIGHT * count + _STRIP_NAME_HEIGHT for count in counts)
    ax = new_axes(PICTURE_WIDTH, _AROUND_STRIPS + strips)
    _, load, store, barrier = _ROW_COLOURS  # what is read is multiplied
    colours = {"store": store, "load": load, "barrier": barrier}
    ticks: dict[float, str] = {}
    sentences = []
    base = 0.0
    wanted = {warp: [seen for other, what, seen in right if (other, what) == (warp, "load")] for warp, *_ in right}
    for (label, history), count in zip(zip(traces, histories, strict=True), counts, strict=True):
        reads = dict.fromkeys(range(count), 0)
        wrong = dict.fromkeys(range(count), 0)
        for position, (warp, what, seen) in enumerate(history):
            row = base - warp
            extent = row - _WARP_BAR / 2, _WARP_BAR
            ax.broken_barh([(position, _STATEMENT)], extent, color=colours[what], lw=0)
            if what == "load":
                if seen != wanted[warp][reads[warp]]:
                    wrong[warp] += 1
                    ax.plot(position + _STATEMENT / 2, row, color=INK, **_CROSS)
                reads[warp] += 1
        ax.text(0, base + _STRIP_NAME, label, weight="bold", color=GROUND, va="bottom")
        ticks |= {base - warp: f"warp {warp}" for warp in range(count)}
        said = ", ".join(f"warp {warp} {wrong[warp]} of {reads[warp]}" for warp in range(count))
        sentences.append(f"{label}: reads of {array} that get a wrong number: {said}")
        base -= count + _STRIP_GAP
    name_strips(ax, ticks)
    ax.set_xlim(0, max(map(len, histories)))
    ax.set_xticks([])
    ax.set_xlabel("in the order of execution (no clock)")
    ax.set_title(f"Two warps store to {array} and read it")
    cross = Line2D([], [], color=GROUND, label="reads a wrong number", **_CROSS)
    legend(ax, {"stores": store, "reads": load, "barrier": barrier}, cross)
    return describe(ax, *sentences)


def _history(trace: Trace, array: str) -> list[tuple[int, str, dict[tuple[int, ...], int]]]:
    """Return what the first block's warps do with an array, in order: the warp, what it does, and the elements.

    Each element of a tile comes with the number of its last store, counted in all buffers of the array, so that two
    reads of the same number are alike, also from different buffers.
    """
    found: list[tuple[int, str, dict[tuple[int, ...], int]]] = []
    stored: dict[tuple[int, ...], int] = {}
    times: Counter[tuple[int, ...]] = Counter()
    for step in trace.steps:
        if step.block != (0, 0, 0):
            continue
        if step.barrier:
            found.append((step.warp, "barrier", {}))
        for access in step.accesses:
            if access.array != array:
                continue
            places = {tuple(index) for index in access.index.tolist()}
            if access.op == "store":
                times.update(place[-2:] for place in places)
                stored |= {place: times[place[-2:]] for place in places}
            found.append((step.warp, access.op, {place[-2:]: stored.get(place, 0) for place in places}))
    return found


def spans(rows: Sequence[tuple[str, Sequence[Span]]], colours: Mapping[str, str], title: str, unit: str) -> Axes:
    """Draw what each row does over time, with a legend: what of ``colours`` it does, from when on, how long, a text.

    >>> rows = [("warp 0", [("load", 0, 20, ""), ("multiply", 20, 8, "")])]
    >>> figures.show(figures.spans(rows, {"load": "#0072B2", "multiply": "#D55E00"}, "A warp", "cycles"))
    Figure: A warp.
      warp 0: load 20, multiply 8.
    """
    ax = new_axes(PICTURE_WIDTH, _AROUND_ROWS + _ROW_HEIGHT * len(rows))
    fills = {what: mixed(colour, _LIGHT) if colour else "none" for what, colour in colours.items()}
    end = max(first + length for _, found in rows for _, first, length, _ in found)
    for place, (_, found) in enumerate(rows):
        for what, first, length, text in found:
            edge = {"ec": GROUND, "lw": FINE_LINE} if length > end / _SHORT_SPANS else {"lw": 0}
            ax.add_patch(Rectangle((first, place - _ROW_BAR / 2), length, _ROW_BAR, fc=fills[what], **edge))
            middle = (first + length / 2, place)
            ink = INK if colours[what] else GROUND
            ax.text(*middle, text, ha="center", va="center", color=ink, fontsize=NUMBER_SIZE)
    ax.set(xlim=(0, end), ylim=(len(rows) - 1 + _BELOW_ROWS, -_ABOVE_ROWS), xlabel=unit)
    ax.set_yticks(range(len(rows)), labels=[label for label, _ in rows])
    ax.tick_params(axis="y", length=0)
    ax.locator_params(axis="x", integer=True)
    ax.set_title(title)
    legend(ax, fills)
    totals = {
        label: [f"{what} {sum(s[2] for s in found if s[0] == what):g}" for what in dict.fromkeys(s[0] for s in found)]
        for label, found in rows
    }
    return describe(ax, *(f"{label}: {', '.join(sums)}" for label, sums in totals.items() if sums))


def early_loads(results: Sequence[Mapping[str, Any]], gpu: str) -> Axes:
    """Plot what early loads gain, against the use of the path to L1 and shared memory without them.

    ``results`` are those of the recording ``prefetching``, measured on ``gpu``. Each mark is a pair of launches of
    `kernels.prefetch_variants` with one buffer and as many resident warps: once with the loads behind the barrier that
    ends the products, once with the loads before the products. The line is 1 / use: a kernel that needs as many
    wavefronts cannot be faster, since no path is used in more than all cycles.

    >>> early = measurements.load("prefetching")
    >>> print(str(figures.show(figures.early_loads(early.results, early.provenance["gpu"]))).split(".")[0])
    Figure: No gain is more than the path to shared memory leaves free
    """
    ax = new_axes(*_GAINS_SIZE)
    shared = {"buffers": 1, "barriers": 2}
    found = {
        (r["language"], r["params"]["tile_width"], r["warps"], r["params"]["loads"]): r
        for r in results
        if r.get("of") == "prefetch_variants" and r["warps"] and shared.items() <= r["params"].items()
    }
    used = np.linspace(50, 100, 101)
    ax.plot(used, 100 / used, color=GROUND, lw=_LIMIT_LINE)
    place = _LIMIT_WORDS, 100 / _LIMIT_WORDS
    ax.annotate("no more than this:\n1 / use", place, _FROM_LIMIT, textcoords="offset points", color=GROUND)
    sentences = []
    for language, mark in (("numba", "o"), ("CUDA C", "s")):
        for width, colour in ((8, GROUND), (16, ISSUING), (32, SKY)):
            pairs = [
                (warps, found[language, width, warps, "behind"], found[language, width, warps, "early"])
                for (of, T, warps, loads) in sorted(found)
                if (of, T, loads) == (language, width, "behind") and (of, T, warps, "early") in found
            ]
            points = [
                (warps, before["l1_wavefronts_percent"], after["gflops"] / before["gflops"])
                for warps, before, after in pairs
            ]
            label = f"{language}, T = {width}"
            ax.plot(*zip(*((x, y) for _, x, y in points), strict=True), mark, color=colour, ms=_DOT, label=label)
            told = (f"{warps} warps, {x:.0f} % used → {y:.2f}" for warps, x, y in sorted(points))
            sentences.append(f"{label}: {'; '.join(told)}")
    ax.axhline(1, color=GROUND, lw=_NO_GAIN_LINE)
    ax.set(
        xlabel=f"of 100 cycles, those that use the path, without early loads ({gpu}, n = 4096)",
        ylabel="speed with / without early loads",
    )
    ax.set_xlim(0, 100)
    ax.set_ylim(_LEAST_GAIN, _MOST_GAIN)
    ax.set_title("No gain is more than the path to shared memory leaves free")
    ax.legend(loc="upper left", fontsize=TEXT_SIZE, frameon=False, labelcolor=GROUND, ncols=2)
    return describe(ax, *sentences)
