"""The README's table and the pictures of the ladder, made from the recordings."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from math import log10
from pathlib import Path
from statistics import median
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.transforms import blended_transform_factory

from course_lib.look import GROUND, KERNELS, STYLES, WASH

from . import Recording, load

ROOT = Path(__file__).parents[2]
BEGIN = "<!-- measured: written by python -m course_lib.measurements -->"
END = "<!-- end of measured -->"


def measured(recording: Recording) -> list[dict[str, Any]]:
    """Return the results that have a speed, slowest rung of the ladder first as the ladder has them."""
    return [result for result in recording.results if "gflops" in result]


def table(recording: Recording, counters: Recording) -> str:
    """Return the ladder as a Markdown table, with the sentence that says where it was measured."""
    best = recording.result("cublas")["gflops"]
    gpu = recording.provenance
    n = recording.result("cublas")["M"]
    lines = [
        f"Measured on an {gpu['gpu']} (driver {gpu['driver']}, numba-cuda {gpu['numba-cuda']}, {gpu['date'][:10]}),",
        f"float32, n = {n}: median of up to 20 launches, each kernel first verified against float64.",
        "Occupancy is the share of a multiprocessor's threads that such blocks fill; what a kernel read from DRAM,",
        f"beyond both caches, is Nsight Compute's count. A and B together are {2 * 4 * n * n / 1e9:.2f} GB.",
        "",
        "| kernel | block | registers | occupancy | GB from DRAM | GFLOP/s | of cuBLAS |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    reads = {r["rung"]: r["dram_read_bytes"] for r in counters.results if r["M"] == n and "skipped" not in r}
    for result in measured(recording):
        block = "×".join(str(size) for size in result.get("block", ()))
        name = result["title"] if result["rung"] == "cublas" else f"`{result['rung']}` {result['title']}"
        speed, share = f"{result['gflops']:,.0f}", f"{result['gflops'] / best:.1%}"
        occupancy = f"{result['occupancy_percent']:.3g}%" if "occupancy_percent" in result else ""
        dram = f"{reads[result['rung']] / 1e9:.2f}" if result["rung"] in reads else ""
        lines.append(f"| {name} | {block} | {result.get('registers', '')} | {occupancy} | {dram} | {speed} | {share} |")
    return "\n".join(lines)


def section(recording: Recording, counters: Recording) -> str:
    """Return what stands between the two marks in the README."""
    picture = "![Time to multiply two n×n matrices against n: host, naive, tiled, best and cuBLAS](docs/series.svg)"
    bars = "![GFLOP/s of every kernel of the ladder, and of cuBLAS](docs/ladder.svg)"
    return f"{BEGIN}\n{table(recording, counters)}\n\n{bars}\n\n{picture}\n{END}"


def with_section(readme: str, recording: Recording, counters: Recording) -> str:
    """Return the README's text with its measured section renewed; ValueError if the marks are missing."""
    if BEGIN not in readme or END not in readme:
        raise ValueError("the README has lost the marks of its measured section")
    before, rest = readme.split(BEGIN)
    return before + section(recording, counters) + rest.split(END)[1]


def _card(width: float, height: float, **margins: float) -> Axes:
    """Axes of ``width`` × ``height`` inches on the page's own ground, light or dark; margins are shares of those."""
    figure = Figure(figsize=(width, height), facecolor="none")
    figure.subplots_adjust(**margins)
    axes = figure.add_subplot(facecolor="none")
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.spines[:].set_color(GROUND)
    axes.tick_params(colors=GROUND)
    return axes


def _svg(axes: Axes) -> str:
    """The picture as SVG, the same bytes each time: no date, no random names, and text as text."""
    drawn = io.StringIO()
    with rc_context({"svg.hashsalt": "tile by tile", "svg.fonttype": "none", "font.family": "sans-serif"}):
        assert isinstance(axes.figure, Figure)
        axes.figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
    return "\n".join(line.rstrip() for line in drawn.getvalue().splitlines()) + "\n"


