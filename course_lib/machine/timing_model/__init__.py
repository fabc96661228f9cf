"""A timing model: simulates the warps of a multiprocessor cycle by cycle, with the reason for which each one waits.

    multiprocessor = timing_model.Multiprocessor.measured(measurements.load("latencies"))
    timing = timing_model.simulate_blocks(kernel, run.trace, multiprocessor, blocks=2)
    figures.show(timing_model.draw({"tiled": timing}))

README.md in this folder describes how the model works, how its numbers are measured and where it is wrong.
"""

from typing import TYPE_CHECKING

from ...lazy import lazily

if TYPE_CHECKING:
    from ..model.multiprocessor import Multiprocessor
    from .drawing import draw
    from .issue_order import orders
    from .register_banks import bank_queue, lost_in_queues
    from .stall_reasons import reasons, stalls_of
    from .timing import simulate_blocks, simulate_warps
    from .traced_block import traced_streams
    from .widget import Waiting, plan

__all__ = [
    "Multiprocessor",
    "Waiting",
    "bank_queue",
    "draw",
    "lost_in_queues",
    "orders",
    "plan",
    "reasons",
    "simulate_blocks",
    "simulate_warps",
    "stalls_of",
    "traced_streams",
]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "Multiprocessor": "..model.multiprocessor",
        "draw": ".drawing",
        "orders": ".issue_order",
        **dict.fromkeys(("bank_queue", "lost_in_queues"), ".register_banks"),
        **dict.fromkeys(("reasons", "stalls_of"), ".stall_reasons"),
        **dict.fromkeys(("simulate_blocks", "simulate_warps"), ".timing"),
        "traced_streams": ".traced_block",
        **dict.fromkeys(("Waiting", "plan"), ".widget"),
    },
)
