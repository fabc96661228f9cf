"""A model of waiting: simulates the warps of a multiprocessor cycle by cycle, with the reason for which each one waits.

    machine = waiting.Machine.measured(measurements.load("latencies"))
    play = waiting.play(kernel, run.trace, machine, blocks=2)
    figures.show(waiting.draw({"tiled": play}))

README.md in this folder describes how the model works, how its numbers are measured and where it is wrong.
"""

from typing import TYPE_CHECKING

from ...lazy import lazily

if TYPE_CHECKING:
    from ..model.machine import Machine
    from .drawing import draw
    from .interleaving import orders
    from .machine_code import bank_queue, lost_in_queues
    from .model_errors import reasons, stalls_of
    from .schedule import play, play_programs
    from .traced import programs
    from .widget import Waiting, plan

__all__ = [
    "Machine",
    "Waiting",
    "bank_queue",
    "draw",
    "lost_in_queues",
    "orders",
    "plan",
    "play",
    "play_programs",
    "programs",
    "reasons",
    "stalls_of",
]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "draw": ".drawing",
        "programs": ".traced",
        **dict.fromkeys(("reasons", "stalls_of"), ".model_errors"),
        "Machine": "..model.machine",
        "orders": ".interleaving",
        **dict.fromkeys(("bank_queue", "lost_in_queues"), ".machine_code"),
        **dict.fromkeys(("play", "play_programs"), ".schedule"),
        **dict.fromkeys(("Waiting", "plan"), ".widget"),
    },
)