def ladder_axes(recording: Recording) -> Axes:
    """The ladder as a bar chart: GFLOP/s of every kernel on one size, the first rung on top."""
    results = measured(recording)
    cublas = recording.result("cublas")
    names = ["cuBLAS" if result["rung"] == "cublas" else result["rung"] for result in results]
    speeds = [result["gflops"] for result in results]
    colours = [KERNELS["cublas" if result["rung"] == "cublas" else "best"] for result in results]
    axes = _card(8, 0.6 + 0.3 * len(results), left=0.19, right=0.97, top=0.94, bottom=0.02)
    bars = axes.barh(names, speeds, color=colours, height=0.75)
    axes.bar_label(
        bars, [f"{speed:,.0f} ({speed / cublas['gflops']:.1%})" for speed in speeds], padding=4, color=GROUND
    )
    axes.invert_yaxis()
    axes.set_xlim(0, 1.25 * max(speeds))
    axes.spines["bottom"].set_visible(False)
    axes.tick_params(left=False, bottom=False, labelbottom=False, labelcolor=GROUND)
    axes.set_title(
        f"GFLOP/s (and share of cuBLAS) on an {recording.provenance['gpu']}, float32, n = {cublas['M']}",
        loc="left",
        fontsize=11,
        color=GROUND,
    )
    return axes


def series_axes(recording: Recording) -> Axes:
    """The five series, time against n, both axes logarithmic; where nothing was measured there is no line."""
    points: dict[str, list[tuple[int, float]]] = {}
    for result in measured(recording):
        points.setdefault(result["rung"], []).append((result["M"], median(result["milliseconds"])))
    axes = _card(7.5, 5, left=0.12, right=0.88, top=0.93, bottom=0.11)
    for name, line in points.items():
        style = STYLES.get(name, "-")
        axes.plot(*zip(*line, strict=True), style, marker="o", markersize=4, lw=2, color=KERNELS[name], label=name)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log")
    sizes = sorted({n for line in points.values() for n, _ in line})
    axes.set_xticks(sizes, [str(n) for n in sizes])
    axes.yaxis.set_major_formatter(lambda milliseconds, _: f"{milliseconds:g}")
    axes.grid(axis="y", color=WASH, lw=1)
    axes.set_xlabel("n", color=GROUND)
    axes.set_ylabel("milliseconds", color=GROUND)
    axes.set_title(
        f"Time of one n×n product on an {recording.provenance['gpu']}, float32 (host: one core)",
        loc="left",
        fontsize=11,
        color=GROUND,
    )
    _label_the_ends(axes, points)
    return axes


def _label_the_ends(axes: Axes, points: Mapping[str, Sequence[tuple[int, float]]]) -> None:
    """Each line's name at its right end, moved up where two would meet."""
    apart, lowest = 0.045, -1.0  # of the axes' height
    low, high = (log10(limit) for limit in axes.get_ylim())
    for name, line in sorted(points.items(), key=lambda entry: entry[1][-1][1]):
        n, milliseconds = line[-1]
        lowest = max((log10(milliseconds) - low) / (high - low), lowest + apart)
        place = blended_transform_factory(axes.transData, axes.transAxes)
        label = "cuBLAS" if name == "cublas" else name
        axes.annotate(
            label,
            (n, lowest),
            (7, 0),
            place,
            "offset points",
            va="center",
            color=GROUND,
            fontsize=11,
            annotation_clip=False,
        )


def outputs(root: Path = ROOT) -> dict[Path, str]:
    """Return {path: text} of everything that is made from the recordings."""
    ladder, series = load("ladder"), load("series")
    readme = root / "README.md"
    return {
        readme: with_section(readme.read_text(encoding="utf-8"), ladder, load("counters")),
        root / "docs" / "ladder.svg": _svg(ladder_axes(ladder)),
        root / "docs" / "series.svg": _svg(series_axes(series)),
    }
