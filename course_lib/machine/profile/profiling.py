"""The findings of a profiler and a sanitizer for a launch, from the simulator and the models, without a GPU."""

import contextlib
import copy
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import Any

from ...simulator.findings import KernelError, LaunchError, UnsupportedKernelError
from ...simulator.formatting import plural
from ...simulator.hardware import ceil_div
from ...simulator.launch.prepare import prepare
from ...simulator.occupancy import occupancy
from ...simulator.run import Run, trimmed
from ...trace.simulate import simulate
from ...trace.trace import Trace
from .. import measurements, timing_model
from ..machine_code import MachineCode, NoMachineCode, machine_code
from ..machine_code.as_compiled import AsCompiled, as_compiled
from ..machine_code.show import InnerLoop, inner_loop
from ..model import Occupancy
from ..programs.simulated import Simulated, simulated
from ..timing_model.error_bound import largest_error
from ..timing_model.timing import launch_cycles
from .costs import Cost, costs, without
from .proofs import SECONDS, Launched, Repair, repair_of
from .verdicts import Opinion, verdict

#: The most registers of a thread.
MOST_REGISTERS = 255
#: Instructions that the timing model simulates at most: it takes a few seconds for them.
MAX_SIMULATED = 2_000_000


@dataclass(frozen=True)
class Residency:
    """The blocks that a multiprocessor holds. ``registers`` of a thread: None where nobody has compiled the kernel.

    ``spare``: the most registers of a thread with which the occupancy stays what it is.

    >>> launch = profile(rung("tiled").make(tile_width=16), (1, 1), (16, 16), *matrices(16, 16, 16))
    >>> launch.residency.blocks, launch.residency.shared_bytes
    (1, 2048)
    """

    gpu: str
    registers: int | None
    shared_bytes: int
    occupancy: Occupancy
    spare: int
    blocks: int
    multiprocessors: int

    def __str__(self) -> str:
        o = self.occupancy
        registers = (
            f"This holds for up to {self.spare} registers per thread; how many the kernel takes is known once it is "
            "compiled for a GPU."
            if self.registers is None
            else f"A thread takes {self.registers} registers."
        )
        return (
            f"{self.gpu}: a multiprocessor holds {plural(o.blocks, 'block')} of this launch, {o.warps} "
            f"warps, {o.share:.0%} of its maximum; the limit is {o.limit}. {registers} Shared memory: "
            f"{self.shared_bytes:,} bytes per block. The launch has {plural(self.blocks, 'block')} "
            f"for {self.multiprocessors} multiprocessors."
        )


@dataclass(frozen=True)
class Time:
    """The prediction of the timing model: cycles of one multiprocessor, and the time of the launch in microseconds.

    ``waits``: the share of the warps' cycles by reason.

    >>> launch = profile(rung("tiled").make(tile_width=16), (1, 1), (16, 16), *matrices(16, 16, 16))
    >>> launch.time.cycles > 0
    True
    """

    cycles: float
    microseconds: float
    resident: int
    waits: dict[str, float]

    def __str__(self) -> str:
        reasons = sorted(self.waits.items(), key=lambda item: -item[1])
        shares = ", ".join(f"{reason} {share:.0%}" for reason, share in reasons if share >= 0.005)
        return (
            f"{self.microseconds:,.3g} µs, by the model, if the L2 cache serves all loads: {self.cycles:,.0f} cycles "
            f"for {plural(self.resident, 'resident block')}. The warps' time: {shares}."
        )


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
        code, o = self.loop.code, self.residency
        spills = f"{plural(code.spilled_bytes, 'byte')} of spills" if code.spilled_bytes else "no spills"
        made = f"{plural(code.registers, 'register')} a thread, {spills}, "
        made += f"{plural(o.occupancy.blocks, 'block')} a multiprocessor"
        if self.time is None:
            return made
        time = f"{self.time.microseconds:,.3g} µs on {o.gpu}"
        return f"{made}; {time} by the model (± {largest_error():.0%} for products)"

    def verdict(self, allowed: Sequence[str] = ()) -> Opinion:
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
    executes: bool = False,
) -> Profile:
    """Launch a kernel on the simulator, and gather what it and the models tell of the launch.

    Args:
        kernel, grid, block, arguments: as ``simulate(kernel)[grid, block](*arguments)`` takes them; arrays are changed.
        shared_bytes: dynamic shared memory of a block.
        registers: of a thread, as a compiler reports them, for the occupancy.
        gpu: a GPU with recordings in :mod:`course_lib.machine.measurements`.
        max_steps: as :func:`course_lib.trace.simulate.simulate` takes it.
        repair_seconds: of the processor, for tries of repairs; none is tried of a launch that takes longer.
        executes: whether to execute the machine code, if there is any, and compare its counts with the source's.

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
    return examined(launch, registers, gpu, repair_seconds, executes)


def outlined(launch: Simulated, registers: int | None = None, gpu: str = measurements.DEFAULT_GPU) -> Profile:
    """Return what the simulator tells of a launch by itself: no trace, no machine code, no time, no repair."""
    recording = measurements.load(measurements.MACHINE, gpu)
    notes = ("There is no stepper, no time and no repair: other launches of the script have them.",)
    residency = _residency(launch, registers, recording.provenance)
    return Profile(launch.run, residency, None, None, notes, launch.failed, costs(launch.run))


def examined(
    launch: Simulated,
    registers: int | None = None,
    gpu: str = measurements.DEFAULT_GPU,
    repair_seconds: float = SECONDS,
    executes: bool = False,
) -> Profile:
    """Return all that the simulator and the models tell of a launch, with a repair if one is found in this time."""
    kernel, run, before, slow = launch.kernel, launch.run, launch.before, costs(launch.run)
    recording = measurements.load(measurements.MACHINE, gpu)
    notes: list[str] = []
    code = _code(kernel, before, notes)
    taken = registers or (code.registers if code else None)
    residency = _residency(launch, taken, recording.provenance)
    loop = inner_loop(kernel, code, run.block, gpu) if code else None
    traced = predicted = repair = None
    if launch.failed:
        notes.append("There is no stepper, and no time: the launch did not end.")
    else:
        traced = _traced(kernel, run, launch.block, launch.shared_bytes, before, notes)
    if traced is not None:
        predicted, slow = _time(kernel, traced.trace, residency, recording, slow, notes)
    if not launch.failed and (run.findings or slow):
        if repair_seconds <= 0:
            notes.append("No repair was tried: the script's time for repairs is used up.")
        elif launch.seconds > repair_seconds:
            notes.append(f"No repair was tried: the launch takes {launch.seconds:.2g} s here.")
        else:
            again = Launched.of(kernel, run.grid, run.block, launch.shared_bytes, before, launch.max_steps)
            repair = repair_of(again, run, launch.after, slow, repair_seconds)
    compared = as_compiled(code, launch) if executes and code and not launch.failed else None
    return Profile(run, residency, predicted, traced, tuple(notes), launch.failed, slow, repair, loop, compared)


def check_registers(registers: int | None) -> None:
    """Raise ValueError for a number of registers that no thread has."""
    if registers is not None and not 1 <= registers <= MOST_REGISTERS:
        raise ValueError(f"a thread has 1 to {MOST_REGISTERS} registers, not {registers}")


def _code(kernel: Any, arguments: Sequence[Any], notes: list[str]) -> MachineCode | None:
    """Return the kernel's machine code, compiled or recorded; a note says why the compiler refuses it."""
    try:
        return machine_code(kernel, arguments)
    except NoMachineCode:
        return None  # the note on the time says how to get the compiler
    except (TypeError, ValueError) as error:
        notes.append(f"There is no machine code: {error}.")
        return None


