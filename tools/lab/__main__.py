"""python -m tools.lab: probes, access patterns, tensor cores, and the timing model beside them."""

import sys
from dataclasses import replace

from course_lib.machine.gpu import command
from course_lib.machine.gpu.experiments import EXPERIMENTS, NCU, NVDISASM, RECORDINGS, Experiment

from . import (
    answers,
    atomics,
    ordinary,
    patterns,
    predictions,
    prefetching_predictions,
    probes,
    registers,
    residency,
    tensor,
    wgmma,
)

MODULE = "tools.lab"
_ROWS = (
    Experiment(
        "latencies",
        "latencies and rates of a multiprocessor, each by a kernel of its own",
        lambda part, ask: probes.latencies(part, min(ask.repeats, 7)),
        lambda ask: ask.names or probes.PARTS,
        NVDISASM,
    ),
    Experiment(
        "residency",
        "tiled, prefetched and pipelined while few or many warps share a multiprocessor (stalls need ncu)",
        lambda case, ask: residency.residency(ask.repeats, ask.progress, residency.SIZE),
    ),
    Experiment(
        "cached",
        "the cases of residency, of matrices that the second-level cache keeps",
        lambda case, ask: residency.residency(ask.repeats, ask.progress, residency.CACHED),
    ),
    Experiment(
        "exact",
        "requests and sectors of every rung on small sizes, to compare with the simulator",
        lambda size, ask: patterns.exact_counters(ask.names, size),
        lambda ask: ask.sizes(patterns.EXACT_SIZES),
        NCU,
    ),
    Experiment(
        "patterns",
        "requests, sectors and wavefronts of access patterns, for the same",
        lambda case, ask: patterns.pattern_counters(ask.names),
        needs=NCU,
    ),
    Experiment(
        "atomics",
        "wavefronts, sectors and time of atomics, for 1 to 32 lanes of a warp on a word",
        lambda case, ask: atomics.atomics(ask.names, ask.repeats),
        needs=NCU,
    ),
    Experiment(
        "ordinary",
        "requests, sectors and wavefronts of forty ordinary kernels, to compare with their machine code",
        lambda case, ask: ordinary.ordinary_counters(ask.names),
        needs=NCU,
    ),
    Experiment(
        "tensor",
        "the rungs on tensor cores beside best, cuBLAS and the instructions alone: GFLOP/s, errors, bits, clocks",
        lambda case, ask: case.measure(ask.repeats),
        tensor.cases,
    ),
    Experiment(
        "wgmma",
        "the rungs with wgmma beside cuBLAS and the instruction alone: GFLOP/s, errors, bits; what inputs change",
        lambda case, ask: case.measure(ask.repeats),
        wgmma.cases,
    ),
    Experiment(
        "answers",
        "the answers to the exercises that promise speed, each beside a kernel with one thing changed",
        lambda case, ask: answers.answers(ask.names, ask.repeats, ask.progress),
    ),
    Experiment(
        "registers",
        "vectorized and warp_tiled with their results in other registers: GFLOP/s, queues at the banks, stalls",
        lambda case, ask: registers.registers(ask.repeats, ask.progress),
        needs=NCU,
    ),
    Experiment(
        "predictions",
        "what the timing model predicts beside what was measured",
        lambda case, ask: predictions.judged(ask),
        needs=RECORDINGS,
    ),
    Experiment(
        prefetching_predictions.WHAT,
        "what it predicts of the launches of prefetching, compiled here, for docs/prefetching.md (minutes)",
        lambda case, ask: prefetching_predictions.predicted(ask),
        needs=RECORDINGS,
    ),
)
LAB = tuple(replace(row, module=MODULE) for row in _ROWS)


def main(arguments: list[str] | None = None) -> int:
    """Run the command; return the exit status: 0, 1 if a kernel is wrong, 2 without a GPU."""
    return command.main(arguments, (*EXPERIMENTS, *LAB), MODULE)


if __name__ == "__main__":
    sys.exit(main())
