"""Pictures of where elements are in memory: addresses, sectors and banks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Rectangle

from ...simulator.formatting import plural
from ...simulator.hardware import BANKS, SECTOR_BYTES
from ..palette import COLOURS, GROUND
from .canvas import bare, cell, describe, legend, mixed, new_axes

if TYPE_CHECKING:
    from .. import Trace


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
    rows, cols = shape
    ax = new_axes(9.5, 0.55 * rows + 2.2)
    chosen = set(cells)
    width = rows * cols
    left = (width - 2 * cols) / 2
    for row in range(rows):
        for col in range(cols):
            address = row * cols + col
            colour = COLOURS[name] if (row, col) in chosen else None
            cell(ax, left + 2 * col, 2.6 + 2 * (rows - 1 - row), 2, str(address), colour)
            cell(ax, address, 0, 1, str(address), colour, size=9)
    per_sector = SECTOR_BYTES // itemsize
    for first in range(0, width if outlined else 0, per_sector):
        ax.add_patch(Rectangle((first, -0.25), min(per_sector, width - first), 1.5, fill=False, ec=GROUND, lw=2.2))
    ax.text(left - 0.6, 2.6 + rows, name, ha="right", va="center", fontsize=16, color=COLOURS[name], weight="bold")
    ax.text(-0.4, 0.5, "memory", ha="right", va="center", color=GROUND)
    sectors = sectors_of([itemsize * (row * cols + col) for row, col in cells])
    place = f"are in {plural(len(sectors), 'sector')} of {SECTOR_BYTES} bytes" if outlined else "on the line of memory"
    ax.set_title(f"{len(chosen)} elements of {name} {place}")
    ax.set_xlim(-4, width + 0.5)
    ax.set_ylim(-0.6, 2.9 + 2 * rows)
    bare(ax)
    indices = ", ".join(str(row * cols + col) for row, col in cells)
    return describe(ax, f"{name} has {rows} rows of {cols}; the coloured elements are at index {indices}")


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
    ax = new_axes(9.5, 2.5 * len(requests) + 0.4)
    counts = {label: sectors_of(addresses) for label, (_, addresses) in requests.items()}
    for order, (label, (array, addresses)) in enumerate(requests.items()):
        _draw_request(ax, label, array, np.asarray(addresses), top=-4.6 * order)
    ax.set_title("32 lanes, one load each: " + " or ".join(plural(len(s), "sector") for s in counts.values()))
    fills = {}
    for label, (array, addresses) in requests.items():
        fills[f"{array} used"] = mixed(COLOURS[array], 1.0)
        if SECTOR_BYTES * len(counts[label]) > 4 * len(set(addresses)):
            fills[f"{array} not used"] = mixed(COLOURS[array], 0.3)
    legend(ax, fills)
    ax.set_xlim(-0.2, 32.2)
    ax.set_ylim(-4.6 * len(requests) + 1.2, 1.2)
    bare(ax)
    return describe(
        ax, *(f"{label}: {len(requests[label][1])} lanes, {plural(len(s), 'sector')}" for label, s in counts.items())
    )


def _draw_request(ax: Axes, label: str, array: str, addresses: np.ndarray, top: float) -> None:
    sectors = sectors_of(addresses.tolist())
    wide, lane_wide = 32 / max(len(sectors), 8), 32 / len(addresses)  # at most an eighth, so that both can be compared
    for place, sector in enumerate(sectors):
        fill = mixed(COLOURS[array], 0.3)
        ax.add_patch(Rectangle((place * wide, top - 2.4), 0.92 * wide, 0.8, fc=fill, lw=0, zorder=2))
        if len(sectors) <= 8 or place % 4 == 0:
            first = f"{'' if place else 'byte '}{sector * SECTOR_BYTES:,}"
            ax.text(place * wide, top - 2.5, first, va="top", color=GROUND, fontsize=10)
    byte = 0.92 * wide / SECTOR_BYTES
    for lane, address in enumerate(addresses.tolist()):
        cell(ax, lane * lane_wide, top, lane_wide, str(lane), None, size=9, height=0.8)
        x = sectors.index(address // SECTOR_BYTES) * wide + address % SECTOR_BYTES * byte
        ax.add_patch(Rectangle((x, top - 2.4), 4 * byte, 0.8, fc=COLOURS[array], lw=0, zorder=3))
        ax.plot([(lane + 0.5) * lane_wide, x + 2 * byte], [top, top - 1.6], color=GROUND, lw=0.8, zorder=1)
    size = SECTOR_BYTES * len(sectors)
    said = f"{label}: {plural(len(sectors), 'sector')}, {size:,} bytes, {4 * len(set(addresses.tolist()))} of them used"
    gaps = {(after - before) * SECTOR_BYTES for before, after in pairwise(sectors)} - {SECTOR_BYTES}
    if len(gaps) == 1:
        said += f" (sectors that are {gaps.pop():,} bytes apart)"
    ax.text(0, top + 0.95, said, va="bottom", color=GROUND, fontsize=11)


def bank_strips(requests: Mapping[str, Sequence[int]]) -> Axes:
    """Draw one request to shared memory for each entry of ``requests``: the number of different words in each bank.

    ``requests`` maps a label to the word that each lane requests, counted from the start of shared memory in 4-byte
    words. Lanes that request the same word are served together; the fullest bank determines the wavefronts.

    >>> figures.show(figures.bank_strips({"stride 2": range(0, 64, 2)}))
    Figure: Different words that 32 lanes read from each bank.
      stride 2: 2 wavefronts.
    """
    ax = new_axes(11, 1.05 * len(requests) + 0.7)
    wavefronts = {}
    for order, (label, words) in enumerate(requests.items()):
        asked = np.bincount([word % BANKS for word in set(words)], minlength=BANKS)
        wavefronts[label] = int(asked.max())
        for bank, count in enumerate(asked):
            light, fill = (0.25 + 0.5 * count / wavefronts[label], COLOURS["shared"]) if count else (1.0, None)
            cell(ax, bank, -2 * order, 1, f"{count or ''}", fill, size=10, light=light)
        said = f"{label}: {plural(wavefronts[label], 'wavefront')}"
        ax.text(0, -2 * order + 1.1, said, ha="left", va="bottom", color=GROUND, fontsize=11)
        for bank in range(0, BANKS, 4):
            ax.text(bank + 0.5, -2 * order - 0.05, f"bank {bank}", ha="center", va="top", color=GROUND, fontsize=10)
    ax.set_title("Different words that 32 lanes read from each bank")
    ax.set_xlim(-0.2, BANKS + 0.2)
    ax.set_ylim(-2 * len(requests) + 1.3, 1.9)
    bare(ax)
    return describe(ax, *(f"{label}: {plural(count, 'wavefront')}" for label, count in wavefronts.items()))
