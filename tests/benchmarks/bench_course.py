"""Processor time of what a reader waits for in Python: cells, choices, simulations by the timing model."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable

import numpy as np
import pytest
from benchmarks.simulator import simulated
from launches import samples
from numba import cuda
from simulator.test_compile import nested

from course_lib import LaunchError, simulate
from course_lib.kernels import rung
from course_lib.machine import measurements, timing_model
from course_lib.machine.timing_model.widget import KERNELS, TILE_WIDTHS
from course_lib.simulator.launch.prepare import prepare
from course_lib.trace.viewer import Stepper, explore

H200 = timing_model.Multiprocessor.measured(measurements.load("latencies"))


def milliseconds(call: Callable[[], object]) -> float:
    """Processor time: the least of five calls, since other work on the machine only adds to it."""
    times = []
    for _ in range(5):
        start = time.process_time()
        call()
        times.append(1000 * (time.process_time() - start))
    return min(times)


def bench_import(measured):
    """In a process of its own, on one thread."""
    code = "import time; start = time.process_time(); import course_lib; print(1000 * (time.process_time() - start))"
    alone = os.environ | {"OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
    command = [sys.executable, "-c", code]
    times = [float(subprocess.run(command, env=alone, capture_output=True, check=True).stdout) for _ in range(5)]
    measured("import course_lib", min(times), 500)


def bench_cell(measured):
    """A cell that launches, traces and shows 64×64 matrices in tiles of 16, with picture and text."""
    tiled, n = rung("tiled"), 64

    def shown() -> None:
        A, B, C = (np.zeros((n, n), np.float32) for _ in range(3))
        run = simulate(tiled.make(tile_width=16), trace=True)[tiled.launch(n, n, n, tile_width=16)](A, B, C)
        Stepper(run)._repr_mimebundle_()

    measured("cell", milliseconds(shown), 1000)


@pytest.mark.parametrize(
    "kernel, n, limit",
    [("naive", 8, 150), ("prefetched", 16, 150), ("tiled", 16, 150), ("register_1d", 8, 150), ("register_2d", 8, 400)],
)
def bench_choice(measured, kernel, n, limit):
    """From a choice in `explore()` to the new trace.

    Matrices are 16×16, and 8×8 for the kernel of 512 threads. In `register_2d` 256 threads with 64 results each execute
    13,000 statements, however small the matrices are.
    """
    measured(f"choice {kernel}", milliseconds(explore([kernel], n=n, tile_width=2)._relaunch), limit)


@pytest.mark.parametrize("buffers", KERNELS)
@pytest.mark.parametrize("tile_width", TILE_WIDTHS)
def bench_plan(measured, tile_width, buffers):
    """A drag of the latency in `Waiting`, whose kernels are traced before."""
    widget = timing_model.Waiting(H200)
    widget.tile_width, widget.buffers, widget.warps, widget.latency = tile_width, buffers, 16, 300

    def drag() -> None:
        widget.latency += 20
        assert json.loads(widget._plan)["latency"] == widget.latency

    measured(f"plan, tile width {tile_width}, buffers {buffers}", milliseconds(drag), 100)


@pytest.mark.parametrize("name, K", [("tiled", 64), ("register_2d", 16), ("staged", 16), ("best", 16)])
def bench_play(measured, name, K):
    """A rung of the ladder traced, compiled and simulated by the timing model."""
    step = rung(name)
    M, N = step.tile(**step.params)
    launched = samples.product(name, M, K, N)
    measured(
        f"play {name}", milliseconds(lambda: timing_model.simulate_blocks(step.make(), launched().trace, H200)), 2000
    )


def bench_nested_device_functions(measured):
    """Each of 15 levels calls the one below twice."""
    function = nested(15)

    @cuda.jit
    def kernel(a):
        a[0] = function(a[0])

    compiled = milliseconds(lambda: prepare(kernel, 1, 1, (np.zeros(1, "f4"),)))
    measured("nested device functions", compiled, 2000)


def bench_trace(measured):
    """The largest kernel with a trace of its 58,000 statements, and how many times as long as without."""
    best = rung("best")
    grid, block = best.launch(128, 256, 16)

    def launched(trace: bool) -> Callable[[], object]:
        arguments = samples.numbers(128, 16), samples.numbers(16, 256), np.zeros((128, 256), "f4")
        return lambda: simulate(best.make(), trace=trace)[grid, block](*arguments)

    plain, traced = (milliseconds(launched(trace)) for trace in (False, True))
    measured("launch of best", plain)
    measured("launch of best, traced", traced)
    measured("trace of best", traced / plain, 8, "×")


def bench_refusal(measured):
    """A launch of one block with 220,000 statements, more than a trace may have."""
    launched = samples.product("best", 128, 64, 256)

    def refused() -> None:
        with pytest.raises(LaunchError, match="too many to trace"):
            launched()

    measured("refusal of a trace that is too long", milliseconds(refused), 1000)


@pytest.mark.parametrize("n", [64, 512])
def bench_simulator(measured, n):
    """An access to memory, in wall time; `simulator.py` measures more."""
    for name, (seconds, accesses) in simulated(n).items():
        measured(f"access of {name}, n = {n}", 1e9 * seconds / accesses, unit="ns")
