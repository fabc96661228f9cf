"""A picture of a play of the model: one row a warp, with what it issues and what it waits for."""

from __future__ import annotations

from matplotlib.axes import Axes

from ...simulator.tables import plural
from ...trace.figures.canvas import describe, new_axes
from ...trace.look import COLOURS, FAINT, GROUND, ISSUING, SKY, WASH
from .plays import Play

#: Colours of reasons for waiting, those of the memories where one is meant; then of issuing and of waiting for a slot.
WAIT_COLOURS = {
    "issuing": ISSUING,
    "global memory": FAINT,
    "shared memory": COLOURS["shared"],
    "arithmetic": COLOURS["register"],
    "barrier": SKY,
    "its turn": WASH,
}


def draw(play: Play, cycles: float | None = None, ax: Axes | None = None, kernel: str = "a multiprocessor") -> Axes:
    """Draw the warps of one multiprocessor over time, one row each, as :func:`.plays.play` computed them.

    ``cycles``: how many cycles to draw, by default all. The text beside the picture states the share of every reason in
    the whole play. ``kernel``: what the title names. ``ax``: the axes to draw on, new ones by default.
    """
    end = min(cycles or play.cycles, play.cycles)
    ax = ax or new_axes(9.5, 1.8 + 0.3 * len(play.spans))
    for row, spans in enumerate(play.spans):
        for reason, colour in WAIT_COLOURS.items():
            bars = [(first, min(last, end) - first) for why, first, last in spans if why == reason and first < end]
            ax.broken_barh(bars, (row - 0.4, 0.8), color=colour, label=reason if row == 0 else None, lw=0)
    ax.set(xlim=(0, end), ylim=(len(play.spans) - 0.4, -0.6), xlabel="cycles (a model's)", ylabel="warp")
    ax.set_yticks(range(len(play.spans)))
    ax.set_title(f"What the warps of {kernel} wait for, in a model", pad=34)
    legend = ax.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=len(WAIT_COLOURS), frameon=False, fontsize=10, labelcolor=GROUND
    )
    for handle in legend.get_patches():  # too faint to be seen without an edge
        handle.set(edgecolor=GROUND, linewidth=0.8)
    shares = ", ".join(f"{reason} {100 * share:.0f} %" for reason, share in play.waits.items())
    return describe(ax, f"{plural(len(play.spans), 'warp')}, {play.cycles:,.0f} cycles in all; {shares}")
