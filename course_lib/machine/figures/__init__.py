"""Figures of the course: each function takes data and returns matplotlib Axes; one message per figure.

A colour always means the same thing (`COLOURS`, from the palette of Okabe and Ito, which colour-blind readers can tell
apart). Every function draws without a background, in colours that are visible on light and dark pages
(`palette.GROUND`), and describes the picture in words: `show(ax)` displays both.
"""

from ...trace.figures.canvas import Picture, show
from ...trace.figures.counts import (
    bars,
    explored,
    lines_against_n,
    pairs,
    scatter,
)
from ...trace.figures.loads import loads, loads_of
from ...trace.figures.memory import bank_strips, lane_addresses, row_major, sectors_of, warp_sectors
from ...trace.figures.tiles import footprint, register_tiles, split_k, thread_map, tile_pairs
from .device import machine
from .performance import Span, early_loads, race, spans
from .roofline_levels import levels, roofs

__all__ = [
    "Picture",
    "Span",
    "bank_strips",
    "bars",
    "early_loads",
    "explored",
    "footprint",
    "lane_addresses",
    "levels",
    "lines_against_n",
    "loads",
    "loads_of",
    "machine",
    "pairs",
    "race",
    "register_tiles",
    "roofs",
    "row_major",
    "scatter",
    "sectors_of",
    "show",
    "spans",
    "split_k",
    "thread_map",
    "tile_pairs",
    "warp_sectors",
]
