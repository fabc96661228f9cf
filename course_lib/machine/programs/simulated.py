"""A launch that is simulated, with its arguments before it and after it."""

import contextlib
import copy
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ...simulator.findings import KernelError
from ...simulator.run import Run
from ...simulator.simulate import simulate


@dataclass(frozen=True)
class Simulated:
    """A launch that was simulated. ``before`` and ``after`` are its arguments before and after it.

    ``failed`` says why it stopped, ``seconds`` of the processor is what it took.
    """

    kernel: Any
    grid: Any
    block: Any
    shared_bytes: int
    max_steps: int | None
    before: Sequence[Any]
    after: Sequence[Any]
    run: Run
    failed: str
    seconds: float


def simulated(
    kernel: Any, grid: Any, block: Any, arguments: Sequence[Any], shared_bytes: int = 0, max_steps: int | None = None
) -> Simulated:
    """Launch a kernel on the simulator; the arrays among the arguments are changed.

    Raises LaunchError and UnsupportedKernelError as ``simulate`` does. Broken rules raise nothing.
    """
    before = copy.deepcopy(arguments)
    failed, began = "", time.process_time()
    try:
        with contextlib.redirect_stdout(sys.stderr):  # what the kernel prints
            run = simulate(kernel, strict=False, max_steps=max_steps)[grid, block, 0, shared_bytes](*arguments)
    except KernelError as error:
        if error.run is None:
            raise
        run, failed = error.run, error.without_option()
    took = time.process_time() - began
    return Simulated(kernel, grid, block, shared_bytes, max_steps, before, arguments, run, failed, took)
