"""Plots of counts and speeds: against matrix sizes, and comparisons of kernels."""

from collections.abc import Mapping
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from ..palette import COLOURS, FAINT, GROUND, ISSUING, KERNELS, SKY, STYLES, WASH
from .canvas import Picture, describe, legend, log2_axis, name_ends, new_axes

_TEXT: dict[str, Any] = {"color": GROUND, "fontsize": 11}
#: Lines of many kernels: Okabe and Ito's colours, without those that mean an array in the same picture.
_OF_MANY = (GROUND, SKY, *(COLOURS[name] for name in ("shared", "register", "C", "B", "A")), ISSUING)


def explored(
    by_n: Mapping[int, Mapping[str, tuple[int, int]]],
    by_width: Mapping[int, Mapping[str, tuple[int, int]]],
    n: int,
    tile_width: int,
    sectors: bool = True,
) -> Picture:
    """Plot the global loads (above) of whole launches of several kernels, and their sectors (below): against n and T.

    ``by_n`` maps n to {kernel: (loads, sectors)} at ``tile_width``, ``by_width`` a tile width to the same at ``n``.
    With ``sectors`` false only loads are drawn. Kernels with equal counts share a dashed line; axes are logarithmic.

    >>> by_n = {8: {"naive": (1024, 160)}, 16: {"naive": (8192, 1100)}}
    >>> figures.explored(by_n, {4: {"naive": (1024, 160)}}, 8, 4)
    Figure: loads and sectors at n = 8, T = 4.
      naive: 1,024 loads, 160 sectors.
    """
    rows = ("global loads", "sectors of them")[: 1 + sectors]
    figure = Figure(figsize=(10, 1.2 + 2.6 * len(rows)), facecolor="none", layout="constrained")
    axes = figure.subplots(len(rows), 2, sharey="row", squeeze=False, subplot_kw={"facecolor": "none"})
    columns = ((by_n, n, f"n (T = {tile_width})"), (by_width, tile_width, f"tile width T (n = {n})"))
    alike: dict[tuple[object, ...], list[str]] = {}
    for kernel in dict.fromkeys(name for counts in (*by_n.values(), *by_width.values()) for name in counts):
        asks = tuple((x, found.get(kernel)) for counts, *_ in columns for x, found in counts.items())
        alike.setdefault(asks, []).append(kernel)
    for row, what in enumerate(rows):
        for column, (counts, chosen, label) in enumerate(columns):
            ax = axes[row, column]
            for place, kernels in enumerate(alike.values()):
                points = {x: found[kernels[0]][row] for x, found in counts.items() if kernels[0] in found}
                style = {"ls": "-" if len(kernels) == 1 else (0, (4, 1)), "marker": "os^Dv"[place % 5], "mec": "none"}
                colour = _OF_MANY[place % len(_OF_MANY)]
                ax.plot(
                    list(points), list(points.values()), color=colour, label="; ".join(kernels), lw=2, ms=7, **style
                )
            ax.axvline(chosen, color=WASH, lw=8, zorder=0)
            log2_axis(ax.xaxis, list(counts))
            ax.set_yscale("log")
            ax.yaxis.set_minor_locator(NullLocator())
            ax.set_xlabel(label if what == rows[-1] else "")
            ax.set_ylabel("" if column else what)
            for side in ("top", "right"):
                ax.spines[side].set_visible(False)
            describe(ax)
    shown = axes[0, 0].get_legend_handles_labels()
    figure.legend(*shown, loc="outside lower center", fontsize=11, frameon=False, labelcolor=GROUND)
    figure.suptitle("Loads from global memory in a whole launch, by kernel", size=14, weight="bold", color=GROUND)
    here = by_n.get(n, {})
    words = ("loads", "sectors")[: len(rows)]
    lines = [
        f"  {kernel}: {', '.join(f'{count:,} {word}' for count, word in zip(asked, words, strict=False))}."
        for kernel, asked in here.items()
    ]
    axes[0, 0].set_label("\n".join([f"Figure: {' and '.join(words)} at n = {n}, T = {tile_width}.", *lines]))
    return Picture(axes[0, 0])


def bars(
    values: Mapping[str, float],
    title: str,
    unit: str,
    colours: Mapping[str, str] | None = None,
    rivals: tuple[str, Mapping[str, float]] = ("", {}),
) -> Axes:
    """Draw a horizontal bar for each entry of ``values``, labelled with its number; ``unit`` labels the axis.

    ``colours`` maps a label to its colour; the others are grey. There are no error bars: a measured value is a median.
    ``rivals``: what the lines across bars mean, and where each is, by the bar's label. Such a bar's share is written,
    too.

    >>> figures.show(figures.bars({"naive": 2.0, "tiled": 4.0}, "Speed", "TFLOP/s"))
    Figure: Speed.
      naive: 2; tiled: 4 (TFLOP/s).
    """
    ax = new_axes(9, (0.55 if len(values) <= 10 else 0.22) * len(values) + 1.2)
    places = range(len(values) - 1, -1, -1)
    ax.barh(list(places), list(values.values()), 0.62, color=[(colours or {}).get(name, FAINT) for name in values])
    meaning, lines = rivals
    top = (1.25 if lines else 1.12) * max([*values.values(), *lines.values()])
    for place, (name, value) in zip(places, values.items(), strict=True):
        where = lines.get(name, 0)
        said = f"{_value(value)}  ({100 * value / where:.0f} %)" if where else _value(value)
        end = (max(value, where), place)  # right of the line, which would cross the text
        ax.annotate(said, end, (5, 0), textcoords="offset points", va="center", **_TEXT)
        if where:
            ax.plot([where, where], [place - 0.5, place + 0.5], color=GROUND, lw=3)
    ax.set_title(title)
    if lines:
        legend(ax, {}, Line2D([], [], color=GROUND, lw=3, label=f"{meaning} = 100 %"))
    ax.set_yticks(list(places), labels=list(values))
    ax.set_xlim(0, top)
    ax.xaxis.set_major_formatter("{x:,g}")
    ax.set_xlabel(unit)
    library = {name: f" of {_value(where)}" for name, where in lines.items()}
    said = "; ".join(f"{name}: {_value(value)}{library.get(name, '')}" for name, value in values.items())
    return describe(ax, f"{said} ({unit})")