def _residency(launch: Simulated, registers: int | None, gpu: dict[str, Any]) -> Residency:
    static = prepare(
        launch.kernel, launch.grid, launch.block, launch.before, launch.shared_bytes
    ).compiled.static_shared
    shared_bytes = launch.shared_bytes + sum(size for number, (_, size, *_) in static.items() if number >= 0)
    run = launch.run
    threads = prod(run.block)
    known = occupancy(threads, registers or 1, shared_bytes, gpu)
    same = (n for n in range(1, MOST_REGISTERS + 1) if occupancy(threads, n, shared_bytes, gpu).blocks == known.blocks)
    return Residency(gpu["gpu"], registers, shared_bytes, known, max(same), prod(run.grid), gpu["multiprocessors"])


def _traced(
    kernel: Any, run: Run, block: Any, shared_bytes: int, arguments: Sequence[Any], notes: list[str]
) -> Run | None:
    """Return the launch traced: all of its blocks, or the first ones, as many as a trace holds."""
    from ...trace.viewer.payload import check_drawable  # widgets: half a second

    reason = ""
    for grid in dict.fromkeys((run.grid, *(tuple(min(n, most) for n in run.grid) for most in (2, 1)))):
        fresh = copy.deepcopy(arguments)
        with contextlib.redirect_stdout(None):
            try:
                smaller = simulate(kernel, strict=False, trace=True)[grid, block, 0, shared_bytes](*fresh)
                assert smaller.trace is not None
                check_drawable(smaller.trace)
            except (LaunchError, UnsupportedKernelError, KernelError, ValueError) as error:
                reason = str(error)
                continue
        if grid != run.grid:
            notes.append(
                f"The stepper and the model take a launch of {trimmed(grid)} of the {trimmed(run.grid)} blocks."
            )
        return smaller
    notes.append(f"There is no stepper, and no time: {reason}")
    return None


def _time(
    kernel: Any, trace: Trace | None, residency: Residency, recording: Any, slow: tuple[Cost, ...], notes: list[str]
) -> tuple[Time | None, tuple[Cost, ...]]:
    """Return what the timing model says of the launch, if it knows all that the kernel does, and of slow lines."""
    try:
        warps = timing_model.traced_streams(kernel, trace)
        resident = min(residency.occupancy.blocks, ceil_div(residency.blocks, residency.multiprocessors))
        if resident * sum(map(len, warps)) > MAX_SIMULATED:
            raise ValueError(f"{resident} resident blocks issue more than {MAX_SIMULATED:,} instructions")
        multiprocessor = timing_model.Multiprocessor.measured(recording)
        simulated_with = partial(
            timing_model.simulate_warps,
            multiprocessor=multiprocessor,
            blocks=resident,
            served="L2",
            shared_bytes=residency.shared_bytes,
        )
        timing = simulated_with(warps)
        slow = tuple(
            cost
            if cost.op == "atomic"
            else replace(cost, share=max(0.0, 1 - simulated_with(better).cycles / timing.cycles))
            for cost in slow
            for better in [[without(cost, warp) for warp in warps]]
        )
    except (ValueError, UnsupportedKernelError) as error:
        notes.append(f"There is no time: {error}.")
        return None, slow
    cycles = launch_cycles(timing.cycles, residency.blocks, resident, residency.multiprocessors)
    return Time(timing.cycles, 1e6 * cycles / multiprocessor.hertz, resident, dict(timing.waits)), slow
