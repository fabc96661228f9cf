"""A drawing of the machine: a GPU beside its host."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from ...trace.figures.canvas import (
    LABEL_SIZE,
    NUMBER_SIZE,
    TEXT_SIZE,
    Colour,
    bare,
    describe,
    mixed,
    new_axes,
)
from ...trace.palette import COLOURS, GROUND, INK, WASH


@dataclass(frozen=True)
class _Box:
    """A box of the picture, in units of its axes."""

    left: float
    bottom: float
    width: float
    height: float

    @property
    def right(self) -> float:
        return self.left + self.width

    @property
    def top(self) -> float:
        return self.bottom + self.height


#: Colours of memories: of a thread, of a block, and caches.
REGISTERS = mixed(COLOURS["register"], 0.5)
SHARED = mixed(COLOURS["shared"], 0.5)
CACHE = "#dddddd"

#: Widths and heights of the picture, in inches: the height without latencies, and with them.
_WIDTH, _HEIGHT, _HEIGHT_WITH_LATENCIES = 10.5, 5.2, 6.2
#: The largest x, and the largest y without latencies and with them (and the blocks of a grid); around all, a margin.
_RIGHT, _TOP, _TOP_WITH_LATENCIES, _MARGIN = 16.0, 7.6, 9.4, 0.2

_HOST = _Box(0, 0, 2.4, 7.6)
_CPU = _Box(0.3, 4.6, 1.8, 1.8)
_HOST_MEMORY = _Box(0.3, 0.4, 1.8, 1.4)
_GPU = _Box(3.6, 0, 12.4, 7.6)
_L2 = _Box(3.9, 1.85, 11.8, 0.95)
_GLOBAL_MEMORY = _Box(3.9, 0.3, 11.8, 1.35)
#: A in global memory, and from the left of a matrix to the left of the next one.
_MATRIX_A = _Box(9.3, 0.5, 1.8, 0.95)
_MATRIX_STEP = 2.1

#: Multiprocessors: the left of the first, their bottom and height, and the space between two of them.
_FIRST_LEFT, _BOTTOM, _MULTIPROCESSOR_HEIGHT, _BETWEEN = 3.9, 3.0, 3.8, 0.25
#: The width for all of them and for the words on how many there are, which take this part of a multiprocessor's.
_ROOM, _WORDS_PART = 12.0, 0.65
#: The parts of a multiprocessor: from its edge to them, the bottom of the lowest, the height for all, and how much of
#: its share of that height each takes.
_PART_INSET, _PARTS_BOTTOM, _PARTS_HEIGHT, _PART_SHARE = 0.1, 3.15, 3.15, 0.86

#: Blocks of a grid, above the multiprocessors: their bottom and height, from the edge of half a multiprocessor to a
#: block, and from a box to the end of an arrow.
_BLOCK_BOTTOM, _BLOCK_HEIGHT, _BLOCK_INSET, _ARROW_GAP = 8.15, 0.75, 0.15, 0.05

#: The heights of the words on how many multiprocessors there are, on global memory, and on the blocks of a grid.
_COUNT_Y, _MEMORY_Y, _BLOCKS_Y = 4.9, 0.99, 8.5
#: The arrow of copies: its ends on the GPU and on the host, its height, and the middle and bottom of its name.
_COPIES_FROM, _COPIES_TO, _COPIES_Y, _COPIES_NAME = 3.9, 2.15, 1.1, (3.02, 1.28)
#: The arrow from far to near: its x, its ends, and where its words end: "near" and "far".
_NEARER_X, _FAR_Y, _NEAR_Y, _NEAR_WORDS, _FAR_WORDS = 15.9, 0.3, 6.7, (15.7, 6.5), (9.1, 0.99)
#: With latencies: the right end of the words inside the GPU, and their heights: its name, and on the bars.
_INSIDE_RIGHT, _GPU_NAME_Y, _BARS_Y = 15.8, 7.2, 6.0
#: From the left of global memory to its name, from multiprocessors to the words beside them, and from the top of a box
#: to its name.
_NAME_INSET, _BESIDE, _TOP_INSET = 0.3, 0.25, 0.15

#: The size of the name of a large box, in points; and widths of lines, also in points: of a box, of arrows and of the
#: bars of latencies.
_BOX_NAME_SIZE = 13
_BOX_EDGE, _ARROW, _LANDING_ARROW, _LATENCY_BAR = 1.4, 2, 1.5, 6


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
    ax = new_axes(_WIDTH, _HEIGHT_WITH_LATENCIES if latency else _HEIGHT)
    count = int(gpu["multiprocessors"])
    threads = int(gpu["threads_per_multiprocessor"])
    registers = int(gpu["registers_per_multiprocessor"]) * 4 // 1024
    shared = int(gpu["shared_bytes_per_multiprocessor"]) // 1024
    cache = int(gpu["l2_bytes"]) // 2**20
    _draw_host(ax)
    _part(ax, _GPU, "" if latency else f"GPU ({gpu['gpu']})", None, size=_BOX_NAME_SIZE, top=True)
    parts: list[tuple[str, Colour | None]] = [
        (f"4 schedulers, {threads // 32} warps" if latency else f"{threads:,} threads", None),
        (f"registers, {registers} KiB", REGISTERS),
        (f"shared, {shared} KiB{cycles.get('shared', '')}", SHARED),
    ]
    if latency:
        parts.append((f"L1 cache{cycles.get('L1', '')}", CACHE))
    multiprocessors = [_multiprocessor(place, shown) for place in range(shown)]
    for multiprocessor in multiprocessors:
        _part(ax, multiprocessor, "multiprocessor", WASH, top=True)
        for box, (text, fill) in zip(_parts_of(multiprocessor, len(parts)), parts, strict=True):
            _part(ax, box, text, fill, size=NUMBER_SIZE)
    beside = _multiprocessor(shown, shown).left + _BESIDE
    ax.text(beside, _COUNT_Y, f"… {count}\nof them", va="center", color=GROUND, fontsize=LABEL_SIZE)
    if not latency:
        _draw_nearness(ax)
    _part(ax, _L2, f"L2 cache, {cache} MiB, for all{_in_two_lines(cycles.get('L2', ''))}", CACHE)
    _draw_global_memory(ax, _in_two_lines(cycles.get("DRAM", "")), TEXT_SIZE if latency else LABEL_SIZE)
    if latency:
        name = f"GPU\n({gpu['gpu']})"
        ax.text(_INSIDE_RIGHT, _GPU_NAME_Y, name, ha="right", va="center", color=GROUND, fontsize=LABEL_SIZE)
        _draw_landing_blocks(ax, multiprocessors, count)
        _draw_latencies(ax, latency, _parts_of(multiprocessors[0], len(parts)))
    ax.set_title("Small and near, or large and far: where a number can be stored")
    ax.set_xlim(-_MARGIN, _RIGHT + _MARGIN)
    ax.set_ylim(-_MARGIN, (_TOP_WITH_LATENCIES if latency else _TOP) + _MARGIN)
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


def _draw_host(ax: Axes) -> None:
    """Draw the host with its CPU and its memory, and the copies between that and the GPU's."""
    _part(ax, _HOST, "host", None, size=_BOX_NAME_SIZE, top=True)
    _part(ax, _CPU, "CPU:\nPython", None)
    _part(ax, _HOST_MEMORY, "its\nmemory", None)
    style = {"arrowstyle": "<->", "color": GROUND, "lw": _ARROW}
    ax.annotate("", (_COPIES_FROM, _COPIES_Y), (_COPIES_TO, _COPIES_Y), arrowprops=style)
    ax.text(*_COPIES_NAME, "copies", ha="center", color=GROUND, fontsize=TEXT_SIZE)


