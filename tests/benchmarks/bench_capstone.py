"""An attempt of the capstone: for four kernels, from 16×16 tiles to 8×8 results with vectors and two buffers."""

import time

import pytest

from course_lib.exercises.capstone import attempt
from course_lib.machine import machine_code, measurements, timing_model
from course_lib.machine.gpu.capstone import recorded
from course_lib.machine.timing_model.instruction_streams import Instruction

#: Written as students do, and recorded; each reads its tiles in another way.
KERNELS = ("by_hand", "four_by_four_plain", "four_by_four_unsigned", "two_buffers")
SECONDS = 10


@pytest.fixture(scope="module", autouse=True)
def _compiled():
    """What numba compiles once for all simulations is not measured."""
    machine = timing_model.Multiprocessor.measured(measurements.load("latencies"))
    timing_model.simulate_warps([[Instruction("multiply-add", 0)]], machine)


@pytest.mark.parametrize("name", KERNELS)
def bench_attempt(name, measured):
    """Seconds of a clock, and of the processor, which other programs change less."""
    if not machine_code.available():
        pytest.skip("the compiler is not installed")
    own = recorded()[name]
    kernel, tile, threads = own.make(), own.tile(), own.launch(1, 1, 1)[1]
    begun = time.perf_counter(), time.process_time()
    result = attempt(kernel, tile, threads, keep=False)
    taken = time.perf_counter() - begun[0], time.process_time() - begun[1]
    assert result.score > 0
    measured(f"attempt, {name}", taken[0], SECONDS, unit="s")
    measured(f"attempt, {name}, of a processor", taken[1], SECONDS, unit="s")
