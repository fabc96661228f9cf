"""The content of each picture with sliders for a setting: shapes, and sentences that say the same."""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ...simulator.formatting import plural
from ...simulator.hardware import BANKS, SECTOR_BYTES, WARP_SIZE, WORD_BYTES, ceil_div
from ...trace.palette import COLOURS, FAINT, GROUND, INK, ISSUING
from ...trace.viewer.picture_shapes import CARD_EDGE, WIDTH, Box, Shape, Text, tint
from .. import model
from ..figures import sectors_of
from .cube import TILES, draw_cube

_SIZE = 15  # of letters: 1000 units are the width of a cell's output, at least 760 pixels
_LEFT = 145


def _legend(y: float, *entries: tuple[str | None, str]) -> list[Shape]:
    """Explain fills in a row at the height ``y``."""
    shapes: list[Shape] = []
    x: float = _LEFT
    for fill, text in entries:
        shapes += [Box(x, y, 18, 16, fill, GROUND), Text(x + 26, y + 9, text, _SIZE, GROUND)]
        x += 60 + 8.5 * len(text)
    return shapes


@dataclass(frozen=True)
class Sketch:
    """A picture of WIDTH × ``height`` units, and its content in sentences."""

    shapes: tuple[Shape, ...]
    height: float
    says: tuple[str, ...]


@dataclass(frozen=True)
class Slider:
    """A slider: its values, in words, and those for which a page without a kernel has a picture."""

    values: tuple[int, ...]
    recorded: tuple[int, ...]
    says: Callable[[int], str]


@dataclass(frozen=True)
class Kind:
    """A picture with sliders: ``draw`` takes a value for each of ``sliders``, and what does not change."""

    title: str
    sliders: Mapping[str, Slider]
    draw: Callable[..., Sketch]


def draw_sectors(stride: int, first: int) -> Sketch:
    """Draw a line of memory, and what 32 lanes load of it: lane i loads element ``first + stride * i`` of float32."""
    elements = [first + stride * lane for lane in range(WARP_SIZE)]
    fetched = sectors_of([WORD_BYTES * element for element in elements])
    used = sorted(set(elements))
    each = SECTOR_BYTES // WORD_BYTES
    in_row = 16
    wide, high, pitch, left = (WIDTH - 90) / in_row, 24, 34, 90
    light = tint(COLOURS["B"], 0.3)
    shapes: list[Shape] = []
    for row in range(8):
        name = f"{'' if row else 'element '}{row * in_row * each}"
        shapes.append(Text(left - 10, row * pitch + 18, name, _SIZE, GROUND, "right"))
    for sector in range(8 * in_row):
        x = left + sector % in_row * wide
        y = sector // in_row * pitch + 6
        shapes.append(Box(x, y, wide - 4, high, light if sector in fetched else None, GROUND))
    cell = (wide - 4) / each
    for element in used:
        sector, place = divmod(element, each)
        x = left + sector % in_row * wide + place * cell
        y = sector // in_row * pitch + 6
        shapes.append(Box(x + 0.5, y + 1, cell - 1, high - 2, COLOURS["B"]))
    share = len(used) / (each * len(fetched))
    says = (
        f"Lane i loads element {first} + {stride}·i: {plural(len(used), 'different element')}, "
        f"in {plural(len(fetched), 'sector')} of {SECTOR_BYTES} bytes",
        f"Of {each * len(fetched)} numbers that are fetched, the warp uses {len(used)}: {100 * share:.3g} %",
        f"Each box is a sector of {each} numbers; the number at the left is the index of the first element of a row",
    )
    counts = ((light, each * len(fetched), "fetched"), (COLOURS["B"], len(used), "used"))
    shapes += _legend(8 * pitch + 8, *((fill, f"{count} numbers {what}") for fill, count, what in counts))
    unit = (WIDTH - left) / (each * WARP_SIZE)
    shapes.append(Text(left - 10, 8 * pitch + 39, "in all", _SIZE, GROUND, "right"))
    shapes += (Box(left, 8 * pitch + 32, unit * count, 14, fill) for fill, count, _ in counts)
    return Sketch(tuple(shapes), 8 * pitch + 52, says)


