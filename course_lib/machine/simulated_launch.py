"""A launch that is simulated, with its arguments before it and after it."""

import contextlib
import copy
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ..simulator.device_memory import AllocationView
from ..simulator.findings import Finding, KernelError, LaunchError, SimulatorError, UnsupportedKernelError
from ..simulator.run import Run
from ..trace.racing_pair import pair_of
from ..trace.simulate import simulate
from ..trace.trace import Trace


@dataclass(frozen=True)
class Simulated:
    """A launch that was simulated. ``before`` and ``after`` are its arguments before and after it.

    ``stopped`` is what it raised if it had to stop, and ``seconds`` of the processor what it took.
    """

    kernel: Any
    grid: Any
    block: Any
    shared_bytes: int
    max_steps: int | None
    before: Sequence[Any]
    after: Sequence[Any]
    run: Run
    stopped: KernelError | None
    seconds: float

    @property
    def failed(self) -> str:
        """Why it stopped; "" if it did not."""
        return self.stopped.without_option() if self.stopped else ""

    @cached_property
    def trace(self) -> Trace | None:
        """The trace of the launch, made again: of its first block if all are too many; None if none can be made."""
        if self.stopped or len(self.before) < len(self.after):
            return None
        for grid in dict.fromkeys((self.run.grid, (1, 1, 1))):
            with contextlib.suppress(SimulatorError, ValueError), contextlib.redirect_stdout(None):
                traced = simulate(self.kernel, strict=False, trace=True, max_steps=self.max_steps)
                return traced[grid, self.block, 0, self.shared_bytes](*copy.deepcopy(self.before)).trace
        return None


def simulated(
    kernel: Any,
    grid: Any,
    block: Any,
    arguments: Sequence[Any],
    *,
    shared_bytes: int = 0,
    max_steps: int | None = None,
    copies: bool = True,
) -> Simulated:
    """Launch a kernel on the simulator; the arrays among the arguments are changed, and kept as they were if `copies`.

    Raises LaunchError and UnsupportedKernelError as ``simulate`` does. Broken rules raise nothing.
    """
    outputs = [each for each in arguments if isinstance(each, AllocationView) and each.output]
    held = [(each.values.copy(), each.flags.copy()) for each in outputs]
    for each in outputs:
        each.forget()
    before = copy.deepcopy(arguments) if copies else ()
    stopped = None
    began = time.process_time()
    try:
        run = simulate(kernel, strict=False, max_steps=max_steps)[grid, block, 0, shared_bytes](*arguments)
    except KernelError as error:
        if error.run is None:
            raise
        run = error.run
        stopped = error
    except (LaunchError, UnsupportedKernelError):  # it did not begin
        for each, (values, flags) in zip(outputs, held, strict=True):
            each.values[...], each.flags[...] = values, flags
        raise
    took = time.process_time() - began
    return Simulated(kernel, grid, block, shared_bytes, max_steps, before, arguments, run, stopped, took)


def iterations(launch: Simulated, race: Finding) -> str:
    """Return in which iterations of a loop the two accesses of a race are; "" if in none, or if it is not known."""
    pair = pair_of(launch.run, race, launch.trace)
    return f"{pair.where}: {', and '.join(said for _, said in pair.accesses)}" if pair.where else ""
