"""Pictures of where elements are in memory: addresses, sectors and banks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from ...simulator.formatting import plural
from ...simulator.hardware import BANKS, SECTOR_BYTES
from ..palette import COLOURS, GROUND
from .canvas import (
    NAME_SIZE,
    NUMBER_SIZE,
    PICTURE_WIDTH,
    SMALLEST_SIZE,
    TEXT_SIZE,
    TILE_EDGE,
    bare,
    cell,
    describe,
    legend,
    mixed,
    new_axes,
)

if TYPE_CHECKING:
    from .. import Trace

#: The width of the pictures of banks, in inches.
_BANKS_WIDTH = 11

# `row_major`: lengths are in sides of an element in the line of memory.
#: In inches, the height of a row of the matrix, and of all else.
_ROW_HEIGHT, _AROUND = 0.55, 2.2
#: The side of an element in the matrix, and from the bottom of the line of memory to that of the matrix.
_SIDE, _MATRIX_BOTTOM = 2, 2.6
#: From the edge of a sector to its elements.
_SECTOR_MARGIN = 0.25
#: From a name to what it names: the matrix, the line of memory.
_NAME_GAP, _MEMORY_GAP = 0.6, 0.4
#: White space, at the left for the word "memory".
_LEFT, _RIGHT, _BELOW, _ABOVE = 4, 0.5, 0.6, 0.3

# `warp_sectors`: a request is 32 wide, from its lanes to the bytes that they load.
#: In inches, the height of a request, and of all else.
_REQUEST_HEIGHT, _REQUESTS_AROUND = 2.5, 0.4
_REQUEST_WIDTH = 32
#: Heights: from one request to the next, of the boxes of lanes and of sectors, from the bottom of the lanes to that of
#: the sectors, from there to the addresses below, and from the lanes to the sentence above.
_REQUEST_PITCH, _BOX, _TO_SECTORS, _TO_ADDRESSES, _TO_SENTENCE = 4.6, 0.8, 2.4, 0.1, 0.95
#: The most sectors that are as wide as an eighth, so that two requests can be compared; of more, every fourth has its
#: address.
_FEW_SECTORS, _ADDRESSED = 8, 4
#: The part of a sector's width that is filled; the rest is the gap to the next one.
_FILLED = 0.92
#: How strong the colour is of bytes that no lane uses.
_UNUSED = 0.3
#: Bytes that a lane loads.
_LOADED = 4

# `bank_strips`: lengths are in sides of a bank.
#: In inches, the height of a request, and of all else.
_STRIP_HEIGHT, _STRIPS_AROUND = 1.05, 0.7
#: From one request to the next; and from a strip to the sentence above and to the numbers of banks below it.
_STRIP_PITCH, _ABOVE_STRIP, _BELOW_STRIP = 2, 0.1, 0.05
#: Every so many banks one has its number.
_NUMBERED = 4
#: How strong the colour of a bank is: with no words, and what is added for the fullest one.
_LIGHTEST, _STRONGER = 0.25, 0.5


def row_major(
    shape: tuple[int, int], cells: Sequence[tuple[int, int]], name: str = "A", itemsize: int = 4, outlined: bool = True
) -> Axes:
    """Draw a row-major matrix above the memory that holds it: ``cells`` coloured in both, 32-byte sectors outlined.

    ``shape`` is (rows, columns) in elements, ``itemsize`` the bytes of one; the matrix starts on a sector. With
    ``outlined=False`` sectors are neither drawn nor mentioned.

    >>> figures.show(figures.row_major((4, 8), cells=[(row, 2) for row in range(4)]))
    Figure: 4 elements of A are in 4 sectors of 32 bytes.
      A has 4 rows of 8; the coloured elements are at index 2, 10, 18, 26.
    """
    rows, columns = shape
    ax = new_axes(PICTURE_WIDTH, _ROW_HEIGHT * rows + _AROUND)
    chosen = set(cells)
    length = rows * columns  # of the line of memory
    left = (length - _SIDE * columns) / 2
    for row in range(rows):
        for column in range(columns):
            index = row * columns + column
            colour = COLOURS[name] if (row, column) in chosen else None
            bottom = _MATRIX_BOTTOM + _SIDE * (rows - 1 - row)
            cell(ax, left + _SIDE * column, bottom, _SIDE, str(index), colour)
            cell(ax, index, 0, 1, str(index), colour, size=SMALLEST_SIZE)
    if outlined:
        _outline_sectors(ax, length, SECTOR_BYTES // itemsize)
    middle = _MATRIX_BOTTOM + _SIDE * rows / 2
    style: dict[str, Any] = {"ha": "right", "va": "center"}
    ax.text(left - _NAME_GAP, middle, name, fontsize=NAME_SIZE, color=COLOURS[name], weight="bold", **style)
    ax.text(-_MEMORY_GAP, 0.5, "memory", color=GROUND, **style)
    indices = [row * columns + column for row, column in cells]
    sectors = sectors_of([itemsize * index for index in indices])
    place = f"are in {plural(len(sectors), 'sector')} of {SECTOR_BYTES} bytes" if outlined else "on the line of memory"
    ax.set_title(f"{len(chosen)} elements of {name} {place}")
    ax.set_xlim(-_LEFT, length + _RIGHT)
    ax.set_ylim(-_BELOW, _MATRIX_BOTTOM + _SIDE * rows + _ABOVE)
    bare(ax)
    listed = ", ".join(map(str, indices))
    return describe(ax, f"{name} has {rows} rows of {columns}; the coloured elements are at index {listed}")


def _outline_sectors(ax: Axes, length: int, per_sector: int) -> None:
    """Outline the sectors of a line of memory that has ``length`` elements, ``per_sector`` in each."""
    low, height = -_SECTOR_MARGIN, 1 + 2 * _SECTOR_MARGIN
    for first in range(0, length, per_sector):
        width = min(per_sector, length - first)
        ax.add_patch(Rectangle((first, low), width, height, fill=False, ec=GROUND, lw=TILE_EDGE))


def sectors_of(addresses: Sequence[int]) -> list[int]:
    """Return the distinct 32-byte sectors, in order, that hold these byte addresses.

    >>> figures.sectors_of([0, 4, 8, 64])
    [0, 2]
    """
    return sorted({int(address) // SECTOR_BYTES for address in addresses})


def lane_addresses(trace: Trace, array: str, op: str = "load") -> np.ndarray:
    """Return the byte addresses, from the array's base, of the first request to ``array``: one per active lane.

    The array must be row-major. Raise ValueError if the trace has no such request.

    >>> run = simulate(rung("naive").make(), trace=True)[(2, 2), (16, 16)](*matrices(32, 32, 32))
    >>> figures.lane_addresses(run.trace, "B")[:4]
    array([ 0,  4,  8, 12])
    """
    for step in trace.steps:
        for access in step.accesses:
            if access.array == array and access.op == op:
                held = trace.arrays[array]
                strides = np.cumprod((1, *held.shape[:0:-1]))[::-1] * np.dtype(held.dtype).itemsize
                return access.index @ strides
    raise ValueError(f"no {op} of {array} in this trace")


def warp_sectors(requests: Mapping[str, tuple[str, Sequence[int]]]) -> Axes:
    """Draw one load of a warp for each entry of ``requests``: lanes above, and below the sectors that are fetched.

    ``requests`` maps a label to (array, the byte address of the 4 bytes that each lane requests). What is used of a
    sector is dark, the rest light; memory between two sectors is left out.

    >>> figures.show(figures.warp_sectors({"a row": ("B", range(0, 128, 4))}))
    Figure: 32 lanes, one load each: 4 sectors.
      a row: 32 lanes, 4 sectors.
    """
    ax = new_axes(PICTURE_WIDTH, _REQUEST_HEIGHT * len(requests) + _REQUESTS_AROUND)
    fetched = {label: sectors_of(addresses) for label, (_, addresses) in requests.items()}
    for order, (label, (array, addresses)) in enumerate(requests.items()):
        _draw_request(ax, label, array, np.asarray(addresses), top=-_REQUEST_PITCH * order)
    counts = [plural(len(sectors), "sector") for sectors in fetched.values()]
    ax.set_title("32 lanes, one load each: " + " or ".join(counts))
    fills = {}
    for label, (array, addresses) in requests.items():
        fills[f"{array} used"] = mixed(COLOURS[array], 1.0)
        if SECTOR_BYTES * len(fetched[label]) > _LOADED * len(set(addresses)):
            fills[f"{array} not used"] = mixed(COLOURS[array], _UNUSED)
    legend(ax, fills)
    ax.set_xlim(-0.2, _REQUEST_WIDTH + 0.2)
    ax.set_ylim(-_REQUEST_PITCH * len(requests) + 1.2, 1.2)
    bare(ax)
    parts = zip(requests.items(), counts, strict=True)
    return describe(ax, *(f"{label}: {len(addresses)} lanes, {count}" for (label, (_, addresses)), count in parts))


def _draw_request(ax: Axes, label: str, array: str, addresses: np.ndarray, top: float) -> None:
    """Draw a request: its lanes at the height ``top``, the sectors below, and a line from each lane to its bytes."""
    sectors = sectors_of(addresses.tolist())
    sector_width, lane_width = _REQUEST_WIDTH / max(len(sectors), _FEW_SECTORS), _REQUEST_WIDTH / len(addresses)
    byte_width = _FILLED * sector_width / SECTOR_BYTES
    low = top - _TO_SECTORS
    for place, sector in enumerate(sectors):
        fill = mixed(COLOURS[array], _UNUSED)
        corner = place * sector_width, low
        ax.add_patch(Rectangle(corner, _FILLED * sector_width, _BOX, fc=fill, lw=0, zorder=2))
        if len(sectors) <= _FEW_SECTORS or place % _ADDRESSED == 0:
            first = f"{'' if place else 'byte '}{sector * SECTOR_BYTES:,}"
            ax.text(corner[0], low - _TO_ADDRESSES, first, va="top", color=GROUND, fontsize=NUMBER_SIZE)
    for lane, address in enumerate(addresses.tolist()):
        cell(ax, lane * lane_width, top, lane_width, str(lane), None, size=SMALLEST_SIZE, height=_BOX)
        sector, byte = divmod(address, SECTOR_BYTES)
        x, width = sectors.index(sector) * sector_width + byte * byte_width, _LOADED * byte_width
        ax.add_patch(Rectangle((x, low), width, _BOX, fc=COLOURS[array], lw=0, zorder=3))
        ax.plot([(lane + 0.5) * lane_width, x + width / 2], [top, low + _BOX], color=GROUND, lw=0.8, zorder=1)
    said = f"{label}: {_use_of_sectors(sectors, addresses)}"
    ax.text(0, top + _TO_SENTENCE, said, va="bottom", color=GROUND, fontsize=TEXT_SIZE)


def _use_of_sectors(sectors: Sequence[int], addresses: np.ndarray) -> str:
    """Say how many bytes a request fetches, how many of them it uses, and how far apart they are."""
    used = _LOADED * len(set(addresses.tolist()))
    said = f"{plural(len(sectors), 'sector')}, {SECTOR_BYTES * len(sectors):,} bytes, {used} of them used"
    gaps = {(after - before) * SECTOR_BYTES for before, after in pairwise(sectors)} - {SECTOR_BYTES}
    if len(gaps) == 1:
        said += f" (sectors that are {gaps.pop():,} bytes apart)"
    return said


def bank_strips(requests: Mapping[str, Sequence[int]]) -> Axes:
    """Draw one request to shared memory for each entry of ``requests``: the number of different words in each bank.

    ``requests`` maps a label to the word that each lane requests, counted from the start of shared memory in 4-byte
    words. Lanes that request the same word are served together; the fullest bank determines the wavefronts.

    >>> figures.show(figures.bank_strips({"stride 2": range(0, 64, 2)}))
    Figure: Different words that 32 lanes read from each bank.
      stride 2: 2 wavefronts.
    """
    ax = new_axes(_BANKS_WIDTH, _STRIP_HEIGHT * len(requests) + _STRIPS_AROUND)
    wavefronts = {}
    for order, (label, words) in enumerate(requests.items()):
        counts = np.bincount([word % BANKS for word in set(words)], minlength=BANKS)
        wavefronts[label] = int(counts.max())
        _draw_strip(ax, counts, -_STRIP_PITCH * order)
        said = f"{label}: {plural(wavefronts[label], 'wavefront')}"
        above = -_STRIP_PITCH * order + 1 + _ABOVE_STRIP
        ax.text(0, above, said, ha="left", va="bottom", color=GROUND, fontsize=TEXT_SIZE)
    ax.set_title("Different words that 32 lanes read from each bank")
    ax.set_xlim(-0.2, BANKS + 0.2)
    ax.set_ylim(-_STRIP_PITCH * len(requests) + 1.3, 1.9)
    bare(ax)
    return describe(ax, *(f"{label}: {plural(count, 'wavefront')}" for label, count in wavefronts.items()))


def _draw_strip(ax: Axes, counts: np.ndarray, low: float) -> None:
    """Draw the number of words in each bank, the more the stronger the colour, and the numbers of some banks below."""
    for bank, count in enumerate(counts):
        if count:
            light = _LIGHTEST + _STRONGER * count / counts.max()
            cell(ax, bank, low, 1, str(count), COLOURS["shared"], size=NUMBER_SIZE, light=light)
        else:
            cell(ax, bank, low, 1, "", None)
    for bank in range(0, BANKS, _NUMBERED):
        middle, below = bank + 0.5, low - _BELOW_STRIP
        ax.text(middle, below, f"bank {bank}", ha="center", va="top", color=GROUND, fontsize=NUMBER_SIZE)
