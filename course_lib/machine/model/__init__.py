"""Formulas: what a kernel requires of the memory system and what a GPU can deliver, without running anything."""

from ...simulator.occupancy import Occupancy, occupancy
from .counts import flop, flop_per_byte, global_loads, global_loads_of_best, loads_per_output
from .roofline import Bound, attainable, peak_flop_per_second

__all__ = [
    "Bound",
    "Occupancy",
    "attainable",
    "flop",
    "flop_per_byte",
    "global_loads",
    "global_loads_of_best",
    "loads_per_output",
    "occupancy",
    "peak_flop_per_second",
]
