"""The order in which the model plays the statements of a traced block, for the stepper's view of waiting."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...trace.columns import BARRIER
from ...trace.replay import Timeline
from ...trace.trace import Trace
from .instructions import Instruction, programs
from .plays import Machine, play_programs

PLAYED, HIDDEN = "the model's", "the model's, all latencies hidden"


def orders(kernel: Any, trace: Trace, machine: Machine) -> dict[str, list[int]]:
    """Return the cycles at which the statements of the traced run's first block have been issued, in two plays.

    The second play is of a machine on which every result is there at once; issue slots, units, bandwidth and barriers
    are the same. There is a cycle for each step of block (0, 0, 0), in the simulator's order: the cycle by which its
    warp had issued all instructions of this statement and of those before it. The block is alone on its
    multiprocessor. Raise ValueError and TypeError as `programs` does.

        Stepper(run, orders=waiting.orders(kernel, run.trace, machine))
    """
    warps = programs(kernel, trace)
    at_once = [[instruction._replace(pace=1) for instruction in program] for program in warps]
    return {
        PLAYED: _cycles(trace, warps, machine),
        HIDDEN: _cycles(trace, at_once, without_latency(machine)),
    }


def without_latency(machine: Machine) -> Machine:
    """Return the machine on which every result is available one cycle after its instruction."""
    return replace(
        machine,
        latency=dict.fromkeys(machine.latency, 1.0),
        index_latency=dict.fromkeys(machine.index_latency, 1.0),
        multiply_add=1.0,
        copy=1.0,
        constant=1.0,
        address=0.0,
        spread=(),
        dram_spread=(),
    )


def _cycles(trace: Trace, warps: Sequence[Sequence[Instruction]], machine: Machine) -> list[int]:
    play = play_programs(warps, machine)
    timeline = Timeline(trace, (0, 0, 0))
    cycles = np.zeros(len(timeline))
    for number, warp in enumerate(np.unique(timeline.warps)):
        steps = np.flatnonzero(timeline.warps == warp)
        issued = np.zeros(len(steps))
        of = np.array([instruction.step for instruction in warps[number]], np.int64)
        np.maximum.at(issued, of, np.array(play.issued_at[number]))
        cycles[steps] = np.maximum.accumulate(issued)
    arrives, last = (timeline.flags & BARRIER) != 0, 0
    for release in timeline.releases():  # a statement without instructions ends when its warp comes to it
        here = last + np.flatnonzero(arrives[last:release])
        later = release + np.flatnonzero(np.isin(timeline.warps[release:], timeline.warps[here]))
        cycles[later] = np.maximum(cycles[later], cycles[here].max())
        last = release
    return np.rint(cycles).astype(int).tolist()
