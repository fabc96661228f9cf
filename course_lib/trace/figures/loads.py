"""Pictures of how often each element of global memory is loaded: what a tile saves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from ...simulator.formatting import plural
from ..kernel_structure import roles
from ..palette import COLOURS, EDGE, GROUND, OTHER, WASH
from ..replay import Timeline
from .canvas import FINE_LINE, LABEL_SIZE, TEXT_SIZE, bare, describe, mixed, new_axes

if TYPE_CHECKING:
    from .. import Trace

#: Of the largest count, the share of an array's colour; any count above 0 has the least.
_LEAST, _MOST = 0.15, 1.0
#: Elements of a side, at most, between which there are lines.
_LINED = 32
#: In inches, the width of an array and of the margins, and the height of the picture.
_ARRAY_WIDTH, _MARGINS, _HEIGHT = 2.5, 0.4, 3.8
#: Lengths below are in sides of an array: the longer side of each is 1. From the left edge of an array to that of the
#: next one, and further to that of another launch.
_PITCH, _LAUNCH_GAP = 1.12, 0.2
#: Heights: of the name of an array, above it; of the line on its launch; of the middle of the scale's text; and the
#: limits of the picture.
_NAME_HEIGHT, _LAUNCH_HEIGHT, _SCALE_TEXT, _BOTTOM, _TOP = 0.03, -1.05, -1.275, -1.42, 0.15
#: The scale: the top of its first field, which is so wide and high; from one to the next, and from its left to its
#: number; where the words are; and the counts that it shows beside 0.
_SCALE_TOP, _FIELD_WIDTH, _FIELD_HEIGHT, _FIELD_PITCH, _TO_NUMBER, _SCALE_WORDS = -1.25, 0.08, 0.05, 0.3, 0.1, 1.5
_STEPS = 4
#: White space at the left, and at the right of the last array.
_LEFT_MARGIN, _RIGHT_MARGIN = 0.03, 0.04


def loads_of(trace: Trace) -> dict[str, np.ndarray]:
    """Return how often a launch loads each element of the arrays in global memory that it loads, in their shapes.

    >>> run = simulate(rung("naive").make(), trace=True)[(2, 2), (16, 16)](*matrices(32, 32, 32))
    >>> figures.loads_of(run.trace)["A"][0, :4]
    array([32, 32, 32, 32])
    """
    found = {}
    blocks = [tuple(at) for at in trace.columns.blocks.tolist()]
    for name, array in trace.arrays.items():
        if array.space != "global":
            continue
        accesses = [Timeline.of(trace, block).expand_accesses(name) for block in blocks]
        elements = np.concatenate([each.element[~each.store] for each in accesses])
        if len(elements):
            found[name] = np.bincount(elements, minlength=array.size).reshape(array.shape)
    return found


def loads(traces: Mapping[str, Trace]) -> Axes:
    """Draw the arrays that each launch loads from global memory, tinted by how often each element is loaded.

    ``traces`` maps a label to the trace of a launch, of all its blocks. One scale, which is below, is for all of them:
    the more loads, the stronger the array's colour. Raise ValueError if no launch loads anything.

    >>> run = simulate(rung("naive").make(), trace=True)[(1, 1), (4, 4)](*matrices(4, 4, 4))
    >>> print(str(figures.show(figures.loads({"naive": run.trace}))).splitlines()[0])
    Figure: How often each element is loaded from global memory.
    """
    counted = {label: loads_of(trace) for label, trace in traces.items()}
    most = max((int(counts.max()) for arrays in counted.values() for counts in arrays.values()), default=0)
    if not most:
        raise ValueError("None of these launches loads anything from global memory.")
    ax = new_axes(_ARRAY_WIDTH * sum(map(len, counted.values())) + _MARGINS, _HEIGHT)
    left = 0.0
    sentences = []
    hues: dict[str, str] = {}
    for label, arrays in counted.items():
        start, parts = left, []
        for name, counts in arrays.items():
            hues[name] = COLOURS.get(roles(traces[label]).get(name, ""), OTHER)
            times = _draw_array(ax, name, counts, left, most, hues[name])
            parts.append(f"each element of {name} {times} times")
            left += _PITCH
        total = sum(int(counts.sum()) for counts in arrays.values())
        ax.text(start, _LAUNCH_HEIGHT, f"{label}: {total:,} loads", va="top", fontsize=13, color=GROUND)
        sentences.append(f"{label} loads {plural(total, 'number')}: {', '.join(parts)}")
        left += _LAUNCH_GAP
    _draw_scale(ax, most, list(hues.values()))
    end_of_arrays = left - _LAUNCH_GAP - _PITCH + 1
    ax.set_xlim(-_LEFT_MARGIN, end_of_arrays + _RIGHT_MARGIN)
    ax.set_ylim(_BOTTOM, _TOP)
    bare(ax, equal=True)
    ax.set_title("How often each element is loaded from global memory")
    return describe(ax, *sentences)


def _draw_array(ax: Axes, name: str, counts: np.ndarray, left: float, most: int, hue: str) -> str:
    """Draw how often each element of an array is loaded, under its name; return that in words, such as "2 to 4"."""
    flat = counts.reshape(-1, counts.shape[-1]) if counts.ndim else counts.reshape(1, 1)
    rows, columns = flat.shape
    side = 1 / max(rows, columns)  # of an element
    right, low = left + columns * side, -rows * side
    extent = (left, right, low, 0.0)
    ax.imshow(_colours(flat, most, hue), extent=extent, interpolation="nearest", aspect="auto", zorder=1)
    if max(rows, columns) <= _LINED:
        ax.vlines(left + side * np.arange(1, columns), low, 0, colors=[EDGE], lw=FINE_LINE)
        ax.hlines(-side * np.arange(1, rows), left, right, colors=[EDGE], lw=FINE_LINE)
    ax.add_patch(Rectangle((left, low), right - left, -low, fill=False, ec=GROUND, lw=1.5, zorder=2))
    times = f"{flat.min()}" if flat.min() == flat.max() else f"{flat.min()} to {flat.max()}"
    said = f"{name}: {times} ×"
    ax.text(left, _NAME_HEIGHT, said, va="bottom", fontsize=LABEL_SIZE, weight="bold", color=GROUND)
    return times


def _draw_scale(ax: Axes, most: int, hues: Sequence[str]) -> None:
    """Draw the colours of some counts from 0 to ``most``: for each a field in the colour of each array."""
    style: dict[str, Any] = {"va": "center", "fontsize": TEXT_SIZE, "color": GROUND}
    for column, count in enumerate(sorted({round(step * most / _STEPS) for step in range(_STEPS + 1)})):
        left = _FIELD_PITCH * column
        for row, hue in enumerate(hues):
            colour = _colours(np.array([[count]]), most, hue)[0, 0]
            low = _SCALE_TOP - _FIELD_HEIGHT * (row + 1)
            ax.add_patch(Rectangle((left, low), _FIELD_WIDTH, _FIELD_HEIGHT, fc=colour, ec=GROUND, lw=0.5))
        ax.text(left + _TO_NUMBER, _SCALE_TEXT, f"{count}", **style)
    ax.text(_SCALE_WORDS, _SCALE_TEXT, "loads of an element", **style)


def _colours(counts: np.ndarray, most: int, hue: str) -> np.ndarray:
    """Return red, green, blue and opacity of each count."""
    shares = np.where(counts > 0, _LEAST + (_MOST - _LEAST) * counts / most, 0)
    table = {share: (*mixed(hue, share), 1.0) if share else WASH for share in np.unique(shares).tolist()}
    return np.array([[table[share] for share in row] for row in shares.tolist()])