def _multiprocessor(place: int, shown: int) -> _Box:
    """Return the box of a multiprocessor where so many are ``shown``; that of place ``shown`` is right of the last."""
    step = _ROOM / (shown + _WORDS_PART)
    return _Box(_FIRST_LEFT + place * step, _BOTTOM, step - _BETWEEN, _MULTIPROCESSOR_HEIGHT)


def _parts_of(multiprocessor: _Box, count: int) -> list[_Box]:
    """Return the boxes of a multiprocessor's parts, from the highest to the lowest."""
    left, width = multiprocessor.left + _PART_INSET, multiprocessor.width - 2 * _PART_INSET
    step = _PARTS_HEIGHT / count
    return [_Box(left, _PARTS_BOTTOM + step * above, width, _PART_SHARE * step) for above in reversed(range(count))]


def _draw_nearness(ax: Axes) -> None:
    """Draw an arrow from global memory up to the multiprocessors, with words on both ends."""
    style = {"arrowstyle": "->", "color": GROUND, "lw": _ARROW}
    ax.annotate("", (_NEARER_X, _FAR_Y), (_NEARER_X, _NEAR_Y), arrowprops=style)
    for place, words in ((_NEAR_WORDS, "near: small, fast"), (_FAR_WORDS, "far: large,\nslow")):
        ax.text(*place, words, ha="right", va="center", color=GROUND, fontsize=TEXT_SIZE)


