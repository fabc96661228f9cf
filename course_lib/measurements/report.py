"""The README's table and the pictures of the ladder, made from the recordings."""

from pathlib import Path

from . import load

ROOT = Path(__file__).parents[2]
BEGIN = "<!-- measured: written by python -m course_lib.measurements -->"
END = "<!-- end of measured -->"
BLUE, ORANGE, GREY = "#0072B2", "#D55E00", "#777777"
COLOURS = {"host": GREY, "naive": "#E69F00", "tiled": "#009E73", "best": BLUE, "cublas": ORANGE}


def measured(recording):
    """Return the results that have a speed, slowest rung of the ladder first as the ladder has them."""
    return [result for result in recording.results if "gflops" in result]


def table(recording, counters):
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


def section(recording, counters):
    """Return what stands between the two marks in the README."""
    picture = "![Time to multiply two n×n matrices against n: host, naive, tiled, best and cuBLAS](docs/series.svg)"
    bars = "![GFLOP/s of every kernel of the ladder, and of cuBLAS](docs/ladder.svg)"
    return f"{BEGIN}\n{table(recording, counters)}\n\n{bars}\n\n{picture}\n{END}"


def with_section(readme, recording, counters):
    """Return the README's text with its measured section renewed; ValueError if the marks are missing."""
    if BEGIN not in readme or END not in readme:
        raise ValueError("the README has lost the marks of its measured section")
    before, rest = readme.split(BEGIN)
    return before + section(recording, counters) + rest.split(END)[1]


def _svg(width, height, body):
    style = "font-family='sans-serif' font-size='14'"
    head = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {width} {height}' {style}>"
    return "\n".join([head, f"<rect width='{width}' height='{height}' fill='white'/>", *body, "</svg>"]) + "\n"


def _text(x, y, words, anchor="start", fill="black"):
    return f"<text x='{x:.0f}' y='{y:.0f}' text-anchor='{anchor}' fill='{fill}'>{words}</text>"


def ladder_svg(recording):
    """Return the ladder as a bar chart: GFLOP/s of every kernel on one size."""
    results = measured(recording)
    most = max(result["gflops"] for result in results)
    gpu = recording.provenance["gpu"]
    n = recording.result("cublas")["M"]
    body = [_text(10, 24, f"GFLOP/s on an {gpu}, float32, n = {n}")]
    for i, result in enumerate(results):
        y = 40 + 26 * i
        width = 430 * result["gflops"] / most
        colour = ORANGE if result["rung"] == "cublas" else BLUE
        share = result["gflops"] / results[-1]["gflops"]
        name = "cuBLAS" if result["rung"] == "cublas" else result["rung"]
        body.append(_text(150, y + 15, name, "end"))
        body.append(f"<rect x='158' y='{y}' width='{max(width, 1):.1f}' height='20' fill='{colour}'/>")
        body.append(_text(164 + width, y + 15, f"{result['gflops']:,.0f} ({share:.1%})"))
    return _svg(740, 50 + 26 * len(results), body)


def series_svg(recording):
    """Return the five series, time against n, both axes logarithmic; where nothing was measured there is no line."""
    from math import log2, log10

    points = {}
    for result in measured(recording):
        times = sorted(result["milliseconds"])
        points.setdefault(result["rung"], []).append((result["M"], times[len(times) // 2]))
    sizes = sorted({n for line in points.values() for n, _ in line})
    decades = range(-3, 6)

    def place(n, milliseconds):
        x = 90 + 520 * (log2(n) - log2(sizes[0])) / (log2(sizes[-1]) - log2(sizes[0]))
        return x, 420 - 360 * (log10(milliseconds) - decades[0]) / (decades[-1] - decades[0])

    body = [_text(10, 24, f"Time of one n×n product on an {recording.provenance['gpu']}, float32 (host: one core)")]
    for decade in decades:
        y = place(sizes[0], 10.0**decade)[1]
        body.append(f"<line x1='90' x2='610' y1='{y:.0f}' y2='{y:.0f}' stroke='#dddddd'/>")
        body.append(_text(82, y + 5, f"{10.0**decade:g} ms", "end"))
    for n in sizes:
        body.append(_text(place(n, 1)[0], 444, str(n), "middle"))
    body.append(_text(350, 470, "n", "middle"))
    for name, line in points.items():
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (place(*point) for point in line))
        body.append(f"<polyline points='{path}' fill='none' stroke='{COLOURS[name]}' stroke-width='2.5'/>")
        body += [
            f"<circle cx='{x:.1f}' cy='{y:.1f}' r='3.5' fill='{COLOURS[name]}'/>"
            for x, y in (place(*point) for point in line)
        ]
    ends = sorted((place(*line[-1])[1], name, place(*line[-1])[0]) for name, line in points.items())
    last = -100
    for y, name, x in ends:
        last = max(y, last + 18)
        label = "cuBLAS" if name == "cublas" else name
        body.append(_text(x + 10, last + 5, label, fill=COLOURS[name]))
    return _svg(720, 480, body)


def outputs(root=ROOT):
    """Return {path: text} of everything that is made from the recordings."""
    ladder, series = load("ladder"), load("series")
    readme = root / "README.md"
    return {
        readme: with_section(readme.read_text(encoding="utf-8"), ladder, load("counters")),
        root / "docs" / "ladder.svg": ladder_svg(ladder),
        root / "docs" / "series.svg": series_svg(series),
    }
