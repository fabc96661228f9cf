"""A picture of a simulation of the model: one row a warp, with what it issues and what it waits for."""

from collections.abc import Mapping

from matplotlib.axes import Axes

from ...simulator.formatting import plural
from ...trace.figures.canvas import describe
from ...trace.palette import COLOURS, FAINT, ISSUING, SKY
from ..figures import Span, spans
from .timing import SimulatedTiming

#: Colours of reasons for waiting, those of the memories where one is meant; then of issuing and of waiting for a slot.
WAIT_COLOURS: dict[str, str] = {
    "issuing": ISSUING,
    "global memory": FAINT,
    "shared memory": COLOURS["shared"],
    "arithmetic": COLOURS["register"],
    "barrier": SKY,
    "not selected": "",
}


def draw(
    timings: Mapping[str, SimulatedTiming], shown: tuple[float, float] | None = None, warps: int | None = None
) -> Axes:
    """Draw the warps of a multiprocessor over time, a row each, and under them the shares of all reasons.

    ``timings``: by name, what :func:`.timing.simulate_blocks` computed. ``shown``: the first and the last cycle, by
    default all; ``warps``: how many of each, by default all.

    >>> A, B, C = matrices(16, 16, 16)
    >>> kernel = rung("tiled").make(tile_width=8)
    >>> run = simulate(kernel, trace=True)[(2, 2), (8, 8)](A, B, C)
    >>> H200 = timing_model.Multiprocessor.measured(measurements.load("latencies"))
    >>> timing = timing_model.simulate_blocks(kernel, run.trace, H200)
    >>> print(str(figures.show(timing_model.draw({"tiled": timing}))).splitlines()[0])
    Figure: What warps wait for, in a model.
    """
    first, last = shown or (0.0, max(timing.cycles for timing in timings.values()))
    rows: list[tuple[str, list[Span]]] = []
    sentences = []
    for name, timing in timings.items():
        for warp, found in enumerate(timing.spans[:warps]):
            seen = [(why, max(a, first), min(b, last)) for why, a, b in found if a < last and b > first]
            rows.append((f"{name}, warp {warp}", [(why, a - first, b - a, "") for why, a, b in seen]))
        bar = list[Span]()
        at = 0.0
        for why, share in timing.waits.items():
            bar.append((why, at, share * (last - first), f"{100 * share:.0f} %" if share > 0.05 else ""))
            at += bar[-1][2]
        rows += [(f"{name}, of all its time", bar)]
        shares = ", ".join(f"{why} {100 * share:.0f} %" for why, share in timing.waits.items())
        sentences.append(f"{name}: {plural(len(timing.spans), 'warp')}, {timing.cycles:,.0f} cycles in all; {shares}")
    ax = spans(rows, WAIT_COLOURS, "What warps wait for, in a model", "cycles (a model's)")
    return describe(ax, *sentences)
