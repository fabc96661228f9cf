"""The findings of a profiler and a sanitizer for a launch, from the simulator and the models, without a GPU."""

import contextlib
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...simulator.formatting import plural
from ...simulator.run import Run
from .. import measurements
from ..machine_code.as_compiled import AsCompiled, as_compiled
from ..machine_code.show import InnerLoop, inner_loop
from ..simulated_launch import Simulated, simulated
from ..timing_model.error_bound import largest_error
from .compiled import compiled
from .costs import Cost, costs
from .predicted_time import Time, predicted_time
from .repairs import SECONDS, Repair, repair_of
from .residency import Residency, check_registers, residency_of
from .traced_run import traced_run
from .verdicts import LaunchVerdict, verdict


@dataclass(frozen=True)
class Profile:
    """A launch and what is known of it. ``notes`` says what is not known, and why; ``failed``: why a launch stopped.

    ``traced`` is the run for a stepper: of fewer blocks where a trace cannot hold all of them, and None where it can
    hold none. ``time`` is None where the timing model cannot time the kernel. ``slow`` are lines that cost more
    than they need, and ``repair`` is a change of the kernel that was launched, and helps. ``loop`` is
    the inner loop in machine code, None where nobody compiled it; ``compared`` has the counts of the machine code
    beside those of the source, if that was asked for.

    >>> launch = profile(rung("tiled").make(tile_width=16), (1, 1), (16, 16), *matrices(16, 16, 16))
    >>> launch.run.traffic.select(space="global", op="load").accesses
    512
    """

    run: Run
    residency: Residency
    time: Time | None
    traced: Run | None
    notes: tuple[str, ...]
    failed: str = ""
    slow: tuple[Cost, ...] = ()
    repair: Repair | None = None
    loop: InnerLoop | None = None
    compared: AsCompiled | None = None

    @property
    def compiled(self) -> str:
        """What the compiler made of the kernel and how long the model takes for it; empty where nobody compiled it."""
        if self.loop is None:
            return ""
        code = self.loop.code
        residency = self.residency
        spills = f"{plural(code.spilled_bytes, 'byte')} of spills" if code.spilled_bytes else "no spills"
        text = f"{plural(code.registers, 'register')} a thread, {spills}, "
        text += f"{plural(residency.occupancy.blocks, 'block')} a multiprocessor"
        if self.time is None:
            return text
        time = f"{self.time.microseconds:,.3g} µs on {residency.gpu}"
        return f"{text}; {time} by the model (± {largest_error():.0%} for products)"

    def verdict(self, allowed: Sequence[str] = ()) -> LaunchVerdict:
        """Return the first words on the launch; findings of the kinds ``allowed`` do not count."""
        trace = self.traced.trace if self.traced else None
        return verdict(self.run, self.slow, self.repair, trace, tuple(allowed), self.failed)


def profile(
    kernel: Any,
    grid: Any,
    block: Any,
    *arguments: Any,
    shared_bytes: int = 0,
    registers: int | None = None,
    gpu: str = measurements.DEFAULT_GPU,
    max_steps: int | None = None,
    repair_seconds: float = SECONDS,
    compare_machine_code: bool = False,
) -> Profile:
    """Launch a kernel on the simulator, and gather what it and the models tell of the launch.

    Args:
        kernel, grid, block, arguments: as ``simulate(kernel)[grid, block](*arguments)`` takes them; arrays are changed.
        shared_bytes: dynamic shared memory of a block.
        registers: of a thread, as a compiler reports them, for the occupancy.
        gpu: a GPU with recordings in :mod:`course_lib.machine.measurements`.
        max_steps: as :func:`course_lib.trace.simulate.simulate` takes it.
        repair_seconds: of the processor, for tries of repairs; none is tried of a launch that takes longer.
        compare_machine_code: whether to execute the machine code, if there is any, and compare its counts with the
            source's.

    Raises LaunchError and UnsupportedKernelError as ``simulate`` does, and ValueError for registers that no thread has.
    Broken rules raise nothing: ``run.findings`` holds them.

    >>> A, B, C = np.ones((3, 16, 16), np.float32)
    >>> launch = profile(rung("tiled").make(tile_width=16), (1, 1), (16, 16), A, B, C)
    >>> launch.run.traffic.select(space="global", op="load").requests, launch.residency.occupancy.share
    (16, 1.0)
    """
    check_registers(registers)
    with contextlib.redirect_stdout(sys.stderr):  # what the kernel prints
        launch = simulated(kernel, grid, block, arguments, shared_bytes=shared_bytes, max_steps=max_steps)
    return full_profile(launch, registers, gpu, repair_seconds, compare_machine_code)


def preliminary_profile(
    launch: Simulated, registers: int | None = None, gpu: str = measurements.DEFAULT_GPU
) -> Profile:
    """Return what the simulator tells of a launch by itself: no trace, no machine code, no time, no repair."""
    recording = measurements.load(measurements.MACHINE, gpu)
    notes = ("There is no stepper, no time and no repair: other launches of the script have them.",)
    residency = residency_of(launch.run, registers, recording.provenance)
    return Profile(launch.run, residency, None, None, notes, launch.failed, costs(launch.run))


def full_profile(
    launch: Simulated,
    registers: int | None = None,
    gpu: str = measurements.DEFAULT_GPU,
    repair_seconds: float = SECONDS,
    compare_machine_code: bool = False,
) -> Profile:
    """Return all that the simulator and the models tell of a launch, with a repair if one is found in this time."""
    kernel, run = launch.kernel, launch.run
    recording = measurements.load(measurements.MACHINE, gpu)
    notes: list[str] = []
    slow = costs(run)
    code = compiled(kernel, launch.before, notes)
    loop = inner_loop(kernel, code, None, gpu) if code else None  # how many blocks fit, the residency says
    compared = as_compiled(code, launch) if compare_machine_code and code and not launch.failed else None
    residency = residency_of(run, registers or (code.registers if code else None), recording.provenance)
    traced = time = repair = None
    if launch.failed:
        notes.append("There is no stepper, and no time: the launch did not end.")
    else:
        traced = traced_run(launch, notes)
    if traced is not None:
        time, slow = predicted_time(kernel, traced.trace, residency, recording, slow, notes)
    if not launch.failed and (run.findings or slow):
        if repair_seconds <= 0:
            notes.append("No repair was tried: the script's time for repairs is used up.")
        elif launch.seconds > repair_seconds:
            notes.append(f"No repair was tried: the launch takes {launch.seconds:.2g} s here.")
        else:
            repair = repair_of(launch, slow, repair_seconds)
    return Profile(run, residency, time, traced, tuple(notes), launch.failed, slow, repair, loop, compared)
