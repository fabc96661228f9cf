"""Pictures of the course: data in, matplotlib Axes out, one message per figure.

A colour always means the same thing (`COLOURS`, from the palette of Okabe and Ito, which colour-blind readers
can tell apart). Every function draws on the page's own ground, light or dark, in colours that stand out from both
(`look.GROUND`), and describes the picture in words: `show(ax)` displays both.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.axis import XAxis, YAxis
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from matplotlib.ticker import NullLocator
from PIL import Image

from course_lib import model
from course_lib.look import COLOURS, EDGE, FAINT, GROUND, INK, ISSUING, KERNELS, STYLES, WASH
from course_lib.simulator.hardware import BANKS, SECTOR_BYTES, ceil_div
from course_lib.trace.reading import ROWS, slacks

if TYPE_CHECKING:
    from course_lib.model.waiting import Play
    from course_lib.trace import Trace


_Colour = str | tuple[float, ...]
_SHOWN_DPI = 96
_DRAWN_DPI = 120  # 1.25 pixels per shown pixel: sharp on a projector, and still a few tens of kilobytes


@dataclass(frozen=True, repr=False)
class Picture:
    """A figure as Jupyter shows it: a PNG, and a text that says the same."""

    ax: Axes

    def __repr__(self) -> str:
        return str(self.ax.get_label())

    def _repr_png_(self) -> tuple[bytes, dict[str, int | str]]:
        """The file, and how Jupyter is to show it: its size, and the text for those who do not see it."""
        figure = self.ax.get_figure(root=True)
        assert isinstance(figure, Figure)
        drawn = io.BytesIO()
        quick = {"compress_level": 1}  # it is packed again below
        figure.savefig(drawn, dpi=_DRAWN_DPI, format="png", bbox_inches="tight", pad_inches=0.15, pil_kwargs=quick)
        image = _with_palette(Image.open(drawn).convert("RGBA"))
        packed = io.BytesIO()
        image.save(packed, format="png", optimize=True)
        width, height = (round(n * _SHOWN_DPI / _DRAWN_DPI) for n in image.size)
        return packed.getvalue(), {"width": width, "height": height, "alt": repr(self)}


def _with_palette(image: Image.Image) -> Image.Image:
    """The picture in at most 256 colours, opacity among them, which makes its file three times smaller.

    Colours and opacities are chosen apart: Pillow's methods for both at once take small areas, as of letters, for
    shades of their surroundings.
    """
    pixels = np.asarray(image)
    opacity = (pixels[..., 3].astype(np.uint16) + 8) // 17  # 0 to 15
    opaque = Image.fromarray(np.where(opacity[..., None], pixels[..., :3], 0).astype(np.uint8))
    colours = opaque.quantize(64, method=Image.Quantize.MAXCOVERAGE)
    both = 16 * np.asarray(colours).astype(np.uint16) + opacity
    counts = np.bincount(both.ravel(), minlength=64 * 16)
    found = np.flatnonzero(counts)
    kept = np.sort(found[np.argsort(-counts[found], kind="stable")][:256])
    table = np.zeros((64, 3), np.uint8)
    table.ravel()[: len(colours.getpalette() or ())] = colours.getpalette() or ()
    palette = np.column_stack([table[found // 16], 17 * (found % 16)]).astype(int)
    nearest = np.zeros(64 * 16, np.uint8)
    nearest[found] = np.argmin(np.abs(palette[:, None] - palette[np.isin(found, kept)]).sum(axis=2), axis=1)
    packed = Image.fromarray(nearest[both])
    packed.putpalette(table[kept // 16].tobytes())
    packed.info["transparency"] = (17 * (kept % 16)).astype(np.uint8).tobytes()
    return packed


def show(ax: Axes) -> Picture:
    """The figure of ``ax`` for display: ``figures.show(figures.tile_pairs(...))``."""
    return Picture(ax)


# ---- plots of counts ------------------------------------------------------------------------------------------


def loads_against_n(
    counted: Mapping[str, Mapping[int, int]],
    closed_forms: Mapping[str, Callable[[int], float]],
    up_to: int = 4096,
    ax: Axes | None = None,
) -> Axes:
    """Global loads of a whole launch against n, both axes logarithmic, for square matrices of n × n.

    ``counted`` maps a kernel's label to {n: loads}, drawn as dots; ``closed_forms`` maps a label to a function
    of n, drawn as a line from the smallest counted n to ``up_to``.
    """
    ax = ax or _axes(7.4, 4.3)
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
    _log2_axis(ax.xaxis, sizes)
    ax.set_yscale("log")
    ax.yaxis.set_minor_locator(NullLocator())
    ax.set_xlabel("n (rows and columns of A, B and C)")
    ax.set_ylabel("global loads (elements, whole launch)")
    tiled = any(not label.startswith("naive") for label in closed_forms)
    ax.set_title("Global loads grow as n³" + ("; a tile divides them by its width" if tiled else ""))
    _dots_and_lines_note(ax, "right")
    return _describe(ax, *(f"{label}, counted: {_pairs(counts)}" for label, counts in counted.items()))


def loads_against_tile_width(
    counted: Mapping[int, float],
    n: int,
    closed_form: Callable[[int], float],
    untiled: float,
    ax: Axes | None = None,
) -> Axes:
    """Global loads per element of C against the tile width T, for square matrices of n × n.

    ``counted`` maps a tile width to loads per element of C (dots); ``closed_form`` gives the same for any width
    (line); ``untiled`` is the naive kernel's count, a level line.
    """
    ax = ax or _axes(7.4, 4.3)
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
    _log2_axis(ax.xaxis, widths)
    _log2_axis(ax.yaxis, 2 ** np.arange(np.floor(np.log2(min(counted.values()))), np.log2(untiled) + 1.01))
    ax.set_xlabel("tile width T (elements)")
    ax.set_ylabel("global loads per element of C")
    ax.set_title(f"Twice the tile width, half the loads (n = {n})")
    _dots_and_lines_note(ax, "left")
    return _describe(ax, f"naive: {untiled:,.0f} for every tile width", f"tiled, counted: {_pairs(counted)}")


# ---- the machine ------------------------------------------------------------------------------------------------


def machine(
    gpu: Mapping[str, int | str],
    shown: int = 3,
    ax: Axes | None = None,
    latency: Mapping[str, float] | None = None,
    bandwidth: Mapping[str, float] | None = None,
) -> Axes:
    """A GPU beside its host: multiprocessors with their registers and shared memory, the L2 cache, global memory.

    ``gpu`` is a recording's provenance: gpu, multiprocessors, threads_per_multiprocessor, registers_per_multiprocessor
    (of 4 bytes), shared_bytes_per_multiprocessor and l2_bytes. ``shown`` multiprocessors are drawn.
    ``latency``: cycles to a value from "shared", "L1", "L2" and "DRAM", and ``bandwidth``: bytes a cycle that "L2" and
    "DRAM" give each multiprocessor while all ask, as `model.waiting.Machine` has them. With latencies the blocks of a
    grid are drawn as they land, and bars as long as the latencies.
    """
    cycles = {place: f", {number:.0f} cycles" for place, number in (latency or {}).items()}
    for place, rate in (bandwidth or {}).items():
        cycles[place] = f"{cycles.get(place, '')}, {rate:.0f} bytes a cycle for each"
    ax = ax or _axes(10.5, 6.2 if latency else 5.2)
    count = int(gpu["multiprocessors"])
    threads = int(gpu["threads_per_multiprocessor"])
    registers = int(gpu["registers_per_multiprocessor"]) * 4 // 1024
    shared = int(gpu["shared_bytes_per_multiprocessor"]) // 1024
    cache = int(gpu["l2_bytes"]) // 2**20
    _part(ax, (0, 0), 2.4, 7.6, "host", None, size=13, top=True)
    _part(ax, (0.3, 4.6), 1.8, 1.8, "CPU:\nPython", None)
    _part(ax, (0.3, 0.4), 1.8, 1.4, "its memory", None)
    ax.annotate("", (3.9, 1.1), (2.15, 1.1), arrowprops={"arrowstyle": "<->", "color": GROUND, "lw": 2})
    ax.text(3.02, 1.28, "copies", ha="center", color=GROUND, fontsize=11)
    _part(ax, (3.6, 0), 12.4, 7.6, "" if latency else f"GPU ({gpu['gpu']})", None, size=13, top=True)
    wide = 12.0 / (shown + 0.75)
    for i in range(shown):
        left = 3.9 + i * wide
        _part(ax, (left, 3.0), wide - 0.25, 3.8, "multiprocessor", WASH, top=True)
        inner = wide - 0.65
        inside = f"4 schedulers,\n{threads // 32} warps" if latency else f"{threads:,} threads"
        _part(ax, (left + 0.2, 5.3), inner, 0.75, inside, None, size=10)
        _part(
            ax, (left + 0.2, 4.25), inner, 0.9, f"registers, {registers} KiB", _mixed(COLOURS["register"], 0.5), size=10
        )
        _part(
            ax,
            (left + 0.2, 3.2),
            inner,
            0.9,
            f"shared, {shared} KiB" + cycles.get("shared", "").replace(", ", "\n"),
            _mixed(COLOURS["shared"], 0.5),
            size=10,
        )
    ax.text(3.9 + shown * wide + 0.25, 4.9, f"… {count}\nof them", va="center", color=GROUND, fontsize=12)
    _part(ax, (3.9, 1.95), 11.8, 0.75, f"L2 cache, {cache} MiB, for all{cycles.get('L2', '')}", "#dddddd")
    _part(ax, (3.9, 0.3), 11.8, 1.35, "", None)
    reach = cycles.get("DRAM", "").replace("cycles, ", "cycles,\n")
    ax.text(4.2, 0.97, f"global memory{reach}", va="center", color=GROUND, fontsize=12)
    for i, name in enumerate("ABC"):
        _part(ax, (9.3 + 2.1 * i, 0.5), 1.8, 0.95, name, _mixed(COLOURS[name], 0.45), size=13)
    if latency:
        ax.text(15.8, 7.2, f"GPU\n({gpu['gpu']})", ha="right", va="center", color=GROUND, fontsize=12)
        ax.text(15.8, 6.0, "grey bars:\nlatencies,\nto scale", ha="right", va="center", color=GROUND, fontsize=11)
        _landing_blocks(ax, [3.9 + i * wide for i in range(shown)], wide - 0.25, count)
        longest = max(latency.values())
        for place, left, bottom in (
            ("shared", 4.1, 3.2),
            ("L2", 3.9, 1.95),
            ("DRAM", 3.9, 0.3),
        ):
            ax.plot(
                [left, left + 11.8 * latency[place] / longest],
                [bottom, bottom],
                color=GROUND,
                lw=6,
                solid_capstyle="butt",
            )
    ax.set_title("Small and near, or large and far: where a number can lie")
    ax.set_xlim(-0.2, 16.2)
    ax.set_ylim(-0.2, 9.6 if latency else 7.8)
    _bare(ax)
    return _describe(
        ax,
        f"A host (CPU and its memory), and a GPU, {gpu['gpu']}, with {count} multiprocessors",
        f"Each holds up to {threads:,} threads, and has {registers} KiB of registers and {shared} KiB of shared memory",
        f"All of them share an L2 cache of {cache} MiB and the global memory, where A, B and C lie",
        "The host copies between its own memory and global memory",
        *(
            [
                f"From a load to its value: {'; '.join(f'{place}{text}' for place, text in cycles.items())}",
                "Blocks land one on each multiprocessor, then the next, as long as there is room: "
                f"blocks 0 and {count} on the first",
            ]
            if cycles
            else []
        ),
    )


def _landing_blocks(ax: Axes, lefts: Sequence[float], width: float, count: int) -> None:
    """Draw the blocks of a grid above the multiprocessors that they land on: one each, then the next."""
    for i, left in enumerate(lefts):
        for turn in range(2):
            at = left + 0.15 + turn * width / 2
            _part(ax, (at, 8.15), width / 2 - 0.3, 0.75, f"{i + turn * count}", WASH, size=11)
            middle = at + width / 4 - 0.15
            style = {"arrowstyle": "->", "color": GROUND, "lw": 1.5}
            ax.annotate("", (middle, 6.85), (middle, 8.1), arrowprops=style)
    ax.text(lefts[-1] + width + 0.25, 8.5, "… blocks\nof the grid", va="center", color=GROUND, fontsize=12)


def _part(
    ax: Axes,
    corner: tuple[float, float],
    wide: float,
    high: float,
    text: str,
    fill: _Colour | None,
    size: int = 11,
    top: bool = False,
) -> None:
    """A named box; its name in the middle, or along the top."""
    x, y = corner
    ax.add_patch(Rectangle(corner, wide, high, fc=fill or "none", ec=GROUND, lw=1.4, zorder=1))
    at = y + high - 0.15 if top else y + high / 2
    ink = GROUND if fill in (None, WASH) else INK
    ax.text(x + wide / 2, at, text, ha="center", va="top" if top else "center", color=ink, fontsize=size, zorder=3)


def explored(
    by_n: Mapping[int, Mapping[str, tuple[int, int]]],
    by_width: Mapping[int, Mapping[str, tuple[int, int]]],
    n: int,
    tile_width: int,
) -> Picture:
    """Global loads (above) and their sectors (below) of whole launches, per kernel: against n, and against T.

    ``by_n`` maps n to {kernel: (loads, sectors)} at ``tile_width``, ``by_width`` a tile width to the same at ``n``.
    Kernels that ask for the same in every launch share a dashed line; all axes are logarithmic.
    """
    figure = Figure(figsize=(10, 6.4), facecolor="none", layout="constrained")
    axes = figure.subplots(2, 2, sharey="row", subplot_kw={"facecolor": "none"})
    columns = ((by_n, n, f"n (T = {tile_width})"), (by_width, tile_width, f"tile width T (n = {n})"))
    alike: dict[tuple[object, ...], list[str]] = {}
    for kernel in dict.fromkeys(name for counts in (*by_n.values(), *by_width.values()) for name in counts):
        asks = tuple((x, found.get(kernel)) for counts, *_ in columns for x, found in counts.items())
        alike.setdefault(asks, []).append(kernel)
    for row, what in enumerate(("global loads", "sectors of them")):
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
            _log2_axis(ax.xaxis, list(counts))
            ax.set_yscale("log")
            ax.yaxis.set_minor_locator(NullLocator())
            ax.set_xlabel(label if row else "")
            ax.set_ylabel("" if column else what)
            for side in ("top", "right"):
                ax.spines[side].set_visible(False)
            _describe(ax)
    shown = axes[0, 0].get_legend_handles_labels()
    figure.legend(*shown, loc="outside lower center", fontsize=11, frameon=False, labelcolor=GROUND)
    figure.suptitle("What every kernel asks of global memory in a whole launch", size=14, weight="bold", color=GROUND)
    here = by_n.get(n, {})
    lines = [f"  {kernel}: {loads:,} loads, {sectors:,} sectors." for kernel, (loads, sectors) in here.items()]
    axes[0, 0].set_label("\n".join([f"Figure: loads and sectors at n = {n}, T = {tile_width}.", *lines]))
    return Picture(axes[0, 0])


#: Lines of many kernels: Okabe and Ito's colours, without those that stand for an array in the same picture.
_OF_MANY = (GROUND, "#56B4E9", "#E69F00", "#CC79A7", "#009E73", "#D55E00", "#0072B2", ISSUING)


# ---- where elements lie in memory -------------------------------------------------------------------------------


def row_major(
    shape: tuple[int, int],
    cells: Sequence[tuple[int, int]],
    name: str = "A",
    itemsize: int = 4,
    outlined: bool = True,
    ax: Axes | None = None,
) -> Axes:
    """A row-major matrix above the memory that holds it: ``cells`` coloured in both, 32-byte sectors outlined.

    ``shape`` is (rows, columns) in elements, ``itemsize`` the bytes of one; the matrix starts on a sector. With
    ``outlined=False`` nothing is said of sectors.
    """
    rows, cols = shape
    ax = ax or _axes(9.5, 0.55 * rows + 2.2)
    chosen = set(cells)
    width = rows * cols
    left = (width - 2 * cols) / 2
    for row in range(rows):
        for col in range(cols):
            address = row * cols + col
            colour = COLOURS[name] if (row, col) in chosen else None
            _cell(ax, left + 2 * col, 2.6 + 2 * (rows - 1 - row), 2, str(address), colour)
            _cell(ax, address, 0, 1, str(address), colour, size=8)
    per_sector = SECTOR_BYTES // itemsize
    for first in range(0, width if outlined else 0, per_sector):
        ax.add_patch(Rectangle((first, -0.25), min(per_sector, width - first), 1.5, fill=False, ec=GROUND, lw=2.2))
    ax.text(left - 0.6, 2.6 + rows, name, ha="right", va="center", fontsize=16, color=COLOURS[name], weight="bold")
    ax.text(-0.4, 0.5, "memory", ha="right", va="center", color=GROUND)
    sectors = sectors_of([itemsize * (row * cols + col) for row, col in cells])
    lie = f"lie in {_count(len(sectors), 'sector')} of {SECTOR_BYTES} bytes" if outlined else "on the line of memory"
    ax.set_title(f"{len(chosen)} elements of {name} {lie}")
    ax.set_xlim(-4, width + 0.5)
    ax.set_ylim(-0.6, 2.9 + 2 * rows)
    _bare(ax)
    indices = ", ".join(str(row * cols + col) for row, col in cells)
    return _describe(ax, f"{name} has {rows} rows of {cols}; the coloured elements are at index {indices}")


def sectors_of(addresses: Sequence[int]) -> list[int]:
    """The distinct 32-byte sectors, in order, that hold these byte addresses."""
    return sorted({int(address) // SECTOR_BYTES for address in addresses})


def lane_addresses(trace: Trace, array: str, op: str = "load") -> np.ndarray:
    """Byte addresses, from the array's base, of the first request that touches ``array``: one per active lane.

    The array must be row-major. Raises ValueError where the trace has no such request.
    """
    for step in trace.steps:
        for access in step.accesses:
            if access.array == array and access.op == op:
                held = trace.arrays[array]
                strides = np.cumprod((1, *held.shape[:0:-1]))[::-1] * np.dtype(held.dtype).itemsize
                return access.index @ strides
    raise ValueError(f"no {op} of {array} in this trace")


def warp_sectors(requests: Mapping[str, tuple[str, Sequence[int]]], ax: Axes | None = None) -> Axes:
    """One load of a warp, drawn for each entry of ``requests``: lanes above, the memory that they touch below.

    ``requests`` maps a label to (array, the byte address that each lane asks for). Sectors that travel are filled.
    """
    ax = ax or _axes(9.5, 2.5 * len(requests) + 0.4)
    counts = {label: sectors_of(addresses) for label, (_, addresses) in requests.items()}
    for order, (label, (array, addresses)) in enumerate(requests.items()):
        _draw_request(ax, label, array, np.asarray(addresses), top=-4.6 * order)
    ax.set_title("32 lanes, one load each: " + " or ".join(_count(len(s), "sector") for s in counts.values()))
    ax.set_xlim(-1, 33)
    ax.set_ylim(-4.6 * len(requests) + 1.2, 1.6)
    _bare(ax)
    return _describe(
        ax, *(f"{label}: {len(requests[label][1])} lanes, {_count(len(s), 'sector')}" for label, s in counts.items())
    )


def _draw_request(ax: Axes, label: str, array: str, addresses: np.ndarray, top: float) -> None:
    sectors = sectors_of(addresses.tolist())
    first = sectors[0] * SECTOR_BYTES
    span = max((sectors[-1] + 1) * SECTOR_BYTES - first, 8 * SECTOR_BYTES)  # at least eight sectors, for scale
    scale = 32 / span
    wide = 32 / len(addresses)
    for lane, address in enumerate(addresses):
        _cell(ax, lane * wide, top, wide, str(lane), None, size=8, height=0.8)
        ends = [(lane + 0.5) * wide, (address - first + 2) * scale]
        ax.plot(ends, [top, top - 1.6], color=EDGE, lw=0.9, zorder=1)
    ax.add_patch(Rectangle((0, top - 2.4), 32, 0.8, fc="none", ec=GROUND, lw=1))
    for sector in sectors:
        corner = ((sector * SECTOR_BYTES - first) * scale, top - 2.4)
        ax.add_patch(Rectangle(corner, 0.95 * SECTOR_BYTES * scale, 0.8, fc=COLOURS[array], lw=0, zorder=2))
    ax.text(
        0,
        top - 3.0,
        f"{label}: {_count(len(sectors), 'sector')} in {span:,} bytes of memory",
        ha="left",
        va="center",
        color=GROUND,
    )


def bars(values: Mapping[str, float], title: str, unit: str, colours: Mapping[str, str] | None = None) -> Axes:
    """One horizontal bar for each entry of ``values``, labelled with its number; ``unit`` stands below the axis.

    ``colours`` maps a label to its colour; the others are grey. A bar has no error: for measured values it is the
    median that a recording gives.
    """
    ax = _axes(9, 0.55 * len(values) + 1.2)
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
    ax.set_xlabel(unit)
    ax.set_title(title)
    return _describe(ax, ", ".join(f"{name} {_value(value)}" for name, value in values.items()) + f" ({unit})")


def lines_against_n(series: Mapping[str, Mapping[int, float]], title: str, unit: str) -> Axes:
    """One line for each entry of ``series``, {label: {n: value}}, both axes logarithmic; ``unit`` names the values.

    Labels that are kernels of `look.KERNELS` have their colours. Where nothing was measured there is no point. Lines
    that end at nearly the same place share their label.
    """
    ax = _axes(9, 5)
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
    _log2_axis(ax.xaxis, sorted({n for values in series.values() for n in values}))
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter(lambda value, _: f"{value:,g}")
    ax.grid(axis="y", color=WASH, lw=1)
    ax.set_xlabel("n, for the product of two n × n matrices")
    ax.set_ylabel(unit)
    ax.set_title(title)
    return _describe(ax, *(f"{label}: {_pairs_of(values)}" for label, values in series.items()))


def bank_strips(requests: Mapping[str, Sequence[int]], ax: Axes | None = None) -> Axes:
    """One request to shared memory for each entry of ``requests``: how many different words it asks of each bank.

    ``requests`` maps a label to the word that each lane asks for, counted from the start of shared memory in 4-byte
    words. Lanes that ask for the same word are served together; the fullest bank gives the wavefronts.
    """
    ax = ax or _axes(11, 0.9 * len(requests) + 0.9)
    wavefronts = {}
    for order, (label, words) in enumerate(requests.items()):
        asked = np.bincount([word % BANKS for word in set(words)], minlength=BANKS)
        wavefronts[label] = int(asked.max())
        for bank, count in enumerate(asked):
            light = 0.25 + 0.5 * count / wavefronts[label] if count else 1.0
            _cell(
                ax,
                bank,
                -1.6 * order,
                1,
                str(count) if count else "",
                COLOURS["shared"] if count else None,
                9,
                light=light,
            )
        said = f"{label}: {_count(wavefronts[label], 'wavefront')}"
        ax.text(0, -1.6 * order + 1.1, said, ha="left", va="bottom", color=GROUND, fontsize=11)
    for bank in range(0, BANKS, 4):
        ax.text(bank + 0.5, -1.6 * len(requests) + 1.5, f"bank {bank}", ha="center", va="top", color=GROUND, fontsize=9)
    ax.set_title("Different words that 32 lanes ask of each bank")
    ax.set_xlim(-0.2, BANKS + 0.2)
    ax.set_ylim(-1.6 * len(requests) + 0.9, 2.0)
    _bare(ax)
    return _describe(ax, *(f"{label}: {_count(count, 'wavefront')}" for label, count in wavefronts.items()))


# ---- blocks and tiles ---------------------------------------------------------------------------------------------


def thread_map(M: int, N: int, block: tuple[int, int], ax: Axes | None = None) -> Axes:
    """C (M × N) with, in each element, the (x, y) of the thread that computes it; blocks outlined and named.

    ``block`` is blockDim as (x, y). Threads of the last blocks that fall outside C are drawn grey.
    """
    bx, by = block
    gx, gy = -(-N // bx), -(-M // by)
    ax = ax or _axes(0.85 * gx * bx + 0.8, 0.85 * gy * by + 1.2)
    for row in range(gy * by):
        for col in range(gx * bx):
            inside = row < M and col < N
            text = f"{col % bx},{row % by}"
            _cell(ax, col, -row - 1, 1, text, COLOURS["C"] if inside else WASH, size=12, light=0.35)
    for y in range(gy):
        for x in range(gx):
            ax.add_patch(Rectangle((x * bx, -(y + 1) * by), bx, by, fill=False, ec=GROUND, lw=3, zorder=4))
            ax.text(x * bx + 0.08, -y * by - 0.07, f"block {x},{y}", va="top", ha="left", fontsize=9, color=INK)
    ax.set_xlim(-0.1, gx * bx + 0.1)
    ax.set_ylim(-gy * by - 0.1, 0.1)
    _bare(ax, equal=True)
    ax.set_title(f"{_count(gx * gy, 'block')} of {bx}×{by} threads cover C ({M}×{N}): threadIdx x,y in each element")
    idle = gx * bx * gy * by - M * N
    return _describe(ax, f"{gx * bx * gy * by} threads, {M * N} elements, {_count(idle, 'thread')} outside C")


def tile_pairs(
    M: int,
    N: int,
    K: int,
    tile_width: int,
    tile: tuple[int, int],
    ax: Axes | None = None,
) -> Axes:
    """A left of C and B above it, cut into tiles of ``tile_width``: the pairs that make one tile of C.

    ``tile`` is the (row, column) of the tile of C, counted in tiles; each pair carries its number. Sizes that
    the tile width does not divide leave narrower tiles at the right and at the bottom.
    """
    row, col = tile
    pairs = range(-(-K // tile_width))
    gap = 0.6
    ax = ax or _axes(5.4, 5.4 * (K + M + 2) / (K + N + 2))
    names_a = {(row, t): str(t) for t in pairs}
    names_b = {(t, col): str(t) for t in pairs}
    _matrix(ax, "A", (M, K), (0, 0), tile_width, names_a)
    _matrix(ax, "B", (K, N), (K + gap, K + gap), tile_width, names_b)
    _matrix(ax, "C", (M, N), (K + gap, 0), tile_width, {(row, col): "Σ"})
    ax.set_xlim(-0.8, K + gap + N + 0.3)
    ax.set_ylim(-M - 0.3, K + gap + 0.8)
    _bare(ax, equal=True)
    terms = [f"A({row},{t})·B({t},{col})" for t in pairs]
    ax.set_title(f"Tile C({row},{col}) needs {_count(len(pairs), 'tile pair')}")
    return _describe(ax, f"C({row},{col}) = " + " + ".join(terms))


def footprint(M: int, N: int, K: int, element: tuple[int, int], ax: Axes | None = None) -> Axes:
    """A left of C and B above it: what the thread of one element (row, col) of C reads, a row of A, a column of B."""
    row, col = element
    gap = 0.6
    ax = ax or _axes(5.4, 5.4 * (K + M + 2) / (K + N + 2))
    _matrix(ax, "A", (M, K), (0, 0), 1, {(row, k): "" for k in range(K)})
    _matrix(ax, "B", (K, N), (K + gap, K + gap), 1, {(k, col): "" for k in range(K)})
    _matrix(ax, "C", (M, N), (K + gap, 0), 1, {element: ""})
    ax.set_xlim(-0.8, K + gap + N + 0.3)
    ax.set_ylim(-M - 0.3, K + gap + 0.8)
    _bare(ax, equal=True)
    ax.set_title(f"C[{row}, {col}] reads {2 * K} elements")
    return _describe(ax, f"row {row} of A, {_count(K, 'element')}, and column {col} of B, {_count(K, 'element')}")


def _matrix(
    ax: Axes,
    name: str,
    shape: tuple[int, int],
    corner: tuple[float, float],
    tile_width: int,
    chosen: Mapping[tuple[int, int], str],
) -> None:
    """Draw a matrix with its top left corner at ``corner``; ``chosen`` maps a tile to the text in it."""
    rows, cols = shape
    left, top = corner
    for row in range(rows):
        for col in range(cols):
            picked = (row // tile_width, col // tile_width) in chosen
            _cell(ax, left + col, top - row - 1, 1, "", COLOURS[name] if picked else None, light=0.45)
    for y in range(ceil_div(rows, tile_width)):
        for x in range(ceil_div(cols, tile_width)):
            wide = min(tile_width, cols - x * tile_width)
            high = min(tile_width, rows - y * tile_width)
            at = (left + x * tile_width, top - y * tile_width - high)
            ax.add_patch(Rectangle(at, wide, high, fill=False, ec=GROUND, lw=2.2, zorder=4))
            if (y, x) in chosen:
                ax.text(
                    at[0] + wide / 2,
                    at[1] + high / 2,
                    chosen[y, x],
                    ha="center",
                    va="center",
                    fontsize=20,
                    weight="bold",
                    color=INK,
                    zorder=5,
                )
    side = (left - 0.2, top - rows / 2) if name == "A" else (left + cols / 2, top + 0.15)
    if name != "C":
        ax.text(
            *side,
            name,
            ha="right" if name == "A" else "center",
            va="center" if name == "A" else "bottom",
            fontsize=16,
            weight="bold",
            color=COLOURS[name],
        )
    else:
        ax.text(
            left + cols, top - rows - 0.05, name, ha="right", va="top", fontsize=16, weight="bold", color=COLOURS[name]
        )


# ---- order of statements: prefetching -------------------------------------------------------------------------------

_ROW_COLOURS = (FAINT, COLOURS["register"], COLOURS["shared"], "#56B4E9")


def timeline(warps: Mapping[str, Mapping[str, Sequence[int]]], ax: Axes | None = None) -> Axes:
    """What one warp does, statement by statement, one strip per entry of ``warps`` (`trace.reading.timeline_rows`).

    The horizontal axis counts statements in program order. It is no time axis: the simulator has no clock.
    """
    ax = ax or _axes(9.5, 1.9 * len(warps) + 1.0)
    ticks, names = [], []
    for strip, (label, rows) in enumerate(warps.items()):
        base = -(len(ROWS) + 1.6) * strip
        for order, (name, colour) in enumerate(zip(ROWS, _ROW_COLOURS, strict=True)):
            ax.broken_barh(
                [(x, 0.92) for x in rows[name]], (base - order - 0.4, 0.8), color=colour, label=f"{label}: {name}"
            )
            ticks.append(base - order)
            names.append(name)
        ax.text(0, base + 0.75, label, weight="bold", color=GROUND, va="bottom")
    ax.set_yticks(ticks, names)
    ax.tick_params(axis="y", length=0)
    ax.set_ylim(min(ticks) - 0.8, 1.9)
    ax.set_xlim(0, 1 + max(x for rows in warps.values() for row in rows.values() for x in row))
    ax.set_xlabel("statements of one warp, in program order (no clock: a statement is not a time)")
    message = "Prefetching puts the multiplies between a load and its use"
    ax.set_title(message if len(warps) > 1 else "What one warp does, statement by statement", pad=14)
    for side in ("left", "right", "top"):
        ax.spines[side].set_visible(False)
    return _describe(
        ax,
        *(
            f"{label}: {', '.join(map(str, slacks(rows)))} multiplies between each load and its use; "
            f"{_count(len(rows['barrier']), 'barrier')}"
            for label, rows in warps.items()
        ),
    )


#: What a warp waits for, in the colours of the memories; what it issues, and waiting for nothing but its turn.
_WAIT_COLOURS = {
    "issuing": ISSUING,
    "global memory": FAINT,
    "shared memory": COLOURS["shared"],
    "arithmetic": COLOURS["register"],
    "barrier": "#56B4E9",
    "its turn": WASH,
}


def waiting(play: Play, cycles: float | None = None, ax: Axes | None = None) -> Axes:
    """What the warps of one multiprocessor do, one row a warp, as a model plays it: `model.waiting.play`.

    Only the first ``cycles`` are drawn, by default all; in words, the share of every reason of the whole play.
    """
    end = min(cycles or play.cycles, play.cycles)
    ax = ax or _axes(9.5, 1.8 + 0.3 * len(play.spans))
    for row, spans in enumerate(play.spans):
        for reason, colour in _WAIT_COLOURS.items():
            bars = [(first, min(last, end) - first) for why, first, last in spans if why == reason and first < end]
            ax.broken_barh(bars, (row - 0.4, 0.8), color=colour, label=reason if row == 0 else None, lw=0)
    ax.set(xlim=(0, end), ylim=(len(play.spans) - 0.4, -0.6), xlabel="cycles (a model's)", ylabel="warp")
    ax.set_yticks(range(len(play.spans)))
    ax.set_title("What the warps of a multiprocessor wait for, in a model", pad=34)
    ax.legend(
        loc="lower left", bbox_to_anchor=(0, 1), ncols=len(_WAIT_COLOURS), frameon=False, fontsize=10, labelcolor=GROUND
    )
    shares = ", ".join(f"{reason} {100 * share:.0f} %" for reason, share in play.waits.items())
    return _describe(ax, f"{_count(len(play.spans), 'warp')}, {play.cycles:,.0f} cycles in all; {shares}")


def residency(results: Sequence[Mapping[str, Any]], gpu: str, ax: Axes | None = None) -> Axes:
    """How many times as fast as tiled is prefetched, against the warps that share a multiprocessor.

    ``results`` are those of the recording ``waiting``: marks and lines as measured on ``gpu``, dashes as modelled.
    """
    ax = ax or _axes(9, 4.6)
    tiles = [r for r in results if r["what"] == "residency" and "tile_width" in r["params"]]
    cases = {(r["rung"], r["params"]["tile_width"], r["warps"]): r for r in tiles}
    sentences = []
    for width, colour, mark in ((8, GROUND, "o"), (16, ISSUING, "s"), (32, "#56B4E9", "D")):
        warps = sorted(w for rung, T, w in cases if (rung, T) == ("tiled", width))
        ratios = {
            what: [cases["prefetched", width, w][what] / cases["tiled", width, w][what] for w in warps]
            for what in ("measured", "predicted")
        }
        ax.plot(warps, ratios["measured"], f"{mark}-", color=colour, lw=2)
        ax.annotate(
            f"T = {width}",
            (warps[0], ratios["measured"][0]),
            (-4, 9),
            textcoords="offset points",
            fontsize=12,
            color=GROUND,
        )
        ax.plot(warps, ratios["predicted"], "--", color=colour, lw=1.5)
        pairs = (f"{w} → {a:.2f} ({b:.2f})" for w, a, b in zip(warps, *ratios.values(), strict=True))
        sentences.append(f"T = {width}, measured (modelled): {', '.join(pairs)}")
    ax.axhline(1, color=GROUND, lw=1)
    _log2_axis(ax.xaxis, (2, 4, 8, 16, 32, 64))
    ax.set(xlabel="warps on a multiprocessor", ylabel="speed of prefetched / tiled")
    ax.set_title("Prefetching pays where few warps share a multiprocessor")
    note = f"lines: measured on an {gpu}, n = 2048\ndashes: the model"
    ax.text(0.02, 0.03, note, transform=ax.transAxes, fontsize=11, color=GROUND, va="bottom")
    return _describe(ax, *sentences)


def occupancy(
    threads: int, kernels: Mapping[str, tuple[int, int]], gpu: Mapping[str, Any], ax: Axes | None = None
) -> Axes:
    """How many blocks of ``threads`` fit on a multiprocessor, against registers per thread and shared memory per block.

    ``kernels``: the (registers, bytes of shared memory) of each, to be marked. In words, which limit binds each.
    """
    ax = ax or _axes(9, 4.6)
    registers = np.arange(16, 257, 8)
    most = max([48 * 1024, *(shared for _, shared in kernels.values())])
    shared = np.arange(0, most + 1, 1024)
    fit = [[model.occupancy(threads, int(r), int(s), gpu).blocks for r in registers] for s in shared]
    levels = np.unique(fit)
    shades = 1 - 0.55 * np.searchsorted(levels, fit) / max(len(levels) - 1, 1)
    ax.pcolormesh(registers, shared / 1024, shades, cmap="gray", vmin=0, vmax=1, shading="nearest")
    for level in levels:
        rows, columns = np.nonzero(np.asarray(fit) == level)
        middle = len(rows) // 2
        ax.text(
            registers[columns[middle]], shared[rows[middle]] / 1024, f"{level}", color=INK, ha="center", va="center"
        )
    sentences = []
    for name, (used, bytes_used) in kernels.items():
        held = model.occupancy(threads, used, bytes_used, gpu)
        ax.plot(used, bytes_used / 1024, "o", color=COLOURS["register"], ms=8)
        ax.annotate(name, (used, bytes_used / 1024), (6, 6), textcoords="offset points", color=GROUND, fontsize=11)
        sentences.append(
            f"{name}: {used} registers and {bytes_used / 1024:g} KiB, {_count(held.blocks, 'block')}, "
            f"{100 * held.share:g} % of the threads, held by {held.limit}"
        )
    ax.set(xlabel="registers per thread", ylabel="shared memory per block (KiB)")
    ax.set_title(f"Blocks of {threads} threads that a multiprocessor holds")
    return _describe(ax, *sentences)


def roofline(rows: Sequence[Mapping[str, Any]], modelled: Mapping[str, float], ax: Axes | None = None) -> Axes:
    """What the kernels of the ladder reach under the two ceilings, measured, and as the model of waiting has it.

    ``rows`` are those of `gpu.roofline.roofline`; ``modelled`` maps a rung to the GFLOP/s that the model gives it.
    """
    ax = ax or _axes(9, 5.2)
    roof = sorted((row["flop_per_byte"], row["attainable_gflops"]) for row in rows)
    ax.plot(*zip(*roof, strict=True), color=FAINT, lw=3, zorder=1)
    sentences = []
    labels: list[tuple[float, float, str]] = []
    for row in sorted(rows, key=lambda row: row["measured_gflops"]):
        x, y, name = row["flop_per_byte"], row["measured_gflops"], row["rung"]
        ax.plot(x, y, "o", color=GROUND, ms=6)
        if labels and labels[-1][0] == x and y < 1.15 * labels[-1][1]:  # one label for those that lie together
            labels[-1] = x, labels[-1][1], f"{labels[-1][2]}, {name}"
        else:
            labels.append((x, y, name))
        text = f"{name}: {y:,.0f} of {row['attainable_gflops']:,.0f} GFLOP/s"
        if name in modelled:
            ax.plot(x, modelled[name], "x", color="#56B4E9", ms=8, mew=2)
            text += f", {modelled[name]:,.0f} in the model"
        sentences.append(text)
    for x, y, name in labels:
        side = ("right", -7) if x > 20 else ("left", 7)
        ax.annotate(name, (x, y), (side[1], -3), textcoords="offset points", fontsize=9, color=GROUND, ha=side[0])
    ax.set(xscale="log", yscale="log", xlabel="flop per byte asked of global memory", ylabel="GFLOP/s")
    ax.set_title("The ladder under its roof")
    note = "dots: measured   crosses: the model of waiting"
    ax.text(0.98, 0.03, note, transform=ax.transAxes, ha="right", fontsize=11, color=GROUND)
    return _describe(ax, *sentences)


# ---- shared pieces ---------------------------------------------------------------------------------------------


def _axes(width: float, height: float) -> Axes:
    """Fresh Axes of ``width`` × ``height`` inches with no ground of their own; no pyplot, so nothing is shown twice."""
    ax = Figure(figsize=(width, height), facecolor="none", layout="constrained").add_subplot(facecolor="none")
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def _describe(ax: Axes, *sentences: str) -> Axes:
    """Set the sizes that a projector needs and the text that stands for the picture."""
    ax.title.set(fontsize=14, color=GROUND, weight="bold")
    for axis in (ax.xaxis, ax.yaxis):
        axis.label.set(fontsize=12, color=GROUND)
    ax.tick_params(which="both", labelsize=11, colors=GROUND)
    ax.spines[:].set_color(GROUND)
    ax.set_label("\n".join([f"Figure: {ax.get_title()}.", *(f"  {sentence}." for sentence in sentences)]))
    return ax


def _series_colour(label: str) -> str:
    """Ink for a kernel that works from global memory, the colour of shared memory for the others."""
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


def _log2_axis(axis: XAxis | YAxis, values: Iterable[float]) -> None:
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    axis.set_ticks(list(values), labels=[f"{value:g}" for value in values])
    axis.set_minor_locator(NullLocator())


def _dots_and_lines_note(ax: Axes, side: str) -> None:
    note = "dots: counted by the simulator\nlines: closed form"
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


def _cell(
    ax: Axes,
    x: float,
    y: float,
    side: float,
    text: str,
    colour: _Colour | None,
    size: int = 11,
    height: float | None = None,
    light: float = 1.0,
) -> None:
    """One element: filled with ``colour`` (``light`` < 1 mixes it with white), its text dark or white on it."""
    fill = "none" if colour is None else colour if isinstance(colour, tuple) else _mixed(colour, light)
    height = side if height is None else height
    ax.add_patch(Rectangle((x, y), side, height, fc=fill, ec=EDGE, lw=0.8, zorder=2))
    if text:
        ink = GROUND if colour in (None, WASH) else "white" if light == 1.0 else INK
        ax.text(x + side / 2, y + height / 2, text, ha="center", va="center", fontsize=size, color=ink, zorder=3)


def _mixed(colour: str, light: float) -> tuple[float, ...]:
    red_green_blue = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    return tuple(light * part + 1 - light for part in red_green_blue)


def _bare(ax: Axes, equal: bool = False) -> None:
    ax.set_axis_off()
    if equal:
        ax.set_aspect("equal")


def _count(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"


def _value(value: float) -> str:
    """Four digits of a small number, all digits of a large one."""
    return f"{value:,.4g}" if value < 1000 else f"{value:,.0f}"


def _pairs_of(values: Mapping[int, float]) -> str:
    return ", ".join(f"{n} → {_value(value)}" for n, value in values.items())


def _pairs(counts: Mapping[int, float]) -> str:
    return ", ".join(f"{x:g} → {y:,.0f}" for x, y in counts.items())
