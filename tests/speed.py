"""Processor time of what a reader waits for: `python tests/speed.py '{"cell": 1}'` measures in a process of its own.

It prints for every name the seconds of a call: the median of three, the first one below the limit that is given with
it, or the least of all that `least` makes. In a process that has run thousands of tests before, the same takes up to
six times as long.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from launches import samples

from course_lib import measurements, simulate
from course_lib.kernels import rung
from course_lib.model import waiting
from course_lib.viewer import Stepper, Waiting, explore
from course_lib.viewer.waiting import KERNELS, TILE_WIDTHS

#: From a choice in explore() to the new trace: of 16×16, and of 8×8 for the kernel of 512 threads. In `register_2d`
#: 256 threads with 64 results each execute 13,000 statements, however small the matrices are.
CHOICES = {"naive": 8, "prefetched": 16, "tiled": 16, "register_1d": 8, "register_2d": 8}
#: The inner dimension of each kernel that the model of waiting plays.
PLAYS = {"tiled": 64, "register_2d": 16, "staged": 16, "best": 16}


def least(measure: Callable[[], float], limit: float, tries: int = 20) -> float:
    """The least of at most so many measurements; the first one below the limit ends them.

    Other work on the machine only ever adds to a time, to a processor's time too: its caches and cores are shared. It
    can last: each rest is a quarter of a second longer than the one before, most of a minute in all.
    """
    shortest = measure()
    for rest in range(1, tries):
        if shortest < limit:
            break
        time.sleep(rest / 4)
        shortest = min(shortest, measure())
    return shortest


def choice(kernel: str) -> Callable[[], object]:
    """A choice in the `explore()` of a kernel."""
    return explore([kernel], n=CHOICES[kernel], tile_width=2)._relaunch


def cell() -> Callable[[], object]:
    """A cell that launches, traces and shows 64×64 matrices in tiles of 16, with picture and text."""
    tiled, n = rung("tiled"), 64

    def shown() -> None:
        A, B, C = (np.zeros((n, n), np.float32) for _ in range(3))
        run = simulate(tiled.make(tile_width=16), trace=True)[tiled.launch(n, n, n, tile_width=16)](A, B, C)
        data, _ = Stepper(run)._repr_mimebundle_()
        assert "Stepper of tiled: grid (4, 4) × block (16, 16)" in data["text/plain"]

    return shown


def plan(tile_width: int, buffers: int) -> Callable[[], object]:
    """A drag of the latency in `Waiting`, whose kernels are traced before."""
    widget = Waiting(waiting.Machine.measured(measurements.load("latencies")))
    widget.tile_width, widget.buffers, widget.warps = tile_width, buffers, 16
    widget.latency = 300

    def drag() -> None:
        widget.latency = latency = widget.latency + 20
        assert json.loads(widget._plan)["latency"] == latency

    return drag


def play(name: str) -> Callable[[], object]:
    """A rung of the ladder traced, lowered and played by the model of waiting."""
    machine, step = waiting.Machine.measured(measurements.load("latencies")), rung(name)
    M, N = step.tile(**step.params)
    launched = samples.product(name, M, PLAYS[name], N)

    def played() -> None:
        assert waiting.play(step.make(), launched().trace, machine).issued > 0

    return played


WAITS: dict[str, Callable[[], Callable[[], object]]] = {
    "cell": cell,
    **{f"choice {kernel}": partial(choice, kernel) for kernel in CHOICES},
    **{f"plan {width} {buffers}": partial(plan, width, buffers) for width in TILE_WIDTHS for buffers in KERNELS},
    **{f"play {name}": partial(play, name) for name in PLAYS},
}


def seconds(call: Callable[[], object]) -> float:
    """Processor time: the median of three calls."""
    times = []
    for _ in range(3):
        start = time.process_time()
        call()
        times.append(time.process_time() - start)
    return statistics.median(times)


if __name__ == "__main__":
    limits = json.loads(sys.argv[1])
    print(json.dumps({name: least(partial(seconds, WAITS[name]()), limit) for name, limit in limits.items()}))
