"""Closed forms: what a kernel asks of the memory system and what a GPU can give, without running anything."""

from .counts import flop, flop_per_byte, global_loads, global_stores, loads_per_output
from .traffic import TRAFFIC, Count, traffic

__all__ = [
    "TRAFFIC",
    "Count",
    "flop",
    "flop_per_byte",
    "global_loads",
    "global_stores",
    "loads_per_output",
    "traffic",
]
