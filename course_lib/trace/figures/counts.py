"""Plots of counts and speeds: against matrix sizes, and comparisons of kernels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import NullLocator

from ..palette import COLOURS, FAINT, GROUND, ISSUING, KERNELS, SKY, STYLES, WASH
from .canvas import TEXT_SIZE, TITLE_SIZE, Picture, describe, legend, log2_axis, name_ends, new_axes

_TEXT: dict[str, Any] = {"color": GROUND, "fontsize": TEXT_SIZE}
#: Lines of many kernels: Okabe and Ito's colours, without those that mean an array in the same picture.
_LINE_COLOURS = (GROUND, SKY, *(COLOURS[name] for name in ("shared", "register", "C", "B", "A")), ISSUING)
#: Their markers; and dashes, in points, of a line that several kernels share.
_MARKERS, _DASHES = "os^Dv", (0, (4, 1))
#: In inches, the width of a plot, and the height of what is around its rows: title, axis and margins.
_WIDTH, _AROUND = 9, 1.2
#: In inches, the heights of a row of bars: few of them, and many; and of a row of two bars.
_ROW, _LOW_ROW, _ROW_OF_TWO = 0.55, 0.22, 0.62
#: The most bars that are few.
_FEW = 10
#: In parts of a row: the thickness of a bar, and of each of two; from the middle of a row to the middle of those; from
#: the middle to both ends of the line of a rival. That line is so many points wide:
_BAR, _HALF_BAR, _FROM_MIDDLE, _RIVAL_REACH = 0.62, 0.36, 0.19, 0.5
_RIVAL_LINE = 3
#: Lengths of an axis as multiples of the longest bar: with its number, and with more text after that.
_WITH_NUMBER, _WITH_MORE = 1.12, 1.25
#: `scatter`: the same of its axis, with the names of dots.
_WITH_NAMES = 1.2


@dataclass(frozen=True)
class _Column:
    """A column of `explored`: the counts by x, the x that is chosen, and the label of the axis."""

    counts: Mapping[int, Mapping[str, tuple[int, int]]]
    chosen: int
    label: str


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
    rows = ("global loads", "sectors of them") if sectors else ("global loads",)
    figure = Figure(figsize=(10, _AROUND + 2.6 * len(rows)), facecolor="none", layout="constrained")
    axes = figure.subplots(len(rows), 2, sharey="row", squeeze=False, subplot_kw={"facecolor": "none"})
    columns = (
        _Column(by_n, n, f"n (T = {tile_width})"),
        _Column(by_width, tile_width, f"tile width T (n = {n})"),
    )
    groups = _with_equal_counts(columns)
    for row, what in enumerate(rows):
        for ax, column in zip(axes[row], columns, strict=True):
            _draw_lines(ax, column, row, groups)
            ax.set_xlabel(column.label if what == rows[-1] else "")
            ax.set_ylabel(what if column is columns[0] else "")
            describe(ax)
    lines = axes[0, 0].get_legend_handles_labels()
    figure.legend(*lines, loc="outside lower center", frameon=False, labelcolor=GROUND, fontsize=TEXT_SIZE)
    title = "Loads from global memory in a whole launch, by kernel"
    figure.suptitle(title, size=TITLE_SIZE, weight="bold", color=GROUND)
    axes[0, 0].set_label(_counts_in_words(by_n.get(n, {}), n, tile_width, sectors))
    return Picture(axes[0, 0])


def _with_equal_counts(columns: Sequence[_Column]) -> list[list[str]]:
    """Return the kernels in groups: those of a group have the same counts in all columns, and share a line."""
    names = dict.fromkeys(name for column in columns for counts in column.counts.values() for name in counts)
    groups: dict[tuple[object, ...], list[str]] = {}
    for kernel in names:
        counted = tuple((x, counts.get(kernel)) for column in columns for x, counts in column.counts.items())
        groups.setdefault(counted, []).append(kernel)
    return list(groups.values())


def _draw_lines(ax: Axes, column: _Column, row: int, groups: Sequence[Sequence[str]]) -> None:
    """Draw the loads (row 0) or the sectors (row 1) of each group of kernels, and mark the x that is chosen."""
    for number, kernels in enumerate(groups):
        points = {x: counts[kernels[0]][row] for x, counts in column.counts.items() if kernels[0] in counts}
        ax.plot(
            list(points),
            list(points.values()),
            color=_LINE_COLOURS[number % len(_LINE_COLOURS)],
            linestyle="-" if len(kernels) == 1 else _DASHES,
            marker=_MARKERS[number % len(_MARKERS)],
            markeredgecolor="none",
            label="; ".join(kernels),
            linewidth=2,
            markersize=7,
        )
    ax.axvline(column.chosen, color=WASH, linewidth=8, zorder=0)
    log2_axis(ax.xaxis, list(column.counts))
    ax.set_yscale("log")
    ax.yaxis.set_minor_locator(NullLocator())
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


def _counts_in_words(counts: Mapping[str, tuple[int, int]], n: int, tile_width: int, sectors: bool) -> str:
    """Return the text of `explored`: the counts of each kernel at the n and the tile width that are chosen."""
    nouns = ("loads", "sectors") if sectors else ("loads",)
    lines = [f"Figure: {' and '.join(nouns)} at n = {n}, T = {tile_width}."]
    for kernel, numbers in counts.items():
        said = (f"{number:,} {noun}" for number, noun in zip(numbers, nouns, strict=False))
        lines.append(f"  {kernel}: {', '.join(said)}.")
    return "\n".join(lines)


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
    ax = new_axes(_WIDTH, (_ROW if len(values) <= _FEW else _LOW_ROW) * len(values) + _AROUND)
    places = range(len(values) - 1, -1, -1)
    ax.barh(list(places), list(values.values()), _BAR, color=[(colours or {}).get(name, FAINT) for name in values])
    meaning, lines = rivals
    top = (_WITH_MORE if lines else _WITH_NUMBER) * max([*values.values(), *lines.values()])
    for place, (name, value) in zip(places, values.items(), strict=True):
        rival = lines.get(name, 0)
        said = f"{_value(value)}  ({100 * value / rival:.0f} %)" if rival else _value(value)
        end = (max(value, rival), place)  # right of the line, which would cross the text
        ax.annotate(said, end, (5, 0), textcoords="offset points", va="center", **_TEXT)
        if rival:
            ax.plot([rival, rival], [place - _RIVAL_REACH, place + _RIVAL_REACH], color=GROUND, lw=_RIVAL_LINE)
    ax.set_title(title)
    if lines:
        legend(ax, {}, Line2D([], [], color=GROUND, lw=_RIVAL_LINE, label=f"{meaning} = 100 %"))
    ax.set_yticks(list(places), labels=list(values))
    ax.set_xlim(0, top)
    ax.xaxis.set_major_formatter("{x:,g}")
    ax.set_xlabel(unit)
    of_rivals = {name: f" of {_value(rival)}" for name, rival in lines.items()}
    said = "; ".join(f"{name}: {_value(value)}{of_rivals.get(name, '')}" for name, value in values.items())
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
    ax = new_axes(_WIDTH, _ROW_OF_TWO * len(values) + _AROUND)
    for which, colour in enumerate(colours.values()):
        lengths = [pair[which] for pair in values.values()]
        places = [_FROM_MIDDLE - 2 * _FROM_MIDDLE * which - row for row in range(len(values))]
        times = [f"  (× {b / a:.3g})" if which else "" for a, b in values.values()]
        bars = ax.barh(places, lengths, _HALF_BAR, color=colour)
        said = [f"{length:,.0f}{more}" for length, more in zip(lengths, times, strict=True)]
        ax.bar_label(bars, said, padding=4, **_TEXT)
    ax.set_yticks([-row for row in range(len(values))], labels=list(values))
    ax.set_xlim(0, _WITH_MORE * max(map(max, values.values())))
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
    ax = new_axes(_WIDTH, 4.6)
    largest = max(x for x, _ in points.values())
    ax.plot(*zip(*points.values(), strict=True), "o", color=SKY, ms=8)
    ax.set(xlim=(0, _WITH_NAMES * largest), ylim=(0, None), xlabel=units[0], ylabel=units[1])
    ax.yaxis.set_major_formatter("{x:,g}")
    ax.set_title(title)
    name_ends(ax, [(x, y, name) for name, (x, y) in points.items()])
    ax.set_xticks([x for x in ax.get_xticks() if x <= largest])
    return describe(ax, *(f"{name}: {_value(x)} {units[0]}, {_value(y)} {units[1]}" for name, (x, y) in points.items()))


def lines_against_n(series: Mapping[str, Mapping[int, float]], title: str, unit: str, log: bool = True) -> Axes:
    """Draw a line for each entry of ``series``, {label: {n: value}}, with a logarithmic n; ``unit`` labels the values.

    ``log``: whether the values are on a logarithmic axis, too, or on one from 0 on.

    Labels that are kernels of `palette.KERNELS` have their colours. Where nothing was measured there is no point.

    >>> figures.show(figures.lines_against_n({"naive": {8: 1.0, 16: 2.0}}, "Loads", "loads"))
    Figure: Loads.
      naive: 8 → 1, 16 → 2.
    """
    ax = new_axes(_WIDTH, 5)
    series = {label: values for label, values in series.items() if values}
    for label, values in series.items():
        style = STYLES.get(label, "-")
        ax.plot(list(values), list(values.values()), style, marker="o", ms=5, lw=2, color=KERNELS.get(label, GROUND))
    log2_axis(ax.xaxis, sorted({n for values in series.values() for n in values}))
    if log:
        ax.set(yscale="log")
    else:
        ax.set_ylim(-0.03 * ax.get_ylim()[1])  # so that a point at 0 is whole
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