def _in_two_lines(text: str) -> str:
    """Break the words on a latency and a rate after the latency."""
    return text.replace("cycles, ", "cycles,\n")


def _draw_global_memory(ax: Axes, speed: str, size: int) -> None:
    """Draw global memory with its name and its speed, of a text size, and the three matrices in it."""
    _part(ax, _GLOBAL_MEMORY, "", None)
    name = "global memory" + speed.replace("cycle for each", "cycle\nfor each")
    ax.text(_GLOBAL_MEMORY.left + _NAME_INSET, _MEMORY_Y, name, va="center", color=GROUND, fontsize=size)
    for place, matrix in enumerate("ABC"):
        left = _MATRIX_A.left + _MATRIX_STEP * place
        box = _Box(left, _MATRIX_A.bottom, _MATRIX_A.width, _MATRIX_A.height)
        _part(ax, box, matrix, mixed(COLOURS[matrix], 0.45), size=_BOX_NAME_SIZE)


def _draw_latencies(ax: Axes, latency: Mapping[str, float], parts: Sequence[_Box]) -> None:
    """Draw a bar as long as its latency on the lower edge of each memory; the longest is as wide as global memory."""
    words = "grey bars:\nlatencies,\nto scale"
    ax.text(_INSIDE_RIGHT, _BARS_Y, words, ha="right", va="center", color=GROUND, fontsize=TEXT_SIZE)
    *_, shared, cache = parts
    for memory, box in {"shared": shared, "L1": cache, "L2": _L2, "DRAM": _GLOBAL_MEMORY}.items():
        length = _GLOBAL_MEMORY.width * latency[memory] / max(latency.values())
        ax.hlines(box.bottom, box.left, box.left + length, color=GROUND, lw=_LATENCY_BAR)


def _draw_landing_blocks(ax: Axes, multiprocessors: Sequence[_Box], count: int) -> None:
    """Draw the blocks of a grid above their multiprocessors: one block on each, then a second one on each."""
    for place, multiprocessor in enumerate(multiprocessors):
        half = multiprocessor.width / 2
        for wave in range(2):
            left = multiprocessor.left + wave * half + _BLOCK_INSET
            block = _Box(left, _BLOCK_BOTTOM, half - 2 * _BLOCK_INSET, _BLOCK_HEIGHT)
            _part(ax, block, f"{place + wave * count}", WASH)
            middle = block.left + block.width / 2
            ends = (middle, multiprocessor.top + _ARROW_GAP), (middle, block.bottom - _ARROW_GAP)
            ax.annotate("", *ends, arrowprops={"arrowstyle": "->", "color": GROUND, "lw": _LANDING_ARROW})
    beside = multiprocessors[-1].right + _BESIDE
    ax.text(beside, _BLOCKS_Y, "… blocks\nof the grid", va="center", color=GROUND, fontsize=LABEL_SIZE)


def _part(ax: Axes, box: _Box, text: str, fill: Colour | None, *, size: int = TEXT_SIZE, top: bool = False) -> None:
    """Draw a named box; its name in the middle, or along the top."""
    corner = box.left, box.bottom
    ax.add_patch(Rectangle(corner, box.width, box.height, fc=fill or "none", ec=GROUND, lw=_BOX_EDGE, zorder=1))
    x = box.left + box.width / 2
    y = box.top - _TOP_INSET if top else box.bottom + box.height / 2
    ink = GROUND if fill in (None, WASH) else INK
    ax.text(x, y, text, ha="center", va="top" if top else "center", color=ink, fontsize=size, zorder=3)