def pairs(
    values: Mapping[str, tuple[float, float]], names: tuple[str, str] | Mapping[str, str], title: str, unit: str
) -> Axes:
    """Draw two bars for each entry of ``values``; after the second is how many times the first one it is.

    ``names`` are two kernels with a colour in `palette.KERNELS`, or maps what the two bars are to their colours.

    >>> figures.show(figures.pairs({"n = 64": (2.0, 3.0)}, ("naive", "tiled"), "Speed", "TFLOP/s"))
    Figure: Speed.
      n = 64: 2 and 3, × 1.5.
    """
    colours = dict(names) if isinstance(names, Mapping) else {name: KERNELS[name] for name in names}
    ax = new_axes(9, 0.62 * len(values) + 1.2)
    for which, colour in enumerate(colours.values()):
        lengths = [pair[which] for pair in values.values()]
        places = [0.19 - 0.38 * which - row for row in range(len(values))]
        times = [f"  (× {b / a:.3g})" if which else "" for a, b in values.values()]
        bars = ax.barh(places, lengths, 0.36, color=colour)
        said = [f"{length:,.0f}{more}" for length, more in zip(lengths, times, strict=True)]
        ax.bar_label(bars, said, padding=4, color=GROUND, fontsize=11)
    ax.set_yticks([-row for row in range(len(values))], labels=list(values))
    ax.set_xlim(0, 1.25 * max(map(max, values.values())))
    ax.xaxis.set_major_formatter("{x:,g}")
    ax.set_xlabel(unit)
    ax.set_title(title)
    legend(ax, colours)
    return describe(ax, *(f"{label}: {a:,.0f} and {b:,.0f}, × {b / a:.3g}" for label, (a, b) in values.items()))


def scatter(points: Mapping[str, tuple[float, float]], title: str, units: tuple[str, str]) -> Axes:
    """Draw a named dot for each entry of ``points``, {name: (x, y)}, on axes from 0 on; ``units`` label the axes.

    >>> figures.show(figures.scatter({"naive": (1.0, 2.0)}, "Speed by occupancy", ("warps", "TFLOP/s")))
    Figure: Speed by occupancy.
      naive: 1 warps, 2 TFLOP/s.
    """
    ax = new_axes(9, 4.6)
    ax.plot(*zip(*points.values(), strict=True), "o", color=SKY, ms=8)
    ax.set(xlim=(0, 1.2 * max(x for x, _ in points.values())), ylim=(0, None), xlabel=units[0], ylabel=units[1])
    ax.yaxis.set_major_formatter("{x:,g}")
    ax.set_title(title)
    name_ends(ax, [(x, y, name) for name, (x, y) in points.items()])
    ax.set_xticks([at for at in ax.get_xticks() if at <= max(x for x, _ in points.values())])
    return describe(ax, *(f"{name}: {_value(x)} {units[0]}, {_value(y)} {units[1]}" for name, (x, y) in points.items()))


def lines_against_n(series: Mapping[str, Mapping[int, float]], title: str, unit: str, log: bool = True) -> Axes:
    """Draw a line for each entry of ``series``, {label: {n: value}}, with a logarithmic n; ``unit`` labels the values.

    ``log``: whether the values are on a logarithmic axis, too, or on one from 0 on.

    Labels that are kernels of `palette.KERNELS` have their colours. Where nothing was measured there is no point.

    >>> figures.show(figures.lines_against_n({"naive": {8: 1.0, 16: 2.0}}, "Loads", "loads"))
    Figure: Loads.
      naive: 8 → 1, 16 → 2.
    """
    ax = new_axes(9, 5)
    series = {label: values for label, values in series.items() if values}
    for label, values in series.items():
        style = STYLES.get(label, "-")
        ax.plot(list(values), list(values.values()), style, marker="o", ms=5, lw=2, color=KERNELS.get(label, GROUND))
    log2_axis(ax.xaxis, sorted({n for values in series.values() for n in values}))
    ax.set(yscale="log") if log else ax.set_ylim(-0.03 * ax.get_ylim()[1])
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,.0f}" if value >= 1 else f"{value:g}")
    ax.grid(axis="y", color=WASH, lw=1)
    ax.set_xlabel("n, for the product of two n × n matrices")
    ax.set_ylabel(unit)
    ax.set_title(title)
    name_ends(ax, [(*max(values.items()), label) for label, values in series.items()])
    texts = {label: ", ".join(f"{n} → {_value(v)}" for n, v in values.items()) for label, values in series.items()}
    return describe(ax, *(f"{label}: {text}" for label, text in texts.items()))


def _value(value: float) -> str:
    """Return a number as text: four digits of a small one, all digits of a large one."""
    return f"{value:,.4g}" if value < 1000 else f"{value:,.0f}"
