"""Write the measured tables of README.md and docs/measured.md, and the pictures in docs/, from the recordings.

With the name of a GPU, or a folder, it prints the tables for that GPU's recordings and writes nothing.
"""

import io
import re
import sys
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.container import BarContainer
from matplotlib.figure import Figure

from course_lib.classroom.course_map import milestones
from course_lib.machine import figures, model
from course_lib.machine.measurements import DEFAULT_GPU, IMPROVED, NAMES, Recording, folder_of, gpus, load, speeds
from course_lib.trace.palette import EDGE, GROUND, KERNELS

ROOT = Path(__file__).parents[1]
BEGIN = "<!-- measured: written by uv run python tools/report.py -->"
END = "<!-- end of measured -->"


def measured(recording: Recording) -> list[dict[str, Any]]:
    """Return the results that have a speed, in the order of the ladder, slowest rung first."""
    return [result for result in recording.results if "gflops" in result]


def limit_of(ceilings: Recording) -> float:
    """Return the GFLOP/s in float32 of multiply-adds alone, as measured."""
    return float(next(r["flop_per_second"] for r in ceilings.results if r["ceiling"] == "float32")) / 1e9


def table(recording: Recording, counters: Recording, ceilings: Recording, gpu: str | Path = DEFAULT_GPU) -> str:
    """Return the ladder as a Markdown table, with the sentences on where it was measured."""
    best, limit = recording.result("cublas")["gflops"], limit_of(ceilings)
    chip = ceilings.provenance
    paper = model.peak_flop_per_second(chip["multiprocessors"], chip["clock_hertz"]) / 1e12
    n = recording.result("cublas")["M"]
    lines = [
        "Measured on an {gpu} (driver {driver}, numba-cuda {numba-cuda}, {date:.10}),".format(**recording.provenance),
        f"float32, n = {n}, GFLOP/s: median of up to 20 launches, each kernel first verified against float64.",
        "The first speed is numba's, of the kernel as people write it; the next two are those of the same kernel with",
        "unsigned indices, and in CUDA C. Occupancy is the share of a multiprocessor's threads that such blocks fill;",
        f"what a kernel read from DRAM is Nsight Compute's count. A and B together are {2 * 4 * n * n / 1e9:.2f} GB.",
        f"The ladder ends at the chip: {chip['multiprocessors']} multiprocessors can do {paper:.1f} TFLOP/s,",
        f"on paper at {chip['clock_hertz'] / 1e9:.2f} GHz, and did {limit / 1e3:.1f} with multiply-adds alone.",
        "",
        "| kernel | changes | registers | occupancy | GB from DRAM | numba | unsigned | CUDA C | of cuBLAS |",
        "|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    reads = {r["rung"]: r["dram_read_bytes"] for r in counters.results if r["M"] == n and "skipped" not in r}
    rungs = {rung.name: rung for rung in milestones()}
    for name, way in speeds(gpu).items():
        result = (load("variants", gpu) if name == IMPROVED else recording).result(name)
        dram = reads.get(name, result.get("dram_read_bytes"))
        cells = (
            f"`{NAMES.get(name, name)}` {rungs[name].title}" if name in rungs else result["title"],
            rungs[name].change if name in rungs else "",
            f"{result.get('registers', '')}",
            f"{result['occupancy_percent']:.3g}%" if "occupancy_percent" in result else "",
            f"{dram / 1e9:.2f}" if dram else "",
            *("" if speed is None else f"{speed:,.0f}" for speed in (way.written, way.unsigned, way.c)),
            f"{result['gflops'] / best:.1%}",
        )
        lines.append(f"| {' | '.join(cells)} |")
    lines.append(f"| multiply-adds alone, the limit | | | | | {limit:,.0f} | | | {limit / best:.1%} |")
    return "\n".join(lines)


def on_tensor_cores(recording: Recording) -> list[dict[str, Any]]:
    """Return the results of the largest size that the table shows: best, the rungs, and cuBLAS in their formats."""
    results = [result for result in measured(recording) if "rung" in result]
    largest = max(result["M"] for result in results)
    return [r for r in results if r["M"] == largest and (r["rung"], r["format"]) != ("cublas", "float32")]


def types_of(result: Mapping[str, Any]) -> tuple[str, str]:
    """Return what a kernel or cuBLAS multiplies, TF32 however it came about, and the type of the C that it stores.

    In recordings older than the entry `stored`, cuBLAS stored numbers of 16 bits where it multiplied them.
    """
    form = result["format"].split(",")[0]
    before = form if result["rung"] == "cublas" and form in ("bfloat16", "float16") else "float32"
    return form, result.get("stored", before)


def of_cublas(results: Sequence[Mapping[str, Any]]) -> dict[tuple[str, str, int], float]:
    """Return the GFLOP/s of cuBLAS by what it multiplies, what it stores, and n."""
    return {(*types_of(r), r["M"]): r["gflops"] for r in results if r.get("rung") == "cublas" and "inputs" not in r}


def tensor_table(recording: Recording) -> str:
    """Return the rungs on tensor cores as a Markdown table: speed, share of cuBLAS with the same types, and error."""
    results = on_tensor_cores(recording)
    n = results[0]["M"]
    cublas = of_cublas(measured(recording))
    alone = {r["instruction"]: r["gflops"] for r in measured(recording) if "instruction" in r}
    lines = [
        f"Beyond float32, tensor cores multiply numbers of fewer digits; n = {n}, medians of {_repeats(results)}",
        "launches after a pause. The error is relative to the float64 product of the matrices as they were. A share of",
        "cuBLAS is that of cuBLAS with the same types, of the numbers that are multiplied and of C.",
        f"The instruction alone, mma.sync from registers, reaches {alone['mma_tf32'] / 1e3:.0f} TFLOP/s in TF32 and",
        f"{alone['mma_bf16'] / 1e3:.0f} in bfloat16; cuBLAS takes wgmma, as the kernels of the next table do.",
        "",
        "| kernel | multiplies | C | TFLOP/s | of cuBLAS | of mma.sync | error |",
        "|---|---|---|---:|---:|---:|---:|",
    ]
    for result in results:
        form, stored = types_of(result)
        name = "cuBLAS" if result["rung"] == "cublas" else f"`{result['rung']}` {result['title']}"
        instruction = {"TF32": "mma_tf32", "bfloat16": "mma_bf16"}.get(form)
        best = cublas.get((form, stored, n))
        speed, share = f"{result['gflops'] / 1e3:.1f}", f"{result['gflops'] / best:.1%}" if best else ""
        of_mma = f"{result['gflops'] / alone[instruction]:.1%}" if instruction else ""
        error = f"{result['relative_error']:.1e}"
        lines.append(f"| {name} | {result['format']} | {stored} | {speed} | {share} | {of_mma} | {error} |")
    return "\n".join(lines)


def wgmma_table(recording: Recording) -> str:
    """Return the rungs with wgmma, and cuBLAS in their formats, as a Markdown table: TFLOP/s by size."""
    results = [r for r in measured(recording) if "sum_error" in r or r.get("rung") == "cublas" and "inputs" not in r]
    sizes = [n for n in sorted({r["M"] for r in results}) if n % 1024 in (0, 1, 1023)]
    alone = {r["instruction"]: r["gflops"] / 1e3 for r in measured(recording) if "instruction" in r}
    inputs = [r for r in measured(recording) if "inputs" in r and r["rung"] != "cublas"]
    rates = [f"{r['gflops'] / 1e3:.0f} ({r['inputs']}, {median(r['clock_megahertz']):.0f} MHz)" for r in inputs]
    speed = {(r["rung"], r["format"], types_of(r)[1], r["M"]): r["gflops"] for r in results}
    cublas = of_cublas(results)
    lines = [
        "Hopper's own instruction, wgmma, multiplies tiles that stay in shared memory, and numba-cuda compiles it for",
        "compute capability 9.0. Random normal numbers, TFLOP/s by n, medians of "
        f"{_repeats(results)} launches; in parentheses the",
        "share of cuBLAS with the same types in the same run. The instruction alone reaches "
        f"{alone['wgmma_bf16']:.0f} in bfloat16 and",
        f"{alone['wgmma_tf32']:.0f} in TF32. Rows that begin off 128 bytes are padded for these kernels, and not for",
        f"cuBLAS. What is multiplied counts, too: `{inputs[0]['rung']}`, launched for seconds without a pause, "
        f"n = {inputs[0]['M']}, reached {', '.join(rates)} TFLOP/s.",
        "",
        f"| kernel | multiplies | C | {' | '.join(map(str, sizes))} |",
        f"|---|---|---|{'---:|' * len(sizes)}",
    ]
    for rung, form, stored in dict.fromkeys((r["rung"], r["format"], types_of(r)[1]) for r in results):
        pairs = [(speed[rung, form, stored, n], cublas.get((form.split(",")[0], stored, n))) for n in sizes]
        shares = ["" if rung == "cublas" or not best else f" ({ours / best:.0%})" for ours, best in pairs]
        cells = [f"{ours / 1e3:.0f}{share}" for (ours, _), share in zip(pairs, shares, strict=True)]
        name = "cuBLAS" if rung == "cublas" else f"`{rung}`"
        lines.append(f"| {name} | {form} | {stored} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _repeats(results: Sequence[Mapping[str, Any]]) -> int:
    return max(len(result["milliseconds"]) for result in results)


def tensor_axes(recording: Recording) -> Axes:
    """Draw the results on tensor cores as a bar chart: TFLOP/s, float32 on top, cuBLAS below the rungs."""
    results = on_tensor_cores(recording)
    names = [f"{'cuBLAS' if r['rung'] == 'cublas' else r['rung']}\n{r['format']}" for r in results]
    in_16_bits = ["" if types_of(r)[1] == "float32" else f", C in {types_of(r)[1]}" for r in results]
    names = [name + stored for name, stored in zip(names, in_16_bits, strict=True)]
    speeds = [result["gflops"] / 1e3 for result in results]
    colours = [KERNELS["cublas" if result["rung"] == "cublas" else "best"] for result in results]
    title = f"TFLOP/s (and error against float64) on an {recording.provenance['gpu']}, n = {results[0]['M']}"
    axes, bars = _bars(title, names, speeds, colours, 0.6 + 0.45 * len(names), left=0.22, top=0.92)
    labels = [f"{speed:,.1f} (error {r['relative_error']:.0e})" for speed, r in zip(speeds, results, strict=True)]
    axes.bar_label(bars, labels, padding=4, color=GROUND)
    axes.set_xlim(0, 1.25 * max(speeds))
    return axes


def tables(gpu: str | Path) -> str:
    """Return the tables for a GPU's folder, a name here or any path; of what it lacks, a sentence."""
    parts = []
    for make, names in (
        (partial(table, gpu=gpu), ("ladder", "counters", "ceilings")),
        (tensor_table, ("tensor",)),
        (wgmma_table, ("wgmma",)),
    ):
        missing = [name for name in names if not (folder_of(gpu) / f"{name}.json").is_file()]
        no = f"No table of {names[0]}: no recording of {', '.join(missing)} in {folder_of(gpu)}."
        parts.append(no if missing else make(*(load(name, gpu) for name in names)))
    return "\n\n".join(parts)


#: Six steps of the ladder in the README.
STEPS = ("naive", IMPROVED, "tiled", "register_2d", "best", "cublas")


def short() -> str:
    """Return the README's table: six steps as written, their speeds and quotients as in docs/measured.md."""
    ladder, ways = load("ladder"), speeds()
    gpu, last = ladder.provenance["gpu"], ladder.result("cublas")
    rows = [f"| {gpu}, float32, n = {last['M']}, GFLOP/s | numba | CUDA C | numba, of cuBLAS |", "|---|---:|---:|---:|"]
    for name in STEPS:
        way = ways[name]
        numba = way.written or way.unsigned or 0.0
        title = "… indices and loop improved" if name == IMPROVED else ladder.result(name)["title"]
        c = "" if way.c is None else f"{way.c:,.0f}"
        rows.append(f"| {title} | {numba:,.0f} | {c} | {numba / last['gflops']:.1%} |")
    return "\n".join(rows)


def section() -> str:
    """Return the text between the two marks in docs/measured.md."""
    ladder, counters, ceilings, tensor = (load(what) for what in ("ladder", "counters", "ceilings", "tensor"))
    times = "![Time to multiply two n×n matrices against n: host, naive, tiled, best and cuBLAS](series.svg)"
    bars = "![GFLOP/s of every kernel of the ladder, of cuBLAS, and of multiply-adds alone](ladder.svg)"
    chips = "![TFLOP/s of the kernels on tensor cores, and of cuBLAS with the same types](tensor.svg)"
    groups = wgmma_table(load("wgmma"))
    tile = "../notebooks/numba_and_cuda_c.md#What-the-tile-gains"
    causes = f"[What the tile alone gains]({tile}), one factor at a time.\n"
    causes += "[When prefetching pays](prefetching.md): the place of the loads, buffers, barriers, resident warps."
    parts = (table(ladder, counters, ceilings), causes, bars, times, tensor_table(tensor), chips, groups)
    return "\n\n".join(parts)


def with_section(page: str, section: str) -> str:
    """Return a page's text with its measured section renewed; raise ValueError if the marks are missing."""
    if BEGIN not in page or END not in page:
        raise ValueError("the page has lost the marks of its measured section")
    before, rest = page.split(BEGIN)
    return "\n".join([before + BEGIN, section, END]) + rest.split(END)[1]


def with_speeds(page: str, recording: Recording) -> str:
    """Return a page with each number before <!--RUNG--> renewed: a speed, a quotient of two, or 10⁹ of RUNG.COUNT.

    RUNG is a variant's name, with @WIDTH if its block or tile is not 32 wide; KeyError if nothing is recorded of it.
    """
    known: dict[str, dict[str, Any]] = {}
    for r in measured(recording):
        width = r.get("params", {}).get("block_width", r.get("params", {}).get("tile_width", 32))
        known[r["rung"] + (f"@{width}" if width != 32 else "")] = r

    def value(name: str) -> str:
        first, *other = (known[n.partition(".")[0]][n.partition(".")[2] or "gflops"] for n in name.split("/"))
        return f"{first / other[0]:.2f}" if other else f"{first / 1e9:.2f}" if "." in name else f"{first:,.0f}"

    return re.sub(r"[\d.,]*\d<!--(\S+?)-->", lambda found: f"{value(found[1])}<!--{found[1]}-->", page)


def _bars(
    title: str, names: Sequence[str], lengths: Sequence[float], colours: Any, height: float, **margins: float
) -> tuple[Axes, BarContainer]:
    """Return Axes with a bar for each name, the first one on top and no scale below, and the bars."""
    axes = Figure(figsize=(8, height), facecolor="none").add_subplot(facecolor="none")
    axes.figure.subplots_adjust(**{"left": 0.2, "right": 0.97, "top": 0.94, "bottom": 0.02, **margins})
    bars = axes.barh(names, lengths, color=colours, height=0.75)
    axes.invert_yaxis()
    axes.spines[["top", "right", "bottom"]].set_visible(False)
    axes.spines[:].set_color(GROUND)
    axes.tick_params(left=False, bottom=False, labelbottom=False, labelcolor=GROUND)
    axes.set_title(title, loc="left", fontsize=11, color=GROUND)
    return axes, bars


def _svg(axes: Axes) -> str:
    """Return the picture as SVG, the same bytes on any processor: no date, ids by number, and text as text."""
    drawn, ids = io.StringIO(), dict[str, str]()
    with rc_context({"svg.fonttype": "none", "font.family": "sans-serif"}):
        assert isinstance(axes.figure, Figure)
        axes.figure.savefig(drawn, format="svg", metadata={"Date": None, "Creator": None})
    numbered = re.sub(r"\b[mp][0-9a-f]{10}\b", lambda id: ids.setdefault(id[0], f"id{len(ids)}"), drawn.getvalue())
    return "\n".join(line.rstrip() for line in numbered.splitlines()) + "\n"


def ladder_axes(recording: Recording, ceilings: Recording, gpu: str | Path = DEFAULT_GPU) -> Axes:
    """Draw the ladder as a bar chart: GFLOP/s of every kernel on one size, paler in CUDA C, the limit below."""
    limit, ways = limit_of(ceilings), speeds(gpu)
    names = [*("cuBLAS" if name == "cublas" else NAMES.get(name, name) for name in ways), "multiply-adds alone"]
    lengths = [*(way.written or way.unsigned or 0.0 for way in ways.values()), limit]
    colours = [KERNELS["best" if name in {rung.name for rung in milestones()} else "cublas"] for name in (*ways, "")]
    n = recording.result("cublas")["M"]
    title = f"GFLOP/s (and share of the limit) on an {recording.provenance['gpu']}, n = {n}; pale bars: CUDA C"
    longest = [max(length, way.c or 0) for length, way in zip(lengths, ways.values(), strict=False)] + [limit]
    axes, ends = _bars(title, names, longest, [EDGE], 0.6 + 0.3 * len(names))
    axes.barh(names, lengths, color=colours, height=0.75)
    said = [f"{speed:,.0f} ({speed / limit:.1%})" for speed in lengths]
    in_c = [f"; {way.c:,.0f} in CUDA C" if way.c else "" for way in ways.values()]
    axes.bar_label(ends, [a + b for a, b in zip(said, [*in_c, ""], strict=True)], padding=4, color=GROUND)
    axes.set_xlim(0, 1.25 * max(lengths))
    return axes


def series_axes(recording: Recording, gpu: str | Path = DEFAULT_GPU) -> Axes:
    """Draw the five series, time against n, both axes logarithmic; and naive, improved, measured at one size."""
    points: dict[str, dict[int, float]] = {}
    for result in measured(recording):
        points.setdefault(result["rung"], {})[result["M"]] = median(result["milliseconds"])
    title = f"Time of one n×n product on an {recording.provenance['gpu']}, float32 (host: one core)"
    axes = figures.lines_against_n(points, title, "milliseconds")
    if (right := speeds(gpu).get(IMPROVED)) and right.unsigned:
        axes.plot(4096, 2 * 4096**3 / right.unsigned / 1e6, "s", color=KERNELS["naive"], markersize=7)
        axes.text(0.99, 0.03, f"■ {NAMES[IMPROVED]}", transform=axes.transAxes, ha="right", color=GROUND, fontsize=11)
    return axes


def outputs(root: Path = ROOT) -> dict[Path, str]:
    """Return {path: text} of all files that are generated from the recordings."""
    docs, languages = root / "docs", root / "notebooks" / "numba_and_cuda_c.md"
    pages = {path: path.read_text(encoding="utf-8") for path in (root / "README.md", docs / "measured.md", languages)}
    pages[root / "README.md"] = with_section(pages[root / "README.md"], short())
    pages[docs / "measured.md"] = with_section(pages[docs / "measured.md"], section())
    return {
        **{path: with_speeds(text, load("variants")) for path, text in pages.items()},
        docs / "ladder.svg": _svg(ladder_axes(load("ladder"), load("ceilings"))),
        docs / "series.svg": _svg(series_axes(load("series"))),
        docs / "tensor.svg": _svg(tensor_axes(load("tensor"))),
    }


def main(arguments: Sequence[str]) -> int:
    """Run the command; return the exit status: 0, or 2 if there is no such folder."""
    for gpu in arguments:
        if not folder_of(gpu).is_dir():
            print(f"{gpu!r} is no folder of recordings; there are {', '.join(gpus())}", file=sys.stderr)
            return 2
        print(tables(gpu))
    if not arguments:
        for path, text in outputs().items():
            path.write_text(text, encoding="utf-8")
            print(path.name)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
