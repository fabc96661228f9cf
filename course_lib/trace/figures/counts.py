"""Plots of counts: loads against matrix sizes, and comparisons of kernels."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import NullLocator

from ..look import COLOURS, FAINT, GROUND, INK, ISSUING, KERNELS, SKY, STYLES, WASH
from .canvas import Picture, describe, log2_axis, new_axes

#: Lines of many kernels: Okabe and Ito's colours, without those that mean an array in the same picture.
_OF_MANY = (GROUND, SKY, *(COLOURS[name] for name in ("shared", "register", "C", "B", "A")), ISSUING)


def loads_against_n(
    counted: Mapping[str, Mapping[int, int]],
    closed_forms: Mapping[str, Callable[[int], float]],
    up_to: int = 4096,
    ax: Axes | None = None,
) -> Axes:
    """Plot the global loads of a whole launch against n, both axes logarithmic, for square matrices of n × n.

    ``counted`` maps a kernel's label to {n: loads}, drawn as dots; ``closed_forms`` maps a label to a formula in n,
    drawn as a line from the smallest counted n to ``up_to``.
    """
    ax = ax or new_axes(7.4, 4.3)
    smallest = min(n for counts in counted.values() for n in counts)
    sizes = 2 ** np.arange(np.log2(smallest), np.log2(up_to) + 1e-9)
    for label, formula in closed_forms.items():
        ax.plot(sizes, [formula(int(n)) for n in sizes], color=_series_colour(label), lw=2.5, zorder=2)
        _label_line_end(ax, label)
    for label, counts in counted.items():
        ax.plot(
            list(counts),
            list(counts.values()),
            "o",
            color=_series_colour(label),
            ms=8,
            mec="none",
            label=label,
            zorder=3,
        )
    log2_axis(ax.xaxis, sizes)
    ax.set_yscale("log")
    ax.yaxis.set_minor_locator(NullLocator())
    ax.set_xlabel("n (rows and columns of A, B and C)")
    ax.set_ylabel("global loads (elements, whole launch)")
    tiled = any(not label.startswith("naive") for label in closed_forms)
    ax.set_title("Global loads grow as n³" + ("; a tile divides them by its width" if tiled else ""))
    _dots_and_lines_note(ax, "right")
    return describe(ax, *(f"{label}, counted: {_pairs(counts)}" for label, counts in counted.items()))


def loads_against_tile_width(
    counted: Mapping[int, float],
    n: int,
    closed_form: Callable[[int], float],
    untiled: float,
    ax: Axes | None = None,
) -> Axes:
    """Plot the global loads per element of C against the tile width T, for square matrices of n × n.

    ``counted`` maps a tile width to loads per element of C (dots); ``closed_form`` is the formula for any width (line);
    ``untiled`` is the naive kernel's count, a horizontal line.
    """
    ax = ax or new_axes(7.4, 4.3)
    widths = 2 ** np.arange(0, np.log2(max(counted)) + 1e-9)
    ax.axhline(untiled, color=GROUND, lw=2.5, label="naive")
    ax.annotate(
        f"naive: {untiled:,.0f}", (widths[-1], untiled), (0, 7), textcoords="offset points", ha="right", color=GROUND
    )
    ax.plot(widths, [closed_form(int(w)) for w in widths], color=COLOURS["shared"], lw=2.5, zorder=2)
    ax.plot(
        list(counted), list(counted.values()), "o", color=COLOURS["shared"], ms=9, mec="none", zorder=3, label="tiled"
    )
    for width, loads in counted.items():
        ax.annotate(f"{loads:,.0f}", (width, loads), (7, 5), textcoords="offset points", color=GROUND)
    log2_axis(ax.xaxis, widths)
    log2_axis(ax.yaxis, 2 ** np.arange(np.floor(np.log2(min(counted.values()))), np.log2(untiled) + 1.01))
    ax.set_xlabel("tile width T (elements)")
    ax.set_ylabel("global loads per element of C")
    ax.set_title(f"Twice the tile width, half the loads (n = {n})")
    _dots_and_lines_note(ax, "left")
    return describe(ax, f"naive: {untiled:,.0f} for every tile width", f"tiled, counted: {_pairs(counted)}")


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


def bars(values: Mapping[str, float], title: str, unit: str, colours: Mapping[str, str] | None = None) -> Axes:
    """Draw a horizontal bar for each entry of ``values``, labelled with its number; ``unit`` labels the axis.

    ``colours`` maps a label to its colour; the others are grey. There are no error bars: a measured value is a median.
    """
    ax = new_axes(9, (0.55 if len(values) <= 10 else 0.22) * len(values) + 1.2)
    places = range(len(values) - 1, -1, -1)
    ax.barh(list(places), list(values.values()), 0.62, color=[(colours or {}).get(name, FAINT) for name in values])
    for place, value in zip(places, values.values(), strict=True):
        ax.annotate(
            _value(value),
            (value, place),
            (5, 0),
            textcoords="offset points",
            va="center",
            color=GROUND,
            fontsize=11,
        )
    ax.set_yticks(list(places), labels=list(values))
    ax.set_xlim(0, 1.12 * max(values.values()))
    ax.xaxis.set_major_formatter("{x:,g}")
    ax.set_xlabel(unit)
    ax.set_title(title)
    return describe(ax, "; ".join(f"{name}: {_value(value)}" for name, value in values.items()) + f" ({unit})")


def against_bounds(kernels: Mapping[str, tuple[float, float]], title: str, unit: str, bound: str) -> Axes:
    """Draw a bar with the measured speed of each kernel, and a line across it at its bound.

    ``kernels`` maps a label to (bound, measured), both in ``unit``; ``bound`` says in words what the lines are.
    """
    ax = bars({name: measured for name, (_, measured) in kernels.items()}, title, f"{unit}; line: {bound}")
    said = None
    for place, (limit, measured) in zip(range(len(kernels) - 1, -1, -1), kernels.values(), strict=True):
        ax.plot([limit, limit], [place - 0.42, place + 0.42], color=ISSUING, lw=3)
        if limit != said:  # equal bounds share a number
            said = limit
            ink = INK if limit < measured else GROUND  # on the bar, or beside it
            ax.annotate(
                _value(limit), (limit, place), (5, 0), textcoords="offset points", va="center", color=ink, size=11
            )
    ax.set_xlim(0, 1.12 * max(max(pair) for pair in kernels.values()))
    pairs = (
        f"{name}: measured {_value(measured)}, bound {_value(limit)}" for name, (limit, measured) in kernels.items()
    )
    return describe(ax, *pairs, f"All numbers are in {unit}; the bound is {bound}")


def lines_against_n(series: Mapping[str, Mapping[int, float]], title: str, unit: str) -> Axes:
    """Draw a line for each entry of ``series``, {label: {n: value}}, both axes logarithmic; ``unit`` labels the values.

    Labels that are kernels of `look.KERNELS` have their colours. Where nothing was measured there is no point. Lines
    that end close to each other share a label.
    """
    ax = new_axes(9, 5)
    ends: list[tuple[int, float, list[str]]] = []
    for label, values in series.items():
        if not values:
            continue
        style = STYLES.get(label, "-")
        ax.plot(list(values), list(values.values()), style, marker="o", ms=5, lw=2, color=KERNELS.get(label, GROUND))
        n, value = max(values.items())
        near = [names for end, height, names in ends if end == n and 0.8 < height / value < 1.25]
        if near:
            near[0].append(label)
        else:
            ends.append((n, value, [label]))
    for n, value, names in ends:
        ax.annotate(
            ", ".join(names), (n, value), (7, 0), textcoords="offset points", va="center", color=GROUND, fontsize=12
        )
    log2_axis(ax.xaxis, sorted({n for values in series.values() for n in values}))
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    ax.grid(axis="y", color=WASH, lw=1)
    ax.set_xlabel("n, for the product of two n × n matrices")
    ax.set_ylabel(unit)
    ax.set_title(title)
    return describe(ax, *(f"{label}: {_pairs_of(values)}" for label, values in series.items()))


def _series_colour(label: str) -> str:
    """Return the colour of text for a kernel that uses only global memory, the colour of shared memory for others."""
    return KERNELS["naive" if label.startswith("naive") else "tiled"]


def _label_line_end(ax: Axes, label: str) -> None:
    x, y = map(np.asarray, ax.lines[-1].get_data())
    ax.annotate(
        label,
        (x[-1], y[-1]),
        (7, 0),
        textcoords="offset points",
        va="center",
        color=GROUND,
        fontsize=12,
        annotation_clip=False,
    )


def _dots_and_lines_note(ax: Axes, side: str) -> None:
    note = "dots: counted by the simulator\nlines: formula"
    ax.text(
        0.02 if side == "left" else 0.98,
        0.03,
        note,
        transform=ax.transAxes,
        fontsize=11,
        color=GROUND,
        va="bottom",
        ha=side,
    )


def _value(value: float) -> str:
    """Return a number as text: four digits of a small one, all digits of a large one."""
    return f"{value:,.4g}" if value < 1000 else f"{value:,.0f}"


def _pairs_of(values: Mapping[int, float]) -> str:
    return ", ".join(f"{n} → {_value(value)}" for n, value in values.items())


def _pairs(counts: Mapping[int, float]) -> str:
    return ", ".join(f"{x:g} → {y:,.0f}" for x, y in counts.items())
