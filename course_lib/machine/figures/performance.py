"""Pictures of time: the order of a warp's statements, residency, occupancy, and the speed of kernels."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from ...simulator.tables import plural
from ...trace.figures.canvas import describe, legend, log2_axis, mixed, name_strips, new_axes
from ...trace.palette import COLOURS, FAINT, GROUND, INK, ISSUING, SKY
from ...trace.reading import ROWS, slacks, uses
from ...trace.trace import Trace

#: What a row does, when that begins, how long it takes, and the text on it.
Span = tuple[str, float, float, str]
_ROW_COLOURS = (FAINT, COLOURS["register"], COLOURS["shared"], SKY)


def timeline(warps: Mapping[str, Mapping[str, Sequence[int]]]) -> Axes:
    """Draw the statements of one warp in order, one strip per entry of ``warps`` (`trace.reading.timeline_rows`).

    An arrow leads from a load to the store that needs its value. The horizontal axis counts statements in program
    order, not time: the simulator has no clock.
    """
    ax = new_axes(9.5, 1.9 * len(warps) + 1.0)
    ticks: dict[float, str] = {}
    for strip, (label, rows) in enumerate(warps.items()):
        base = -(len(ROWS) + 1.6) * strip
        for order, (name, colour) in enumerate(zip(ROWS, _ROW_COLOURS, strict=True)):
            ax.broken_barh(
                [(x, 0.92) for x in rows[name]], (base - order - 0.4, 0.8), color=colour, label=f"{label}: {name}"
            )
            ticks[base - order] = name
        ax.text(0, base + 0.75, label, weight="bold", color=GROUND, va="bottom")
        for load, use in uses(rows).items():
            arrow = {"arrowstyle": "->", "color": GROUND, "lw": 1.8, "shrinkA": 0, "shrinkB": 0}
            ax.annotate("", (use + 0.46, base - 1.6), (load + 0.46, base), arrowprops=arrow)
    name_strips(ax, ticks)
    ax.set_xlim(0, 1 + max(x for rows in warps.values() for row in rows.values() for x in row))
    ax.set_xlabel("statements of one warp, in program order (no clock: a statement is not a time)")
    message = "Prefetching puts the multiplications between a load and its use"
    ax.set_title(message if len(warps) > 1 else "What one warp does, statement by statement", pad=14)
    return describe(
        ax,
        *(
            f"{label}: {', '.join(map(str, slacks(rows)))} multiplications between each load and its use; "
            f"{plural(len(rows['barrier']), 'barrier')}"
            for label, rows in warps.items()
        ),
    )


def race(traces: Mapping[str, Trace], array: str) -> Axes:
    """Draw when the warps of the first block store to a shared array and read it, one strip per entry of ``traces``.

    The last entry is the right kernel; the others lack a barrier. A read that does not get the same number as there,
    because it comes too early or too late, is marked with a cross. The horizontal axis is the order in which the
    simulator executed the statements: one warp after the other, each up to its next barrier. A GPU may choose another.
    """
    *_, right = histories = [_history(trace, array) for trace in traces.values()]
    counts = [len({warp for warp, *_ in history}) for history in histories]
    ax = new_axes(9.5, 1.1 + sum(0.45 * count + 0.6 for count in counts))
    _, load, store, barrier = _ROW_COLOURS  # what is read is multiplied
    colours = {"store": store, "load": load, "barrier": barrier}
    ticks: dict[float, str] = {}
    sentences, base = [], 0.0
    wanted = {warp: [seen for other, what, seen in right if (other, what) == (warp, "load")] for warp, *_ in right}
    for (label, history), count in zip(zip(traces, histories, strict=True), counts, strict=True):
        reads, wrong = dict.fromkeys(range(count), 0), dict.fromkeys(range(count), 0)
        for position, (warp, what, seen) in enumerate(history):
            ax.broken_barh([(position, 0.92)], (base - warp - 0.36, 0.72), color=colours[what])
            if what == "load":
                if seen != wanted[warp][reads[warp]]:
                    wrong[warp] += 1
                    ax.plot(position + 0.46, base - warp, "x", color=INK, ms=7, mew=2)
                reads[warp] += 1
        ax.text(0, base + 0.55, label, weight="bold", color=GROUND, va="bottom")
        ticks |= {base - warp: f"warp {warp}" for warp in range(count)}
        said = ", ".join(f"warp {warp} {wrong[warp]} of {reads[warp]}" for warp in range(count))
        sentences.append(f"{label}: reads of {array} that get a wrong number: {said}")
        base -= count + 1.3
    name_strips(ax, ticks)
    ax.set_xlim(0, max(map(len, histories)))
    ax.set_xticks([])
    ax.set_xlabel("in the order of execution (no clock)")
    ax.set_title(f"Two warps store to {array} and read it")
    cross = Line2D([], [], color=GROUND, marker="x", ls="", ms=7, mew=2, label="reads a wrong number")
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
    """Draw what each row does over time, with a legend: what of ``colours`` it does, from when on, how long, a text."""
    ax = new_axes(9.5, 1.3 + 0.34 * len(rows))
    fills = {what: mixed(colour, 0.6) if colour else "none" for what, colour in colours.items()}
    end = max(first + length for _, found in rows for _, first, length, _ in found)
    for place, (_, found) in enumerate(rows):
        for what, first, length, text in found:
            edge = {"ec": GROUND, "lw": 0.6} if length > end / 100 else {"lw": 0}
            ax.add_patch(Rectangle((first, place - 0.4), length, 0.8, fc=fills[what], **edge))
            middle, ink = (first + length / 2, place), INK if colours[what] else GROUND
            ax.text(*middle, text, ha="center", va="center", color=ink, fontsize=10)
    ax.set(xlim=(0, end), ylim=(len(rows) - 0.4, -0.6), xlabel=unit)
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


def residency(results: Sequence[Mapping[str, Any]], gpu: str) -> Axes:
    """Plot the speed of prefetched relative to tiled, against the number of warps resident on a multiprocessor.

    ``results`` are those of the recording ``waiting``: marks and lines as measured on ``gpu``, dashes as modelled from
    the compiler's own instructions.
    """
    ax = new_axes(8, 3.8)
    tiles = [r for r in results if r["what"] == "residency" and "tile_width" in r["params"]]
    cases = {(r["rung"], r["params"]["tile_width"], r["warps"]): r for r in tiles}
    sentences = []
    for width, colour, mark in ((8, GROUND, "o"), (16, ISSUING, "s"), (32, SKY, "D")):
        warps = sorted(w for rung, T, w in cases if (rung, T) == ("tiled", width))
        ratios = {
            what: [cases["prefetched", width, w][what] / cases["tiled", width, w][what] for w in warps]
            for what in ("measured", "predicted")
        }
        ax.plot(warps, ratios["measured"], f"{mark}-", color=colour, lw=2, label=f"T = {width}, measured")
        ax.plot(warps, ratios["predicted"], "--", color=colour, lw=1.5, label=f"T = {width}, model")
        pairs = (f"{w} → {a:.2f} ({b:.2f})" for w, a, b in zip(warps, *ratios.values(), strict=True))
        sentences.append(f"T = {width}, measured (modelled): {', '.join(pairs)}")
    ax.axhline(1, color=GROUND, lw=1)
    log2_axis(ax.xaxis, (2, 4, 8, 16, 32, 64))
    ax.set(xlabel=f"warps on a multiprocessor of an {gpu}, n = 2048", ylabel="speed of prefetched / tiled")
    ax.set_title("Prefetching pays where few warps share a multiprocessor")
    ax.set_ylim(0)
    ax.legend(loc="lower left", ncols=3, fontsize=11, frameon=False, labelcolor=GROUND)
    return describe(ax, *sentences)


def roofline(rows: Sequence[Mapping[str, Any]], modelled: Mapping[str, float]) -> Axes:
    """Plot the speeds of the ladder's kernels under the two ceilings, measured and modelled.

    ``rows`` are those of `gpu.ceilings.roofline`; ``modelled`` maps a rung to the GFLOP/s by the model of waiting.
    """
    ax = new_axes(9, 5.2)
    roof = sorted((row["flop_per_byte"], row["attainable_gflops"]) for row in rows)
    end = 9 * roof[-1][0]  # space for names beyond the last kernel
    (line,) = ax.plot(*zip(*roof, (end, roof[-1][1]), strict=True), color=FAINT, lw=3, zorder=1)
    sentences: list[str] = []
    labels: list[tuple[float, float, str]] = []
    for row in sorted(rows, key=lambda row: -row["measured_gflops"]):
        x, y, name = row["flop_per_byte"], row["measured_gflops"], row["rung"]
        ax.plot(x, y, "o", color=GROUND, ms=6, label="" if sentences else "measured")
        if labels and labels[-1][0] == x and y > labels[-1][1] / 1.15:  # one label for those close together
            labels[-1] = x, labels[-1][1], f"{labels[-1][2]}, {name}"
        else:
            labels.append((x, y, name))
        text = f"{name}: {y:,.0f} of {row['attainable_gflops']:,.0f} GFLOP/s"
        if name in modelled:
            ax.plot(x, modelled[name], "x", color=SKY, ms=8, mew=2, label="" if sentences else "model of waiting")
            text += f", {modelled[name]:,.0f} in the model"
        sentences.insert(0, text)
    ax.set(xscale="log", yscale="log", xlabel="flop per byte requested from global memory", ylabel="GFLOP/s")
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter("{x:,g}")
    ax.set_xlim(roof[0][0] / 1.6, end)
    ax.set_title("The ladder under its roof")
    line.set_label("roof: DRAM (the slope), multiply-adds (flat)")
    ax.legend(loc="lower right", fontsize=11, frameon=False, labelcolor=GROUND)
    describe(ax, *sentences)
    _name_points(ax, labels, line)
    return ax


def _name_points(ax: Axes, labels: Sequence[tuple[float, float, str]], line: Line2D) -> None:
    """Write each name where it covers no mark, no line and no other name.

    It is right or left of its point, if necessary lower, with a thin line from the point to it.
    """
    ax.figure.draw_without_rendering()  # type: ignore[union-attr]  # for the places of things in pixels
    taken = [each.get_window_extent().padded(3) for each in ax.lines if each is not line]
    road = line.get_transform().transform_path(line.get_path()).interpolated(200).vertices
    places = [
        (way * (9 + down / 3), -down, side) for down in range(0, 90, 3) for way, side in ((1, "left"), (-1, "right"))
    ]
    for x, y, name in labels:
        text = None
        for across, up, side in places:
            if text:
                text.remove()  # from the place before
            where: dict[str, Any] = {"ha": side, "va": "center", "in_layout": False, "textcoords": "offset points"}
            text = ax.annotate(name, (x, y), (across, up), fontsize=10, color=GROUND, **where)
            box = text.get_window_extent()
            free = not box.count_contains(road) and not any(box.overlaps(other) for other in taken)
            if free and ax.bbox.x0 < box.x0:
                break
        taken.append(box)
        if up:
            leader = {"arrowstyle": "-", "color": FAINT, "lw": 0.8, "shrinkA": 0, "shrinkB": 3}
            ax.annotate("", (x, y), (across - 1, up), textcoords="offset points", arrowprops=leader, in_layout=False)