def draw_occupancy(gpu: Mapping[str, Any], threads: int, registers: int, shared: int) -> Sketch:
    """Draw how many blocks each resource of a multiprocessor has room for, and the warps that are resident.

    ``shared`` is in KiB for each block, ``gpu`` as `model.occupancy` takes it.
    """
    held = model.occupancy(threads, registers, 1024 * shared, gpu)
    warps = ceil_div(threads, WARP_SIZE)
    slots = gpu["threads_per_multiprocessor"] // WARP_SIZE
    limiting = [resource for resource, blocks in held.room.items() if blocks == held.blocks]
    most = max(held.room["blocks"], held.blocks)
    shapes: list[Shape] = [Text(_LEFT, 10, "blocks that have room, by each resource", _SIZE, GROUND)]
    for row, (resource, blocks) in enumerate(held.room.items()):
        y, limits = 28 + 34 * row, resource in limiting
        length = (WIDTH - _LEFT - 130) * min(blocks, most) / most
        shapes.append(Text(_LEFT - 10, y + 12, resource, _SIZE, GROUND, "right", bold=limits))
        shapes.append(Box(_LEFT, y, max(length, 2), 24, ISSUING if limits else FAINT))
        said = f"{blocks}{' (the limit)' if limits else ''}"
        shapes.append(Text(_LEFT + max(length, 2) + 8, y + 12, said, _SIZE, GROUND, bold=limits))
    y, wide = 178, (WIDTH - _LEFT - 10) / 32
    shapes.append(Text(_LEFT - 10, y + 26, "warps", _SIZE, GROUND, "right"))
    for slot in range(slots):
        block = slot // warps
        fill = tint(COLOURS["register"], 0.9 if block % 2 else 0.5) if slot < held.warps else None
        place = _LEFT + slot % 32 * wide, y + 27 * (slot // 32)
        shapes.append(Box(*place, wide - 3, 24, fill, GROUND))
    y += 27 * (slots // 32) + 8
    pinks = (tint(COLOURS["register"], light) for light in (0.5, 0.9))
    shapes += _legend(y, *zip(pinks, ("warps of a block", "of the next block"), strict=True), (None, "free"))
    room = ", ".join(f"{resource} {blocks}" for resource, blocks in held.room.items())
    says = (
        f"Blocks that have room on a multiprocessor of an {gpu['gpu']}, by each resource: {room}",
        f"The smallest number counts: {plural(held.blocks, 'block')} of {plural(warps, 'warp')}, "
        f"limited by {' and '.join(limiting)}",
        f"Occupancy: {held.warps} of {slots} warps, {100 * held.share:.0f} %",
    )
    return Sketch(tuple(shapes), y + 22, says)


def iterations(warps: int, work: int, latency: int, path: int, early: bool) -> dict[str, float]:
    """Return how many iterations of all warps each limit of a scheduler allows in 1,000 cycles.

    An iteration starts ``work`` instructions, one in a cycle, and uses the scheduler's share of the path to L1 and
    shared memory for ``path`` cycles. Its value arrives ``latency`` cycles after its load has started: after the
    instructions, or before them if ``early``. Infinite where nothing limits.
    """
    cycles = max(work, latency) if early else work + latency
    per_iteration = {"warps": cycles / warps, "issue slots": work, "path": path}
    return {limit: 1000 / each if each else math.inf for limit, each in per_iteration.items()}


def draw_early_load(latency: int, work: int, warps: int, path: int) -> Sketch:
    """Draw what the warps, the issue slots and the path allow, with a load at its use and one iteration earlier."""
    cases = {"load, then use": False, "one iteration earlier": True}
    allowed = {case: iterations(warps, work, latency, path, early) for case, early in cases.items()}
    speeds = {case: min(each.values()) for case, each in allowed.items()}
    late, early = speeds.values()
    longest = 2 * early
    shapes: list[Shape] = []
    y = 0.0
    for case, each in allowed.items():
        shapes.append(Text(_LEFT, y + 10, f"{case}: iterations in 1,000 cycles", _SIZE, GROUND))
        for row, (limit, most) in enumerate(each.items()):
            counts = most == speeds[case]
            top = y + 26 + 30 * row
            length = max((WIDTH - _LEFT - 150) * min(most, longest) / longest, 2)
            said = "no limit" if most == math.inf else f"{most:.3g}{' (the limit)' if counts else ''}"
            shapes.append(Text(_LEFT - 10, top + 11, limit, _SIZE, GROUND, "right", bold=counts))
            shapes.append(Box(_LEFT, top, length, 22, ISSUING if counts else FAINT))
            shapes.append(Text(_LEFT + length + 8, top + 11, said, _SIZE, GROUND, bold=counts))
        y += 132
    # the path and the slots stay; only the warps' limit can move
    most = min(limit for name, limit in allowed["load, then use"].items() if name != "warps") / late
    shapes.append(Text(_LEFT, y + 2, f"gain: {early / late:.2f}", _SIZE + 3, GROUND, bold=True))
    says = (
        f"{plural(warps, 'warp')}: an iteration starts {work} instructions, waits {latency} cycles for a load, and "
        f"uses the path for {path} cycles",
        *(f"{case}: {speed:.3g} iterations in 1,000 cycles" for case, speed in speeds.items()),
        f"Gain: {early / late:.2f}; with no wait at all it would be {most:.2f}, by issue slots and path",
    )
    return Sketch(tuple(shapes), y + 18, says)


def queue_times(
    launches: int, kernel: int, launch: int, filled: int
) -> tuple[int, list[tuple[int, int]], dict[str, tuple[int, int]]]:
    """Return times in microseconds of ``launches`` of a kernel, from the start of the host's clock.

    When the GPU is free for the first kernel, when each kernel begins and ends, and the interval that each way to
    measure takes. The host takes ``launch`` for each; the GPU starts each kernel when it has arrived and the one before
    has ended. If ``filled``, the GPU is busy with another kernel until the last launch has arrived. Events take no
    time.
    """
    busy = launches * launch if filled else 0
    spans: list[tuple[int, int]] = []
    for number in range(1, launches + 1):
        begin = max(number * launch, spans[-1][1] if spans else busy)
        spans.append((begin, begin + kernel))
    end = spans[-1][1]
    clocks = {"no synchronise": (0, launches * launch), "synchronise": (0, end), "events": (busy, end)}
    return busy, spans, clocks


def draw_queue(launches: int, kernel: int, launch: int, filled: int) -> Sketch:
    """Draw the host's launches, the GPU's kernels, and what three ways to measure say."""
    busy, spans, clocks = queue_times(launches, kernel, launch, filled)
    end = spans[-1][1]
    scale = (WIDTH - _LEFT - 80) / end
    shapes: list[Shape] = []

    def strip(row: int, name: str, shown: Mapping[str, tuple[int, int]], fill: str) -> None:
        y = 8 + 36 * row
        shapes.append(Text(_LEFT - 10, y + 13, name, _SIZE, GROUND, "right"))
        for text, (begin, last) in shown.items():
            wide = max((last - begin) * scale, 1)
            shapes.append(Box(_LEFT + begin * scale, y, wide, 26, fill, CARD_EDGE))
            short = next((each for each in (text, text.split()[-1]) if 9 * len(each) < wide), None)
            if short:
                shapes.append(Text(_LEFT + begin * scale + wide / 2, y + 13, short, _SIZE, INK, "middle"))

    calls = {f"launch {i + 1}": (i * launch, (i + 1) * launch) for i in range(launches)}
    strip(0, "host", calls, tint(COLOURS["A"], 0.4))
    strip(0, "host", {"synchronise": (launches * launch, end)} if end > launches * launch else {}, "#e4e4e4")
    strip(1, "GPU", {"another": (0, busy)} if filled else {}, FAINT)
    strip(1, "GPU", {f"kernel {i + 1}": span for i, span in enumerate(spans)}, tint(COLOURS["C"], 0.5))
    for row, (name, (begin, last)) in enumerate(clocks.items()):
        y = 96 + 30 * row
        shapes.append(Text(_LEFT - 10, y + 8, name, _SIZE, GROUND, "right"))
        shapes.append(Box(_LEFT + begin * scale, y + 4, max((last - begin) * scale, 1), 8, ISSUING))
        shapes.append(Text(_LEFT + last * scale + 8, y + 8, f"{last - begin} µs", _SIZE, GROUND, bold=True))
    shapes.append(Text(_LEFT - 10, 198, "time (µs)", _SIZE, GROUND, "right"))
    step = next(step for step in (5, 10, 20, 50, 100, 200, 500) if 10 * step > end)
    for tick in range(0, end + 1, step):
        shapes.append(Box(_LEFT + tick * scale, 184, 1, 6, GROUND))
        shapes.append(Text(_LEFT + tick * scale, 199, str(tick), _SIZE, GROUND, "middle"))
    work = launches * kernel
    measured = ", ".join(f"{name} {last - begin} µs" for name, (begin, last) in clocks.items())
    idle = end - spans[0][0] - work
    says = (
        f"{plural(launches, 'launch', 'es')} of a kernel that takes {kernel} µs: {work} µs of work. The host takes "
        f"{launch} µs for a launch, and the queue is {'filled first' if filled else 'empty at first'}",
        f"The clocks show: {measured}",
        f"Between the kernels the GPU has nothing to do for {idle} µs",
    )
    return Sketch(tuple(shapes), 212, says)


#: The rows of a tile that a tensor core reads at the same time, the bytes of each and of its pieces, and the rows of a
#: whole tile.
_ROWS, _ROW_BYTES, _PIECE, _TILE_ROWS = 8, 128, 16, 64
#: Where piece p of row r begins in a tile, in bytes, in each of the layouts of `draw_layout`.
LAYOUTS: dict[str, Callable[[int, int], int]] = {
    "rows": lambda r, p: _ROW_BYTES * r + _PIECE * p,
    "columns of pieces": lambda r, p: _PIECE * (_TILE_ROWS * p + r),
    "swizzled rows": lambda r, p: _ROW_BYTES * r + _PIECE * (p ^ r % 8),
}


def draw_layout(layout: int, piece: int) -> Sketch:
    """Draw the banks of the pieces of eight rows, and mark piece ``piece`` of each, which are read together."""
    name = list(LAYOUTS)[layout]
    pieces = _ROW_BYTES // _PIECE
    span = _PIECE // WORD_BYTES
    groups = BANKS // span
    where = [[LAYOUTS[name](r, p) // _PIECE % groups for p in range(pieces)] for r in range(_ROWS)]
    wide, high = (WIDTH - _LEFT - 10) / groups, 30
    shapes: list[Shape] = []
    for group in range(groups):
        banks = f"banks {span * group}–{span * group + span - 1}"
        shapes.append(Text(_LEFT + (group + 0.5) * wide, 12, banks, _SIZE - 2, GROUND, "middle"))
    for r, places in enumerate(where):
        y = 24 + r * high
        shapes.append(Text(_LEFT - 10, y + 13, f"row {r}", _SIZE, GROUND, "right"))
        for group in range(groups):
            here = [p for p in range(pieces) if places[p] == group]
            fill = None if not here else COLOURS["shared"] if piece in here else tint(COLOURS["shared"], 0.25)
            x = _LEFT + group * wide
            shapes.append(Box(x, y, wide - 4, high - 4, fill, GROUND))
            if here:
                shapes.append(Text(x + (wide - 4) / 2, y + 13, " ".join(map(str, here)), _SIZE - 2, INK, "middle"))
    written = max(places.count(group) for places in where for group in range(groups))
    read = max([places[piece] for places in where].count(group) for group in range(groups))
    says = (
        f"Layout: {name}; the numbers are those of the pieces of {_PIECE} bytes of each row",
        f"The {pieces} pieces of one row are written in {plural(written, 'pass', 'es')}",
        f"Piece {piece} of the {_ROWS} rows, which are read together, takes {plural(read, 'pass', 'es')}",
    )
    for x, passes, what in ((_LEFT, written, "write a row"), (WIDTH / 2, read, f"read piece {piece} of the rows")):
        text = f"{plural(passes, 'pass', 'es')} to {what}"
        shapes.append(Text(x, 38 + _ROWS * high, text, _SIZE, GROUND, bold=passes > 1))
    return Sketch(tuple(shapes), 52 + _ROWS * high, says)


_STRIDES = tuple(range(33))
_THREADS = tuple(range(32, 1025, 32))
_REGISTERS = (*range(16, 256, 8), 255)
_SHARED = tuple(range(0, 228))
_KERNELS = (2, 5, 10, 20, 50, 100, 200)
_LAUNCHES = (5, 10, 20, 40)

KINDS = {
    "cube": Kind(
        "The multiply-adds of a product, and those of a tile",
        {"tile": Slider(TILES, TILES, lambda n: f"tile: {n} × {n}")},
        lambda tile, **of_earlier_versions: Sketch(*draw_cube(tile)),
    ),
    "sectors": Kind(
        "The sectors of a warp's load",
        {
            "stride": Slider(_STRIDES, (0, 1, 2, 3, 4, 8, 16, 32), lambda n: f"stride: {n}"),
            "first": Slider(tuple(range(25)), (0, 1, 4, 8), lambda n: f"first element: {n}"),
        },
        draw_sectors,
    ),
    "occupancy": Kind(
        "The blocks and warps of a multiprocessor",
        {
            "threads": Slider(_THREADS, (64, 128, 256, 512, 1024), lambda n: f"threads of a block: {n}"),
            "registers": Slider(_REGISTERS, (32, 64, 128, 255), lambda n: f"registers of a thread: {n}"),
            "shared": Slider(_SHARED, (0, 8, 32, 64, 100), lambda n: f"shared memory of a block: {n} KiB"),
        },
        draw_occupancy,
    ),
    "early_load": Kind(
        "What a load one iteration earlier gains",
        {
            "latency": Slider(tuple(range(20, 401, 20)), (80, 160, 320), lambda n: f"latency: {n} cycles"),
            "work": Slider(tuple(range(10, 101, 10)), (20, 40), lambda n: f"instructions of an iteration: {n}"),
            "warps": Slider(tuple(range(1, 17)), (1, 2, 4, 8, 16), lambda n: f"warps: {n}"),
            "path": Slider(tuple(range(0, 101, 10)), (0, 20, 40), lambda n: f"path, for an iteration: {n} cycles"),
        },
        draw_early_load,
    ),
    "queue": Kind(
        "The host, the queue and the GPU",
        {
            "launches": Slider(tuple(range(1, 9)), (1, 3, 8), lambda n: f"launches: {n}"),
            "kernel": Slider(_KERNELS, _KERNELS, lambda n: f"a kernel takes: {n} µs"),
            "launch": Slider(_LAUNCHES, (10, 40), lambda n: f"a launch takes: {n} µs"),
            "filled": Slider((0, 1), (0, 1), lambda n: "queue: filled first" if n else "queue: empty at first"),
        },
        draw_queue,
    ),
    "layout": Kind(
        "The banks of a tile for tensor cores",
        {
            "layout": Slider((0, 1, 2), (0, 1, 2), lambda n: f"layout: {list(LAYOUTS)[n]}"),
            "piece": Slider(tuple(range(8)), tuple(range(8)), lambda n: f"piece that is read: {n}"),
        },
        draw_layout,
    ),
}
