"""The content of each picture with sliders for a setting: shapes, and sentences that say the same."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...simulator.formatting import plural
from ...simulator.hardware import BANKS, SECTOR_BYTES, WARP_SIZE, WORD_BYTES, ceil_div
from ...trace.palette import COLOURS, FAINT, GROUND, INK, ISSUING
from ...trace.viewer.picture_shapes import CARD_EDGE, WIDTH, Box, Shape, Text, tint
from .. import model
from ..figures import sectors_of
from .cube import TILES, draw_cube

# Lengths are in units of the picture: 1000 are the width of a cell's output, at least 760 pixels.
#: The size of letters.
_SIZE = 15
#: Where boxes begin, at the right of the names of rows; from a name to its row, and from a bar to its number.
_LEFT, _NAME_GAP, _NUMBER_GAP = 145, 10, 8
#: White space at the right.
_RIGHT = 10
#: The least length of a bar, so that it is seen.
_LEAST_BAR = 2
#: A field of a legend, from its corner to its text, and the width of an entry without its characters, and of each.
_FIELD_WIDTH, _FIELD_HEIGHT, _TO_TEXT, _TEXT_DOWN, _ENTRY_WIDTH, _CHARACTER = 18, 16, 26, 9, 60, 8.5

#: `draw_sectors`: the rows of memory, and the sectors of each.
_MEMORY_ROWS, _SECTORS_IN_ROW = 8, 16
#: Where the rows begin; from one to the next, above the first one, of a sector, and between two sectors.
_MEMORY_LEFT, _MEMORY_PITCH, _MEMORY_TOP, _SECTOR_HEIGHT, _SECTOR_GAP = 90, 34, 6, 24, 4
#: From the last row to the legend, to the bar of the numbers in all, and to the end; and the bar's height.
_TO_LEGEND, _TO_TOTAL, _TO_END, _TOTAL_HEIGHT = 8, 32, 52, 14
#: How strong the colour is of a sector that is fetched.
_FETCHED = 0.3

#: `draw_occupancy`: the height of the first bar, from one to the next, of a bar; and the room for its number.
_BARS_TOP, _BAR_PITCH, _BAR_HEIGHT, _BAR_NUMBER = 28, 34, 24, 130
#: The height of the first row of warps, the warps of a row, from one row to the next, and between two warps.
_WARPS_TOP, _WARPS_IN_ROW, _WARP_PITCH, _WARP_GAP = 178, 32, 27, 3
#: How strong the colour is of the warps of one block, and of the next one.
_OF_A_BLOCK, _OF_THE_NEXT = 0.5, 0.9

#: `draw_early_load`: from one case to the next, from there to its first limit, from one limit to the next, of a bar;
#: and the room for its number.
_CASE_PITCH, _TO_LIMITS, _LIMIT_PITCH, _LIMIT_HEIGHT, _LIMIT_NUMBER = 132, 26, 30, 22, 150

#: `draw_queue`: the height of the host's strip, from that to the GPU's, of a strip; and of a character of its texts.
_STRIPS_TOP, _STRIP_PITCH, _STRIP_HEIGHT, _STRIP_CHARACTER = 8, 36, 26, 9
#: The height of the first clock, from one to the next, and of its bar.
_CLOCKS_TOP, _CLOCK_PITCH, _CLOCK_HEIGHT = 96, 30, 8
#: The height of the ticks of time, how high one is, the heights of the axis's name and of the numbers; and the room for
#: the number of a clock.
_TICKS_TOP, _TICK_HEIGHT, _TIME_NAME, _TIME_NUMBERS, _CLOCK_NUMBER = 184, 6, 198, 199, 80
#: The steps from tick to tick, in microseconds, and fewer ticks than there are.
_TICK_STEPS, _MOST_TICKS = (5, 10, 20, 50, 100, 200, 500), 10

#: `draw_layout`: the height of the names of banks; of the first row of a tile; from one to the next; between two boxes.
_BANKS_HEIGHT, _ROWS_TOP, _ROW_PITCH, _BOX_GAP = 12, 24, 30, 4
#: How strong the colour is of banks with a piece that is not read.
_NOT_READ = 0.25


def _row_name(text: str, y: float, left: float = _LEFT, bold: bool = False) -> Text:
    """Return the name of a row that begins at ``left``; its middle is at the height ``y``."""
    return Text(left - _NAME_GAP, y, text, _SIZE, GROUND, "right", bold=bold)


def _limit(name: str, top: float, height: int, length: float, said: str, limits: bool) -> list[Shape]:
    """Return a bar with its name and what is said of it; bold and in a colour if it is the one that limits."""
    middle, length = top + height // 2, max(length, _LEAST_BAR)
    return [
        _row_name(name, middle, bold=limits),
        Box(_LEFT, top, length, height, ISSUING if limits else FAINT),
        Text(_LEFT + length + _NUMBER_GAP, middle, said, _SIZE, GROUND, bold=limits),
    ]


def _legend(y: float, *entries: tuple[str | None, str]) -> list[Shape]:
    """Explain fills in a row at the height ``y``."""
    shapes: list[Shape] = []
    x: float = _LEFT
    for fill, text in entries:
        shapes.append(Box(x, y, _FIELD_WIDTH, _FIELD_HEIGHT, fill, GROUND))
        shapes.append(Text(x + _TO_TEXT, y + _TEXT_DOWN, text, _SIZE, GROUND))
        x += _ENTRY_WIDTH + _CHARACTER * len(text)
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
    per_sector = SECTOR_BYTES // WORD_BYTES
    light = tint(COLOURS["B"], _FETCHED)
    counts = ((light, per_sector * len(fetched), "fetched"), (COLOURS["B"], len(used), "used"))
    end = _MEMORY_ROWS * _MEMORY_PITCH
    shapes = [*_memory(fetched, used, light)]
    shapes += _legend(end + _TO_LEGEND, *((fill, f"{count} numbers {what}") for fill, count, what in counts))
    unit = (WIDTH - _MEMORY_LEFT) / (per_sector * WARP_SIZE)
    total = end + _TO_TOTAL
    shapes.append(_row_name("in all", total + _TOTAL_HEIGHT // 2, _MEMORY_LEFT))
    shapes += (Box(_MEMORY_LEFT, total, unit * count, _TOTAL_HEIGHT, fill) for fill, count, _ in counts)
    share = len(used) / (per_sector * len(fetched))
    says = (
        f"Lane i loads element {first} + {stride}·i: {plural(len(used), 'different element')}, "
        f"in {plural(len(fetched), 'sector')} of {SECTOR_BYTES} bytes",
        f"Of {per_sector * len(fetched)} numbers that are fetched, the warp uses {len(used)}: {100 * share:.3g} %",
        f"Each box is a sector of {per_sector} numbers; the number at the left is the index of the first element of a "
        "row",
    )
    return Sketch(tuple(shapes), end + _TO_END, says)


def _memory(fetched: Sequence[int], used: Sequence[int], light: str) -> Iterator[Shape]:
    """Yield the sectors of a line of memory, row by row: those that are fetched are ``light``, what is used darker."""
    per_sector = SECTOR_BYTES // WORD_BYTES
    pitch = (WIDTH - _MEMORY_LEFT) / _SECTORS_IN_ROW
    width = pitch - _SECTOR_GAP
    for row in range(_MEMORY_ROWS):
        middle = row * _MEMORY_PITCH + _MEMORY_TOP + _SECTOR_HEIGHT // 2
        first = row * _SECTORS_IN_ROW * per_sector
        yield _row_name(f"{'' if row else 'element '}{first}", middle, _MEMORY_LEFT)

    def corner(sector: int) -> tuple[float, int]:
        row, place = divmod(sector, _SECTORS_IN_ROW)
        return _MEMORY_LEFT + place * pitch, row * _MEMORY_PITCH + _MEMORY_TOP

    for sector in range(_MEMORY_ROWS * _SECTORS_IN_ROW):
        yield Box(*corner(sector), width, _SECTOR_HEIGHT, light if sector in fetched else None, GROUND)
    number = width / per_sector
    for element in used:
        sector, place = divmod(element, per_sector)
        x, y = corner(sector)
        yield Box(x + place * number + 0.5, y + 1, number - 1, _SECTOR_HEIGHT - 2, COLOURS["B"])


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
        limits = resource in limiting
        length = (WIDTH - _LEFT - _BAR_NUMBER) * min(blocks, most) / most
        said = f"{blocks}{' (the limit)' if limits else ''}"
        shapes += _limit(resource, _BARS_TOP + _BAR_PITCH * row, _BAR_HEIGHT, length, said, limits)
    shapes += _slots(slots, held.warps, warps)
    legend = _WARPS_TOP + _WARP_PITCH * (slots // _WARPS_IN_ROW) + _TO_LEGEND
    fills = (tint(COLOURS["register"], strength) for strength in (_OF_A_BLOCK, _OF_THE_NEXT))
    shapes += _legend(legend, *zip(fills, ("warps of a block", "of the next block"), strict=True), (None, "free"))
    room = ", ".join(f"{resource} {blocks}" for resource, blocks in held.room.items())
    says = (
        f"Blocks that have room on a multiprocessor of an {gpu['gpu']}, by each resource: {room}",
        f"The smallest number counts: {plural(held.blocks, 'block')} of {plural(warps, 'warp')}, "
        f"limited by {' and '.join(limiting)}",
        f"Occupancy: {held.warps} of {slots} warps, {100 * held.share:.0f} %",
    )
    return Sketch(tuple(shapes), legend + 22, says)


def _slots(slots: int, resident: int, warps: int) -> Iterator[Shape]:
    """Yield the slots of a multiprocessor for warps: ``resident`` of them are taken, by blocks of ``warps`` each."""
    yield _row_name("warps", _WARPS_TOP + 26)
    pitch = (WIDTH - _LEFT - _RIGHT) / _WARPS_IN_ROW
    for slot in range(slots):
        row, place = divmod(slot, _WARPS_IN_ROW)
        strength = _OF_THE_NEXT if slot // warps % 2 else _OF_A_BLOCK
        fill = tint(COLOURS["register"], strength) if slot < resident else None
        corner = _LEFT + place * pitch, _WARPS_TOP + _WARP_PITCH * row
        yield Box(*corner, pitch - _WARP_GAP, _BAR_HEIGHT, fill, GROUND)


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
    speeds = {case: min(limits.values()) for case, limits in allowed.items()}
    late, early = speeds.values()
    longest = 2 * early
    shapes: list[Shape] = []
    y = 0.0
    for case, limits in allowed.items():
        shapes.append(Text(_LEFT, y + 10, f"{case}: iterations in 1,000 cycles", _SIZE, GROUND))
        for row, (limit, most) in enumerate(limits.items()):
            is_lowest = most == speeds[case]
            length = (WIDTH - _LEFT - _LIMIT_NUMBER) * min(most, longest) / longest
            said = "no limit" if most == math.inf else f"{most:.3g}{' (the limit)' if is_lowest else ''}"
            shapes += _limit(limit, y + _TO_LIMITS + _LIMIT_PITCH * row, _LIMIT_HEIGHT, length, said, is_lowest)
        y += _CASE_PITCH
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
    scale = (WIDTH - _LEFT - _CLOCK_NUMBER) / end
    calls = {f"launch {i + 1}": (i * launch, (i + 1) * launch) for i in range(launches)}
    waits = {"synchronise": (launches * launch, end)} if end > launches * launch else {}
    shapes = [*_strip("host", 0, scale, calls, tint(COLOURS["A"], 0.4)), *_strip("host", 0, scale, waits, "#e4e4e4")]
    shapes += _strip("GPU", 1, scale, {"another": (0, busy)} if filled else {}, FAINT)
    kernels = {f"kernel {i + 1}": span for i, span in enumerate(spans)}
    shapes += _strip("GPU", 1, scale, kernels, tint(COLOURS["C"], 0.5))
    shapes += _clocks(clocks, scale)
    shapes += _time_axis(end, scale)
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


def _strip(name: str, row: int, scale: float, spans: Mapping[str, tuple[int, int]], fill: str) -> Iterator[Shape]:
    """Yield what the host or the GPU does, by (begin, end): a box with its text, its last word, or neither."""
    top = _STRIPS_TOP + _STRIP_PITCH * row
    middle = top + _STRIP_HEIGHT // 2
    yield _row_name(name, middle)
    for text, (begin, last) in spans.items():
        left, width = _LEFT + begin * scale, max((last - begin) * scale, 1)
        yield Box(left, top, width, _STRIP_HEIGHT, fill, CARD_EDGE)
        fitting = [words for words in (text, text.split()[-1]) if _STRIP_CHARACTER * len(words) < width]
        if fitting:
            yield Text(left + width / 2, middle, fitting[0], _SIZE, INK, "middle")


def _clocks(clocks: Mapping[str, tuple[int, int]], scale: float) -> Iterator[Shape]:
    """Yield the interval that each way to measure takes."""
    for row, (name, (begin, last)) in enumerate(clocks.items()):
        middle = _CLOCKS_TOP + _CLOCK_PITCH * row + _CLOCK_HEIGHT
        yield _row_name(name, middle)
        length = max((last - begin) * scale, 1)
        yield Box(_LEFT + begin * scale, middle - _CLOCK_HEIGHT // 2, length, _CLOCK_HEIGHT, ISSUING)
        yield Text(_LEFT + last * scale + _NUMBER_GAP, middle, f"{last - begin} µs", _SIZE, GROUND, bold=True)


def _time_axis(end: int, scale: float) -> Iterator[Shape]:
    """Yield the axis of time, from 0 to ``end``."""
    yield _row_name("time (µs)", _TIME_NAME)
    step = next(step for step in _TICK_STEPS if _MOST_TICKS * step > end)
    for tick in range(0, end + 1, step):
        yield Box(_LEFT + tick * scale, _TICKS_TOP, 1, _TICK_HEIGHT, GROUND)
        yield Text(_LEFT + tick * scale, _TIME_NUMBERS, str(tick), _SIZE, GROUND, "middle")


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
    banks = _PIECE // WORD_BYTES  # of a piece
    groups = BANKS // banks
    placed = [[LAYOUTS[name](r, p) // _PIECE % groups for p in range(pieces)] for r in range(_ROWS)]
    pitch = (WIDTH - _LEFT - _RIGHT) / groups
    shapes: list[Shape] = []
    for group in range(groups):
        said = f"banks {banks * group}–{banks * group + banks - 1}"
        shapes.append(Text(_LEFT + (group + 0.5) * pitch, _BANKS_HEIGHT, said, _SIZE - 2, GROUND, "middle"))
    for row, groups_of_row in enumerate(placed):
        shapes += _row_of_pieces(row, groups_of_row, groups, piece, pitch)
    written = max(of_row.count(group) for of_row in placed for group in range(groups))
    read = max([of_row[piece] for of_row in placed].count(group) for group in range(groups))
    says = (
        f"Layout: {name}; the numbers are those of the pieces of {_PIECE} bytes of each row",
        f"The {pieces} pieces of one row are written in {plural(written, 'pass', 'es')}",
        f"Piece {piece} of the {_ROWS} rows, which are read together, takes {plural(read, 'pass', 'es')}",
    )
    end = _ROWS_TOP + _ROWS * _ROW_PITCH
    for x, passes, what in ((_LEFT, written, "write a row"), (WIDTH / 2, read, f"read piece {piece} of the rows")):
        text = f"{plural(passes, 'pass', 'es')} to {what}"
        shapes.append(Text(x, end + 14, text, _SIZE, GROUND, bold=passes > 1))
    return Sketch(tuple(shapes), end + 28, says)


def _row_of_pieces(row: int, placed: Sequence[int], groups: int, piece: int, pitch: float) -> Iterator[Shape]:
    """Yield the groups of banks of a row, with the numbers of the pieces in each; ``placed`` has the group of each."""
    top, width, height = _ROWS_TOP + row * _ROW_PITCH, pitch - _BOX_GAP, _ROW_PITCH - _BOX_GAP
    middle = top + height // 2
    yield _row_name(f"row {row}", middle)
    for group in range(groups):
        here = [p for p, of_piece in enumerate(placed) if of_piece == group]
        fill = None
        if piece in here:
            fill = COLOURS["shared"]
        elif here:
            fill = tint(COLOURS["shared"], _NOT_READ)
        left = _LEFT + group * pitch
        yield Box(left, top, width, height, fill, GROUND)
        if here:
            yield Text(left + width / 2, middle, " ".join(map(str, here)), _SIZE - 2, INK, "middle")


_STRIDES = tuple(range(33))
_THREADS = tuple(range(32, 1025, 32))
_REGISTERS = (*range(16, 256, 8), 255)
_SHARED_KIB = tuple(range(0, 228))
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
            "shared": Slider(_SHARED_KIB, (0, 8, 32, 64, 100), lambda n: f"shared memory of a block: {n} KiB"),
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
