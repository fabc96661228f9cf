"""Pictures of how often each element of global memory is loaded: what a tile saves."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from ...simulator.formatting import plural
from ..kernel_structure import roles
from ..palette import COLOURS, EDGE, GROUND, OTHER, WASH
from ..replay import Timeline
from .canvas import bare, describe, mixed, new_axes

if TYPE_CHECKING:
    from .. import Trace

#: Of the largest count, the share of an array's colour; any count above 0 has the least.
_LEAST, _MOST = 0.15, 1.0
#: Elements of a side, at most, between which there are lines.
_LINED = 32


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
    ax = new_axes(2.5 * sum(map(len, counted.values())) + 0.4, 3.8)
    left, sentences = 0.0, []
    hues = {}
    for label, arrays in counted.items():
        parts, start = [], left
        for name, counts in arrays.items():
            hue = hues[name] = COLOURS.get(roles(traces[label]).get(name, ""), OTHER)
            flat = counts.reshape(-1, counts.shape[-1]) if counts.ndim else counts.reshape(1, 1)
            rows, columns = flat.shape
            side = 1 / max(rows, columns)
            right, low = left + columns * side, -rows * side
            ax.imshow(
                _colours(flat, most, hue),
                extent=(left, right, low, 0),
                interpolation="nearest",
                aspect="auto",
                zorder=1,
            )
            if max(rows, columns) <= _LINED:
                ax.vlines(left + side * np.arange(1, columns), low, 0, colors=[EDGE], lw=0.6)
                ax.hlines(-side * np.arange(1, rows), left, right, colors=[EDGE], lw=0.6)
            ax.add_patch(Rectangle((left, low), right - left, -low, fill=False, ec=GROUND, lw=1.5, zorder=2))
            times = f"{flat.min()}" if flat.min() == flat.max() else f"{flat.min()} to {flat.max()}"
            ax.text(left, 0.03, f"{name}: {times} ×", va="bottom", fontsize=12, weight="bold", color=GROUND)
            parts.append(f"each element of {name} {times} times")
            left += 1.12
        total = sum(int(counts.sum()) for counts in arrays.values())
        ax.text(start, -1.05, f"{label}: {total:,} loads", va="top", fontsize=13, color=GROUND)
        sentences.append(f"{label} loads {plural(total, 'number')}: {', '.join(parts)}")
        left += 0.2
    for i, count in enumerate(sorted({round(part * most / 4) for part in range(5)})):
        for j, hue in enumerate(hues.values()):
            colour = _colours(np.array([[count]]), most, hue)[0, 0]
            ax.add_patch(Rectangle((0.3 * i, -1.3 - 0.05 * j), 0.08, 0.05, fc=colour, ec=GROUND, lw=0.5))
        ax.text(0.3 * i + 0.1, -1.275, f"{count}", va="center", fontsize=11, color=GROUND)
    ax.text(1.5, -1.275, "loads of an element", va="center", fontsize=11, color=GROUND)
    ax.set_xlim(-0.03, left - 0.28)
    ax.set_ylim(-1.42, 0.15)
    bare(ax, equal=True)
    ax.set_title("How often each element is loaded from global memory")
    return describe(ax, *sentences)


def _colours(counts: np.ndarray, most: int, hue: str) -> np.ndarray:
    """Return red, green, blue and opacity of each count."""
    shares = np.where(counts > 0, _LEAST + (_MOST - _LEAST) * counts / most, 0)
    table = {share: (*mixed(hue, share), 1.0) if share else WASH for share in np.unique(shares).tolist()}
    return np.array([[table[share] for share in row] for row in shares.tolist()])
