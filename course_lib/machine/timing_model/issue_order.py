"""The cycles at which the model has issued the statements of a traced block, for the stepper's view of waiting."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...simulator.hardware import ceil_div
from ...trace.columns import BARRIER, ITERATION
from ...trace.replay import Timeline
from ...trace.trace import Trace
from ..machine_code.instructions import MachineCode
from ..model.multiprocessor import Multiprocessor
from .event_loop import GLOBAL, SHARED
from .from_machine_code import block_streams
from .instruction_streams import Instruction
from .simulation import REASONS
from .timing import simulate_warps
from .traced_block import block_run

#: The instructions that a statement is for, where it has any.
WORK = ("load", "store", "shared load", "shared store", "copy", "multiply-add", "barrier")
SIMULATED, LATENCIES_HIDDEN = "the model's", "the model's, all latencies hidden"


class Order(list[int]):
    """The cycle at which each step ends; `waits[w]` is when warp w waits: (memory, first cycle, cycle after)."""

    def __init__(self, cycles: Iterable[int], waits: Sequence[Sequence[tuple[str, int, int]]] = ()) -> None:
        super().__init__(cycles)
        self.waits = waits


def orders(kernel: Any, trace: Trace, multiprocessor: Multiprocessor) -> dict[str, Order]:
    """Return the cycles at which the statements of the traced run's first block have been issued, by two simulations.

    The second one is of a multiprocessor on which every result is there at once; issue slots, units, bandwidth and
    barriers are the same. There is a cycle for each step of block (0, 0, 0), in the simulator's order: the cycle by
    which its warp had issued all instructions of this statement and of those before it. The block is alone on its
    multiprocessor. A statement's instructions are those that the compiler made for its line, in their order; where it
    made fewer than there are statements, one of them counts for several. Raise ValueError and TypeError as
    `traced_streams`.

        Stepper(run, orders=timing_model.orders(kernel, run.trace, multiprocessor))

    >>> A, B, C = matrices(16, 16, 16)
    >>> kernel = rung("tiled").make(tile_width=8)
    >>> run = simulate(kernel, trace=True)[(2, 2), (8, 8)](A, B, C)
    >>> H200 = timing_model.Multiprocessor.measured(measurements.load("latencies"))
    >>> [*timing_model.orders(kernel, run.trace, H200)]
    ["the model's", "the model's, all latencies hidden"]
    """
    run = block_run(kernel, trace)
    warps = block_streams(run)
    lines = [[_lines(run.code, place) for place in executed] for executed in run.executed]
    at_once = [[instruction._replace(pace=1) for instruction in stream] for stream in warps]
    return {
        SIMULATED: _cycles(trace, warps, lines, multiprocessor),
        LATENCIES_HIDDEN: _cycles(trace, at_once, lines, without_latency(multiprocessor)),
    }


def _lines(code: MachineCode, place: int) -> frozenset[int]:
    """Return the lines of source that an instruction comes from, of the kernel and of the functions it calls."""
    known = code.first_lines
    places = code.instructions[place].places
    return frozenset(known[name][1] + offset for name, offset in places if name in known)


def without_latency(multiprocessor: Multiprocessor) -> Multiprocessor:
    """Return the multiprocessor on which every result is available one cycle after its instruction."""
    return replace(
        multiprocessor,
        latency=dict.fromkeys(multiprocessor.latency, 1.0),
        multiply_add=1.0,
        copy=1.0,
        constant=1.0,
        address=0.0,
        spread=(),
        dram_spread=(),
    )


#: An interval between two barriers of a warp, and a line.
LineOfInterval = tuple[int, int]


def _issued_for(
    stream: Sequence[Instruction], lines: Sequence[frozenset[int]], issued: Sequence[float]
) -> tuple[dict[LineOfInterval, list[float]], set[LineOfInterval]]:
    """Return when a warp issues the instructions of each line, and the lines that do more than count and address.

    Of those lines, only the instructions that do the work are among them.
    """
    issued_for: dict[LineOfInterval, list[float]] = {}
    works = set[LineOfInterval]()
    interval = 0
    for instruction, of_lines, cycle in zip(stream, lines, issued, strict=True):
        work = instruction.kind in WORK
        for line in of_lines:
            key = interval, line
            if work and key not in works:
                works.add(key)
                issued_for[key] = []
            if work or key not in works:
                issued_for.setdefault(key, []).append(cycle)
        interval += instruction.kind == "barrier"
    return issued_for, works


def _cycles(
    trace: Trace,
    warps: Sequence[Sequence[Instruction]],
    lines: Sequence[Sequence[frozenset[int]]],
    multiprocessor: Multiprocessor,
) -> Order:
    """Simulate the warps, and return the cycle at which each statement has been issued, with the waits for memory.

    ``lines``: for each instruction of each warp, the lines that it comes from. The instructions of a line in an
    interval between two barriers are spread evenly over the statements of that line in the interval.
    """
    timing = simulate_warps(warps, multiprocessor)
    timeline = Timeline.of(trace, (0, 0, 0))
    cycles = np.zeros(len(timeline))
    arrives, heads = ((timeline.flags & flag) != 0 for flag in (BARRIER, ITERATION))
    for warp in np.unique(timeline.warps):
        steps = np.flatnonzero(timeline.warps == warp)
        barriers = np.cumsum(arrives[steps]) - arrives[steps]
        issued = timing.issued_at[warp]
        issued_for, works = _issued_for(warps[warp], lines[warp], issued)
        keys = [*zip(barriers.tolist(), timeline.lines[steps].tolist(), strict=True)]
        statements = Counter(keys)
        seen = Counter[tuple[int, int]]()
        for step, key in zip(steps.tolist(), keys, strict=True):
            seen[key] += 1
            if key not in issued_for or (heads[step] and key in works):  # what branches share may bear the loop's line
                continue
            place = 0  # of counters and addresses, which the compiler moves where it likes, the first
            if key in works:
                place = ceil_div(seen[key] * len(issued_for[key]), statements[key]) - 1
            cycles[step] = issued_for[key][place]
        cycles[steps[-1]] = issued[-1]
        cycles[steps] = np.maximum.accumulate(cycles[steps])
    last = 0
    for release in timeline.releases:  # a statement without instructions ends when its warp comes to it
        here = last + np.flatnonzero(arrives[last:release])
        later = release + np.flatnonzero(np.isin(timeline.warps[release:], timeline.warps[here]))
        cycles[later] = np.maximum(cycles[later], cycles[here].max())
        last = release
    memory = (REASONS[GLOBAL], REASONS[SHARED])
    waits = [[(why, round(since), round(to)) for why, since, to in spans if why in memory] for spans in timing.spans]
    return Order(np.rint(cycles).astype(int).tolist(), waits)
