"""A drawing of the machine: a GPU beside its host."""

from collections.abc import Mapping, Sequence

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from ...trace.figures.canvas import Colour, bare, describe, mixed, new_axes
from ...trace.palette import COLOURS, GROUND, INK, WASH

#: Colours of memories: of a thread, of a block, and caches.
REGISTERS = mixed(COLOURS["register"], 0.5)
SHARED = mixed(COLOURS["shared"], 0.5)
CACHE = "#dddddd"


def machine(
    gpu: Mapping[str, int | str],
    shown: int = 2,
    latency: Mapping[str, float] | None = None,
    bandwidth: Mapping[str, float] | None = None,
) -> Axes:
    """Draw a GPU beside its host: multiprocessors with registers and shared memory, the L2 cache, global memory.

    ``gpu`` is a recording's provenance: gpu, multiprocessors, threads_per_multiprocessor, registers_per_multiprocessor
    (of 4 bytes), shared_bytes_per_multiprocessor and l2_bytes. ``shown``: how many multiprocessors are drawn.
    ``latency``: cycles to a value from "shared", "L1", "L2" and "DRAM"; ``bandwidth``: bytes per cycle from "L2" and
    "DRAM" to each multiprocessor while all load, both as in `model.multiprocessor.Multiprocessor`. With latencies the
    picture also shows how the blocks of a grid are assigned to multiprocessors, and bars as long as the latencies.

    >>> print(str(figures.show(figures.machine(measurements.load("ladder").provenance))).splitlines()[0])
    Figure: Small and near, or large and far: where a number can be stored.
    """
    cycles = {place: f", {number:.0f} cycles" for place, number in (latency or {}).items()}
    for place, rate in (bandwidth or {}).items():
        cycles[place] = f"{cycles.get(place, '')}, {rate:.0f} bytes a cycle for each multiprocessor"
    ax = new_axes(10.5, 6.2 if latency else 5.2)
    count = int(gpu["multiprocessors"])
    threads = int(gpu["threads_per_multiprocessor"])
    registers = int(gpu["registers_per_multiprocessor"]) * 4 // 1024
    shared = int(gpu["shared_bytes_per_multiprocessor"]) // 1024
    cache = int(gpu["l2_bytes"]) // 2**20
    _part(ax, (0, 0), 2.4, 7.6, "host", None, size=13, top=True)
    _part(ax, (0.3, 4.6), 1.8, 1.8, "CPU:\nPython", None)
    _part(ax, (0.3, 0.4), 1.8, 1.4, "its\nmemory", None)
    ax.annotate("", (3.9, 1.1), (2.15, 1.1), arrowprops={"arrowstyle": "<->", "color": GROUND, "lw": 2})
    ax.text(3.02, 1.28, "copies", ha="center", color=GROUND, fontsize=11)
    _part(ax, (3.6, 0), 12.4, 7.6, "" if latency else f"GPU ({gpu['gpu']})", None, size=13, top=True)
    wide = 12.0 / (shown + 0.65)
    parts = [
        (f"4 schedulers, {threads // 32} warps" if latency else f"{threads:,} threads", None),
        (f"registers, {registers} KiB", REGISTERS),
        (f"shared, {shared} KiB{cycles.get('shared', '')}", SHARED),
        (f"L1 cache{cycles.get('L1', '')}", CACHE),
    ][: 4 if latency else 3]
    high = 3.15 / len(parts)
    for i in range(shown):
        left = 3.9 + i * wide
        _part(ax, (left, 3.0), wide - 0.25, 3.8, "multiprocessor", WASH, top=True)
        for row, (text, fill) in enumerate(parts):
            corner = left + 0.1, 3.15 + high * (len(parts) - 1 - row)
            _part(ax, corner, wide - 0.45, 0.86 * high, text, fill, size=10)
    ax.text(3.9 + shown * wide + 0.25, 4.9, f"… {count}\nof them", va="center", color=GROUND, fontsize=12)
    if not latency:
        ax.annotate("", (15.9, 0.3), (15.9, 6.7), arrowprops={"arrowstyle": "->", "color": GROUND, "lw": 2})
        ax.text(15.7, 6.5, "near: small, fast", ha="right", va="center", color=GROUND, fontsize=11)
        ax.text(9.1, 0.99, "far: large,\nslow", ha="right", va="center", color=GROUND, fontsize=11)
    reach = cycles.get("L2", "").replace("cycles, ", "cycles,\n")
    _part(ax, (3.9, 1.85), 11.8, 0.95, f"L2 cache, {cache} MiB, for all{reach}", CACHE)
    _part(ax, (3.9, 0.3), 11.8, 1.35, "", None)
    reach = cycles.get("DRAM", "").replace("cycles, ", "cycles,\n").replace("cycle for each", "cycle\nfor each")
    ax.text(4.2, 0.99, f"global memory{reach}", va="center", color=GROUND, fontsize=11 if latency else 12)
    for i, name in enumerate("ABC"):
        _part(ax, (9.3 + 2.1 * i, 0.5), 1.8, 0.95, name, mixed(COLOURS[name], 0.45), size=13)
    if latency:
        ax.text(15.8, 7.2, f"GPU\n({gpu['gpu']})", ha="right", va="center", color=GROUND, fontsize=12)
        ax.text(15.8, 6.0, "grey bars:\nlatencies,\nto scale", ha="right", va="center", color=GROUND, fontsize=11)
        _landing_blocks(ax, [3.9 + i * wide for i in range(shown)], wide - 0.25, count)
        for place, left, bottom in (
            ("shared", 4.0, 3.15 + high),
            ("L1", 4.0, 3.15),
            ("L2", 3.9, 1.85),
            ("DRAM", 3.9, 0.3),
        ):
            ax.hlines(bottom, left, left + 11.8 * latency[place] / max(latency.values()), color=GROUND, lw=6)
    ax.set_title("Small and near, or large and far: where a number can be stored")
    ax.set_xlim(-0.2, 16.2)
    ax.set_ylim(-0.2, 9.6 if latency else 7.8)
    bare(ax)
    return describe(
        ax,
        f"A host (CPU and its memory), and a GPU, {gpu['gpu']}, with {count} multiprocessors",
        f"Each holds up to {threads:,} threads, and has {registers} KiB of registers and {shared} KiB of shared memory",
        f"All of them share an L2 cache of {cache} MiB and the global memory, where A, B and C are stored",
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
    """Draw the blocks of a grid above their multiprocessors: one block on each, then a second one on each."""
    for i, left in enumerate(lefts):
        for wave in range(2):
            at = left + 0.15 + wave * width / 2
            _part(ax, (at, 8.15), width / 2 - 0.3, 0.75, f"{i + wave * count}", WASH, size=11)
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
    fill: Colour | None,
    *,
    size: int = 11,
    top: bool = False,
) -> None:
    """Draw a named box; its name in the middle, or along the top."""
    x, y = corner
    ax.add_patch(Rectangle(corner, wide, high, fc=fill or "none", ec=GROUND, lw=1.4, zorder=1))
    at = y + high - 0.15 if top else y + high / 2
    ink = GROUND if fill in (None, WASH) else INK
    ax.text(x + wide / 2, at, text, ha="center", va="top" if top else "center", color=ink, fontsize=size, zorder=3)
