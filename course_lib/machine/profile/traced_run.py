"""A launch with its trace, for the stepper and for the timing model."""

import contextlib
import copy

from ...simulator.findings import KernelError, LaunchError, UnsupportedKernelError
from ...simulator.run import Run, trimmed
from ...trace.simulate import simulate
from ..simulated_launch import Simulated


def traced_run(launch: Simulated, notes: list[str]) -> Run | None:
    """Return the launch traced: all of its blocks, or the first ones, as many as a trace holds; a note says which."""
    from ...trace.viewer.payload import check_drawable  # widgets: half a second

    reason = ""
    whole = launch.run.grid
    for grid in dict.fromkeys((whole, *(tuple(min(count, most) for count in whole) for most in (2, 1)))):
        arguments = copy.deepcopy(launch.before)
        with contextlib.redirect_stdout(None):
            try:
                configured = simulate(launch.kernel, strict=False, trace=True, max_steps=launch.max_steps)
                run = configured[grid, launch.block, 0, launch.shared_bytes](*arguments)
                assert run.trace is not None
                check_drawable(run.trace)
            except (LaunchError, UnsupportedKernelError, KernelError, ValueError) as error:
                reason = str(error)
                continue
        if grid != whole:
            notes.append(f"The stepper and the model take a launch of {trimmed(grid)} of the {trimmed(whole)} blocks.")
        return run
    notes.append(f"There is no stepper, and no time: {reason}")
    return None
